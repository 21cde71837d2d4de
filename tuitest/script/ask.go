package script

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
)

// What the verbs ask about the program.
type (
	wait struct {
		look   look
		within time.Duration
	}
	expect struct {
		look   look
		bounds bounds
		not    bool
	}
	exit struct {
		any, not bool
		code     int
		signal   string
	}
	screen struct {
		name   string
		parts  golden.Parts
		region *vt.Rect
		bounds bounds
	}
)

func (a *wait) do(ctx context.Context, p *player, _ *StepResult) error {
	if _, err := p.running(); err != nil {
		return err
	}
	within := p.bound(a.within)
	m := a.look.make(p, true)
	options := []engine.WaitOption{engine.Within(within)}
	if since := p.drive.Since(); since != nil {
		options = append(options, since)
	}
	if out, err := p.drive.Wait(ctx, m, options...); err != nil {
		return p.unmet(out, m, err, within)
	}
	return nil
}

func (a *expect) do(ctx context.Context, p *player, r *StepResult) error {
	m := a.look.make(p, false)
	bounds := a.bounds
	if a.not {
		m = matchers.Not(m)
		bounds.hold = max(bounds.hold, driver.Settle) // half a reaction lacks much
	}
	within := p.bound(bounds.within)
	out, m, err := p.state(ctx, r, m, bounds)
	if err != nil && out != nil {
		return p.unmet(out, m, err, within)
	}
	return err
}

// state waits until a matcher holds, and makes sure that it does not hold only because the program
// has not reacted yet: see proof. out is nil without a program.
func (p *player) state(ctx context.Context, r *StepResult, m matchers.Matcher, b bounds) (*engine.Outcome, matchers.Matcher, error) {
	if _, err := p.running(); err != nil {
		return nil, m, err
	}
	proof := &proof{Matcher: m, drive: p.drive, hold: b.hold}
	out, err := p.drive.Wait(ctx, proof, engine.Within(p.bound(b.within)))
	if err == nil {
		r.Sequence, r.Vacuous = out.View.Sequence, proof.vacuous
	}
	return out, proof, err
}

// A proof is a matcher of a state that may hold already when it is first asked. Once the program has
// reacted to the last input, so that it shows, the state holds when it does; before that it has to
// hold for driver.Settle, in which the program could have reacted. If it did not, the state is
// vacuous: it says nothing about the input.
type proof struct {
	matchers.Matcher
	drive   *driver.Driver
	hold    time.Duration // for how long it has to hold in any case
	from    time.Time     // since when it has held; zero: it does not
	vacuous bool
}

// Check implements engine.Matcher.
func (p *proof) Check(v *engine.View) engine.Result {
	r := p.Matcher.Check(v)
	if r.Match == nil {
		p.from = time.Time{}
		return r
	}
	if p.from.IsZero() {
		p.from = v.At
	}
	wrote, shows := p.drive.Reacted(v)
	need := p.hold
	if !shows && !v.Ended {
		need = max(need, driver.Settle)
	}
	if left := need - v.At.Sub(p.from); left > 0 {
		if v.Ended { // nothing will change
			return engine.Result{Match: r.Match}
		}
		if r.Recheck > 0 {
			left = min(left, r.Recheck)
		}
		return engine.Result{Recheck: left}
	}
	p.vacuous = !wrote
	return r
}

func (a *exit) do(ctx context.Context, p *player, r *StepResult) error {
	s, err := p.running()
	if err != nil {
		return err
	}
	within := p.bound(0)
	m := matchers.Exited()
	out, err := s.Wait(ctx, m, engine.Within(within))
	if err != nil {
		err := p.unmet(out, m, err, within)
		if f := (*Failure)(nil); errors.As(err, &f) && f.Reason == "timeout" {
			f.Next = "the program runs on: see what it waits for, or end it with stop"
		}
		return err
	}
	r.Sequence = out.View.Sequence
	return a.met(out.View.Exit, p.drive.Shown(out.View))
}

// met says whether a program ended as expected.
func (a *exit) met(e *engine.Exit, shown *vt.Screen) error {
	as := a.any || e.Signal == a.signal && (a.signal != "" || e.Code == a.code)
	if as != a.not {
		return nil
	}
	want := fmt.Sprintf("expected %s", a)
	if a.not {
		want = fmt.Sprintf("which it must not: %s", a)
	}
	return &Failure{Why: fmt.Sprintf("the program ended with %s, %s", e, want), Reason: "exit",
		Next: "read what it printed last", Evidence: "the last screen:\n" + shown.Text() + "\n"}
}

// String is what the script expects.
func (a *exit) String() string {
	switch {
	case a.any:
		return "any exit"
	case a.signal != "":
		return a.signal
	}
	return fmt.Sprintf("exit %d", a.code)
}
