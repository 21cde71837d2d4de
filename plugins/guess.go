package plugins

import (
	"context"
	"errors"
	"maps"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
)

// maxGuesses bounds the places that a predicate returns: more are no guess.
const maxGuesses = 100

// errGuessParams: what a client gives a guess is not an object.
var errGuessParams = errors.New("the params of a guess are an object")

// Guess finds a plugin's predicate that guesses where something is, for a locator. It is called as
// any predicate, with params.within for the rectangle in which to look, and returns its places as
// capture: a list of {row, col, rows, cols, confidence, evidence}. The function blocks as
// [Catalog.Predicate]'s matcher does; its errors are *[PluginError] and the cause of ctx's end.
// Other errors are those of Predicate.
func (c *Catalog) Guess(ctx context.Context, plugin, function string, params any) (
	func(s *vt.Screen, in vt.Rect) ([]locate.Guess, error), error) {
	given, ok := params.(map[string]any)
	if !ok && params != nil {
		return nil, errGuessParams
	}
	m, err := c.Predicate(ctx, plugin, function, params)
	if err != nil {
		return nil, err
	}
	asked := m.(*predicate)
	return func(s *vt.Screen, in vt.Rect) ([]locate.Guess, error) {
		p := *asked
		all := map[string]any{}
		maps.Copy(all, given)
		all["within"] = map[string]any{"row": in.Row + 1, "col": in.Col + 1, "rows": in.Rows,
			"cols": in.Cols}
		p.params = all
		a, err := p.ask(ctx, &engine.View{Screen: s})
		if err != nil || !a.matched {
			return nil, err
		}
		return decodeGuesses(plugin, function, a.capture)
	}, nil
}

// decodeGuesses reads the places that a predicate has guessed. Rows and columns count from 1 there.
func decodeGuesses(plugin, function string, capture any) ([]locate.Guess, error) {
	d := decode("capture", capture)
	if capture == nil {
		d.fail("a predicate that guesses places must return them as capture")
	}
	var out []locate.Guess
	for _, x := range d.list(maxGuesses) {
		x = x.members("row", "col", "rows", "cols", "confidence", "evidence")
		out = append(out, locate.Guess{
			Rect: vt.Rect{
				Row: x.at("row").Int(1, engine.MaxSide) - 1, Col: x.at("col").Int(1, engine.MaxSide) - 1,
				Rows: x.at("rows").IntOr(1, 1, engine.MaxSide), Cols: x.at("cols").Int(1, engine.MaxSide),
			},
			Confidence: x.at("confidence").number(0, 1), Evidence: x.at("evidence").text(16 << 10),
		})
	}
	if err := d.problem(plugin, function); err != nil {
		return nil, err
	}
	return out, nil
}
