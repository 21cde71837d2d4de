package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// wants is what every session is asked for: a text.
func wants(text string) func(context.Context, *engine.Session) (engine.Matcher, []engine.WaitOption, error) {
	return func(context.Context, *engine.Session) (engine.Matcher, []engine.WaitOption, error) {
		return matchers.Text(text), nil, nil
	}
}

// ids are those of sessions of a wait, in their order.
func ids(all []*engine.Asked) string {
	var b []string
	for _, a := range all {
		b = append(b, string(a.ID))
	}
	return strings.Join(b, " ")
}

// TestWaitManyEnds: each way in which a wait for several sessions ends, and what it says then.
func TestWaitManyEnds(t *testing.T) {
	boom := errors.New("boom")
	stop := errors.New("stopped by the test")
	type herder struct {
		*barn
		s      []*engine.Session
		cancel context.CancelCauseFunc
	}
	for name, c := range map[string]struct {
		until   engine.Until
		during  func(h *herder)
		ask     func(context.Context, *engine.Session) (engine.Matcher, []engine.WaitOption, error)
		err     error
		matched string
		ended   string
		waiting string
		after   time.Duration
	}{
		"the first": {until: "", during: func(h *herder) { h.made[1].Print("yes") }, matched: "s2", waiting: "s1 s3", after: 100 * time.Millisecond},
		"a timeout": {until: engine.UntilAll, during: func(h *herder) { h.made[1].Print("yes"); h.made[0].Print("no") },
			err: engine.ErrTimeout, matched: "s2", waiting: "s1 s3", after: time.Second},
		"cancelled": {until: engine.UntilEach, during: func(h *herder) {
			h.made[1].Print("yes")
			later(time.Millisecond, func() { h.cancel(stop) })
		}, err: stop, matched: "s2", waiting: "s1 s3", after: 101 * time.Millisecond},
		"one closed": {until: engine.UntilAll, during: func(h *herder) { go h.s[2].Close(context.Background()) },
			err: engine.ErrEnded, ended: "s3", waiting: "s1 s2", after: 100 * time.Millisecond},
		"one ended, of any": {until: engine.UntilAny, during: func(h *herder) {
			h.made[0].End(1)
			later(50*time.Millisecond, func() { h.made[2].Print("yes") })
		}, ended: "s1", matched: "s3", waiting: "s2", after: 150 * time.Millisecond},
		"all ended": {until: engine.UntilAny, during: func(h *herder) {
			for _, p := range h.made {
				p.End(1)
			}
		}, err: engine.ErrEnded, ended: "s1 s2 s3", after: 100 * time.Millisecond},
		"a matcher that fails": {until: engine.UntilEach, ask: func(_ context.Context, s *engine.Session) (engine.Matcher, []engine.WaitOption, error) {
			return failingIn{s.ID() == "s2", boom}, nil, nil
		}, during: func(h *herder) { h.made[1].Print("x") }, err: boom, waiting: "s1 s3", after: 100 * time.Millisecond},
		"a question that fails": {until: engine.UntilEach, ask: func(_ context.Context, s *engine.Session) (engine.Matcher, []engine.WaitOption, error) {
			if s.ID() == "s2" {
				return nil, nil, boom
			}
			return matchers.Text("yes"), nil, nil
		}, during: func(*herder) {}, err: boom, waiting: "s1 s3"},
	} {
		t.Run(name, func(t *testing.T) {
			inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
				h := &herder{barn: x}
				for range 3 {
					s, _ := x.spawn(engine.Config{})
					h.s = append(h.s, s)
				}
				synctest.Wait()
				var ctx context.Context
				ctx, h.cancel = context.WithCancelCause(t.Context())
				defer h.cancel(nil)
				began := time.Now()
				later(100*time.Millisecond, func() { c.during(h) })
				m := engine.Many{Sessions: h.s, Until: c.until, Ask: c.ask}
				if m.Ask == nil {
					m.Ask = wants("yes")
				}
				var told []*engine.Asked
				m.Matched = func(a *engine.Asked) { told = append(told, a) }
				out, err := x.WaitMany(ctx, m, engine.Within(time.Second))
				if c.err == nil && err != nil || !errors.Is(err, c.err) && !(c.err == engine.ErrEnded && errors.Is(err, engine.ErrClosed)) {
					t.Errorf("%v, want %v", err, c.err)
				}
				ended := strings.Fields(ids(out.Ended))
				slices.Sort(ended)
				if ids(out.Matched) != c.matched || strings.Join(ended, " ") != c.ended || ids(out.Waiting) != c.waiting {
					t.Errorf("matched %q, ended %q, waiting %q", ids(out.Matched), ended, ids(out.Waiting))
				}
				if ids(told) != c.matched || time.Since(began) != c.after && c.after > 0 {
					t.Errorf("told of %q, after %v", ids(told), time.Since(began))
				}
				var one *engine.AskedError
				if c.err == boom && (!errors.As(err, &one) || one.Asked.ID != "s2" || err.Error() != "session s2: boom") {
					t.Errorf("%v", err)
				}
				for _, a := range slices.Concat(out.Ended, out.Waiting) {
					if a.Outcome == nil || a.View == nil || a.Err == nil {
						t.Errorf("%s: %+v", a.ID, a)
					}
				}
			})
		})
	}
}

