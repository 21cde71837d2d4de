package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/matchers"
)

// staged yields the views of a stage that is shown each text, a second after the last; the last
// view is again a second later.
func staged(texts ...string) iter.Seq[*engine.View] {
	return func(yield func(*engine.View) bool) {
		at := time.Unix(0, 0)
		g := engine.NewStage(4, 20, at)
		for _, text := range texts {
			at = at.Add(time.Second)
			g.Output(at, []byte(text))
			if !yield(g.View(at)) {
				return
			}
		}
		yield(g.View(at.Add(time.Second)))
	}
}

// TestSpans: a span is from the first view in which a matcher held to the first in which it no
// longer did, or to the time at which it said that it would.
func TestSpans(t *testing.T) {
	const clear = "\x1b[2J\x1b[H"
	text := func(s string) *matchers.TextMatcher { return matchers.Text(s) }
	for _, c := range []struct {
		name   string
		m      engine.Matcher
		shown  []string
		spans  []string // from-to in sequences, and in seconds
		errors string
	}{
		{name: "never", m: text("x"), shown: []string{"a", "b"}},
		{name: "to the end", m: text("b"), shown: []string{"a", "b", "c"},
			spans: []string{"2-0 2s-4s open"}},
		{name: "twice", m: text("b"), shown: []string{"b", clear, "b", "b", clear},
			spans: []string{"1-2 1s-2s", "3-5 3s-5s"}},
		{name: "scrolled off", m: text("b"), shown: []string{"b\r\n", "\n\n\n\n", "c"},
			spans: []string{"1-2 1s-2s"}},
		{name: "not", m: matchers.Not(text("b")), shown: []string{"a", "b", clear},
			spans: []string{"1-2 1s-2s", "3-0 3s-4s open"}},
		{name: "a still screen", m: matchers.Stable(300 * time.Millisecond),
			shown: []string{"a", "\x1b[5n", "b"},
			spans: []string{"1-3 1.3s-3s", "3-0 3.3s-4s open"}},
		{name: "a screen that is not still", m: matchers.Not(matchers.Stable(300 * time.Millisecond)),
			shown: []string{"a", "b"}, spans: []string{"1-1 1s-1.3s", "2-2 2s-2.3s"}},
		{name: "a text on a still screen", m: matchers.All(matchers.Not(matchers.Not(matchers.Stable(300*time.Millisecond))), text("a")),
			shown: []string{"a", "b"}, spans: []string{"1-2 1.3s-2s", "2-0 2.3s-3s open"}},
		{name: "stillness that a view at its time tells", m: matchers.Stable(time.Second),
			shown: []string{"a", "\x1b[5n"}, spans: []string{"2-0 2s-3s open"}},
		{name: "a held update", m: text("b"),
			shown: []string{"\x1b[?2026hb", "\x1b[?2026l", clear},
			// Its bound of 150 ms has passed when the next comes, and counts.
			spans: []string{"3-4 2s-3s"}},
		{name: "an error after a span", m: &failing{text: "b", after: 3},
			shown: []string{"a", "b", "c"}, spans: []string{"2-0 2s-3s open"}, errors: "broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var spans []string
			failed := ""
			for s, err := range engine.Spans(staged(c.shown...), c.m) {
				if err != nil {
					failed = err.Error()
					continue
				}
				at := func(t time.Time) time.Duration { return t.Sub(time.Unix(0, 0)) }
				one := fmt.Sprintf("%d-%d %v-%v", s.From, s.To, at(s.FromAt), at(s.ToAt))
				if s.Open {
					one += " open"
				}
				spans = append(spans, one)
				if s.Match == nil || s.View.Sequence != s.From || !s.View.At.Equal(s.FromAt) {
					t.Errorf("%s: match %v, view %d at %v", one, s.Match, s.View.Sequence, s.View.At)
				}
			}
			if d := cmp.Diff(c.spans, spans); d != "" || failed != c.errors {
				t.Errorf("error %q, spans (-want +got):\n%s", failed, d)
			}
		})
	}
}

// TestSpansStop: who has seen enough gets no more, and the views behind are not looked at.
func TestSpansStop(t *testing.T) {
	looked := 0
	m := engine.Func(func(v *engine.View) bool {
		looked++
		return strings.HasSuffix(v.Screen.Text(), "b")
	})
	for range engine.Spans(staged(slices.Repeat([]string{"a", "b"}, 50)...), m) {
		break
	}
	if looked != 3 {
		t.Errorf("%d views were looked at, want 3", looked)
	}
}

// failing holds while a text is shown, and fails at its nth view.
type failing struct {
	text  string
	after int
}

func (m *failing) Check(v *engine.View) engine.Result {
	if m.after--; m.after == 0 {
		return engine.Result{Err: errors.New("broken")}
	}
	return matchers.Text(m.text).Check(v)
}

// TestAStillScreenHasNoGaps: at every moment a screen has been as it is for no time at least, also
// where times are kept to the microsecond.
func TestAStillScreenHasNoGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		defer e.Close(context.Background())
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", TranscriptChars: 20_000})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 300 {
			time.Sleep(time.Duration(i*7919) * time.Nanosecond)
			p.Print(fmt.Sprintf("\x1b[H%d\x1b[2J\x1b[H%s", i, strings.Repeat("x", i)))
			synctest.Wait()
		}
		var all []engine.Span
		for span, err := range engine.Spans(s.Past(s.Kept(), s.Sequence()), matchers.Stable(0)) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, span)
		}
		if len(all) != 1 || !all[0].Open {
			t.Errorf("%d spans, want one that lasts: %+v", len(all), all)
		}
	})
}
