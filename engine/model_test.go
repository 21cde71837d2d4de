package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
)

// The model of waits: a program writes batches at times, and each is parsed from the beginning by
// one terminal. A wait holds at the first millisecond, of the first view, at which its question is
// answered with yes; the model asks at each. It knows of no keyframe, fork, clock or cache.

// A batch is what a program writes at once, so long after the one before.
type batch struct {
	After int // ms, at least 1
	Text  string
}

// A question is a matcher that the model can answer.
type question struct {
	Kind  string // text, title, cursor, stable; not, any, all
	Text  string
	N     int // row of the cursor; ms
	Parts []question
}

func (q question) matcher() matchers.Matcher {
	var parts []matchers.Matcher
	for _, p := range q.Parts {
		parts = append(parts, p.matcher())
	}
	switch q.Kind {
	case "text":
		return matchers.Text(q.Text).In(matchers.OnScreen)
	case "title":
		return matchers.Func(func(v *engine.View) bool { return v.Screen.Title == q.Text })
	case "cursor":
		return matchers.Cursor(q.N, 0)
	case "stable":
		return matchers.Stable(ms(q.N))
	case "not":
		return matchers.Not(parts[0])
	case "any":
		return matchers.Any(parts...)
	}
	return matchers.All(parts...)
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// A sight is a view of the model, which lasts until the next one's time.
type sight struct {
	seq     int
	at      int // ms since the session began
	changed int
	moment  bool
	screen  *vt.Screen
}

// sights returns every view of a session.
func sights(batches []batch) []sight {
	t := vt.New(4, 20, vt.Options{})
	all := []sight{{screen: t.Snapshot()}}
	at, changed := 0, 0
	for i, b := range batches {
		at += b.After
		before := t.Snapshot()
		t.Seen()
		e, _ := t.FeedMoments([]byte(b.Text), func(s *vt.Screen) {
			when := at
			if same(before, s) {
				when = changed
			}
			all = append(all, sight{i + 1, at, when, true, s})
		})
		if e.Dirty {
			changed = at
		}
		all = append(all, sight{i + 1, at, changed, false, t.Snapshot()})
	}
	return all
}

func same(a, b *vt.Screen) bool {
	for y := range a.Rows {
		if !a.SameRow(y, b) {
			return false
		}
	}
	return a.Cursor == b.Cursor && a.Title == b.Title && a.Modes == b.Modes && a.TitleSet == b.TitleSet
}

// An asking is a wait: of what, on which position, from when on.
type asking struct {
	Question question
	Since    int // a sequence; -1: none
	Latched  bool
	Began    int // ms since the session began
	Within   int // ms
}

// holds answers a question about a sight at a time.
func (k *asking) holds(q question, s sight, at, still int) bool {
	switch q.Kind {
	case "text":
		if k.Since < 0 {
			return strings.Contains(s.screen.Text(), q.Text)
		}
		text, fresh := s.screen.TextSince(uint64(k.Since))
		for i := range text {
			for _, r := range fresh {
				if strings.HasPrefix(text[i:], q.Text) && i < r.End && r.Start < i+len(q.Text) {
					return true
				}
			}
		}
		return false
	case "title":
		return s.screen.Title == q.Text
	case "cursor":
		return s.screen.Cursor.Row == q.N && s.screen.Cursor.Col == 0
	case "stable":
		from := s.changed
		if k.Since >= 0 && !(k.Latched && s.changed > still) {
			from = max(from, k.Began)
		}
		return at-from >= q.N
	case "not":
		return !k.holds(q.Parts[0], s, at, still)
	}
	for _, p := range q.Parts {
		if k.holds(p, s, at, still) == (q.Kind == "any") {
			return q.Kind == "any"
		}
	}
	return q.Kind == "all"
}

// outcome is when a wait held, and in which view: "" when it never did.
func (k *asking) outcome(all []sight) string {
	still, end := 0, k.Began+k.Within
	for _, s := range all {
		if s.seq <= max(k.Since, 0) && !s.moment {
			still = s.changed
		}
	}
	for i, s := range all {
		until := end + 1
		for _, next := range all[i+1:] {
			until = min(until, next.at)
			break
		}
		switch {
		case s.moment && !k.Latched:
			continue
		case k.Latched && k.Since >= 0 && s.seq <= k.Since:
			if until <= k.Began { // only as the session is
				continue
			}
		}
		begin := s.at
		if !k.Latched || k.Since < 0 || s.seq <= k.Since {
			begin = max(begin, k.Began)
		}
		if s.moment {
			until = s.at + 1
			if k.Since < 0 && s.at <= k.Began { // before the wait
				continue
			}
		}
		for at := begin; at < max(until, begin+1) && at <= end; at++ {
			if until <= at && !s.moment && !(s.at == at && begin == s.at && k.Latched) {
				break
			}
			if k.holds(k.Question, s, at, still) {
				return fmt.Sprintf("sequence %d at %d ms, moment: %t", s.seq, at, s.moment)
			}
		}
	}
	return ""
}

// run asks a real session, under a schedule of virtual time; first is when its past first held.
func (k *asking) run(t *testing.T, batches []batch) (got, first string, missed bool) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	defer e.Close(context.Background())
	s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Size: pty.Size{Rows: 4, Cols: 20}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	began := time.Now()
	go func() {
		for _, b := range batches {
			time.Sleep(ms(b.After))
			p.Print(b.Text)
		}
	}()
	time.Sleep(ms(k.Began))
	synctest.Wait()
	options := []engine.WaitOption{engine.Latched(k.Latched), engine.Within(ms(k.Within))}
	if k.Since >= 0 {
		options = append(options, engine.After(uint64(k.Since)))
	}
	out, err := s.Wait(t.Context(), k.Question.matcher(), options...)
	switch {
	case err == nil:
		got = fmt.Sprintf("sequence %d at %d ms, moment: %t", out.View.Sequence, out.View.At.Sub(began).Milliseconds(), out.View.Moment)
	case !errors.Is(err, engine.ErrTimeout):
		t.Error(err)
	}
	time.Sleep(time.Minute)
	for span := range engine.Spans(wholePast(s), k.Question.matcher()) {
		first = fmt.Sprintf("sequence %d at %d ms, moment: %t", span.From, span.FromAt.Sub(began).Milliseconds(), span.View.Moment)
		break
	}
	return got, first, out.Missed
}

