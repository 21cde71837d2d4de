package native

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol"
)

// A locatorTree is an undecoded locator: words, or an object whose shape depends on its type.
type locatorTree struct{ json.RawMessage }

type locateParams struct {
	sessionParams
	readParams
	atParams
	Locator   locatorTree    `json:"locator" jsonschema:"words, such as 'Commit' in box 'Menu', or an object with type and value"`
	State     string         `json:"state,omitempty" jsonschema:"visible (default): it means at least one place; hidden: it means none; stable: it means at least one, which has been as it is for 300 ms"`
	Strict    bool           `json:"strict,omitempty" jsonschema:"but for hidden it has to mean exactly one place"`
	TimeoutMS *int64         `json:"timeout_ms,omitempty" jsonschema:"default 30000; 0 looks once"`
	Since     *sincePosition `json:"since,omitempty" jsonschema:"only places count of which a row was written after it: a sequence, or the next of a wait's answer"`
}

type locateResult struct {
	Matches  []placeShape `json:"matches" jsonschema:"the places in reading order, frames from the innermost; at most 1000"`
	Total    int          `json:"total" jsonschema:"how many there are"`
	Sequence uint64       `json:"sequence" jsonschema:"of the screen on which they are"`
	Why      string       `json:"why,omitempty" jsonschema:"what plugins have guessed, with their confidence"`
	thenShape
}

// mostPlaces bounds the places of one answer.
const mostPlaces = 1000

// The values of state.
const (
	stateVisible = "visible"
	stateHidden  = "hidden"
	stateStable  = "stable"
)

// stillFor is how long a place that is stable has been as it is: as long as the bundled plugins wait
// for a screen to be complete.
const stillFor = 300 * time.Millisecond

// placeShape is a place on the wire.
type placeShape struct {
	Text    string     `json:"text" jsonschema:"what stands there, its rows joined by line feeds unless they wrap"`
	Spans   []cellSpan `json:"spans" jsonschema:"its cells, one stretch for each row"`
	Line    int        `json:"line" jsonschema:"of its first row, as in session.scrollback"`
	Style   string     `json:"style,omitempty" jsonschema:"in the words of a locator, such as fg=green bold; absent when it has none, or several"`
	Changed uint64     `json:"changed" jsonschema:"the sequence at which one of its rows was written last"`
}

// A cellSpan is a stretch of cells of one row.
type cellSpan struct {
	Row  int `json:"row" jsonschema:"from 0"`
	Col  int `json:"col" jsonschema:"from 0"`
	Cols int `json:"cols" jsonschema:"how many cells; a wide character has two"`
}

// place makes what a client may see of a place.
func (l *look) place(p locate.Place) placeShape {
	raw := l.Raw.Screen
	out := placeShape{Text: p.On(l.Screen()).Text, Line: raw.History().Len() + p.Spans[0].Row,
		Changed: p.Changed(raw)}
	var styles []vt.Style
	for _, s := range p.Spans {
		out.Spans = append(out.Spans, cellSpan{s.Row, s.Col, s.End - s.Col})
		for x := s.Col; x < s.End && len(styles) < 2; x++ {
			c := raw.Cell(s.Row, x)
			c.Style.Link = "" // a text of the program
			if !slices.Contains(styles, c.Style) {
				styles = append(styles, c.Style)
			}
		}
	}
	if len(styles) == 1 {
		out.Style = styles[0].String()
	}
	return out
}

// places is place for the first most of several.
func (l *look) places(all []locate.Place, most int) []placeShape {
	out := make([]placeShape, min(len(all), most))
	for i := range out {
		out[i] = l.place(all[i])
	}
	return out
}

