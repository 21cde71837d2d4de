package native

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/redact"
)

// maxReply bounds one answer. The cells of a screen of 300 by 1000 fit, and a larger answer is
// useless: "cells": "runs" has the same in a hundredth.
const maxReply = 64 << 20

// A tooLargeError is an answer over maxReply.
type tooLargeError struct{}

func (tooLargeError) Error() string {
	return fmt.Sprintf(`the answer would have more than %d bytes; ask for "cells": "runs" or "none"`, maxReply)
}

// A look is a view as one request may see it: every text of a program leaves through its methods.
type look struct {
	*reading.View
	cells string // "full", "runs" or "none"
	then  *then  // the moment that was asked for; nil: now
}

// Fits refuses an answer over maxReply. The error is a tooLargeError.
func (l *look) Fits(size int) error {
	if size > maxReply && l.cells != "none" {
		return tooLargeError{}
	}
	return nil
}

// newLook redacts a view; with a nil hide it shows it unchanged.
func newLook(v *engine.View, hide *redact.Redactor, cells string) *look {
	return &look{View: reading.New(v, hide), cells: cells}
}

// adapterLook is newLook, without cells, for an answer that contains text of an adapter's plugin.
func adapterLook(a *plugins.Adapter, v *engine.View, hide *redact.Redactor) *look {
	l := newLook(v, hide, "none")
	l.Secrets = a.Secrets
	return l
}

// AppendJSON writes the wire's ScreenSnapshot.
func (l *look) AppendJSON(b []byte) []byte {
	s := l.Screen()
	b = slices.Grow(b, l.guess())
	b = append(b, `{"size":{"rows":`...)
	b = strconv.AppendInt(b, int64(s.Rows), 10)
	b = appendInt(b, `,"cols":`, s.Cols)
	b = appendInt(b, `,"pixel_width":`, s.PixelWidth)
	b = appendInt(b, `,"pixel_height":`, s.PixelHeight)
	b = appendInt(b, `},"cursor":{"row":`, s.Cursor.Row)
	b = appendInt(b, `,"col":`, s.Cursor.Col)
	b = appendBool(b, `,"visible":`, s.Cursor.Visible)
	b = append(b, `},"sequence":`...)
	b = strconv.AppendUint(b, l.Raw.Sequence, 10)
	b = appendString(b, `,"plain_text":`, s.Text())
	b = append(b, `,"lines":[`...)
	var line []byte
	for y := range s.Rows {
		if y > 0 {
			b = append(b, ',')
		}
		line = s.AppendLine(line[:0], y)
		b = appendString(b, ``, line)
	}
	b = append(b, `],"cells":[`...)
	switch l.cells {
	case "full":
		b = l.appendCells(b)
	case "runs":
		b = l.appendRuns(b)
	}
	b = appendModes(append(b, `],`...), s.Modes)
	b = appendString(b, `,"mouse":`, s.Modes.Mouse.String())
	b = l.appendTitle(b)
	b = appendAny(append(b, `,"exit":`...), exitOf(l.Raw.Exit))
	return append(l.then.append(b), '}')
}

// appendModes writes the modes that every look has.
func appendModes(b []byte, m vt.Modes) []byte {
	b = appendBool(b, `"alternate_screen":`, m.AltScreen)
	b = appendBool(b, `,"application_cursor":`, m.AppCursor)
	b = appendBool(b, `,"application_keypad":`, m.AppKeypad)
	return appendBool(b, `,"bracketed_paste":`, m.BracketedPaste)
}

// appendTitle writes the title, and whether the program reads a secret.
func (l *look) appendTitle(b []byte) []byte {
	if s := l.Screen(); s.TitleSet {
		b = appendString(b, `,"title":`, l.Clean(s.Title))
	} else {
		b = append(b, `,"title":null`...)
	}
	return appendBool(b, `,"secret_input":`, l.Raw.Secret)
}

// guess estimates the bytes of the answer, so that its buffer need not grow in steps.
func (l *look) guess() int {
	const members = 1 << 10 // all but what the screen shows
	cells := l.Raw.Screen.Rows * l.Raw.Screen.Cols
	size := members + 2*len(l.Screen().Text()) + len(l.Screen().Text())/8
	switch l.cells {
	case "full":
		size += cells * usualCell
	case "runs":
		size += cells * usualCell / 16
	}
	return min(size, maxReply)
}

