package engine_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/matchers"
)

// inBubble runs f in virtual time with one session on a terminal without a kernel, and sees to it
// that nothing is left.
func inBubble(t *testing.T, f func(t *testing.T, p *enginetest.PTY, s *engine.Session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		f(t, p, s)
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func matcher(t *testing.T, tree any) matchers.Matcher {
	t.Helper()
	m, err := parse(tree)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func parse(tree any) (matchers.Matcher, error) { return matchers.Parse(tree, matchers.Options{}) }

func contains(s string) any   { return map[string]any{"type": "contains_text", "value": s} }
func transcript(s string) any { return map[string]any{"type": "transcript_contains", "value": s} }
func stable(ms int) any {
	return map[string]any{"type": "screen_stable", "value": map[string]any{"min_ms": ms}}
}
func group(kind string, of ...any) any { return map[string]any{"type": kind, "value": of} }

// later runs f after d, in the bubble.
func later(d time.Duration, f func()) { time.AfterFunc(d, f) }

func TestWaitEndsWhenItMatches(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		later(70*time.Millisecond, func() { p.Print("rea") })
		later(90*time.Millisecond, func() { p.Print("dy\r\n") })
		parked := 0
		out, err := s.Wait(t.Context(), matcher(t, contains("ready")), engine.Within(time.Second), engine.Parked(func() { parked++ }))
		if err != nil || out.Match == nil || out.Match.Text != "ready" {
			t.Fatalf("got %+v, %v", out, err)
		}
		if out.Elapsed != 90*time.Millisecond || parked != 1 {
			t.Errorf("it took %v and parked %d times", out.Elapsed, parked)
		}
		out, err = s.Wait(t.Context(), matcher(t, contains("ready")), engine.Within(0), engine.Parked(func() { parked++ }))
		if err != nil || out.Elapsed != 0 || parked != 1 {
			t.Errorf("what is there already: %v after %v, parked %d times", err, out.Elapsed, parked)
		}
	})
}

func TestWaitEndsWithEvidence(t *testing.T) {
	cancelled := errors.New("cancelled by the test")
	for name, c := range map[string]struct {
		during  func(p *enginetest.PTY, s *engine.Session, cancel context.CancelCauseFunc)
		want    error
		elapsed time.Duration
	}{
		"timeout": {func(*enginetest.PTY, *engine.Session, context.CancelCauseFunc) {}, engine.ErrTimeout, 500 * time.Millisecond},
		"cancel": {func(_ *enginetest.PTY, _ *engine.Session, cancel context.CancelCauseFunc) { cancel(cancelled) },
			cancelled, 100 * time.Millisecond},
		"end": {func(p *enginetest.PTY, _ *engine.Session, _ context.CancelCauseFunc) { p.End(3) }, engine.ErrEnded, 100 * time.Millisecond},
		"close": {func(_ *enginetest.PTY, s *engine.Session, _ context.CancelCauseFunc) { s.Close(context.Background()) },
			engine.ErrEnded, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				p.Print("on the screen")
				later(100*time.Millisecond, func() { c.during(p, s, cancel) })
				out, err := s.Wait(ctx, matcher(t, contains("never")), engine.Within(500*time.Millisecond))
				if !errors.Is(err, c.want) && !(errors.Is(err, engine.ErrClosed) && c.want == engine.ErrEnded) {
					t.Fatalf("ended with %v, want %v", err, c.want)
				}
				if out.Match != nil || out.View.Screen.Text() != "on the screen" || out.Elapsed != c.elapsed {
					t.Errorf("evidence: match %v, screen %q after %v", out.Match, out.View.Screen.Text(), out.Elapsed)
				}
			})
		})
	}
}

func TestWaitTimeoutOfZeroLooksOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		parked := func() { t.Error("it parked") }
		if _, err := s.Wait(t.Context(), matcher(t, contains("x")), engine.Within(0), engine.Parked(parked)); !errors.Is(err, engine.ErrTimeout) {
			t.Errorf("got %v", err)
		}
	})
}