func (c *client) sessionLocate(ctx context.Context, p locateParams) (*locateResult, error) {
	state, err := word("session.locate state", p.State, stateVisible)
	if err != nil {
		return nil, err
	}
	timeout, err := milliseconds("timeout_ms", p.TimeoutMS, engine.DefaultWait)
	if err != nil {
		return nil, err
	}
	if p.At != nil && (p.Since != nil || state == stateStable) {
		return nil, &protocol.ParamError{Path: "at", Expected: "neither since nor the state stable beside it",
			Got: "one of them"}
	}
	asking := &asking{catalog: c.Catalog, ctx: ctx}
	defer asking.stop()
	value, err := tree("locator", p.Locator.RawMessage)
	if err != nil {
		return nil, err
	}
	l, err := locate.Decode("locator", value, locate.Options{Guesser: asking})
	if err != nil {
		return nil, locatorError(err)
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return nil, err
	}
	q := &locating{locator: l, state: state, strict: p.Strict && state != stateHidden}
	look := func(v *engine.View) *look {
		x := newLook(v, p.redactor(), "none")
		x.Secrets = asking.secrets()
		return x
	}
	if p.At != nil {
		return q.at(s, &p, look)
	}
	since, err := p.Since.of(s)
	if err != nil {
		return nil, err
	}
	if state == stateHidden { // what is there was there before, too
		since = nil
	}
	out, err := s.Wait(ctx, q, since, engine.Within(timeout), c.by(),
		engine.Parked(func() { protocol.Yield(ctx) }))
	seen := look(out.View)
	if err != nil {
		return nil, q.failure(err, out, seen)
	}
	return q.result(seen), nil
}

// locatorError tells what is wrong with a locator.
func locatorError(err error) error {
	var bad *locate.TreeError
	if errors.As(err, &bad) {
		return &paramError{path: bad.Path, reason: "invalid_locator", problem: bad.Msg}
	}
	return err
}

// A locating is the matcher of one session.locate.
type locating struct {
	locator locate.Locator
	state   string
	strict  bool

	places  []locate.Place // as of the last view
	guesses []locate.Guessed
	screen  *vt.Screen
	err     error
	since   time.Time // the places have been as they are since then
}

// String says in words what is waited for.
func (q *locating) String() string { return q.locator.String() + " is " + q.state }

// Check asks the locator about each screen once.
func (q *locating) Check(v *engine.View) engine.Result {
	if q.screen != v.Screen {
		before := q.places
		was := q.screen
		q.places, q.guesses, q.err = q.locator.Look(v.Screen)
		q.places = matchers.Fresh(v, q.places)
		if q.screen = v.Screen; !same(before, was, q.places, v.Screen) {
			q.since = v.Changed
		}
	}
	switch {
	case q.err != nil:
		return engine.Result{Err: q.err}
	case q.state == stateHidden && len(q.places) > 0,
		q.state != stateHidden && len(q.places) == 0,
		q.strict && len(q.places) != 1:
		return engine.Result{}
	}
	if q.state == stateStable {
		if left := stillFor - v.At.Sub(q.since); left > 0 {
			return engine.Result{Recheck: left}
		}
	}
	return engine.Matched("located")
}

// same reports whether places are the same, and were not written to in between.
func same(a []locate.Place, was *vt.Screen, b []locate.Place, is *vt.Screen) bool {
	return was != nil && slices.EqualFunc(a, b, func(x, y locate.Place) bool {
		return x.Same(y) && x.Text == y.Text && x.Changed(was) == y.Changed(is)
	})
}

func (q *locating) result(l *look) *locateResult {
	r := &locateResult{Matches: l.places(q.places, mostPlaces), Total: len(q.places),
		Sequence: l.Raw.Sequence}
	var why []string
	for _, g := range q.guesses {
		why = append(why, l.Piece(g.String()))
	}
	r.Why = strings.Join(why, "; ")
	return r
}