// A failingIn matcher has an error as soon as there is anything to judge, if it is the one.
type failingIn struct {
	it  bool
	err error
}

func (m failingIn) Check(v *engine.View) engine.Result {
	if m.it && v.Sequence > 0 {
		return engine.Result{Err: m.err}
	}
	return engine.Result{}
}

// TestWaitManyPassesOnAPanic: a matcher that panics ends the wait in the caller's goroutine, where
// it can be caught, and leaves none of the others behind.
func TestWaitManyPassesOnAPanic(t *testing.T) {
	inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
		var all []*engine.Session
		for range 3 {
			s, _ := x.spawn(engine.Config{})
			all = append(all, s)
		}
		defer func() {
			if v := recover(); !strings.Contains(fmt.Sprint(v), "a broken matcher") || !strings.Contains(fmt.Sprint(v), "waitmany_test.go") {
				t.Errorf("the panic is %v", v)
			}
			if n := x.Stats().Waits; n.Cancelled != 2 { // the bubble sees that no goroutine is left
				t.Errorf("%+v", n)
			}
		}()
		x.WaitMany(t.Context(), engine.Many{Sessions: all, Ask: func(_ context.Context, s *engine.Session) (engine.Matcher, []engine.WaitOption, error) {
			return engine.Func(func(*engine.View) bool {
				if s.ID() == "s2" {
					panic("a broken matcher")
				}
				return false
			}), nil, nil
		}})
		t.Error("it has returned")
	})
}

// TestWaitManySelects: sessions that appear join, and count whole; those that had ended before are
// left out unless they match; one that is chosen later is told by the channel.
func TestWaitManySelects(t *testing.T) {
	inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
		dead, p := x.spawn(engine.Config{Tags: []string{"herd"}})
		p.End(0)
		gone, p := x.spawn(engine.Config{Tags: []string{"herd"}})
		p.Print("yes")
		p.End(0)
		other, _ := x.spawn(engine.Config{})
		time.Sleep(time.Second)
		chosen := map[*engine.Session]bool{}
		var again chan struct{}
		var mu sync.Mutex
		m := engine.Many{
			Until: engine.UntilEach, Ask: wants("yes"),
			Select: func(s *engine.Session) bool {
				mu.Lock()
				defer mu.Unlock()
				return slices.Contains(s.Config().Tags, "herd") || chosen[s]
			},
			Reselect: func() <-chan struct{} {
				mu.Lock()
				defer mu.Unlock()
				again = make(chan struct{})
				return again
			},
		}
		slow, sp := x.spawn(engine.Config{Tags: []string{"herd"}})
		later(100*time.Millisecond, func() { // it shows, wipes and ends before anybody can look
			_, p := x.spawn(engine.Config{Tags: []string{"herd"}})
			p.Print("\x1b[1;1Hyes\r\n" + strings.Repeat("\r\n", 40))
		})
		later(200*time.Millisecond, func() {
			_, p := x.spawn(engine.Config{Tags: []string{"herd"}})
			p.Print("no")
			p.End(3)
		})
		later(300*time.Millisecond, func() {
			mu.Lock()
			chosen[other] = true
			close(again)
			mu.Unlock()
			x.made[2].Print("yes")
		})
		later(2*time.Second, func() { sp.Print("yes") })
		out, err := x.WaitMany(t.Context(), m, engine.Within(time.Minute))
		if err != nil || !out.Complete() {
			t.Fatal(err)
		}
		var exits []int
		for _, a := range out.Ended {
			exits = append(exits, a.View.Exit.Code)
		}
		want := fmt.Sprintf("%s s5 %s %s", gone.ID(), other.ID(), slow.ID())
		if ids(out.Matched) != want || ids(out.Ended) != "s6" || exits[0] != 3 {
			t.Errorf("matched %q, want %q; ended %q with %v; %s was left out", ids(out.Matched), want, ids(out.Ended), exits, dead.ID())
		}
		for _, a := range out.Matched {
			if a.Elapsed > 2*time.Second || a.ID == slow.ID() && a.Elapsed != 2*time.Second {
				t.Errorf("%s after %v", a.ID, a.Elapsed)
			}
		}
	})
}

