//go:build unix

package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestWaitManySessions: one call waits for sessions by their ids or by what is true of them, tells
// matches as they come, and returns what it found with an error as well.
func TestWaitManySessions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := started(t)
	var all []*client.Session
	for i := range 3 {
		s := must[*client.Session](t)(c.Spawn(ctx, client.Config{Program: "sh", Tags: []string{"herd", fmt.Sprint("n", i)},
			Args: []string{"-c", "echo ready; read -r line; echo got $line; exec cat"}}))
		all = append(all, s)
	}
	names := func(r *client.ManyMatches) string {
		var names []string
		for _, m := range r.Matched {
			names = append(names, m.Session)
		}
		return strings.Join(names, " ")
	}
	herd := client.Many{Select: &client.Selection{Tag: "herd"}, Until: client.UntilAll, Timeout: hang}
	r := must[*client.ManyMatches](t)(c.WaitMany(ctx, client.Text("ready"), herd))
	if len(r.Matched) != 3 || !r.Complete || r.Waiting != 0 || r.Matched[0].Text != "ready" || r.Matched[0].Screen.PlainText == "" {
		t.Errorf("all: %+v", r)
	}
	info := must[client.Info](t)(all[1].Info(ctx))
	if !slices.Equal(info.Tags, []string{"herd", "n1"}) {
		t.Errorf("tags %q", info.Tags)
	}

	since := map[string]client.Position{}
	for _, m := range r.Matched {
		since[m.Session] = m.Next
	}
	var told []string
	each := client.Many{Sessions: []string{all[0].ID, all[1].ID, all[2].ID}, Until: client.UntilEach, Timeout: hang,
		Since: since, Show: client.ShowNone, Matched: func(m client.SessionMatch) { told = append(told, m.Session+" "+m.Text) }}
	waited := make(chan *client.ManyMatches)
	go func() {
		r, err := c.WaitMany(ctx, client.Regexp(`got (\w+)`), each)
		if err != nil {
			t.Error(err)
		}
		waited <- r
	}()
	order := []int{2, 0, 1}
	for _, i := range order {
		if err := all[i].Send(ctx, fmt.Sprintf("word%d\n", i)); err != nil {
			t.Fatal(err)
		}
		must[*client.Match](t)(all[i].Wait(ctx, client.Text("got"), client.Within(hang)))
	}
	r = <-waited
	slices.Sort(told)
	if want := []string{"s1 word0", "s2 word1", "s3 word2"}; !slices.Equal(told, want) || len(r.Matched) != 3 || r.Matched[0].Screen.PlainText != "" {
		t.Errorf("told %q, found %s", told, names(r))
	}

	never := client.Many{Sessions: each.Sessions, Until: client.UntilAny, Timeout: -1, Show: client.ShowAll}
	r, err := c.WaitMany(ctx, client.Text("never"), never)
	if !errors.Is(err, client.ErrTimeout) || r == nil || r.Waiting != 3 || len(r.Lacking) != 3 || r.Lacking[0].Evidence == nil || len(r.Lacking[0].Evidence.Lacks()) != 1 {
		t.Errorf("a timeout: %+v, %v", r, err)
	}
	if r, err := c.WaitMany(ctx, client.Text("x"), client.Many{Sessions: []string{"s99"}}); !errors.Is(err, client.ErrUnknownSession) || r != nil {
		t.Errorf("an unknown session: %+v, %v", r, err)
	}
	stopped := errors.New("stopped")
	soon, cancel := context.WithCancelCause(ctx)
	time.AfterFunc(10*time.Millisecond, func() { cancel(stopped) })
	never.Timeout = hang
	if r, err := c.WaitMany(soon, client.Text("never"), never); !errors.Is(err, stopped) || r == nil || r.Waiting != 3 {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
	check(t, all[1].Close(ctx))
	never.Sessions, never.Until = []string{all[0].ID}, client.UntilAll
	check(t, all[0].Signal(ctx, "kill"))
	if r, err := c.WaitMany(ctx, client.Text("never"), never); !errors.Is(err, client.ErrSessionEnded) || len(r.Ended) != 1 || r.Ended[0].Exit.String() != "SIGKILL" {
		t.Errorf("ended: %+v, %v", r, err)
	}
}

// TestDoOnce: what is sent again is not typed again.
func TestDoOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := started(t)
	s := sh(t, c, "stty -echo; echo ready; while read -r line; do echo got $line; done")
	must[*client.Match](t)(s.Wait(ctx, client.Text("ready")))
	line := client.Action{Type: "text", Value: "one\r"}
	first := must[client.Sent](t)(s.DoOnce(ctx, "a", line))
	again := must[client.Sent](t)(s.DoOnce(ctx, "a", line))
	if first.Again || !again.Again || again.Sequence != first.Sequence {
		t.Errorf("%+v, %+v", first, again)
	}
	if _, err := s.DoOnce(ctx, "a", client.Action{Type: "text", Value: "two\r"}); !errors.Is(err, client.ErrInputIdInUse) {
		t.Error(err)
	}
	must[client.Sent](t)(s.DoOnce(ctx, "b", client.Action{Type: "text", Value: "end\r"}))
	m := must[*client.Match](t)(s.Wait(ctx, client.Text("got end")))
	if n := strings.Count(m.Screen.PlainText, "got one"); n != 1 {
		t.Errorf("it was typed %d times: %q", n, m.Screen.PlainText)
	}
}