func TestWaitStableCountsFromTheLastChange(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		for i := range 5 {
			later(time.Duration(i)*100*time.Millisecond, func() { p.Print("working ") })
		}
		out, err := s.Wait(t.Context(), matcher(t, stable(250)), engine.Within(5*time.Second))
		if err != nil || out.Elapsed != 650*time.Millisecond {
			t.Errorf("stable after %v, %v; want 650ms", out.Elapsed, err)
		}
		time.Sleep(time.Second)
		out, err = s.Wait(t.Context(), matcher(t, stable(250)), engine.Within(5*time.Second))
		if err != nil || out.Elapsed != 0 {
			t.Errorf("a screen that is stable already took %v, %v", out.Elapsed, err)
		}
	})
}

func TestWaitStableIgnoresOutputThatChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("same")
		for i := range 20 {
			later(time.Duration(i)*50*time.Millisecond, func() { p.Print("\rsame") })
		}
		out, err := s.Wait(t.Context(), matcher(t, stable(300)), engine.Within(5*time.Second))
		if err != nil || out.Elapsed != 300*time.Millisecond {
			t.Errorf("stable after %v, %v; want 300ms", out.Elapsed, err)
		}
	})
}

func TestWaitStableAfterAnActionGivesTheProgramTime(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("$ ")
		time.Sleep(10 * time.Second)
		since := s.Sequence()
		later(200*time.Millisecond, func() { p.Print("answer") })
		out, err := s.Wait(t.Context(), matcher(t, stable(250)), engine.After(since), engine.Within(5*time.Second))
		if err != nil || out.Elapsed != 450*time.Millisecond {
			t.Errorf("stable after %v, %v; want 450ms", out.Elapsed, err)
		}
	})
}

func TestWaitTwoThresholdsAreBothLookedAt(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		out, err := s.Wait(t.Context(), matcher(t, group("all", stable(100), stable(500))), engine.Within(5*time.Second))
		if err != nil || out.Elapsed != 500*time.Millisecond {
			t.Errorf("both held after %v, %v", out.Elapsed, err)
		}
		out, err = s.Wait(t.Context(), matcher(t, stable(5000)), engine.Within(5*time.Second))
		if err != nil || out.Elapsed != 4500*time.Millisecond {
			t.Errorf("at the deadline it is judged once more: %v after %v", err, out.Elapsed)
		}
	})
}

func TestWaitSinceSeesOnlyWhatCameAfter(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("ok\r\n")
		synctest.Wait()
		since := s.Sequence()
		for _, tree := range []any{contains("ok"), transcript("ok"), map[string]any{"type": "transcript_regex", "value": "^ok"}} {
			if out, err := s.Wait(t.Context(), matcher(t, tree), engine.After(since), engine.Within(0)); err == nil {
				t.Errorf("%v matched what was there before: %+v", tree, out.Match)
			}
		}
		later(time.Millisecond, func() { p.Print("now ok\r\n") })
		for _, tree := range []any{contains("ok"), transcript("ok")} {
			if _, err := s.Wait(t.Context(), matcher(t, tree), engine.After(since), engine.Within(time.Second)); err != nil {
				t.Errorf("%v did not match what came after: %v", tree, err)
			}
		}
	})
}

// TestWaitSinceAtAPrompt: the prompt that stood before what was typed is not the one that comes
// after.
func TestWaitSinceAtAPrompt(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print(">>> ")
		synctest.Wait()
		since := s.Sequence()
		later(10*time.Millisecond, func() { p.Print("slow()\r\n") })
		later(time.Second, func() { p.Print("done\r\n>>> ") })
		for _, tree := range []any{contains(">>>"), map[string]any{"type": "screen_regex", "value": `(?m)^>>>`}} {
			out, err := s.Wait(t.Context(), matcher(t, tree), engine.After(since), engine.Within(time.Minute))
			if err != nil || out.View.Screen.Text() != ">>> slow()\ndone\n>>>" {
				t.Errorf("%v: %v with %q", tree, err, out.View.Screen.Text())
			}
		}
		if out, err := s.Wait(t.Context(), matcher(t, contains(">>> slow")), engine.After(since), engine.Within(0)); err != nil {
			t.Errorf("a match of old and new did not count: %v with %q", err, out.View.Screen.Text())
		}
	})
}

