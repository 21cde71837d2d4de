package tools

import (
	"fmt"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// secretEntered is a matcher of a program that asks for no secret any more. It has to be still: one that is told a wrong password
// asks again at once.
type secretEntered struct{}

// Check matches when nothing is asked.
func (secretEntered) Check(v *engine.View) engine.Result {
	if v.Secret && !v.Ended {
		return engine.Result{}
	}
	if quiet := v.StableFor(); quiet < sendStill && !v.Ended {
		return engine.Result{Recheck: sendStill - quiet}
	}
	return engine.Result{Match: &engine.Match{Kind: "secret_entered"}}
}

// Explain says what is missing.
func (m secretEntered) Explain(v *engine.View, _ matchers.Shown) matchers.Explanation {
	e := matchers.Explanation{Type: "secret_entered", Held: m.Check(v).Match != nil, Why: "the program still asks for a secret"}
	if !v.Secret {
		e.Why = "the screen is not still"
	}
	return e
}

// settledSince is a matcher of a screen that is still after something has come behind a sequence.
type settledSince uint64

// Check matches when it is.
func (m settledSince) Check(v *engine.View) engine.Result {
	if v.Sequence <= uint64(m) && !v.Ended {
		return engine.Result{}
	}
	if quiet := v.At.Sub(v.Changed); quiet < settled && !v.Ended {
		return engine.Result{Recheck: settled - quiet}
	}
	return engine.Result{Match: &engine.Match{Kind: "screen_stable", Min: settled}}
}

// Explain says what is missing.
func (m settledSince) Explain(v *engine.View, _ matchers.Shown) matchers.Explanation {
	e := matchers.Explanation{Type: "screen_stable", Held: m.Check(v).Match != nil, Why: fmt.Sprintf("nothing has come after sequence %d", uint64(m))}
	if v.Sequence > uint64(m) {
		e.Why = "the screen is not still"
	}
	return e
}
