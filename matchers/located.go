package matchers

import (
	"fmt"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/tree"
)

// Located matches when a locator means count places of the screen, or with a negative count at
// least one. Places are on the screen as it is: what has scrolled off has none. With a position only
// places count of which a row was written after it. The error of a check is [locate.ErrTooMuch], or
// that of a plugin.
func Located(l locate.Locator, count int) Matcher { return &located{locator: l, count: count} }

type located struct {
	locator locate.Locator
	count   int // negative: at least one
	screen  *vt.Screen
	found   []locate.Place
	err     error
}

// Check asks the locator about each screen once.
func (m *located) Check(v *engine.View) engine.Result {
	if m.screen != v.Screen {
		m.found, m.err = m.locator.All(v.Screen)
		m.screen = v.Screen
	}
	if m.err != nil {
		return engine.Result{Err: m.err}
	}
	found := m.fresh(v)
	if m.count >= 0 && len(found) != m.count || m.count < 0 && len(found) == 0 {
		return engine.Result{}
	}
	return matched(engine.Match{Kind: "located", Places: found})
}

// fresh returns the places that count.
func (m *located) fresh(v *engine.View) []locate.Place { return Fresh(v, m.found) }

// Fresh returns the places of which a row was written after the position of v's wait; all without
// one.
func Fresh(v *engine.View, places []locate.Place) []locate.Place {
	if !v.Since.Set {
		return places
	}
	var out []locate.Place
	for _, p := range places {
		if p.Changed(v.Screen) > v.Since.Last() {
			out = append(out, p)
		}
	}
	return out
}

// Explain says how many places there are, and where.
func (m *located) Explain(v *engine.View, shown Shown) Explanation {
	value := map[string]any{"locator": m.locator.String()}
	if m.count >= 0 {
		value["count"] = m.count
	}
	e := Explanation{Type: "located", Value: value}
	r := m.Check(v)
	e.Held, e.Err = r.Match != nil, r.Err
	found := m.fresh(v)
	switch {
	case m.err != nil:
		e.Why = m.err.Error()
	case shown.Screen == nil:
		e.Why = fmt.Sprintf("found %d places, and nothing of them may be shown", len(found))
	case len(m.found) > 0 && len(found) == 0:
		e.Why = fmt.Sprintf("the screen has it, but nothing of it was written after %s", sinceWords(v))
	case len(m.found) == 0:
		_, err := m.locator.OneShown(v.Screen, shown.Screen)
		e.Why = "found nothing"
		if not, ok := err.(*locate.NotOneError); ok {
			e.Why, e.Nearest = not.Error(), not.Nearest()
		}
	default:
		places := make([]locate.Place, min(len(found), locate.MaxPlaces))
		for i := range places {
			places[i] = found[i].On(shown.Screen)
		}
		e.Why = fmt.Sprintf("found %d: %s", len(found), locate.Told(places, len(found)))
	}
	return e
}

// maxCount bounds count: more places than people count.
const maxCount = 1000

func locatedShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"locator": {"$ref": "#/$defs/Locator"},
		"count":   tree.IntShape(0, maxCount, "exactly so many; without it at least one"),
	}, "count")
}

// parseLocated reads {locator, count?}.
func parseLocated(p *parser, value any, path string, _ int) (Matcher, error) {
	v := tree.New(path, value)
	v.Object("an object with locator")
	l := locate.Read(v.At("locator"), p.Locators)
	count := -1
	if c := v.At("count"); c.V != nil {
		count = c.Int(0, maxCount)
	}
	if f := v.Fault(); f != nil {
		return nil, &ParseError{f.Path, f.Problem()}
	}
	return Located(l, count), nil
}