// TestWaitSinceSeesWhatIsWrittenAgain: the same answer twice is two answers, however it comes.
func TestWaitSinceSeesWhatIsWrittenAgain(t *testing.T) {
	for _, chunks := range [][]string{{"\x1b[H\x1b[KNot found"}, {"\x1b[H", "\x1b[K", "Not f", "ound"}, {"\x1b[HNot found"}} {
		inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
			p.Print("Not found")
			synctest.Wait()
			since := s.Sequence()
			if _, err := s.Wait(t.Context(), matcher(t, contains("Not found")), engine.After(since), engine.Within(0)); err == nil {
				t.Error("what was there before counted")
			}
			changed := s.View().Changed
			time.Sleep(time.Second)
			for _, c := range chunks {
				p.Print(c)
				synctest.Wait()
			}
			if _, err := s.Wait(t.Context(), matcher(t, contains("Not found")), engine.After(since), engine.Within(0)); err != nil {
				t.Errorf("%q did not count", chunks)
			}
			if len(chunks) == 1 && s.View().Changed != changed {
				t.Errorf("%q changed the screen", chunks)
			}
		})
	}
}

func TestWaitOnASessionThatHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("bye")
		p.End(7)
		synctest.Wait()
		for _, tree := range []any{contains("bye"), map[string]any{"type": "process_exited"}} {
			if _, err := s.Wait(t.Context(), matcher(t, tree), engine.Within(time.Hour)); err != nil {
				t.Errorf("%v on the final view: %v", tree, err)
			}
		}
		out, err := s.Wait(t.Context(), matcher(t, contains("no")), engine.Within(time.Hour))
		if !errors.Is(err, engine.ErrEnded) || out.Elapsed != 0 || out.View.Exit.Code != 7 {
			t.Errorf("%v after %v with %+v", err, out.Elapsed, out.View.Exit)
		}
		out, err = s.Wait(t.Context(), matcher(t, stable(300)), engine.Within(time.Hour))
		if err != nil || out.Elapsed != 300*time.Millisecond {
			t.Errorf("stability can still come true: %v after %v", err, out.Elapsed)
		}
	})
}

func TestWaitBell(t *testing.T) {
	bell := map[string]any{"type": "bell"}
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		since := s.Sequence()
		p.Print("\a")
		synctest.Wait()
		if _, err := s.Wait(t.Context(), matcher(t, bell), engine.Within(0)); err == nil {
			t.Error("a bell from before the wait counted")
		}
		if _, err := s.Wait(t.Context(), matcher(t, bell), engine.After(since), engine.Within(0)); err != nil {
			t.Errorf("a bell since then did not count: %v", err)
		}
		later(time.Millisecond, func() { p.Print("\a") })
		if _, err := s.Wait(t.Context(), matcher(t, bell), engine.Within(time.Second)); err != nil {
			t.Errorf("a bell during the wait did not count: %v", err)
		}
	})
}

func TestWaitSeesWholeFrames(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("old")
		synctest.Wait()
		p.Print("\x1b[?2026h\x1b[2J\x1b[Hne")
		synctest.Wait()
		if text := s.View().Screen.Text(); text != "old" {
			t.Errorf("inside an update the screen shows %q", text)
		}
		p.Print("w\x1b[?2026l")
		synctest.Wait()
		if text := s.View().Screen.Text(); text != "new" {
			t.Errorf("after the update it shows %q", text)
		}
		p.Print("\x1b[?2026h\x1b[2J\x1b[Hstuck")
		synctest.Wait()
		since := s.Sequence()
		out, err := s.Wait(t.Context(), matcher(t, contains("stuck")), engine.After(since), engine.Within(time.Second))
		if err != nil || out.Elapsed != 150*time.Millisecond {
			t.Errorf("an update that never ends hides the screen: %v after %v", err, out.Elapsed)
		}
	})
}

