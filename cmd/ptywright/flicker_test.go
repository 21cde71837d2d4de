//go:build unix

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestFlickerIsSeenOverTheWire: through the program and its wire a latched wait finds what a real
// program has drawn and wiped, each of 1,000 times (short form: 20): one that is pending while it
// happens, and one that comes afterwards. What was wiped within a synchronized update nobody sees.
func TestFlickerIsSeenOverTheWire(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs(filepath.Join("..", "..", "engine", "testdata", "flickers.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"one", "two", "over", "flood", "alternate", "update"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			if err := s.Call(s.ctx, "server.set_ordering", map[string]string{"ordering": "concurrent"}, nil); err != nil {
				t.Fatal(err) // what is typed would queue behind the wait that is pending
			}
			at := s.create("sh", script)
			at.wait(client.Text("ready"))
			since := client.After(0)
			for i := range times(20, 1000) {
				what := client.Text(fmt.Sprintf("<%d>", i))
				live := make(chan error, 1)
				if how != "update" {
					go func() {
						m, err := at.Session.Wait(s.ctx, what, since, client.Latched(true))
						if err == nil && (m.Missed || m.HeldAt.IsZero()) {
							err = fmt.Errorf("held at %v, missed: %t", m.HeldAt, m.Missed)
						}
						live <- err
					}()
				}
				if err := at.Session.Send(s.ctx, fmt.Sprintf("%s <%d>\n", how, i)); err != nil {
					t.Fatal(err)
				}
				done, err := at.Session.Wait(s.ctx, client.Text(fmt.Sprintf("done %d>.", i)), since)
				if err != nil {
					t.Fatal(err)
				}
				m, err := at.Session.Wait(s.ctx, what, since, client.Latched(true), client.Within(0))
				if how == "update" {
					if !errors.Is(err, client.ErrTimeout) || client.EvidenceOf(err).Missed {
						t.Fatalf("%d: what nobody saw: %v", i, err)
					}
				} else {
					if err != nil || m.Missed {
						t.Fatalf("%d: afterwards: %v", i, err)
					}
					if err := <-live; err != nil {
						t.Fatalf("%d: while it happened, since %s: %v\n%v", i, since, err, client.EvidenceOf(err))
					}
				}
				since = client.After(done.Sequence)
			}
		})
	}
}
