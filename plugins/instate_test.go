package plugins

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// saying says what the last word of the screen is, "still" after 300 quiet milliseconds, and how often
// it was asked.
const saying = `local looks = 0
	return {
		classify = function(s)
			looks = looks + 1
			if s:contains("boom") then error("half drawn") end
			local word = s:match_last("(\\w+)$")
			local state = word and word.captures[1] or "blank"
			if state == "calm" and s.stable_ms >= 300 then state = "still" end
			return {state = state, evidence = "it says " .. state, metadata = {looks = looks}}
		end,
		describe = function() return {} end,
	}`

// TestInState: a wait for states of an adapter ends when the adapter says one of them, also when only
// time makes it say so, with the plugin's words; a flood costs a look in 25 ms.
func TestInState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, saying)
		defer d.close(t)
		s := d.Session()
		of := func() *Adapter { return d.Adapter }
		wait := func(within time.Duration, states ...string) (*engine.Outcome, matchers.Matcher, error) {
			m := InState(t.Context(), of, states)
			out, err := s.Wait(t.Context(), m, engine.Within(within))
			return out, m, err
		}
		d.print("working")
		out, m, err := wait(time.Second, "blocked", "idle")
		why := m.Explain(out.View, matchers.Shown{})
		if !errors.Is(err, engine.ErrTimeout) || why.Held || why.Why != "the state is working: it says working" || len(why.Value.([]any)) != 2 {
			t.Errorf("%v, %+v", err, why)
		}
		time.AfterFunc(time.Second, func() { d.pty.Print(" idle") })
		if out, m, err = wait(time.Minute, "blocked", "idle"); err != nil || out.Match.Kind != "state" || out.Match.Text != "idle" || out.Match.Plugin != "test" || out.Match.Evidence != "it says idle" || out.Elapsed != time.Second {
			t.Errorf("%+v after %v, %v", out.Match, out.Elapsed, err)
		}
		if words := m.(interface{ String() string }).String(); words != "its adapter says blocked or idle" {
			t.Errorf("in words: %s", words)
		}

		// With a position a state counts once something has come.
		if _, err := s.Wait(t.Context(), InState(t.Context(), of, []string{"idle"}), engine.After(s.Sequence()), engine.Within(0)); !errors.Is(err, engine.ErrTimeout) {
			t.Errorf("since: %v", err)
		}

		time.AfterFunc(time.Millisecond, func() { d.pty.Print(" calm") })
		if out, _, err = wait(time.Minute, "still"); err != nil || out.Elapsed < 300*time.Millisecond || out.Elapsed > 301*time.Millisecond+timedRecheck {
			t.Errorf("still after %v, %v", out.Elapsed, err)
		}

		before := d.State().Metadata["looks"].(int64)
		time.AfterFunc(time.Millisecond, func() {
			for range 200 {
				d.pty.Print(" busy")
				time.Sleep(time.Millisecond)
			}
		})
		wait(201*time.Millisecond, "idle")
		synctest.Wait()
		if looks := d.State().Metadata["looks"].(int64) - before; looks > 2*(200/25)+6 { // the host's, and the wait's
			t.Errorf("%d looks in 200 changes", looks)
		}

		d.print("\x1b[2J\x1b[Hfleeting\x1b[2J\x1b[Hgone")
		time.Sleep(2 * keepFloor) // the host has looked
		out, err = s.Wait(t.Context(), InState(t.Context(), of, []string{"fleeting"}), engine.After(s.Sequence()-1), engine.Latched(true), engine.Within(0))
		if err != nil || out.Match.Text != "fleeting" || d.State().State != "gone" {
			t.Errorf("latched: %v, now %s", err, d.State().State)
		}
		d.print("boom")
		if out, _, err = wait(time.Second, StateError); err != nil || out.Match.Text != StateError {
			t.Errorf("a plugin that fails: %+v, %v", out.Match, err)
		}
	})
}

// TestInStateOfNobody: without an adapter nothing holds, and the wait ends with the session all the
// same.
func TestInStateOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, saying)
		defer d.close(t)
		m := InState(t.Context(), func() *Adapter { return nil }, []string{"blank"})
		out, err := d.Session().Wait(t.Context(), m, engine.Within(time.Second))
		if why := m.Explain(out.View, matchers.Shown{}); !errors.Is(err, engine.ErrTimeout) || !strings.Contains(why.Why, "no adapter") {
			t.Errorf("%v, %+v", err, why)
		}
		d.pty.End(0)
		m = InState(t.Context(), func() *Adapter { return d.Adapter }, []string{"never"})
		if _, err := d.Session().Wait(context.Background(), m, engine.Within(time.Hour)); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("of what has ended: %v", err)
		}
	})
}