// TestWaitSeesWholeFramesOneAfterAnother: each update has its own time, also when it begins in the
// write that ends the one before.
func TestWaitSeesWholeFramesOneAfterAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("MARK\x1b[?2026h\x1b[H\x1b[2J")
		synctest.Wait()
		for i := range 20 {
			later(time.Duration(i)*100*time.Millisecond, func() { p.Print("MARK\x1b[?2026l\x1b[?2026h\x1b[H\x1b[2J") })
		}
		gone := map[string]any{"type": "not", "value": contains("MARK")}
		out, err := s.Wait(t.Context(), matcher(t, gone), engine.Within(time.Minute))
		if err != nil || out.Elapsed != 2050*time.Millisecond { // 150 ms after the last one began
			t.Errorf("a frame without the mark was seen after %v: %v", out.Elapsed, err)
		}
	})
}

// TestExitInsideAnUpdateShowsWhatWasWritten: nobody ends the update any more.
func TestExitInsideAnUpdateShowsWhatWasWritten(t *testing.T) {
	for _, draining := range []bool{false, true} {
		inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
			p.Print("before \x1b[?2026hLASTWORD")
			p.Exit(pty.Exit{Code: 3})
			if !draining {
				p.HangUp()
			}
			out, err := s.Wait(t.Context(), matcher(t, map[string]any{"type": "process_exited"}), engine.Within(time.Minute))
			if err != nil || out.View.Screen.Text() != "before LASTWORD" {
				t.Errorf("draining %v: at the exit the screen shows %q, %v", draining, out.View.Screen.Text(), err)
			}
			if _, err := s.Wait(t.Context(), matcher(t, contains("LASTWORD")), engine.Within(time.Second)); err != nil {
				t.Errorf("draining %v: %v", draining, err)
			}
		})
	}
}

// TestWaitAnyAsksAllOfItsParts: a bell that rings while another part matches is not forgotten.
func TestWaitAnyAsksAllOfItsParts(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("A")
		later(10*time.Millisecond, func() { p.Print("\x1b[2J\x1b[H\a") })
		later(20*time.Millisecond, func() { p.Print("B") })
		tree := group("all", group("any", contains("A"), map[string]any{"type": "bell"}), contains("B"))
		out, err := s.Wait(t.Context(), matcher(t, tree), engine.Within(time.Minute))
		if err != nil || out.Match.Parts[0].Index != 1 {
			t.Errorf("%v after %v", err, out.Elapsed)
		}
	})
}

// TestWaitSinceJoinsNeighboursOnly: rows with an old one between them do not stand together.
func TestWaitSinceJoinsNeighboursOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("x\r\nOLD\r\nx")
		synctest.Wait()
		since := s.Sequence()
		p.Print("\x1b[HA1\x1b[3;1HC1")
		synctest.Wait()
		if _, err := s.Wait(t.Context(), matcher(t, contains("A1\nC1")), engine.After(since), engine.Within(0)); err == nil {
			t.Error("rows that are no neighbours matched as if they were")
		}
		if _, err := s.Wait(t.Context(), matcher(t, group("all", contains("A1"), contains("C1"))), engine.After(since), engine.Within(0)); err != nil {
			t.Error(err)
		}
	})
}

