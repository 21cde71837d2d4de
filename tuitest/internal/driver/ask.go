package driver

import (
	"errors"
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