// MarshalJSON is AppendJSON for a look that is a member of something else.
func (l *look) MarshalJSON() ([]byte, error) { return l.AppendJSON(nil), nil }

// A waitResult is the answer to a wait that matched.
type waitResult struct {
	look    *look
	outcome *engine.Outcome
	latched bool
	// forgotten says that the session was forgotten: only its exit is left.
	forgotten bool
	bare      bool // without screen and output
}

// Fits is that of the look.
func (r *waitResult) Fits(size int) error { return r.look.Fits(size) }

// AppendJSON writes the wire's wait result.
func (r *waitResult) AppendJSON(b []byte) []byte {
	return append(r.appendMembers(append(b, `{"matched":true,`...)), '}')
}

// appendMembers writes the members of a session that matched, without braces.
func (r *waitResult) appendMembers(b []byte) []byte {
	b = append(b, `"sequence":`...)
	b = strconv.AppendUint(b, r.look.Raw.Sequence, 10)
	b = appendString(b, `,"next":`, r.outcome.Next.String())
	if r.forgotten {
		b = appendBool(b, `,"forgotten":`, true)
	}
	b = appendMillis(b, `,"elapsed_ms":`, r.outcome.Elapsed)
	b = appendAny(append(b, `,"outcome":`...), r.look.outcome(r.outcome.Match))
	if r.outcome.View.Since.Set {
		b = appendString(b, `,"before":`, r.look.PieceBelow(r.outcome.Above, r.outcome.Before))
		if r.outcome.Cut {
			b = appendBool(b, `,"before_truncated":`, true)
		}
	}
	if r.latched {
		b = appendAny(append(b, `,"held_at":`...), r.outcome.View.At)
	}
	if r.outcome.Missed {
		b = appendBool(b, `,"missed":`, true)
	}
	if r.bare {
		return b
	}
	b = append(b, `,"snapshot":`...)
	b = r.look.AppendJSON(b)
	return appendString(b, `,"transcript_tail":`, r.look.Tail(reading.TailChars))
}

// An evidence shows why a wait did not match.
type evidence struct {
	look    *look
	elapsed time.Duration
	quiet   time.Duration
	missed  bool
	matcher matchers.Explanation
	state   *stateShape // of an adapter; nil otherwise
}

// AppendJSON writes an error's data.
func (e *evidence) AppendJSON(b []byte) []byte {
	return append(e.appendMembers(append(b, '{')), '}')
}

// appendMembers writes the members of the data, without braces.
func (e *evidence) appendMembers(b []byte) []byte {
	b = appendMillis(b, `"elapsed_ms":`, e.elapsed)
	b = appendMillis(b, `,"quiet_ms":`, e.quiet)
	b = append(b, `,"sequence":`...)
	b = strconv.AppendUint(b, e.look.Raw.Sequence, 10)
	if e.missed {
		b = appendBool(b, `,"missed":`, true)
	}
	b = append(b, `,"snapshot":`...)
	b = e.look.AppendJSON(b)
	b = appendString(b, `,"transcript_tail":`, e.look.Tail(reading.TailChars))
	b = appendAny(append(b, `,"matcher":`...), e.look.explanation(e.matcher))
	if e.state != nil {
		b = append(b, `,"state":`...)
		b = appendAny(b, e.state)
	}
	return b
}

// An explanation is a matcher's tree as it was sent, with held, why and nearest at each node.
type explanation struct {
	Type    string         `json:"type"`
	Value   any            `json:"value,omitzero"`
	Scope   matchers.Scope `json:"scope,omitempty"`
	Held    bool           `json:"held"`
	Why     string         `json:"why"`
	Nearest string         `json:"nearest,omitempty"`
	Diff    string         `json:"diff,omitempty"`
}

func (l *look) explanation(e matchers.Explanation) explanation {
	x := explanation{Type: e.Type, Scope: e.Scope, Held: e.Held, Why: l.Why(e), Nearest: e.Nearest,
		Diff: l.Piece(e.Diff)}
	var parts []explanation
	for _, p := range e.Parts {
		parts = append(parts, l.explanation(p))
	}
	switch v, text := e.Value.(string); {
	case e.Type == "not":
		x.Value = parts[0]
	case e.Type == "any" || e.Type == "all":
		x.Value = parts
	case text:
		x.Value = l.Pattern(v)
	case e.Value != nil:
		x.Value = l.pieces(e.Value)
	}
	return x
}

