package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
)

// allEvents are what the session keeps.
func allEvents(s *engine.Session) []engine.Event {
	events, _, _ := s.Events(0, 1<<20)
	return events
}

// eventsOf are those of a kind.
func eventsOf(s *engine.Session, k engine.EventKind) []engine.Event {
	return slices.DeleteFunc(allEvents(s), func(e engine.Event) bool { return e.Kind != k })
}

func TestEventsOfWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := s.Wait(ctx, matcher(t, contains("never")), engine.By("ann"), engine.Within(time.Minute))
			done <- err
		}()
		synctest.Wait()
		pending := eventsOf(s, engine.EventWait)
		if len(pending) != 1 || pending[0].State != engine.Pending || pending[0].By != "ann" ||
			pending[0].Text != `the screen shows "never"` || pending[0].TimeoutMS != 60_000 ||
			!pending[0].Until.IsZero() {
			t.Fatalf("while it waits: %+v", pending)
		}
		_, seen, _ := s.Events(0, 10)
		time.Sleep(3 * time.Second)
		cancel(errors.New("no more"))
		<-done
		again, _, dropped := s.Events(seen, 10)
		if len(again) != 1 || again[0].ID != pending[0].ID || again[0].State != engine.Cancelled ||
			again[0].Until.Sub(again[0].At) != 3*time.Second || dropped {
			t.Errorf("once cancelled: %+v, dropped %v", again, dropped)
		}
		later(time.Second, func() { p.Print("ready") })
		explained := engine.Explained(func(out *engine.Outcome, err error) string {
			return fmt.Sprint(out.Match != nil, err)
		})
		if _, err := s.Wait(t.Context(), matcher(t, contains("ready")), explained); err != nil {
			t.Fatal(err)
		}
		s.Wait(t.Context(), matcher(t, contains("nope")), engine.Within(time.Second), explained)
		s.Wait(t.Context(), matcher(t, contains("a look")), engine.Within(0), explained)
		s.Wait(t.Context(), engine.Func(func(*engine.View) bool { return false }), engine.Within(time.Second))
		s.Wait(t.Context(), matcher(t, contains("typed text")), engine.Within(time.Second), engine.Unnoted{})
		s.Wait(t.Context(), matcher(t, contains("ready")), engine.Unnoted{})
		p.End(0)
		synctest.Wait()
		s.Wait(t.Context(), matcher(t, contains("too late")), engine.Within(time.Second))
		var got []string
		for _, e := range eventsOf(s, engine.EventWait) {
			got = append(got, fmt.Sprint(e.State, " ", e.Text, " ", e.Evidence))
		}
		want := []string{`cancelled the screen shows "never" `, `matched the screen shows "ready" true <nil>`,
			`timed_out the screen shows "nope" false the wait timed out`}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestEventsOfInput(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		for _, c := range "make" {
			if _, err := s.Do(t.Context(), engine.Text(c), engine.By("ann")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		s.Do(t.Context(), engine.Key{Code: vt.KeyEnter}, engine.By("ann"))
		time.Sleep(2 * time.Second)
		s.Do(t.Context(), engine.Interrupt{}, engine.By("bob"))
		s.Do(t.Context(), engine.BracketedPaste("a long paste"), engine.By("bob"))
		p.SetLineMode(pty.LineMode{Canonical: true})
		s.Do(t.Context(), engine.Text("hunter2\r"), engine.By("bob"))
		all := eventsOf(s, engine.EventInput)
		if len(all) != 3 {
			t.Fatalf("%d events: %+v", len(all), all)
		}
		word, paste, secret := all[0], all[1], all[2]
		if word.Bytes != 5 || word.By != "ann" || !slices.Equal(word.Keys, []string{"enter"}) ||
			word.Until.Sub(word.At) != 400*time.Millisecond {
			t.Errorf("a word typed key by key: %+v", word)
		}
		if paste.By != "bob" || paste.Keys[0] != "ctrl+c" || paste.Bytes != 25 {
			t.Errorf("a key and a paste: %+v", paste)
		}
		if !secret.Secret || secret.Bytes != 0 || secret.Keys != nil {
			t.Errorf("with echo off: %+v", secret)
		}
		if text := fmt.Sprintf("%+v", allEvents(s)); strings.Contains(text, "hunter2") || strings.Contains(text, "make") {
			t.Errorf("what was typed is in %s", text)
		}
	})
}

func TestEventsOfInputThatIsNotRead(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Take(3)
		if _, err := s.Do(t.Context(), engine.Text("abcdef")); err == nil {
			t.Fatal("it was read")
		}
		if e := eventsOf(s, engine.EventInput); len(e) != 1 || e[0].State != engine.Blocked || e[0].Bytes != 3 {
			t.Errorf("%+v", e)
		}
	})
}

func TestEventsOfCommands(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("\x1b]133;A\a$ \x1b]133;B\amake\r\n\x1b]133;C\aone\r\n")
		synctest.Wait()
		if e := eventsOf(s, engine.EventCommand); len(e) != 1 || e[0].State != engine.Running || e[0].Text != "make" {
			t.Fatalf("while it runs: %+v", e)
		}
		p.Print("\x1b]133;D;2\a\x1b]133;A\a$ \x1b]133;B\aexit\r\n\x1b]133;C\a")
		synctest.Wait()
		p.End(7)
		synctest.Wait()
		e := eventsOf(s, engine.EventCommand)
		if len(e) != 2 || e[0].State != engine.CommandEnded || *e[0].ExitCode != 2 || e[0].Number != 1 ||
			e[1].State != engine.CommandEnded || e[1].ExitCode != nil || e[1].Text != "exit" {
			t.Errorf("in the end: %+v", e)
		}
		if x := eventsOf(s, engine.EventExit); len(x) != 1 || *x[0].ExitCode != 7 {
			t.Errorf("the exit: %+v", x)
		}
	})
}

