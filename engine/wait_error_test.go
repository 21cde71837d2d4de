package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/matchers"
)

// predicates stands in for a plugin. What a predicate does is its name.
type predicates struct{ err error }

func (p predicates) Predicate(_, function string, _ any) (matchers.Matcher, error) {
	return &predicate{predicates: p, name: function}, nil
}

type predicate struct {
	predicates
	name  string
	since time.Time
}

func (p *predicate) Check(v *engine.View) engine.Result {
	if p.since.IsZero() {
		p.since = v.At
	}
	left := p.since.Add(100 * time.Millisecond).Sub(v.At)
	switch {
	case p.name == "holds":
		return engine.Result{Match: &engine.Match{Kind: "lua"}}
	case p.name == "does not":
		return engine.Result{}
	case p.name == "fails later" && left > 0:
		return engine.Result{Recheck: left}
	}
	return engine.Result{Err: p.err}
}

func (p *predicate) Explain(v *engine.View, _ matchers.Shown) matchers.Explanation {
	r := p.Check(v)
	return matchers.Explanation{Type: "lua", Held: r.Match != nil, Err: r.Err, Why: "the predicate " + p.name}
}

// TestWaitEndsWhenAMatcherFails: there is no use in waiting for an answer that cannot come.
func TestWaitEndsWhenAMatcherFails(t *testing.T) {
	broken := errors.New("attempt to index a nil value")
	ask := func(name string) any {
		return map[string]any{"type": "lua", "value": map[string]any{"plugin": "p", "predicate": name}}
	}
	none := contains("not on the screen")
	for name, c := range map[string]struct {
		tree    any
		want    error
		elapsed time.Duration
		why     string
	}{
		"alone":                    {ask("fails"), broken, 0, "the predicate fails"},
		"alone, later":             {ask("fails later"), broken, 100 * time.Millisecond, "the predicate fails later"},
		"any":                      {group("any", none, ask("fails")), broken, 0, "part 2 of 2 failed"},
		"any beside what matches":  {group("any", ask("fails"), contains("here")), nil, 0, "1 of 2 hold"},
		"all":                      {group("all", contains("here"), none, ask("fails later")), broken, 100 * time.Millisecond, "part 3 of 3 failed"},
		"all, although it matches": {group("all", ask("holds"), ask("fails")), broken, 0, "part 2 of 2 failed"},
		"not":                      {map[string]any{"type": "not", "value": ask("fails")}, broken, 0, "part 1 of 1 failed"},
		"not of any that holds": {map[string]any{"type": "not", "value": group("any", ask("fails"), ask("holds"))}, engine.ErrTimeout,
			time.Minute, "what must not hold holds"},
		"deep": {group("any", none, group("all", map[string]any{"type": "not", "value": ask("fails")})), broken, 0, "part 2 of 2 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
				p.Print("it is here")
				synctest.Wait()
				m, err := matchers.Parse(c.tree, matchers.Options{Predicates: predicates{broken}})
				if err != nil {
					t.Fatal(err)
				}
				out, err := s.Wait(t.Context(), m, engine.Within(time.Minute))
				if !errors.Is(err, c.want) || (out.Match == nil) != (err != nil) || out.Elapsed != c.elapsed || out.View.Screen.Text() != "it is here" {
					t.Errorf("%v after %v with match %v and screen %q", err, out.Elapsed, out.Match, out.View.Screen.Text())
				}
				v := out.View
				e := m.Explain(v, matchers.Everything(v))
				if !strings.Contains(e.Why, c.why) || e.Held != (err == nil) || (e.Err == broken) != errors.Is(err, broken) {
					t.Errorf("explained as %+v, want %q", e, c.why)
				}
			})
		})
	}
}

// TestWaitTakesTheFirstOfTwoErrors in the order of the tree.
func TestWaitTakesTheFirstOfTwoErrors(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		for _, kind := range []string{"any", "all"} {
			both := matchers.Options{Predicates: &inTurn{first, second}}
			of := map[string]any{"type": "lua", "value": map[string]any{"plugin": "p", "predicate": "fails"}}
			m, err := matchers.Parse(group(kind, of, of), both)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Wait(t.Context(), m, engine.Within(time.Minute)); !errors.Is(err, first) {
				t.Errorf("%s ended with %v", kind, err)
			}
		}
	})
}

// inTurn gives each predicate the next error.
type inTurn []error

func (e *inTurn) Predicate(_, function string, _ any) (matchers.Matcher, error) {
	err := (*e)[0]
	*e = (*e)[1:]
	return &predicate{predicates: predicates{err}, name: function}, nil
}

// TestWaitErrorHasTheEvidence, and the words and the identity of what ended the wait.
func TestWaitErrorHasTheEvidence(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		out, err := s.Wait(t.Context(), matchers.Text("never"), engine.Within(time.Second))
		var missed *engine.WaitError
		if !errors.As(err, &missed) || missed.Outcome != out || !errors.Is(err, engine.ErrTimeout) || err.Error() != engine.ErrTimeout.Error() {
			t.Errorf("%#v", err)
		}
		// Without options a wait lasts as long as its context.
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		out, err = s.Wait(ctx, matchers.Text("never"), (*engine.Position)(nil), (*engine.Left)(nil))
		if !errors.As(err, &missed) || !errors.Is(err, context.DeadlineExceeded) || out.Elapsed != 24*time.Hour {
			t.Errorf("after %v: %v", out.Elapsed, err)
		}
	})
}

// TestSpawnHeedsItsContext until the program runs, and not afterwards.
func TestSpawnHeedsItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *enginetest.PTY, _ *engine.Session) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		defer e.Close(context.Background())
		ctx, cancel := context.WithCancelCause(t.Context())
		s, err := e.Spawn(ctx, engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		why := errors.New("why")
		cancel(why)
		if _, err := e.Spawn(ctx, engine.Config{Program: "fake"}); !errors.Is(err, why) || len(e.List()) != 1 {
			t.Errorf("%v, and there are %d sessions", err, len(e.List()))
		}
		p.Print("alive")
		if _, err := s.Wait(t.Context(), matchers.Text("alive"), engine.Within(time.Second)); err != nil {
			t.Error(err)
		}
	})
}

// TestAWaitEnds: a wait that says nothing lasts 30 seconds, or as long as its context's deadline
// leaves it; a negative bound is none.
func TestAWaitEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *enginetest.PTY, s *engine.Session) {
		long, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, c := range []struct {
			ctx     context.Context
			options []engine.WaitOption
			err     error
			after   time.Duration
		}{
			{t.Context(), nil, engine.ErrTimeout, engine.DefaultWait},
			{long, nil, context.DeadlineExceeded, 30 * time.Second}, // of its minute
			{t.Context(), []engine.WaitOption{engine.Within(time.Hour)}, engine.ErrTimeout, time.Hour},
		} {
			began := time.Now()
			_, err := s.Wait(c.ctx, matchers.Text("never"), c.options...)
			if took := time.Since(began); !errors.Is(err, c.err) || took != c.after {
				t.Errorf("%v after %v, not %v after %v", err, took, c.err, c.after)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(24*time.Hour, stop)
		if _, err := s.Wait(ctx, matchers.Text("never"), engine.Within(-1)); !errors.Is(err, context.Canceled) {
			t.Errorf("without a bound: %v", err)
		}
	})
}