// at answers of the past.
func (q *locating) at(s *engine.Session, p *locateParams, look func(*engine.View) *look) (*locateResult, error) {
	v, then, err := p.view(s)
	if err != nil {
		return nil, err
	}
	l := look(v)
	if r := q.Check(v); r.Match == nil {
		err := r.Err
		if err == nil {
			err = engine.ErrTimeout
		}
		return nil, q.failure(err, &engine.Outcome{View: v}, l)
	}
	r := q.result(l)
	r.Sequence, r.thenShape = then.Sequence, then.shape()
	return r, nil
}

// failure is the error of a wait that ended without what it waited for.
func (q *locating) failure(err error, out *engine.Outcome, l *look) error {
	lacks := len(q.places) == 0 || q.strict && len(q.places) > 1
	late := errors.Is(err, engine.ErrTimeout) || errors.Is(err, engine.ErrEnded)
	switch {
	case q.err != nil:
		return q.err
	case late && q.state != stateHidden && lacks:
		return &targetError{err: q.one(), look: l, places: q.places}
	}
	m := matchers.Located(q.locator, -1)
	if q.state == stateHidden {
		m = matchers.Located(q.locator, 0)
	}
	return &waitError{err: err, evidence: &evidence{look: l, elapsed: out.Elapsed,
		quiet: out.View.At.Sub(out.View.Changed), missed: out.Missed,
		matcher: m.Explain(out.View, l.shown())}}
}

// one is the error of a locator that should mean one place.
func (q *locating) one() *locate.NotOneError {
	return &locate.NotOneError{Locator: q.locator, Count: len(q.places)}
}

// A targetError is a locator that does not mean what it should, with the screen it was asked about.
type targetError struct {
	err    *locate.NotOneError // for its locator and count
	look   *look
	places []locate.Place
	input  error // of the input that needed it; nil: there was none
	off    *uint64
}

func (e *targetError) Error() string {
	if e.off != nil {
		return e.input.Error()
	}
	places := make([]locate.Place, min(len(e.places), locate.MaxPlaces))
	for i := range places {
		places[i] = e.places[i].On(e.look.Screen())
	}
	told := &locate.NotOneError{Locator: e.err.Locator, Count: e.err.Count, Places: places}
	if e.err.Count == 0 {
		told.Stages = e.stages()
	}
	return e.look.Piece(told.Error())
}

func (e *targetError) Unwrap() error { return e.input }

// stages tells what each part of the locator finds.
func (e *targetError) stages() []locate.Stage {
	_, err := e.err.Locator.OneShown(e.look.Raw.Screen, e.look.Screen())
	var not *locate.NotOneError
	if errors.As(err, &not) {
		return not.Stages
	}
	return nil
}

func (e *targetError) reason() string {
	switch {
	case e.off != nil:
		return "off_screen"
	case e.err.Count == 0:
		return "not_found"
	}
	return "ambiguous"
}

// data are the members of the error's data.
func (e *targetError) data() map[string]any {
	data := map[string]any{"locator": e.look.Piece(e.err.Locator.String()),
		"sequence": e.look.Raw.Sequence, "snapshot": e.look}
	switch {
	case e.off != nil:
		data["line"] = *e.off
	case e.err.Count == 0:
		var stages []stageShape
		for _, s := range e.stages() {
			stages = append(stages, stageShape{e.look.Piece(s.Locator), s.Count, s.Nearest})
			if s.Count == 0 && s.Nearest != "" && data["nearest"] == nil {
				data["nearest"] = s.Nearest
			}
		}
		data["stages"] = stages
	default:
		data["count"], data["places"] = e.err.Count, e.look.places(e.places, locate.MaxPlaces)
	}
	return data
}

// aimed adds to an error of input what its locator has found instead.
func (c *client) aimed(err error, asking *asking) error {
	var bad *engine.TargetError
	if !errors.As(err, &bad) {
		return err
	}
	l := newLook(bad.View, c.hide, "none")
	l.Secrets = asking.secrets()
	var not *locate.NotOneError
	if !errors.As(bad.Err, &not) { // it may quote the screen
		return &toldError{err, l}
	}
	e := &targetError{err: not, look: l, places: not.Places, input: err}
	if bad.OffScreen {
		e.off = &bad.Line
	}
	return e
}