func TestWaitEvidenceExplains(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("Proceed? [y/N]\r\npassword for bob:\r\nTotal: 41 files")
		synctest.Wait()
		for want, tree := range map[string]any{
			"other letter case":  contains("proceed?"),
			"nearest: password":  contains("password for alice"),
			"nearest: Total":     map[string]any{"type": "screen_regex", "value": `Total: \d+ directories`},
			"broken over lines":  contains("[y/N]password"),
			"0 of 2 hold":        group("any", contains("xyz"), stable(60_000)),
			"nothing like it":    contains("\u2603\u2603"),
			"blanks at the end":  contains("bob: "),
			"row, which are cut": map[string]any{"type": "screen_regex", "value": `(?m)bob: $`},
		} {
			m := matcher(t, tree)
			out, err := s.Wait(t.Context(), m, engine.Within(0))
			if err == nil {
				t.Fatalf("%v matched", tree)
			}
			v := out.View
			e := m.Explain(v, matchers.Everything(v))
			if got := e.Why + "; nearest: " + e.Nearest; !strings.Contains(got, want) {
				t.Errorf("%v is explained as %q, want %q in it", tree, got, want)
			}
		}
	})
}

func TestExitIsToldOnceAllIsRead(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Exit(pty.Exit{Code: 5}) // a descendant holds the terminal
		later(100*time.Millisecond, func() { p.Print("late but in time") })
		out, err := s.Wait(t.Context(), matcher(t, map[string]any{"type": "process_exited"}), engine.Within(time.Minute))
		if err != nil || out.Elapsed > 250*time.Millisecond || out.Elapsed < 150*time.Millisecond {
			t.Fatalf("told after %v, %v", out.Elapsed, err)
		}
		if e := out.View.Exit; e.Code != 5 || !e.Draining || out.View.Screen.Text() != "late but in time" {
			t.Errorf("exit %+v with %q", e, out.View.Screen.Text())
		}
		p.Print(" and more")
		p.HangUp()
		synctest.Wait()
		if v := s.View(); v.Exit.Draining || v.Screen.Text() != "late but in time and more" {
			t.Errorf("in the end: %+v with %q", v.Exit, v.Screen.Text())
		}
	})
}

func TestExitIsToldDespiteAnEndlessWriter(t *testing.T) {
	for _, size := range []int{1, 100, 1 << 10, 4095, 4 << 10, 64 << 10} {
		for _, every := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 9 * time.Millisecond} {
			inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
				ctx, stop := context.WithCancel(t.Context())
				var writer sync.WaitGroup
				writer.Go(func() {
					for ctx.Err() == nil {
						p.Print(strings.Repeat("y", size))
						time.Sleep(every)
					}
				})
				defer writer.Wait()
				defer stop()
				p.Exit(pty.Exit{Code: 0})
				out, err := s.Wait(t.Context(), matcher(t, map[string]any{"type": "process_exited"}), engine.Within(time.Minute))
				if err != nil || out.Elapsed > 250*time.Millisecond {
					t.Errorf("%d bytes every %v: told after %v, %v", size, every, out.Elapsed, err)
				}
			})
		}
	}
}

func TestExitWaitsForTheStatus(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.HangUp() // some systems end the output before the leader can be reaped
		synctest.Wait()
		if e := s.View().Exit; e != nil {
			t.Fatalf("guessed %+v", e)
		}
		p.Exit(pty.Exit{Code: 7})
		synctest.Wait()
		if e := s.View().Exit; e == nil || e.Code != 7 {
			t.Errorf("got %+v", e)
		}
	})
}

func TestTranscriptRegexOverManyBatches(t *testing.T) {
	re := regexp.MustCompile(`(?m)^item (\d+): done$`)
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		m := matcher(t, map[string]any{"type": "transcript_regex", "value": re.String()})
		done := make(chan *engine.Outcome)
		go func() {
			out, err := s.Wait(t.Context(), m, engine.Within(time.Hour))
			if err != nil {
				t.Error(err)
			}
			done <- out
		}()
		for range 3000 {
			p.Print("item 12: still going strong\n")
			synctest.Wait()
		}
		for _, c := range "item 4711: done\n" {
			p.Print(string(c))
			synctest.Wait()
		}
		if out := <-done; out.Match == nil || out.Match.Capture != "4711" {
			t.Errorf("got %+v", out.Match)
		}
	})
}
