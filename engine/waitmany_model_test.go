package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/matchers"
)

// A herdPlan is what one session of TestWaitManyIsManyWaits does, in time since the wait began.
type herdPlan struct {
	born   time.Duration // 0: before the wait
	yes    time.Duration // when it shows what is waited for; negative: before, 0: never
	end    time.Duration // likewise, when its program ends
	tagged bool
}

// A solo is how a session was waited for alone.
type solo struct {
	joined, at time.Duration
	err        error
	old        bool
}

// TestWaitManyIsManyWaits: whatever sessions do, and whenever they appear, one wait for all finds
// what a wait for each finds, at the same moment, and decides as it says.
func TestWaitManyIsManyWaits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		moment := func(name string, i int) time.Duration {
			switch ms := rapid.IntRange(-3, 40).Draw(r, name); {
			case ms <= 0 && ms > -3:
				return 0
			case ms < 0:
				return -1
			default: // no two sessions do anything at the same time
				return time.Duration(ms)*10*time.Millisecond + time.Duration(i+1)*7*time.Microsecond
			}
		}
		selected := rapid.Bool().Draw(r, "select")
		until := rapid.SampledFrom([]engine.Until{engine.UntilAny, engine.UntilAll, engine.UntilEach}).Draw(r, "until")
		timeout := time.Duration(rapid.IntRange(0, 30).Draw(r, "timeout")) * 10 * time.Millisecond
		var plans []herdPlan
		for i := range rapid.IntRange(1, 6).Draw(r, "sessions") {
			p := herdPlan{yes: moment("yes", i), end: moment("end", i), tagged: true}
			if selected {
				p.tagged = rapid.IntRange(0, 3).Draw(r, "tagged") > 0
				if born := moment("born", i); born > 0 {
					p.born = born
				}
			}
			plans = append(plans, p)
		}
		var fault string
		inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
			fault = herd(t, x, plans, selected, until, timeout)
		})
		if fault != "" {
			r.Fatal(fault)
		}
	})
}

// herd runs the plans, waits for all sessions at once and for each alone, and says what differs.
func herd(t *testing.T, x *barn, plans []herdPlan, selected bool, until engine.Until, timeout time.Duration) string {
	alone := make([]solo, len(plans))
	number := map[engine.ID]int{}
	var mu sync.Mutex
	var waits sync.WaitGroup
	began := time.Now()
	spawn := func(i int) (*engine.Session, *enginetest.PTY) {
		c := engine.Config{}
		if plans[i].tagged {
			c.Tags = []string{"herd"}
		}
		s, p := x.spawn(c)
		mu.Lock()
		number[s.ID()] = i
		mu.Unlock()
		if plans[i].yes < 0 {
			p.Print("yes")
		}
		if plans[i].end < 0 {
			p.End(0)
		}
		return s, p
	}
	begin := func(i int, s *engine.Session, p *enginetest.PTY, options ...engine.WaitOption) {
		joined := time.Since(began)
		old := plans[i].born == 0 && s.View().Ended
		if yes := plans[i].yes; yes > joined {
			later(yes-joined, func() { p.Print("yes") })
		}
		if end := plans[i].end; end > joined {
			later(end-joined, func() { p.End(0) })
		}
		waits.Go(func() {
			options := append(options, engine.Within(max(timeout-joined, 0)))
			_, err := s.Wait(context.Background(), matchers.Text("yes"), options...)
			alone[i] = solo{joined, time.Since(began), err, old}
		})
	}
	var there []*engine.Session
	var ptys []*enginetest.PTY
	for i, p := range plans {
		if p.born == 0 {
			s, p := spawn(i)
			there, ptys = append(there, s), append(ptys, p)
		}
	}
	time.Sleep(time.Second) // what has ended is known to have
	began = time.Now()
	for k, s := range there {
		begin(number[s.ID()], s, ptys[k])
	}
	for i, p := range plans {
		if p.born > 0 && p.born <= timeout {
			later(p.born, func() {
				s, p := spawn(i)
				begin(i, s, p, engine.After(0))
			})
		}
	}
	m := engine.Many{Sessions: there, Until: until, Ask: wants("yes")}
	if selected {
		m.Sessions, m.Select = nil, func(s *engine.Session) bool { return slices.Contains(s.Config().Tags, "herd") }
	}
	out, err := x.WaitMany(context.Background(), m, engine.Within(timeout))
	took := time.Since(began)
	time.Sleep(time.Minute)
	waits.Wait()
	return judge(plans, alone, number, selected, until, timeout, out, err, took)
}