// TestWaitManyForNobody: a selection that chooses nobody waits for the first session to appear, in
// each way; what names nobody and selects nobody is an error at once.
func TestWaitManyForNobody(t *testing.T) {
	for _, until := range []engine.Until{engine.UntilAny, engine.UntilAll, engine.UntilEach} {
		inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
			all := func(*engine.Session) bool { return true }
			m := engine.Many{Select: all, Until: until, Ask: wants("yes")}
			if out, err := x.WaitMany(t.Context(), m, engine.Within(0)); !errors.Is(err, engine.ErrTimeout) || !out.Complete() {
				t.Errorf("%s: %v", until, err)
			}
			began, parked := time.Now(), 0
			if _, err := x.WaitMany(t.Context(), m, engine.Within(time.Second), engine.Parked(func() { parked++ })); !errors.Is(err, engine.ErrTimeout) || time.Since(began) != time.Second || parked != 1 {
				t.Errorf("%s: %v after %v, parked %d times", until, err, time.Since(began), parked)
			}
			stop := errors.New("stop")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, stop)
			defer cancel()
			if _, err := x.WaitMany(ctx, m); !errors.Is(err, stop) {
				t.Errorf("%s: %v", until, err)
			}
			later(time.Second, func() {
				_, p := x.spawn(engine.Config{})
				p.Print("yes")
			})
			if out, err := x.WaitMany(t.Context(), m, engine.Within(time.Hour)); err != nil || ids(out.Matched) != "s1" || !out.Complete() {
				t.Errorf("%s: %v, %q", until, err, ids(out.Matched))
			}
			if _, err := x.WaitMany(t.Context(), engine.Many{Until: until, Ask: wants("yes")}); err == nil || !strings.Contains(err.Error(), "nobody") {
				t.Errorf("%s: %v", until, err)
			}
		})
	}
}

// TestWaitManyOfTheForgotten: a session that was forgotten is known by its exit.
func TestWaitManyOfTheForgotten(t *testing.T) {
	inBarn(t, engine.Options{Ended: 1}, func(t *testing.T, x *barn) {
		x.short(3, "bye")
		s, _ := x.spawn(engine.Config{})
		synctest.Wait()
		var gone *engine.ForgottenError
		if _, err := x.Session("s1"); !errors.As(err, &gone) {
			t.Fatal(err)
		}
		know := func(m engine.Matcher) []*engine.Asked {
			if out := gone.Answer(m); out != nil {
				return []*engine.Asked{{ID: gone.Session, Outcome: out}}
			}
			return []*engine.Asked{{ID: gone.Session, Err: gone}}
		}
		m := engine.Many{Sessions: []*engine.Session{s}, Forgotten: know(matchers.Exited()), Ask: wants("yes")}
		if out, err := x.WaitMany(t.Context(), m); err != nil || ids(out.Matched) != "s1" || ids(out.Waiting) != string(s.ID()) {
			t.Errorf("any: %v, %q", err, ids(out.Matched))
		}
		m.Forgotten, m.Until = know(matchers.Text("yes")), engine.UntilAll
		if out, err := x.WaitMany(t.Context(), m); !errors.As(err, &gone) || ids(out.Ended) != "s1" {
			t.Errorf("all: %v, %q", err, ids(out.Ended))
		}
	})
}

