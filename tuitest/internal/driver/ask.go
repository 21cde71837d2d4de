package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
)

// Place matches while a locator means exactly one place. A screen that offers too much to look at is
// an error: [locate.ErrTooMuch].
func (d *Driver) Place(l locate.Locator, words string) matchers.Matcher {
	return &matchers.Custom{
		Kind: "located", Value: words,
		Ask: func(v *engine.View) engine.Result {
			_, err := l.One(v.Screen)
			if not := (*locate.NotOneError)(nil); errors.As(err, &not) {
				return engine.Result{}
			} else if err != nil {
				return engine.Result{Err: err}
			}
			return engine.Matched("located")
		},
		Why: func(v *engine.View, _ bool) string {
			if _, err := l.One(d.Shown(v)); err != nil {
				return err.Error()
			}
			return "one place"
		},
	}
}

// Shows matches once the program has shown anything, or got an input, or has ended: before that its
// screen is blank because it has not got to drawing it.
func (d *Driver) Shows() matchers.Matcher {
	return &matchers.Custom{
		Kind: "shown",
		Ask: func(v *engine.View) engine.Result {
			if d.since != nil || v.Ended || !blank(v.Screen) {
				return engine.Matched("shown")
			}
			return engine.Result{}
		},
		Why: func(_ *engine.View, held bool) string {
			if held {
				return "it shows something"
			}
			return "the program has not shown anything yet"
		},
	}
}

// blank reports whether nothing can be seen on a screen.
func blank(s *vt.Screen) bool {
	for y := range s.Rows {
		seen := false
		s.EachCell(y, func(_ int, c vt.Cell) {
			seen = seen || c.Text != "" && c.Text != " " || c.Style != vt.Style{}
		})
		if seen {
			return false
		}
	}
	return true
}

// A Golden waits for a golden screen.
type Golden struct {
	judge *golden.Judge
	shown func(*engine.View) *vt.Screen
	path  string

	near  time.Time // when the nearest frame was shown
	until time.Time // when another one was; zero: none was
	last  time.Time // the last look
}

// NewGolden returns a matcher's making for a golden, which stands in a file for people.
func NewGolden(want *golden.File, path string, shown func(*engine.View) *vt.Screen) *Golden {
	return &Golden{judge: golden.NewJudge(want), shown: shown, path: path}
}

// Matcher matches a view that equals the golden.
func (g *Golden) Matcher() matchers.Matcher {
	return &matchers.Custom{
		Kind: "screen", Value: g.path,
		Ask: func(v *engine.View) engine.Result {
			if g.look(v) {
				return engine.Matched("screen")
			}
			return engine.Result{}
		},
		Why: func(*engine.View, bool) string { return "compared with the file" },
	}
}

func (g *Golden) look(v *engine.View) bool {
	equal := g.judge.Look(g.shown(v), v.At)
	g.last = v.At
	if _, at, _ := g.judge.Nearest(); !at.Equal(g.near) {
		g.near, g.until = at, time.Time{}
	} else if g.until.IsZero() && v.Changed.After(g.near) {
		g.until = v.Changed
	}
	return equal
}

// Nearest is that of the judge, and for how long the nearest frame was shown.
func (g *Golden) Nearest() (d *golden.Diff, at time.Time, lasted time.Duration, err error) {
	d, at, err = g.judge.Nearest()
	until := g.until
	if until.IsZero() {
		until = g.last
	}
	if d != nil && until.After(at) {
		lasted = until.Sub(at)
	}
	return d, at, lasted, err
}

// Wait waits as [engine.Session.Wait] does for the program that runs, but not for one that has ended:
// when something that it left behind holds its terminal and has written nothing for [golden.Quiet],
// the wait ends with an [*OutlivedError].
func (d *Driver) Wait(ctx context.Context, m engine.Matcher, options ...engine.WaitOption) (*engine.Outcome, error) {
	var bounded engine.Matcher = outlived{m}
	if words, ok := m.(fmt.Stringer); ok { // the session's events have them
		bounded = struct {
			outlived
			fmt.Stringer
		}{outlived{m}, words}
	}
	return d.Session.Wait(ctx, bounded, options...)
}

// An OutlivedError ends a wait for a program that has ended, and of which something is left that
// shows nothing any more.
type OutlivedError struct {
	For time.Duration // nothing has been written since the end, or at all
}

// Error says what is left, and for how long it has been quiet.
func (e *OutlivedError) Error() string {
	return fmt.Sprintf("the program has ended; what it left behind holds its terminal, and has written nothing for %v", e.For)
}

// Unwrap returns [engine.ErrEnded].
func (e *OutlivedError) Unwrap() error { return engine.ErrEnded }

type outlived struct{ engine.Matcher }

// Check implements engine.Matcher.
func (o outlived) Check(v *engine.View) engine.Result {
	r := o.Matcher.Check(v)
	if r.Match != nil || r.Err != nil || v.Exit == nil || v.Ended {
		return r
	}
	from := v.Exit.At
	if v.Changed.After(from) {
		from = v.Changed
	}
	switch left := golden.Quiet - v.At.Sub(from); {
	case left <= 0:
		return engine.Result{Err: &OutlivedError{golden.Quiet}}
	case r.Recheck == 0 || left < r.Recheck:
		r.Recheck = left
	}
	return r
}

// Patient makes a matcher end with a [*golden.QuietError] once the screen does not change any more:
// see [golden.Quiet].
func (d *Driver) Patient(m matchers.Matcher) matchers.Matcher {
	return &patient{Matcher: m, drive: d, began: time.Now()}
}

type patient struct {
	matchers.Matcher
	drive *Driver
	began time.Time
}

// Check implements engine.Matcher.
func (p *patient) Check(v *engine.View) engine.Result {
	r := p.Matcher.Check(v)
	if _, shows := p.drive.Reacted(v); r.Match != nil || r.Err != nil || !shows || v.Ended {
		return r
	}
	left, err := golden.Patience(golden.Quiet, p.began, v.Changed, v.At)
	return engine.Result{Recheck: left, Err: err}
}
