package native

import (
	"context"
	"math"
	"os"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol"
)

type capabilitiesParams struct {
	Schema bool `json:"schema,omitempty" jsonschema:"add the shape of every method"`
}

type capabilitiesResult struct {
	Name          string                  `json:"name"`
	Version       string                  `json:"version"`
	PID           int                     `json:"pid" jsonschema:"of the server's process, as it knows it itself"`
	Framing       []string                `json:"framing"`
	Methods       []string                `json:"methods"`
	Notifications []string                `json:"notifications"`
	Actions       []string                `json:"actions"`
	Matchers      []string                `json:"matchers"`
	Ordering      []string                `json:"ordering"`
	Access        []string                `json:"access"`
	Limits        map[string]int          `json:"limits"`
	Reasons       []string                `json:"reasons,omitempty"`
	Schema        map[string]methodSchema `json:"schema,omitempty"`
}

type methodSchema struct {
	About  string             `json:"about"`
	Reads  bool               `json:"reads" jsonschema:"it is also for a connection that only reads"`
	Params *jsonschema.Schema `json:"params"`
	Result *jsonschema.Schema `json:"result"`
}

func (c *client) capabilities(ctx context.Context, p capabilitiesParams) (capabilitiesResult, error) {
	r := capabilitiesResult{
		Name: "ptywright", Version: c.Version, PID: os.Getpid(),
		Framing:       []string{"ndjson", "lsp"},
		Notifications: notifications,
		Actions:       engine.ActionTypes(),
		Matchers:      matchers.Types(matchers.Options{Predicates: &asking{catalog: c.Catalog, ctx: ctx}}),
		Ordering:      []string{protocol.Session.String(), protocol.Concurrent.String()},
		Access:        []string{accessFull, accessRead},
		Limits: map[string]int{
			"message_bytes": c.limits.Message, "executing_requests": c.limits.Executing, "queued_bytes": c.limits.Queued,
			"reply_bytes": c.limits.Replies, "screen_side": engine.MaxSide, "matcher_depth": c.matchers.Depth,
			"matcher_nodes": matchers.MaxNodes, "sessions": c.Engine.Limit(), "ended_sessions": c.Engine.EndedLimit(),
		},
	}
	for _, row := range table {
		r.Methods = append(r.Methods, row.name)
	}
	if !p.Schema {
		return r, nil
	}
	r.Reasons = append(slices.Clone(protocol.Reasons), ownReasons...)
	slices.Sort(r.Reasons)
	r.Reasons = slices.Compact(r.Reasons)
	r.Schema = map[string]methodSchema{}
	for _, row := range table {
		params, err := shape(row.params, r.Matchers)
		if err != nil {
			return r, err
		}
		bound(params)
		result, err := shape(row.result, r.Matchers)
		if err != nil {
			return r, err
		}
		r.Schema[row.name] = methodSchema{About: row.about, Reads: row.reads, Params: params, Result: result}
	}
	return r, nil
}

// shapes stand for the results that encode themselves; a test checks their output against these.
var shapes = map[reflect.Type]reflect.Type{
	reflect.TypeFor[*look]():       reflect.TypeFor[snapshotShape](),
	reflect.TypeFor[*waitResult](): reflect.TypeFor[waitShape](),
	reflect.TypeFor[*frame]():      reflect.TypeFor[frameShape](),
}

// shape returns the JSON Schema of a type on the wire.
func shape(t reflect.Type, kinds []string) (*jsonschema.Schema, error) {
	if s, ok := shapes[t]; ok {
		t = s
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[actionTree]():        typed("what to do", engine.ActionTypes()),
		reflect.TypeFor[matcherTree]():       matcherSchema(kinds),
		reflect.TypeFor[sincePosition]():     {Types: []string{"integer", "string"}},
		reflect.TypeFor[outcome]():           {Type: "object", Description: "what matched: kind, and what belongs to the kind"},
		reflect.TypeFor[look]():              {Type: "object", Description: "as session.snapshot gives it"},
		reflect.TypeFor[manifestTree]():      {Type: "object", Description: "the keys of a manifest.toml"},
		reflect.TypeFor[jsonschema.Schema](): {Type: "object", Description: "a JSON Schema"},
	}})
	if err != nil {
		return nil, err
	}
	open(s)
	return s, nil
}

