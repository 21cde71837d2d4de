package tools

import (
	"fmt"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
)

// secretEntered matches a program that no longer asks for a secret. The screen has to be still:
// after a wrong password a program asks again at once.
func secretEntered() matchers.Matcher {
	return &matchers.Custom{
		Kind: "secret_entered",
		Ask: func(v *engine.View) engine.Result {
			return stillOnce(v, !v.Secret, v.StableFor(),
				engine.Match{Kind: "secret_entered", Min: sendStill})
		},
		Why: func(v *engine.View, _ bool) string {
			if v.Secret {
				return "the program still asks for a secret"
			}
			return "the screen is not still"
		},
	}
}

// settledSince matches a still screen after output that follows a sequence.
func settledSince(sequence uint64) matchers.Matcher {
	return &matchers.Custom{
		Kind: "screen_stable",
		Ask: func(v *engine.View) engine.Result {
			return stillOnce(v, v.Sequence > sequence, v.At.Sub(v.Changed),
				engine.Match{Kind: "screen_stable", Min: settled})
		},
		Why: func(v *engine.View, _ bool) string {
			if v.Sequence > sequence {
				return "the screen is not still"
			}
			return fmt.Sprintf("nothing has come after sequence %d", sequence)
		},
	}
}

// stillOnce matches once so is true and the screen has been still for m.Min, or the program has
// ended.
func stillOnce(v *engine.View, so bool, quiet time.Duration, m engine.Match) engine.Result {
	switch {
	case v.Ended, so && quiet >= m.Min:
		return engine.Result{Match: &m}
	case so:
		return engine.Result{Recheck: m.Min - quiet}
	}
	return engine.Result{}
}