// wholePast yields all views of a session.
func wholePast(s *engine.Session) iter.Seq[*engine.View] {
	return func(yield func(*engine.View) bool) {
		v, err := s.At(0)
		if err != nil || !yield(v) {
			return
		}
		s.Past(0, s.Sequence())(yield)
	}
}

// recorded is when the question first held in a recording of the same.
func (k *asking) recorded(t *rapid.T, batches []batch) string {
	var cast bytes.Buffer
	cast.WriteString(`{"version":2,"width":20,"height":4}` + "\n")
	at := 0
	for _, b := range batches {
		at += b.After
		text, err := json.Marshal(b.Text)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&cast, "[%d.%03d, \"o\", %s]\n", at/1000, at%1000, text)
	}
	rec, err := record.Load(&cast)
	if err != nil {
		t.Fatal(err)
	}
	for span, err := range rec.When(k.Question.matcher()) {
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("sequence %d at %d ms, moment: %t", span.Span.From, span.From.Milliseconds(), span.View.Moment)
	}
	return ""
}

// TestWaitsAreTheModels: latched waits and those that are not, with a position and without, the
// spans of the past and those of a recording agree with the model under random schedules.
func TestWaitsAreTheModels(t *testing.T) {
	texts := []string{"ab", "cd", "\x1b[H", "\x1b[2J", "\x1b[K", "\r", "\r\n", "\x1b]2;one\a", "\x1b]2;two\a", "\x1b[?1049h",
		"\x1b[?1049l", "\x1b[2;1H", "\x1b[5n", "ab\x1b[2J", "\x1b[Hcd\x1b[K\rab"}
	leaf := rapid.SampledFrom([]question{{Kind: "text", Text: "ab"}, {Kind: "text", Text: "cd"}, {Kind: "text", Text: "abcd"},
		{Kind: "title", Text: "one"}, {Kind: "cursor", N: 1}, {Kind: "stable", N: 5}, {Kind: "stable", N: 21}})
	questions := rapid.Custom(func(r *rapid.T) question {
		switch kind := rapid.SampledFrom([]string{"leaf", "leaf", "leaf", "not", "any", "all", "all"}).Draw(r, "kind"); kind {
		case "leaf":
			return leaf.Draw(r, "leaf")
		case "not":
			return question{Kind: kind, Parts: []question{leaf.Draw(r, "of")}}
		default:
			return question{Kind: kind, Parts: rapid.SliceOfN(leaf, 2, 3).Draw(r, "parts")}
		}
	})
	// Modulo 4 batches come at 0 and waits begin at 1, so no two things happen at once.
	rapid.Check(t, func(r *rapid.T) {
		batches := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) batch {
			return batch{4 * rapid.IntRange(1, 8).Draw(r, "after"), strings.Join(rapid.SliceOfN(rapid.SampledFrom(texts), 1, 4).Draw(r, "text"), "")}
		}), 1, 8).Draw(r, "batches")
		k := asking{Question: questions.Draw(r, "question"), Since: -1, Latched: rapid.Bool().Draw(r, "latched"),
			Within: 2 + 4*rapid.IntRange(0, 20).Draw(r, "within")}
		before := rapid.IntRange(0, len(batches)).Draw(r, "before")
		for _, b := range batches[:before] {
			k.Began += b.After
		}
		if rapid.Bool().Draw(r, "positioned") {
			k.Since = rapid.IntRange(0, before).Draw(r, "since")
		}
		k.Began++
		want := k.outcome(sights(batches))
		got, first, missed := "", "", false
		synctest.Test(t, func(t *testing.T) { got, first, missed = k.run(t, batches) })
		if got != want || missed {
			r.Fatalf("%+v of %+v: %q, want %q; missed: %t", k, batches, got, want, missed)
		}
		whole := asking{Question: k.Question, Since: -1, Latched: true}
		for _, b := range batches {
			whole.Within += b.After
		}
		if want := whole.outcome(sights(batches)); first != want {
			r.Fatalf("the past of %+v for %+v: %q, want %q", batches, k.Question, first, want)
		}
		if got, want := whole.recorded(r, batches), whole.outcome(sights(batches)); got != want {
			r.Fatalf("a recording of %+v for %+v: %q, want %q", batches, k.Question, got, want)
		}
	})
}
