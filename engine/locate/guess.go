package locate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ptywright/ptywright/engine/vt"
)

// Library is the plugin whose predicates have words of their own in a locator: selected, and field.
const Library = "places"

// Options extend what [Parse] and [Decode] accept. The zero value works.
type Options struct {
	Guesser Guesser // nil: a locator may not ask plugins
}

// A Guesser finds plugins' predicates that guess where something is. It is declared here so that
// this package need not import plugins.
type Guesser interface {
	// Guess returns a function that guesses on a screen, within a rectangle of it, or an error that
	// says which of plugin and predicate is unknown. The function may block while the plugin is busy.
	Guess(plugin, predicate string, params any) (func(s *vt.Screen, in vt.Rect) ([]Guess, error), error)
}

// A Guess is a place that a plugin takes for what it was asked about.
type Guess struct {
	vt.Rect
	Confidence float64 // 0 to 1
	Evidence   string  // why, for people
}

// A Guessed is a guess that a locator has used.
type Guessed struct {
	Plugin, Predicate string
	Guess
}

// String says it for people.
func (g Guessed) String() string {
	return fmt.Sprintf("%s of %s guesses %s with confidence %.2f: %s", g.Predicate, g.Plugin, g.Rect,
		g.Confidence, g.Evidence)
}

// errNoGuesser: who asks has no plugins.
var errNoGuesser = errors.New("selected, field and guess ask a plugin: only a server does")

// maxParams bounds the params of a guess, in bytes of JSON.
const maxParams = 4 << 10

type guess struct {
	plugin, predicate string
	params            any
	ask               func(s *vt.Screen, in vt.Rect) ([]Guess, error)
}

func (g guess) parts() []node { return nil }

func (g guess) words() string {
	label, isText := "", false
	if params, ok := g.params.(map[string]any); ok && len(params) == 1 {
		label, isText = params["label"].(string)
	}
	switch {
	case g.plugin == Library && g.predicate == "selected" && g.params == nil:
		return "selected"
	case g.plugin == Library && g.predicate == "field" && isText:
		return "field " + quote(label)
	}
	s := "guess " + quote(g.plugin) + " " + quote(g.predicate)
	if g.params != nil {
		params, _ := json.Marshal(g.params) // it was JSON, or is small
		s += " " + quote(string(params))
	}
	return s
}

// resolve finds the predicate.
func (g *guess) resolve(o Options) error {
	if o.Guesser == nil {
		return errNoGuesser
	}
	switch params, err := json.Marshal(g.params); {
	case err != nil:
		return fmt.Errorf("the params of a guess are no JSON: %w", err)
	case len(params) > maxParams:
		return fmt.Errorf("the params of a guess have %d bytes, at most %d are allowed", len(params),
			maxParams)
	}
	var err error
	g.ask, err = o.Guesser.Guess(g.plugin, g.predicate, g.params)
	return err
}

func (g guess) find(p *page) []Place {
	const work = maxSteps / 16 // a plugin may take as long as a sixteenth of a question
	if p.err != nil || p.rect.Rows <= 0 || p.rect.Cols <= 0 || !p.step(work) {
		return nil
	}
	guesses, err := g.ask(p.screen, p.rect)
	if err != nil {
		p.err, p.left = err, 0
		return nil
	}
	var out []Place
	for _, x := range guesses {
		top, left := max(x.Row, p.rect.Row), max(x.Col, p.rect.Col)
		bottom := min(x.Row+x.Rows, p.rect.Row+p.rect.Rows)
		right := min(x.Col+x.Cols, p.rect.Col+p.rect.Cols)
		found := p.block(top, left, bottom, right)
		if len(found) == 0 {
			continue
		}
		out = append(out, found...)
		if told := (Guessed{g.plugin, g.predicate, x}); !slices.Contains(p.guesses, told) {
			p.guesses = append(p.guesses, told)
		}
	}
	return order(out)
}
