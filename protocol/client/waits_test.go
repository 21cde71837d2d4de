//go:build unix

package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// A waitVector is a line of sdk/waits.json: what a program writes on a terminal of 4x20, piece by
// piece, and what waits that look once say of it at the end.
type waitVector struct {
	Name   string
	Pieces []string
	Asks   []struct {
		Matcher client.Matcher
		Since   *int // how many pieces came before what counts
		Behind  *int // a piece: goes on from the next of a wait for its title
		From    *int // an earlier one, whose next this goes on from
		Latched bool
		Holds   bool
		Text    *string // that matched
		Screen  *string // of the answer
	}
}

// script is a shell script that writes the pieces. Each ends with a title, so that it is known to
// have been read, and is followed by a line that is to be typed.
func (v *waitVector) script() string {
	var b strings.Builder
	b.WriteString("stty -echo -opost")
	for i, piece := range v.Pieces {
		b.WriteString("; printf '")
		for _, c := range []byte(fmt.Sprintf("%s\x1b]2;piece %d\a", piece, i+1)) {
			fmt.Fprintf(&b, "\\%03o", c)
		}
		b.WriteString("'; read -r _")
	}
	return b.String()
}

// TestWaitVectors: real programs on a real server are waited for as sdk/waits.json says.
func TestWaitVectors(t *testing.T) {
	t.Parallel()
	var vectors []waitVector
	decodeFile(t, "../../sdk/waits.json", &vectors)
	c := started(t)
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			ctx := t.Context()
			s := spawned(t, c, client.Config{Program: "sh", Args: []string{"-c", v.script()}, Rows: 4, Cols: 20})
			after, behind := []client.Position{client.After(0)}, []client.Position{""}
			for i := range v.Pieces {
				if i > 0 {
					check(t, s.Send(ctx, "\n"))
				}
				m := must[*client.Match](t)(s.Expect(ctx, client.Title(fmt.Sprintf("^piece %d$", i+1))))
				after, behind = append(after, client.After(m.Sequence)), append(behind, m.Next)
			}
			next := make([]client.Position, len(v.Asks))
			for i, a := range v.Asks {
				var since client.Position
				switch {
				case a.From != nil:
					since = next[*a.From]
				case a.Behind != nil:
					since = behind[*a.Behind]
				default:
					since = after[*a.Since]
				}
				m, err := s.Wait(ctx, a.Matcher, since, client.Latched(a.Latched), client.Within(0))
				switch {
				case !a.Holds && errors.Is(err, client.ErrTimeout) && !client.EvidenceOf(err).Missed:
					continue
				case !a.Holds || err != nil || m.Missed:
					t.Errorf("%d, %+v: %+v, %v", i, a.Matcher, m, err)
					continue
				}
				next[i] = m.Next
				if a.Text != nil && m.Text != *a.Text {
					t.Errorf("%d, %+v matched %q, want %q", i, a.Matcher, m.Text, *a.Text)
				}
				if a.Screen != nil && m.Screen.PlainText != *a.Screen {
					t.Errorf("%d, %+v held when the screen was %q, want %q", i, a.Matcher, m.Screen.PlainText, *a.Screen)
				}
			}
		})
	}
}

// TestEventNotifications: a loop is told what happens to a session, by whom, and how it ended.
func TestEventNotifications(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c := started(t)
	s := spawned(t, c, client.Config{Program: "cat"})
	check(t, c.Introduce(ctx, "the test"))
	events, err := c.EventNotifications(ctx, s.ID)
	check(t, err)
	typed := false
	check(t, s.Send(ctx, "hello\n"))
	for e, err := range events {
		check(t, err)
		switch {
		case e.Method == "session.event" && e.Noted.Kind == "input" && !typed:
			if !strings.HasPrefix(e.Noted.By, "the test ") || e.Noted.Bytes == 0 {
				t.Errorf("told of %+v", e.Noted)
			}
			typed = true
			must[[]int](t)(s.Kill(ctx))
		case e.Method == "session.exited":
			if !e.Killed || e.Ended().String() != "killed" || e.Ended().Words() != "was killed" || !typed {
				t.Errorf("told of the end %+v, of input %v", e, typed)
			}
			return
		}
	}
}
