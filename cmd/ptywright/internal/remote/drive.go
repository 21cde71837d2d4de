package remote

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ptywright/ptywright/protocol/client"
)

// Resize changes the size of a session's terminal. A side that is 0 stays as it is. The result is
// the resulting size. Errors: those of session.resize.
func (s *Server) Resize(ctx context.Context, id string, size client.Size) (client.Size, error) {
	if size.Rows == 0 || size.Cols == 0 {
		var now struct {
			Size client.Size `json:"size"`
		}
		if err := s.Call(ctx, "session.snapshot", map[string]any{"session": id, "cells": "none"}, &now); err != nil {
			return size, err
		}
		if size.Rows == 0 {
			size.Rows = now.Size.Rows
		}
		if size.Cols == 0 {
			size.Cols = now.Size.Cols
		}
	}
	return size, s.Call(ctx, "session.resize", map[string]any{"session": id, "rows": size.Rows, "cols": size.Cols}, nil)
}

// A MouseEvent is one mouse event at a cell, in the words of the wire.
type MouseEvent struct {
	Row    int      `json:"row"` // from 0
	Col    int      `json:"col"` // from 0
	Button string   `json:"button"`
	Action string   `json:"action"`
	Mods   []string `json:"mods,omitempty"`
}

// Mouse performs events one after the other. As on a real terminal, a program gets only the events
// that it asked for: events after a press are left out if it asked for presses only (mode 9) or not
// for moves. When an event is refused, those before it have been performed. Errors: those of
// session.input.
func (s *Server) Mouse(ctx context.Context, id string, events []MouseEvent) (Sent, error) {
	sent := Sent{Session: id}
	for i, e := range events {
		p := map[string]any{"session": id, "action": client.Action{Type: "mouse", Value: e}}
		var r client.Sent
		err := s.call(ctx, workBound, "session.input", p, &r)
		var refused *client.Error
		if i > 0 && e.Action != "press" && errors.As(err, &refused) && refused.Reason == "mouse_not_requested" {
			continue
		}
		if err != nil {
			return sent, err
		}
		if i == 0 {
			sent.Sequence = r.Sequence
		}
	}
	return sent, nil
}

// A Found is the result of a search, and the server's own JSON for it.
type Found struct {
	Matches   []Line          `json:"matches"`
	Total     int             `json:"total"`     // of all matches
	Truncated bool            `json:"truncated"` // Total is larger than Matches
	Raw       json.RawMessage `json:"-"`         // with session
}

// A Line is a line with a match.
type Line struct {
	Line int    `json:"line"` // from 0, the oldest that is kept
	Col  int    `json:"col"`  // characters before the match
	Text string `json:"text"`
}

// Search finds a text, or with regex an RE2 expression, in all lines that are kept of a session and
// on its screen, and returns at most so many matches. Errors: those of session.search.
func (s *Server) Search(ctx context.Context, id, what string, regex bool, most int, show Show) (Found, error) {
	more := map[string]any{"text": what, "max": most}
	if regex {
		more = map[string]any{"regex": what, "max": most}
	}
	var f Found
	if err := s.Call(ctx, "session.search", params(id, more, show), &f.Raw); err != nil {
		return f, err
	}
	if err := json.Unmarshal(f.Raw, &f); err != nil {
		return f, err
	}
	f.Raw = with(f.Raw, map[string]any{"session": id})
	return f, nil
}

// with adds members to an object.
func with(object json.RawMessage, more map[string]any) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return object
	}
	for name, value := range more {
		b, err := json.Marshal(value)
		if err != nil {
			return object
		}
		members[name] = b
	}
	b, err := json.Marshal(members)
	if err != nil {
		return object
	}
	return b
}
