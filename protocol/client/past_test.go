//go:build unix

package client_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestHistory: when something was on the screen, for how long, and the screen of then.
func TestHistory(t *testing.T) {
	s := sh(t, started(t), `for i in 1 2 3; do read go; printf '\033[2J\033[Hround %s' $i; read go; printf '\033[2J\033[Hnothing'; done; read go`)
	for range 3 {
		for _, text := range []string{"round", "nothing"} {
			if err := s.Send(t.Context(), "\n"); err != nil {
				t.Fatal(err)
			}
			must[*client.Match](t)(s.Wait(t.Context(), client.Text(text)))
		}
	}
	round := client.Regexp(`round (\d)`)
	for _, c := range []struct {
		o    client.HistoryOptions
		want string
	}{
		{client.HistoryOptions{}, "1 2 3"}, {client.HistoryOptions{First: true}, "1"}, {client.HistoryOptions{Last: true}, "3"}, {client.HistoryOptions{Max: 2}, "1 2"},
		{client.HistoryOptions{Since: client.Ago(0)}, ""}, {client.HistoryOptions{Until: client.At(0)}, ""}, {client.HistoryOptions{Unredacted: true, Timeout: time.Minute}, "1 2 3"},
	} {
		h := must[*client.History](t)(s.History(t.Context(), round, c.o))
		var got []string
		for _, x := range h.Spans {
			got = append(got, x.Outcome.Capture)
			then := must[*client.Snapshot](t)(s.Screen(t.Context(), client.At(x.From)))
			if !strings.Contains(x.Snapshot.PlainText, "round "+x.Outcome.Capture) || then.PlainText != x.Snapshot.PlainText || !then.ShownAt.Equal(x.FromAt) ||
				x.To == nil || *x.To <= x.From || x.Held != x.ToAt.Sub(x.FromAt).Truncate(time.Millisecond) {
				t.Errorf("%+v: %+v and %q at %v", c.o, x, then, then.ShownAt)
			}
			if again := must[*client.Snapshot](t)(s.Screen(t.Context(), client.AtTime(x.FromAt))); again.Sequence != x.From {
				t.Errorf("at %v there was sequence %d, want %d", x.FromAt, again.Sequence, x.From)
			}
			if f := must[*client.Frame](t)(s.Frame(t.Context(), client.FrameOptions{At: client.At(x.From)})); !f.Full || f.Sequence != x.From {
				t.Errorf("frame: %+v", f)
			}
		}
		if strings.Join(got, " ") != c.want || h.KeptFrom != 0 {
			t.Errorf("%+v: %q, want %s: %+v", c.o, got, c.want, h)
		}
	}
	if _, err := s.Screen(t.Context(), client.At(1e9)); !errors.Is(err, client.ErrMomentNotKept) {
		t.Errorf("a sequence to come: %v", err)
	}
}