// ranges are the bounds of whole numbers in params, by name: the same in every method.
var ranges = map[string][2]int64{
	"rows": {1, engine.MaxSide}, "cols": {1, engine.MaxSide}, "pixel_width": {0, math.MaxUint16}, "pixel_height": {0, math.MaxUint16},
	"timeout_ms": {0, maxTimeout.Milliseconds()}, "delay_ms": {0, engine.MaxPace.Milliseconds()}, "count": {0, maxLines}, "max": {0, maxMatches},
	"max_ms": {1, maxLeash.Milliseconds()}, "idle_ms": {1, maxLeash.Milliseconds()}, "max_memory": {leastMemory, mostMemory},
	"transcript_max_chars": {0, maxTranscript}, "scrollback_max_lines": {0, maxScrollback},
}

// words are the values of string params that take only some, by name.
var words = map[string][]any{
	"owner":  {ownerServer, ownerConnection},
	"access": {accessFull, accessRead},
	"theme":  {"dark", "light"}, "form": {"runs", "ansi"}, "cells": {"full", "runs", "none"}, "ordering": {protocol.Session.String(), protocol.Concurrent.String()}}

// bound puts bounds into the schema of params. The code enforces them itself; a test compares the
// two.
func bound(s *jsonschema.Schema) {
	for name, p := range s.Properties {
		if r, ok := ranges[name]; ok {
			p.Minimum, p.Maximum = jsonschema.Ptr(float64(r[0])), jsonschema.Ptr(float64(r[1]))
		}
		if w, ok := words[name]; ok {
			p.Enum = w
		}
	}
}

// typed is the schema of {"type": ..., "value": ...}.
func typed(about string, types []string) *jsonschema.Schema {
	enum := make([]any, len(types))
	for i, t := range types {
		enum[i] = t
	}
	return &jsonschema.Schema{
		Type: "object", Description: about, Required: []string{"type"},
		Properties: map[string]*jsonschema.Schema{
			"type":  {Type: "string", Enum: enum},
			"value": {Description: "what the type needs: a string, an object or an array"},
		},
	}
}

// matcherSchema is the schema of a matcher.
func matcherSchema(kinds []string) *jsonschema.Schema {
	s := typed("what to wait for", kinds)
	s.Properties["scope"] = &jsonschema.Schema{
		Type: "string", Enum: []any{string(matchers.Seen), string(matchers.OnScreen)},
		Description: "of contains_text and screen_regex: seen (default) also reads lines that scroll off the screen",
	}
	return s
}

// open allows objects more members than the named ones: unknown members are ignored, and results
// may grow.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		open(p)
	}
	open(s.Items)
}

type snapshotShape struct {
	Size struct {
		Rows        int `json:"rows"`
		Cols        int `json:"cols"`
		PixelWidth  int `json:"pixel_width"`
		PixelHeight int `json:"pixel_height"`
	} `json:"size"`
	Cursor struct {
		Row     int  `json:"row" jsonschema:"from 0"`
		Col     int  `json:"col" jsonschema:"from 0"`
		Visible bool `json:"visible"`
	} `json:"cursor"`
	Sequence          uint64      `json:"sequence"`
	PlainText         string      `json:"plain_text" jsonschema:"rows cut at their last non-blank, soft-wrapped rows joined, blank rows at the end dropped"`
	Lines             []string    `json:"lines" jsonschema:"one string a row"`
	Cells             []cellShape `json:"cells" jsonschema:"every cell by rows; with runs: stretches of one style; else empty"`
	AlternateScreen   bool        `json:"alternate_screen"`
	ApplicationCursor bool        `json:"application_cursor"`
	ApplicationKeypad bool        `json:"application_keypad"`
	BracketedPaste    bool        `json:"bracketed_paste" jsonschema:"the program takes a paste in brackets"`
	Mouse             string      `json:"mouse" jsonschema:"what the program asks for: none, x10, vt200, drag or any"`
	Title             *string     `json:"title"`
	SecretInput       bool        `json:"secret_input" jsonschema:"the program reads a secret: the terminal does not echo what is typed"`
	Exit              *exitInfo   `json:"exit"`
}