func TestEventsOfTheRest(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		l, err := s.Lease("ann", false)
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Lease("bob", true)
		if err != nil {
			t.Fatal(err)
		}
		m.Release()
		l.Release()
		s.Do(t.Context(), engine.Resize{Rows: 10, Cols: 40}, engine.By("ann"))
		for range 3 {
			p.Print("\a\x1b]2;spinning\a")
			synctest.Wait()
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		p.Print("\x1b]2;still\a\a")
		synctest.Wait()
		var got []string
		for _, e := range allEvents(s) {
			got = append(got, fmt.Sprint(e.Kind, " ", e.State, " ", e.By, " ", e.Text, " ", e.Count, " ", e.Rows, "x", e.Cols))
		}
		want := []string{
			"lease taken_over ann  0 0x0", "lease released bob  0 0x0", "resize  ann  0 10x40",
			"title   spinning 0 0x0", "bell    3 0x0", "bell    1 0x0", "title   still 0 0x0",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestEventsAreBounded: by number and by text; what goes on stays, and a reader learns that it
// missed some.
func TestEventsAreBounded(t *testing.T) {
	for what, text := range map[string]string{"number": "x", "text": strings.Repeat("0123456789 ", 150)} {
		inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				s.Wait(ctx, matcher(t, contains("never")), engine.Within(-1))
			}()
			synctest.Wait()
			for i := range 2000 {
				s.Note(&engine.Event{Kind: engine.EventAdapter, Text: fmt.Sprint(text, i)})
			}
			all, next, dropped := s.Events(0, 1<<20)
			bytes := 0
			for _, e := range all {
				bytes += len(e.Text)
			}
			if !dropped || len(all) > 500 || bytes > 64<<10 || len(all) < 30 {
				t.Errorf("%s: %d events with %d bytes, dropped %v", what, len(all), bytes, dropped)
			}
			if all[0].State != engine.Pending || !strings.HasSuffix(all[len(all)-1].Text, "1999") || next != 2001 {
				t.Errorf("%s: kept are %+v to %+v, next %d", what, all[0], all[len(all)-1].Text, next)
			}
			if _, _, dropped := s.Events(all[1].Seq-1, 10); dropped {
				t.Errorf("%s: what is kept was called dropped", what)
			}
			var seqs []uint64 // piece by piece it is the same
			for seq := uint64(0); ; {
				some, to, _ := s.Events(seq, 7)
				if len(some) == 0 {
					break
				}
				for _, e := range some {
					seqs = append(seqs, e.Seq)
				}
				seq = to
			}
			if len(seqs) != len(all) || !slices.IsSorted(seqs) {
				t.Errorf("%s: in pieces there are %d", what, len(seqs))
			}
			cancel()
			<-done
		})
	}
}

// An eventTap gets events among the output.
type eventTap struct{ tap }

func (t *eventTap) Event(e engine.Event) error {
	t.seen += fmt.Sprintf("<%s %s>", e.Kind, e.State)
	return nil
}

func TestTapsGetEventsInOrder(t *testing.T) {
	x, late := &eventTap{}, &eventTap{}
	withTaps(t, func(p *enginetest.PTY, s *engine.Session) {
		p.Print("one \x1b]133;A\a\x1b]133;B\a\x1b]133;C\a")
		synctest.Wait()
		go s.Wait(context.Background(), matchers.Text("three"))
		synctest.Wait()
		if err := s.Attach(func(*engine.View) (engine.Tap, error) { return late, nil }); err != nil {
			t.Fatal(err)
		}
		p.Print("three")
		synctest.Wait()
	}, x)
	const marks = "one \x1b]133;A\a\x1b]133;B\a\x1b]133;C\a"
	if x.seen != marks+"<command running><wait pending>three<wait matched><command ended>" {
		t.Errorf("got %q", x.seen)
	}
	if late.seen != "<command running><wait pending>three<wait matched><command ended>" {
		t.Errorf("one that came later got %q", late.seen)
	}
}

func TestMatchersSayWhatTheyWaitFor(t *testing.T) {
	long := strings.Repeat("ab", 200)
	for want, tree := range map[string]any{
		`the screen shows "Ready"`:                                         contains("Ready"),
		"the screen shows a text of 400 characters":                        contains(long),
		`the output has "x"`:                                               transcript("x"),
		`the screen shows /a+/`:                                            map[string]any{"type": "screen_regex", "value": "a+"},
		"the title has /x/":                                                map[string]any{"type": "title_regex", "value": "x"},
		"the screen is still for 300 ms":                                   stable(300),
		"the program has ended":                                            map[string]any{"type": "process_exited"},
		"the cursor is in row 1, column 2":                                 map[string]any{"type": "cursor_at", "value": map[string]any{"row": 1, "col": 2}},
		"a command ends with exit code 0":                                  map[string]any{"type": "command_finished", "value": map[string]any{"exit_code": 0}},
		"text 'OK' is on the screen":                                       map[string]any{"type": "located", "value": map[string]any{"locator": "'OK'"}},
		`the bell rings or (a command ends and not: the screen shows "x")`: group("any", map[string]any{"type": "bell"}, group("all", map[string]any{"type": "command_finished"}, map[string]any{"type": "not", "value": contains("x")})),
	} {
		if got := fmt.Sprint(matcher(t, tree)); got != want {
			t.Errorf("%v is %q, want %q", tree, got, want)
		}
	}
}