// TestWaitManyIsBounded: one wait has room for as many sessions as the engine, and says so.
func TestWaitManyIsBounded(t *testing.T) {
	inBarn(t, engine.Options{Sessions: 1, Ended: 2}, func(t *testing.T, x *barn) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for ctx.Err() == nil {
				s, p := x.spawn(engine.Config{})
				p.End(0)
				time.Sleep(time.Second)
				s.Close(context.Background())
			}
		}()
		m := engine.Many{Select: func(*engine.Session) bool { return true }, Ask: wants("yes")}
		out, err := x.WaitMany(t.Context(), m, engine.Within(time.Hour))
		cancel()
		var limit *engine.LimitError
		if !errors.As(err, &limit) || limit.Limit != 3 || len(out.Ended) != 3 || !strings.Contains(err.Error(), "select fewer") {
			t.Errorf("%v, ended %q", err, ids(out.Ended))
		}
		time.Sleep(2 * time.Second) // the last session is closed
	})
}

// TestWaitManyLatched: each session is asked about what it showed for a moment, one that appears
// during the wait from its first byte on.
func TestWaitManyLatched(t *testing.T) {
	const flicker = "\x1b[Hyes\x1b[2J\x1b[Hno"
	all := func(*engine.Session) bool { return true }
	for _, latched := range []bool{false, true} {
		inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
			_, p := x.spawn(engine.Config{})
			later(time.Millisecond, func() { p.Print(flicker) })
			later(2*time.Millisecond, func() {
				_, q := x.spawn(engine.Config{})
				q.Print(flicker)
			})
			m := engine.Many{Select: all, Until: engine.UntilAll, Ask: wants("yes")}
			out, err := x.WaitMany(t.Context(), m, engine.Latched(latched), engine.Within(500*time.Microsecond))
			if !errors.Is(err, engine.ErrTimeout) || ids(out.Waiting) != "s1" {
				t.Errorf("before anything came: %v, waiting %q", err, ids(out.Waiting))
			}
			m.Until = engine.UntilAny
			out, err = x.WaitMany(t.Context(), m, engine.Latched(latched), engine.Within(time.Second))
			if latched != (err == nil) || latched != (ids(out.Matched) == "s1") {
				t.Errorf("latched %t: %v, matched %q", latched, err, ids(out.Matched))
			}
			m.Select = func(s *engine.Session) bool { return s.ID() != "s1" }
			if latched { // it was over before the second had appeared
				out, err = x.WaitMany(t.Context(), m, engine.Latched(true), engine.Within(time.Second))
				if err != nil || ids(out.Matched) != "s2" || !strings.HasPrefix(out.Matched[0].View.Screen.Text(), "yes") {
					t.Errorf("%v, matched %q", err, ids(out.Matched))
				}
			}
		})
	}
}

// TestWaitManyCountsTheBornWhole: of a session that appears during the wait everything counts, also
// what it showed before it was selected; of one that was there before, what comes from then on.
func TestWaitManyCountsTheBornWhole(t *testing.T) {
	inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
		const flicker = "yes\x1b[2J"
		_, p := x.spawn(engine.Config{})
		var mu sync.Mutex
		chosen, again := false, make(chan struct{})
		m := engine.Many{
			Until: engine.UntilEach, Ask: wants("yes"),
			Select: func(*engine.Session) bool {
				mu.Lock()
				defer mu.Unlock()
				return chosen
			},
			Reselect: func() <-chan struct{} {
				mu.Lock()
				defer mu.Unlock()
				if chosen {
					return nil
				}
				return again
			},
		}
		later(time.Millisecond, func() {
			p.Print(flicker)
			_, q := x.spawn(engine.Config{})
			q.Print(flicker)
		})
		later(time.Second, func() {
			mu.Lock()
			defer mu.Unlock()
			chosen = true
			close(again)
		})
		out, err := x.WaitMany(t.Context(), m, engine.Latched(true), engine.Within(2*time.Second))
		if !errors.Is(err, engine.ErrTimeout) || ids(out.Matched) != "s2" || ids(out.Waiting) != "s1" {
			t.Errorf("%v, matched %q, waiting %q", err, ids(out.Matched), ids(out.Waiting))
		}
	})
}
