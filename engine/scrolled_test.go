package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/matchers"
)

func screenRegex(s string) any {
	return map[string]any{"type": "screen_regex", "value": s}
}
func onScreen(tree any) any {
	tree.(map[string]any)["scope"] = "screen"
	return tree
}

// lines are n lines that scroll a text off the screen.
func lines(n int) string { return strings.Repeat("filler\r\n", n) }

// wait waits for a matter of seconds.
func wait(t *testing.T, s *engine.Session, tree any, since *engine.Position) (*engine.Outcome, error) {
	t.Helper()
	return s.Wait(t.Context(), matcher(t, tree), since, engine.Within(time.Second))
}

// TestWaitSeesWhatScrolledOff: a text that comes and leaves the screen in one batch was seen,
// whatever the scrollback keeps; what had left before the wait began was not.
func TestWaitSeesWhatScrolledOff(t *testing.T) {
	for _, c := range []struct {
		name, before, output string
		tree                 any
		scrolled             string // "": it does not match
	}{
		{"text", "", "server ready on 5173\r\n" + lines(60), contains("ready on"), "server ready on 5173"},
		{"regex", "", "port 5173 is\r\n" + lines(60), screenRegex(`(?m)^port (\d+)`), "port 5173 is"},
		{"a line that the terminal wraps", "", strings.Repeat("w", 75) + " long line\r\n" + lines(60), contains("w long line"), strings.Repeat("w", 75) + " long line"},
		{"several lines", "", "one\r\ntwo\r\n" + lines(60), screenRegex(`one\s+two`), "one\ntwo"},
		{"erased scrollback", "", "ready\r\n" + lines(60) + "\x1b[3J", contains("ready"), "ready"},
		{"then an alternate screen", "", "ready\r\n" + lines(60) + "\x1b[?1049h", contains("ready"), "ready"},
		{"before", "ready\r\n" + lines(60), "x\r\n", contains("ready"), ""},
		{"only the screen", "", "ready\r\n" + lines(60), onScreen(contains("ready")), ""},
		{"under not", "", "ready\r\n" + lines(60), group("all", contains("ready"), map[string]any{"type": "not", "value": contains("ready")}), "-"},
		{"the screen's end is no other text's", "", "ready\r\n" + lines(60), screenRegex(`ready$`), ""},
		{"any", "", "ready\r\n" + lines(60), group("any", contains("nothing"), contains("ready")), "ready"},
		{"all, one of it later", "ready\r\n", lines(60) + "done", group("all", contains("ready"), contains("done")), "ready"},
	} {
		for _, scrollback := range []int{0, -1} {
			t.Run(fmt.Sprintf("%s/%d", c.name, scrollback), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := enginetest.New()
					e := enginetest.Engine(p)
					defer e.Close(context.Background())
					s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Scrollback: scrollback})
					if err != nil {
						t.Fatal(err)
					}
					p.Print(c.before)
					synctest.Wait()
					later(10*time.Millisecond, func() { p.Print(c.output) })
					m := matcher(t, c.tree)
					out, err := s.Wait(t.Context(), m, engine.Within(time.Second))
					if c.scrolled == "" {
						if !errors.Is(err, engine.ErrTimeout) {
							t.Fatalf("matched %+v, %v", out.Match, err)
						}
						e := m.Explain(out.View, matchers.Shown{Screen: out.View.Screen})
						if e.Held || strings.Contains(e.Why, "nothing like it") {
							t.Errorf("explained: %+v", e)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					at := out.Match.Place
					for _, part := range out.Match.Parts {
						if part.Place != nil && part.Place.Scrolled {
							at = part.Place
						}
					}
					if c.scrolled != "-" && (at == nil || !at.Scrolled || at.Lines != c.scrolled || at.Line != 0) {
						t.Errorf("matched at %+v", at)
					}
				})
			})
		}
	}
}

// TestWaitSinceOfWhatScrolledOff: of what scrolled off, too.
func TestWaitSinceOfWhatScrolledOff(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		print := func(text string) uint64 { p.Print(text); synctest.Wait(); return s.Sequence() }
		print("old 1\r\n")
		seq := print("old 2\r\n")
		print("new 1\r\n")
		print(lines(60))
		if out, err := wait(t, s, contains("old"), engine.After(seq)); err == nil {
			t.Errorf("old text matched: %+v", out.Match.Place)
		}
		out, err := wait(t, s, screenRegex(`(?m)^(old|new) \d`), engine.After(seq))
		if err != nil || out.Match.Capture != "new" || out.Match.Place.Line != 2 || out.Missed {
			t.Errorf("since: %+v, %v", out.Match, err)
		}
		if out, err := wait(t, s, contains("old 1"), engine.After(0)); err != nil || !out.Match.Place.Scrolled {
			t.Errorf("since 0 reads all that is kept: %v", err)
		}
	})
}

// TestWaitSaysWhatItMissed: lines that are lost before the wait could read them.
func TestWaitSaysWhatItMissed(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("early\r\n" + strings.Repeat(strings.Repeat("x", 79)+"\r\n", 20_000))
		synctest.Wait()
		out, err := wait(t, s, contains("early"), engine.After(0))
		if !errors.Is(err, engine.ErrTimeout) || !out.Missed {
			t.Errorf("%v, missed %v", err, out.Missed)
		}
		if out, _ := wait(t, s, contains("early"), nil); out.Missed {
			t.Error("a wait has missed what was lost before it began")
		}
	})
}

