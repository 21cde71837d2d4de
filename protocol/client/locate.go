package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A CellSpan is a stretch of cells of one row.
type CellSpan struct {
	Row  int `json:"row"`  // from 0
	Col  int `json:"col"`  // from 0
	Cols int `json:"cols"` // a wide character has two
}

// A Place is what a locator means on a screen.
type Place struct {
	Text    string     `json:"text"`    // its rows joined by line feeds, unless they wrap
	Spans   []CellSpan `json:"spans"`   // its cells, one stretch for each row
	Line    int        `json:"line"`    // of its first row: scrollback lines come first
	Style   string     `json:"style"`   // such as "fg=green bold"; "": it has none, or several
	Changed uint64     `json:"changed"` // the sequence at which one of its rows was written last
}

// A Places is what a locator means on one screen.
type Places struct {
	Matches  []Place `json:"matches"` // in reading order, frames from the innermost; at most 1000
	Total    int     `json:"total"`
	Sequence uint64  `json:"sequence"` // of the screen
	Why      string  `json:"why"`      // what plugins have guessed, with their confidence
}

// A Pressed says where a click, a drag or a scroll has pressed, and what came of it.
type Pressed struct {
	Row        int    `json:"row"`
	Col        int    `json:"col"`
	Sequence   uint64 `json:"sequence"`    // of the screen on which the place was found and pressed
	StillThere bool   `json:"still_there"` // the locator means the same cells after it
	Reacted    bool   `json:"reacted"`     // the program has written something since, within 200 ms
	// Moved is a warning: the place was gone from there when the terminal had taken the press.
	Moved bool `json:"moved,omitempty"`
}

// A LocateOption changes one [Session.Locate]: [Within], a [Position], and [Unredacted].
type LocateOption interface{ locates(p *locateParams) }

type locateParams struct {
	named
	Locator   string   `json:"locator"`
	State     string   `json:"state,omitempty"`
	Strict    bool     `json:"strict,omitempty"`
	TimeoutMS *int64   `json:"timeout_ms,omitempty"`
	Since     Position `json:"since,omitempty"`
	Redact    *bool    `json:"redact,omitempty"`
}

func (d Within) locates(p *locateParams)   { p.TimeoutMS = d.milliseconds() }
func (s Position) locates(p *locateParams) { p.Since = s }
func (r redacted) locates(p *locateParams) { p.Redact = (*bool)(&r) }

// Locate waits until a locator means exactly one place of the screen, and returns it. The locator is
// in words, which docs/locators.md describes: "'Commit' in box 'Menu'".
//
// Errors: [ErrNotFound] and [ErrAmbiguous], after 30 seconds or as [Within] says, with what was
// found instead in [Error].Data; [ErrInvalidLocator]; [ErrSessionClosed].
func (s *Session) Locate(ctx context.Context, locator string, options ...LocateOption) (*Place, error) {
	l, err := s.locate(ctx, locateParams{named: s.named(), Locator: locator, Strict: true}, options)
	if err != nil {
		return nil, err
	}
	if len(l.Matches) != 1 {
		return nil, fmt.Errorf("session.locate: the server names %d places, expected one", len(l.Matches))
	}
	return &l.Matches[0], nil
}

// LocateAll returns all places that a locator means on the screen as it is, which may be none.
// [Within] has it wait for the first.
func (s *Session) LocateAll(ctx context.Context, locator string, options ...LocateOption) (*Places, error) {
	p := locateParams{named: s.named(), Locator: locator, TimeoutMS: new(int64)}
	l, err := s.locate(ctx, p, options)
	if errors.Is(err, ErrNotFound) {
		return &Places{}, nil
	}
	return l, err
}

// Gone waits until a locator means no place of the screen. Errors: [ErrTimeout] and those of
// [Session.Locate].
func (s *Session) Gone(ctx context.Context, locator string, options ...LocateOption) error {
	_, err := s.locate(ctx, locateParams{named: s.named(), Locator: locator, State: "hidden"}, options)
	return err
}

func (s *Session) locate(ctx context.Context, p locateParams, options []LocateOption) (*Places, error) {
	for _, o := range options {
		o.locates(&p)
	}
	return result[Places](ctx, s.client, "session.locate", p)
}

// A ClickOption changes one [Session.ClickOn].
type ClickOption interface{ clicks(p *clickParams) }

type clickParams struct {
	value   map[string]any
	timeout *int64
}

type (
	// Times is how often to click: 2 is a double click.
	Times int
	// Spot is the cell of a place to click: its "center", its "start" or its "end".
	Spot string
)

func (b Button) clicks(p *clickParams) { p.value["button"] = b }
func (n Times) clicks(p *clickParams)  { p.value["count"] = n }
func (s Spot) clicks(p *clickParams)   { p.value["at"] = s }
func (d Within) clicks(p *clickParams) {
	p.timeout = Within(max(time.Duration(d), time.Millisecond)).milliseconds()
}

// ClickOn waits until a locator means exactly one place of the screen, at most five seconds or as
// [Within] says, and clicks there: it finds and presses on the same screen. Errors: those of
// [Session.Locate] and [Session.Click]; [ErrOffScreen] when the place has left the screen.
func (s *Session) ClickOn(ctx context.Context, locator string, options ...ClickOption) (*Pressed, error) {
	p := clickParams{value: map[string]any{"locator": locator}}
	for _, o := range options {
		o.clicks(&p)
	}
	sent, err := s.typed(ctx, nil, struct {
		named
		Action    Action `json:"action"`
		TimeoutMS *int64 `json:"timeout_ms,omitempty"`
	}{s.named(), Action{"click", p.value}, p.timeout})
	if err != nil {
		return nil, err
	}
	if len(sent.Receipts) == 0 {
		return &Pressed{Sequence: sent.Sequence}, nil // a server that tells none
	}
	return &sent.Receipts[0], nil
}