// judge holds the outcome of a wait for many against those of the waits for each.
func judge(plans []herdPlan, alone []solo, number map[engine.ID]int, selected bool, until engine.Until, timeout time.Duration,
	out *engine.ManyOutcome, err error, took time.Duration) string {
	type event struct {
		at   time.Duration
		rank int // at one time: sessions join, then matches, then ends
		i    int
	}
	var events []event
	for i, a := range alone {
		if selected && !plans[i].tagged || plans[i].born > timeout {
			continue
		}
		events = append(events, event{a.joined, 0, i})
		switch {
		case a.err == nil:
			events = append(events, event{a.at, 1, i})
		case errors.Is(a.err, engine.ErrEnded):
			events = append(events, event{a.at, 2, i})
		}
	}
	slices.SortFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank), cmp.Compare(a.i, b.i))
	})
	want, at := error(engine.ErrTimeout), timeout
	waiting, matched, ended := 0, map[int]bool{}, map[int]bool{}
	for _, e := range events {
		switch {
		case e.rank == 0:
			waiting++
		case e.rank == 1:
			waiting--
			matched[e.i] = true
		default:
			waiting--
			if !selected || !alone[e.i].old {
				ended[e.i] = true
			}
		}
		decided := false
		switch until {
		case engine.UntilAny:
			decided = len(matched) > 0
			if !selected && waiting == 0 && !decided {
				decided, want = true, engine.ErrEnded
			} else if decided {
				want = nil
			}
		case engine.UntilAll:
			if len(ended) > 0 {
				decided, want = true, engine.ErrEnded
			} else if waiting == 0 && len(matched) > 0 {
				decided, want = true, nil
			}
		default:
			if waiting == 0 && len(matched)+len(ended) > 0 {
				decided, want = true, nil
			}
		}
		if decided {
			at = e.at
			break
		}
	}
	said := fmt.Sprintf("%v, until %s, within %v, selected %t:\n%+v\nalone %+v\nmatched %q ended %q waiting %q after %v, %v",
		number, until, timeout, selected, plans, alone, ids(out.Matched), ids(out.Ended), ids(out.Waiting), took, err)
	switch {
	case !errors.Is(err, want) || want == nil && err != nil:
		return fmt.Sprintf("want %v: %s", want, said)
	case took != at:
		return fmt.Sprintf("want it after %v: %s", at, said)
	case want == nil && until != engine.UntilAny && !out.Complete():
		return "complete: " + said
	}
	for _, a := range out.Matched {
		i := number[a.ID]
		if !matched[i] && a.Elapsed != at {
			return fmt.Sprintf("%s has not matched alone: %s", a.ID, said)
		}
		if alone[i].err == nil && a.Elapsed != alone[i].at {
			return fmt.Sprintf("%s matched alone after %v, with others after %v: %s", a.ID, alone[i].at, a.Elapsed, said)
		}
	}
	switch {
	case until == engine.UntilAny && want == nil && len(out.Matched) != 1,
		until != engine.UntilAny && want == nil && len(out.Matched) != len(matched),
		until == engine.UntilEach && len(out.Ended) != len(ended):
		return fmt.Sprintf("want matched %v, ended %v: %s", matched, ended, said)
	}
	return ""
}
