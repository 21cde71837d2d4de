package plugins

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

// onScreens starts an agent's adapter on a terminal that shows a screen, in virtual time.
func onScreens(t *testing.T, first string, f func(a *Adapter, p *enginetest.PTY)) {
	synctest.Test(t, func(t *testing.T) {
		s := shots(t)[first]
		p := enginetest.New()
		e := enginetest.Engine(p)
		c := NewCatalog(e, nil)
		o := StartOptions{Program: "x"}
		o.Size.Rows, o.Size.Cols = uint16(s.rows), uint16(s.cols)
		a, err := c.Start(t.Context(), s.agent, o)
		if err != nil {
			t.Fatal(err)
		}
		p.Print(s.bytes)
		synctest.Wait()
		f(a, p)
		p.End(0)
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

const wipe = "\x1b[2J\x1b[?25h"

// send performs an intent while reply answers what the program is sent.
func send(t *testing.T, a *Adapter, p *enginetest.PTY, o SendOptions, reply func(sent string)) Receipt {
	t.Helper()
	done, seen := make(chan Receipt), len(p.Input())
	go func() {
		_, r, err := a.Send(context.Background(), o)
		if err != nil {
			t.Errorf("%s: %v", o.Intent, err)
		}
		done <- r
	}()
	for {
		synctest.Wait()
		if sent := p.Input(); len(sent) > seen {
			fresh := sent[seen:]
			seen = len(sent)
			reply(fresh)
			continue
		}
		select {
		case r := <-done:
			return r
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestOtherSecondEnter: an Enter that was lost is pressed again, unless another dialog that asks
// the same may have come.
func TestOtherSecondEnter(t *testing.T) {
	const dialog = "codex/permission-shell-24x80"
	onScreens(t, dialog, func(a *Adapter, p *enginetest.PTY) {
		enters := 0
		r := send(t, a, p, SendOptions{Intent: "approve"}, func(sent string) {
			if enters += strings.Count(sent, "\r"); enters == 2 {
				p.Print(wipe + shots(t)["codex/completed-24x80"].bytes)
			}
		})
		if enters != 2 || r.Retries != 1 || !*r.Submitted {
			t.Errorf("swallowed: %d times Enter, receipt %+v", enters, r)
		}
	})
	onScreens(t, dialog, func(a *Adapter, p *enginetest.PTY) {
		enters := 0
		r := send(t, a, p, SendOptions{Intent: "approve"}, func(sent string) {
			enters += strings.Count(sent, "\r")
			// The same question again, in one step: only a row above it tells the two apart.
			p.Print("\x1b[9;1H✔ You approved codex to run rm -rf build && mkdir build this time")
		})
		if enters != 1 || *r.Submitted {
			t.Errorf("asked again: %d times Enter, receipt %+v: %s", enters, r, r.Evidence)
		}
	})
}

// TestOtherPointer: Enter waits until the pointer is on the option, and is not pressed if it never
// is.
func TestOtherPointer(t *testing.T) {
	onScreens(t, "gemini-cli/permission-edit-24x80", func(a *Adapter, p *enginetest.PTY) {
		r := send(t, a, p, SendOptions{Intent: "deny"}, func(string) {})
		if strings.Contains(p.Input(), "\r") || *r.Submitted || *r.Echoed {
			t.Errorf("the pointer did not move, and %q was sent: %+v", p.Input(), r)
		}
	})
	onScreens(t, "gemini-cli/trust-third-24x80", func(a *Adapter, p *enginetest.PTY) {
		keys := ""
		r := send(t, a, p, SendOptions{Intent: "approve_trust"}, func(sent string) {
			keys += sent
			if keys == "\x1b[A\x1b[A" {
				p.Print(wipe + shots(t)["gemini-cli/trust-24x80"].bytes)
			} else if strings.HasSuffix(keys, "\r") {
				p.Print(wipe + shots(t)["gemini-cli/ready-24x80"].bytes)
			}
		})
		if keys != "\x1b[A\x1b[A\r" || !*r.Submitted {
			t.Errorf("sent %q: %+v", keys, r)
		}
	})
}

// TestOtherRedraw: a dialog that is redrawn in pieces is not gone: it counts as answered only when
// something else is shown.
func TestOtherRedraw(t *testing.T) {
	onScreens(t, "gemini-cli/trust-24x80", func(a *Adapter, p *enginetest.PTY) {
		dialog, enters := shots(t)["gemini-cli/trust-24x80"].bytes, 0
		r := send(t, a, p, SendOptions{Intent: "approve_trust"}, func(sent string) {
			enters += strings.Count(sent, "\r")
			go func() {
				p.Print("\x1b[12;1H\x1b[J") // the lower half is gone
				time.Sleep(100 * time.Millisecond)
				p.Print(wipe + dialog)
				time.Sleep(100 * time.Millisecond)
				if s := a.Look(context.Background(), a.session.View()); s.State != "waiting_for_trust" {
					t.Errorf("drawn anew: %s by rule %q", s.State, s.Rule)
				}
				p.Print(wipe + "\x1b[2;1H Gemini CLI is restarting to apply the trust changes...")
			}()
		})
		if enters != 1 || !*r.Submitted || r.Evidence != "the dialog has gone; the state is starting" {
			t.Errorf("%d times Enter, receipt %+v", enters, r)
		}
	})
}

// TestOtherPrompt: a prompt is submitted once it is in the input, and its turn is over when its own
// end is on the screen, not that of the turn before.
func TestOtherPrompt(t *testing.T) {
	for _, agent := range others {
		t.Run(agent, func(t *testing.T) {
			onScreens(t, agent+"/completed-24x80", func(a *Adapter, p *enginetest.PTY) {
				screen := func(name string) string { return wipe + shots(t)[agent+"/"+name].bytes }
				r := send(t, a, p, SendOptions{Intent: "send_prompt", Params: map[string]any{"prompt": "explain the build"}}, func(sent string) {
					switch {
					case strings.Contains(sent, "explain the build"):
						p.Print(screen("typed-24x80"))
					case sent == "\r":
						p.Print(screen("completed-24x80")) // the end of the turn before is still there, and the input is empty
					}
				})
				if !*r.Submitted || !*r.Echoed || r.Retries != 0 {
					t.Fatalf("receipt %+v", r)
				}
				if s := a.Look(context.Background(), a.session.View()); s.State != "thinking" || s.Rule != "sent" {
					t.Errorf("right after it was submitted: %s by rule %q (%s)", s.State, s.Rule, s.Evidence)
				}
				m, err := a.Matcher(context.Background(), DefaultMatcher, nil)
				if err != nil {
					t.Fatal(err)
				}
				over := make(chan *engine.Outcome)
				go func() {
					out, err := a.session.Wait(context.Background(), m, engine.Within(time.Minute))
					if err != nil {
						t.Error(err)
					}
					over <- out
				}()
				for _, name := range []string{"streaming-24x80", "completed-24x80"} {
					synctest.Wait()
					select {
					case out := <-over:
						t.Errorf("over too early:\n%s", out.View.Screen)
					default:
					}
					p.Print(screen(name))
				}
				if out := <-over; !strings.Contains(out.View.Screen.Text(), "That is all there is to say about it.") {
					t.Errorf("over at\n%s", out.View.Screen)
				}
			})
		})
	}
}