// A toldError is the error of a plugin that was asked about a view, and may quote it.
type toldError struct {
	err  error
	look *look
}

func (e *toldError) Error() string { return e.look.Piece(e.err.Error()) }
func (e *toldError) Unwrap() error { return e.err }

// stageShape says how many places a part of a locator means.
type stageShape struct {
	Locator string `json:"locator" jsonschema:"the part in words"`
	Count   int    `json:"count"`
	Nearest string `json:"nearest,omitempty" jsonschema:"of a text that was not found: the line that comes closest"`
}

type (
	notFoundData struct {
		progress
		Locator  string       `json:"locator,omitempty" jsonschema:"in words"`
		Nearest  string       `json:"nearest,omitempty" jsonschema:"the line that comes closest to what was not found"`
		Stages   []stageShape `json:"stages,omitempty" jsonschema:"what each part of the locator means on the whole screen, the innermost first"`
		Sequence uint64       `json:"sequence,omitzero"`
		Snapshot *look        `json:"snapshot,omitempty"`
	}
	ambiguousData struct {
		progress
		Locator  string       `json:"locator,omitempty" jsonschema:"in words"`
		Count    int          `json:"count,omitzero" jsonschema:"how many places it means"`
		Places   []placeShape `json:"places,omitempty" jsonschema:"at most the first 100"`
		Sequence uint64       `json:"sequence,omitzero"`
		Snapshot *look        `json:"snapshot,omitempty"`
	}
	offScreenData struct {
		progress
		Locator  string `json:"locator,omitempty" jsonschema:"in words"`
		Line     uint64 `json:"line" jsonschema:"that has left the screen, counted from the session's first line"`
		Sequence uint64 `json:"sequence,omitzero"`
		Snapshot *look  `json:"snapshot,omitempty"`
	}
)

// A pressShape says where a click, a drag or a scroll has pressed.
type pressShape struct {
	Row        int    `json:"row" jsonschema:"from 0"`
	Col        int    `json:"col" jsonschema:"from 0"`
	Sequence   uint64 `json:"sequence" jsonschema:"of the screen on which the target was found and pressed"`
	StillThere bool   `json:"still_there" jsonschema:"the locator means the same cells after it; without a locator: the cell shows the same"`
	Reacted    bool   `json:"reacted" jsonschema:"the program has written something since, within 200 ms"`
	Moved      bool   `json:"moved,omitzero" jsonschema:"a warning: when the terminal had taken it the target was gone from there, so it may have hit something else"`
}

func receipts(presses []engine.Press) []pressShape {
	var out []pressShape
	for _, p := range presses {
		out = append(out, pressShape(p))
	}
	return out
}

// Guess finds a plugin's predicate that guesses a place.
func (a *asking) Guess(plugin, predicate string, params any) (
	func(*vt.Screen, vt.Rect) ([]locate.Guess, error), error) {
	a.begin()
	ask, err := a.catalog.Guess(a.ctx, plugin, predicate, params)
	if err != nil {
		return nil, err
	}
	a.note(plugin)
	return ask, nil
}

// locators adds what a locator may be to the model.
func (m *modeler) locators() {
	words := &jsonschema.Schema{Type: "string", MinLength: jsonschema.Ptr(1),
		Examples: []any{"'Commit' in box 'Menu'"}}
	m.defs["Locator"] = &jsonschema.Schema{
		Description: "what is meant on the screen: in words, or as an object",
		OneOf:       []*jsonschema.Schema{words, ref("LocatorTree")},
	}
	m.union("LocatorTree", "what is meant, by type", "Locator", locate.Schemas())
	m.defs["ClickTarget"] = decoded(engine.TargetShape())
}