type cellShape struct {
	Row              int        `json:"row"`
	Col              int        `json:"col"`
	Cols             int        `json:"cols,omitempty" jsonschema:"of a run"`
	Text             string     `json:"text"`
	Wide             bool       `json:"wide,omitempty"`
	WideContinuation bool       `json:"wide_continuation,omitempty"`
	Style            styleShape `json:"style"`
}

type styleShape struct {
	Foreground     string `json:"foreground" jsonschema:"default, idx:N or rgb:R:G:B"`
	Background     string `json:"background" jsonschema:"default, idx:N or rgb:R:G:B"`
	Bold           bool   `json:"bold"`
	Dim            bool   `json:"dim"`
	Italic         bool   `json:"italic"`
	Underline      bool   `json:"underline"`
	Inverse        bool   `json:"inverse"`
	Strike         bool   `json:"strike,omitempty"`
	Hidden         bool   `json:"hidden,omitempty"`
	Blink          bool   `json:"blink,omitempty"`
	Overline       bool   `json:"overline,omitempty"`
	UnderlineStyle string `json:"underline_style,omitempty"`
	UnderlineColor string `json:"underline_color,omitempty"`
	Link           string `json:"link,omitempty"`
}

type frameShape struct {
	Sequence uint64 `json:"sequence" jsonschema:"for the next since"`
	Full     bool   `json:"full" jsonschema:"every row is there: the client had none, or another size"`
	Size     struct {
		Rows int `json:"rows"`
		Cols int `json:"cols"`
	} `json:"size"`
	Rows   []rowShape `json:"rows" jsonschema:"those that have changed"`
	Cursor struct {
		Row     int  `json:"row"`
		Col     int  `json:"col"`
		Visible bool `json:"visible"`
		Style   int  `json:"style" jsonschema:"what DECSCUSR set, 0 to 6"`
	} `json:"cursor"`
	Modes struct {
		AlternateScreen   bool   `json:"alternate_screen"`
		ApplicationCursor bool   `json:"application_cursor"`
		ApplicationKeypad bool   `json:"application_keypad"`
		BracketedPaste    bool   `json:"bracketed_paste"`
		FocusEvents       bool   `json:"focus_events"`
		ReverseVideo      bool   `json:"reverse_video"`
		Mouse             string `json:"mouse"`
		KittyKeyboard     int    `json:"kitty_keyboard" jsonschema:"flags of the kitty keyboard protocol"`
		ModifyOtherKeys   int    `json:"modify_other_keys"`
	} `json:"modes"`
	Title       *string    `json:"title"`
	SecretInput bool       `json:"secret_input"`
	Bell        uint64     `json:"bell" jsonschema:"the sequence at which the bell rang last; 0: not yet"`
	Lease       *leaseInfo `json:"lease" jsonschema:"who alone may type; null: everybody"`
	Exit        *exitInfo  `json:"exit"`
}

type rowShape struct {
	Row  int        `json:"row"`
	Runs []runShape `json:"runs,omitempty"`
	ANSI string     `json:"ansi,omitempty" jsonschema:"with form ansi: to be written at the beginning of a blank line, with no style set"`
}

type runShape struct {
	Col   int        `json:"col"`
	Cols  int        `json:"cols"`
	Text  string     `json:"text"`
	Style styleShape `json:"style"`
}

type waitShape struct {
	Matched        bool          `json:"matched"`
	Sequence       uint64        `json:"sequence"`
	Next           string        `json:"next" jsonschema:"just behind what matched, for the since of the next wait"`
	Forgotten      bool          `json:"forgotten,omitempty" jsonschema:"the session was: of the snapshot only exit means anything"`
	ElapsedMS      int64         `json:"elapsed_ms"`
	Outcome        outcome       `json:"outcome"`
	Before         string        `json:"before,omitempty" jsonschema:"with since: what came between it and the text that matched, at most the last 16 KiB"`
	BeforeCut      bool          `json:"before_truncated,omitempty" jsonschema:"before had more"`
	Missed         bool          `json:"missed,omitempty" jsonschema:"lines that scrolled off the screen were lost before they could be looked at"`
	Snapshot       snapshotShape `json:"snapshot"`
	TranscriptTail string        `json:"transcript_tail"`
}