// shown is what an explanation may quote.
func (l *look) shown() matchers.Shown {
	return matchers.Shown{
		Screen: l.Screen(),
		Output: func() string { return l.Output(reading.NearChars) },
		Line:   l.Line,
		Title:  l.Clean(l.Raw.Screen.Title),
	}
}

// An outcome is what matched, in the specification's shape: the members of its kind.
type outcome struct {
	Kind      string            `json:"kind"`
	Text      *string           `json:"text,omitzero"`
	Pattern   *string           `json:"pattern,omitzero"`
	State     *string           `json:"state,omitzero"`
	Plugin    string            `json:"plugin,omitempty"`
	Predicate string            `json:"predicate,omitempty"`
	Evidence  any               `json:"evidence,omitzero"`
	Capture   any               `json:"capture,omitzero"`
	Groups    []*string         `json:"groups,omitzero"` // null: it took no part
	Named     map[string]string `json:"named,omitempty"`
	Row       *int              `json:"row,omitzero"`
	Col       *int              `json:"col,omitzero"`
	MinMS     *int64            `json:"min_ms,omitzero"`
	Count     *int              `json:"count,omitzero"`
	Places    []placeShape      `json:"places,omitzero"`
	Command   *string           `json:"command,omitzero"`
	Exit      any               `json:"exit_code,omitzero"` // a nil *int is null
	Index     *int              `json:"index,omitzero"`
	Matched   any               `json:"matched,omitzero"`
	Scrolled  *scrolledLine     `json:"scrolled,omitzero"`
}

type scrolledLine struct {
	Line uint64 `json:"line" jsonschema:"counted from the session's first line"`
	Text string `json:"text" jsonschema:"the whole line"`
}

// outcome makes what a client may see of a match; nil of none.
func (l *look) outcome(m *engine.Match) *outcome {
	if m == nil {
		return nil
	}
	return l.outcomeOf(l.Match(m))
}

func (l *look) outcomeOf(m *engine.Match) *outcome {
	x := &outcome{Kind: m.Kind, Plugin: m.Plugin, Predicate: m.Predicate}
	switch m.Kind {
	case "contains_text", "transcript_contains", "title_contains":
		x.Text = &m.Text
	case "screen_regex", "transcript_regex", "title_regex":
		x.Pattern, x.Capture = &m.Pattern, m.Capture
		x.groups(m.Groups)
	case "cursor_at":
		x.Row, x.Col = &m.Row, &m.Col
	case "located":
		n := len(m.Places)
		x.Count, x.Places = &n, l.places(m.Places, locate.MaxPlaces)
	case "screen_stable":
		ms := m.Min.Milliseconds()
		x.MinMS = &ms
	case "command_finished":
		x.Command, x.Exit = &m.Text, m.Exit
	case "state":
		if x.State = &m.Text; m.Evidence != nil {
			x.Evidence = l.pieces(m.Evidence)
		}
	case "lua":
		if m.Evidence != nil {
			x.Evidence = l.pieces(m.Evidence)
		}
		if m.Value != nil {
			x.Capture = l.pieces(m.Value)
		}
	case "any":
		x.Index, x.Matched = &m.Index, l.outcomeOf(m.Parts[0])
	case "all":
		all := make([]*outcome, len(m.Parts))
		for i, p := range m.Parts {
			all[i] = l.outcomeOf(p)
		}
		x.Matched = all
	}
	if at := m.Place; at != nil && at.Scrolled {
		x.Scrolled = &scrolledLine{at.Line, at.Lines}
	}
	return x
}

// groups adds the groups of an expression, and by name those that took part.
func (x *outcome) groups(groups []engine.Group) {
	if len(groups) < 2 {
		return
	}
	x.Named = map[string]string{}
	for _, g := range groups[1:] {
		if !g.Took {
			x.Groups = append(x.Groups, nil)
			continue
		}
		x.Groups = append(x.Groups, &g.Text)
		if _, has := x.Named[g.Name]; g.Name != "" && !has {
			x.Named[g.Name] = g.Text
		}
	}
}

func appendInt(b []byte, name string, n int) []byte {
	return strconv.AppendInt(append(b, name...), int64(n), 10)
}

func appendMillis(b []byte, name string, d time.Duration) []byte {
	return strconv.AppendInt(append(b, name...), d.Milliseconds(), 10)
}

func appendBool(b []byte, name string, v bool) []byte {
	return strconv.AppendBool(append(b, name...), v)
}