// TestWaitsChain: each line is found once, in order, whatever the batches, and with it what stood
// before it.
func TestWaitsChain(t *testing.T) {
	for seed := range uint64(6) {
		inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
			r := rand.New(rand.NewPCG(seed, 1))
			const n = 1000
			var out strings.Builder
			for i := range n {
				fmt.Fprintf(&out, "line %d.\r\n", i)
			}
			go func() {
				for text := out.String(); text != ""; {
					k := min(len(text), 1+r.IntN(2000))
					p.Print(text[:k])
					text = text[k:]
					time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
				}
			}()
			next := engine.After(0)
			for i := range n {
				tree := contains(fmt.Sprintf("line %d.", i))
				if seed%2 == 1 && i > 0 { // the next of its kind
					tree = screenRegex(`line (\d+)\.`)
				}
				out, err := wait(t, s, tree, next)
				if err != nil || out.Missed {
					t.Fatalf("line %d: %v, missed %v", i, err, out.Missed)
				}
				if c := out.Match.Capture; c != "" && c != fmt.Sprint(i) {
					t.Fatalf("found %s, not %d", c, i)
				}
				if strings.Contains(out.Before, "line") {
					t.Fatalf("before line %d came %q", i, out.Before)
				}
				next = out.Next
				if again, err := engine.ParsePosition(next.String()); err != nil || *again != *next {
					t.Fatalf("%v is read as %v, %v", next, again, err)
				}
			}
			if out, err := wait(t, s, contains("line"), next); err == nil {
				t.Errorf("found once more: %+v", out.Match.Place)
			}
		})
	}
}

// TestWaitChainsAcrossKinds: from a text on the screen to output, to the end of a command, and to a
// bell, all in one batch.
func TestWaitChainsAcrossKinds(t *testing.T) {
	of := func(kind, value string) any {
		tree := map[string]any{"type": kind}
		if value != "" {
			tree["value"] = value
		}
		return tree
	}
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("\x1b]133;C\aone \x1b[1mtwo\x1b[m\a\r\none\r\n\x1b]133;D;3\a\x1b]133;A\a$ ")
		synctest.Wait()
		next := engine.After(0)
		for i, tree := range []any{contains("one"), of("transcript_contains", "two"), of("transcript_contains", "one"), of("command_finished", ""), contains("$")} {
			out, err := wait(t, s, tree, next)
			if err != nil {
				t.Fatalf("step %d from %v: %v", i, next, err)
			}
			next = out.Next
		}
		if _, err := wait(t, s, contains("$"), next); err == nil {
			t.Error("the prompt was found twice")
		}
	})
}

// TestWaitTellsWhatCameBefore: the text between since and the match, bounded.
func TestWaitTellsWhatCameBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("$ ")
		synctest.Wait()
		since := engine.After(s.Sequence())
		p.Print("make\r\ncc a.c\r\n" + lines(40) + "done\r\n")
		out, err := wait(t, s, contains("done"), since)
		if want := "$ make\ncc a.c\n" + strings.Repeat("filler\n", 40); err != nil || out.Before != want || out.Cut {
			t.Errorf("before: %q, cut %v, %v", out.Before, out.Cut, err)
		}
		out, err = wait(t, s, map[string]any{"type": "transcript_regex", "value": `done`}, since)
		if err != nil || !strings.HasPrefix(out.Before, "make\r\ncc a.c\r\n") || !strings.HasSuffix(out.Before, "filler\r\n") {
			t.Errorf("before in the output: %q, %v", out.Before, err)
		}
		p.Print(strings.Repeat(strings.Repeat("é", 40)+"\r\n", 300) + "end")
		if out, err = wait(t, s, contains("end"), since); err != nil || !out.Cut || len(out.Before) > engine.MostBefore || !strings.HasSuffix(out.Before, "é\n") {
			t.Errorf("bounded: %d bytes, cut %v, %v", len(out.Before), out.Cut, err)
		}
	})
}

// TestRegexIsInterrupted: a search that takes long ends when its wait does, and lets other requests
// go on before.
func TestRegexIsInterrupted(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	defer e.Close(context.Background())
	s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", TranscriptChars: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for range 128 {
		p.Print(strings.Repeat("aaaaaaaaaaaaaaaa", 4<<10))
	}
	p.End(0)
	if _, err := s.Wait(t.Context(), matcher(t, map[string]any{"type": "process_exited"}), engine.Within(time.Minute)); err != nil {
		t.Fatal(err)
	}
	slow := map[string]any{"type": "transcript_regex", "value": `(a?){400}[^a]{2}b`}
	ctx, cancel := context.WithCancelCause(t.Context())
	parked := make(chan bool)
	stop := errors.New("stopped")
	go func() {
		<-parked
		cancel(stop)
	}()
	out, err := s.Wait(ctx, matcher(t, slow), engine.Parked(func() { close(parked) }))
	if !errors.Is(err, stop) || out.Match != nil {
		t.Errorf("cancelled: %v, %+v", err, out.Match)
	}
	m := matcher(t, map[string]any{"type": "not", "value": slow})
	out, err = s.Wait(t.Context(), m, engine.Within(time.Millisecond))
	if !errors.Is(err, engine.ErrTimeout) || out.Match != nil {
		t.Errorf("timed out: %v, %+v", err, out.Match)
	}
	if e := m.Explain(out.View, matchers.Shown{}); e.Held || !strings.Contains(e.Parts[0].Why, "still being searched") {
		t.Errorf("explained: %+v", e)
	}
}
