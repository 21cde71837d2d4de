package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/protocol/client"
)

// MaxText bounds what is typed at once, in bytes. Escaped for the wire it is at most six times as long, which a message of
// 16 MiB holds; and what types megabytes had better hand over a file.
const MaxText = 2 << 20

// An Input is what is typed: the text, then the keys in their order.
type Input struct {
	Text    string
	Paste   bool // as a terminal pastes: in brackets when the program asks for them, without control characters
	Keys    []string
	Timeout time.Duration // for each; 0: the server's 5 s
}

// ReadText reads text to type to its end. Errors: that it is longer than [MaxText], or no UTF-8, or the reader's.
func ReadText(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > MaxText:
		return "", fmt.Errorf("it is longer than %d bytes: have the program read it itself", MaxText)
	case !utf8.Valid(b):
		return "", errors.New("it is not UTF-8 text")
	}
	return string(b), nil
}

// A KeyError is about a name that no key has.
type KeyError struct{ Err error }

func (e *KeyError) Error() string {
	var key *vt.KeyError
	if errors.As(e.Err, &key) && key.Why == "" { // it would list a hundred names
		return fmt.Sprintf("--key %q: unknown key: known are single characters, enter, tab, shift_tab, escape, space, backspace, delete, insert, up, down, "+
			"left, right, home, end, page_up, page_down, f1 to f20, keypad_0 and the like, and any of these behind ctrl+, alt+ or shift+", key.Name)
	}
	return "--key: " + e.Err.Error()
}
func (e *KeyError) Unwrap() error { return e.Err }

// Sent is what came of typing.
type Sent struct {
	Session string `json:"session"`
	// Sequence is the session's right before the first byte was typed: a wait since then sees all that the input caused,
	// and nothing older.
	Sequence uint64 `json:"sequence"`
	Stripped int    `json:"stripped,omitempty"` // control bytes taken out of a paste
}

// Send types, and returns when the terminal has taken all of it. When one part is refused, those before it have been typed.
// Errors: [*KeyError], and then nothing has been typed; those of session.input.
func (s *Server) Send(ctx context.Context, id string, in Input) (Sent, error) {
	var actions []client.Action
	if in.Text != "" {
		kind := "text"
		if in.Paste {
			var err error
			if kind, err = s.pasteKind(ctx, id); err != nil {
				return Sent{}, err
			}
		}
		actions = append(actions, client.Action{Type: kind, Value: in.Text})
	}
	for _, k := range in.Keys {
		if _, err := vt.ParseKey(k); err != nil {
			return Sent{}, &KeyError{err}
		}
		actions = append(actions, client.Action{Type: "key", Value: k})
	}
	sent := Sent{Session: id}
	for i, a := range actions {
		p := map[string]any{"session": id, "action": a}
		if in.Timeout > 0 {
			p["timeout_ms"] = in.Timeout.Milliseconds()
		}
		var r client.Sent
		if err := s.call(ctx, max(in.Timeout, workBound), "session.input", p, &r); err != nil {
			return sent, err
		}
		if i == 0 {
			sent.Sequence = r.Sequence
		}
		sent.Stripped += r.Stripped
	}
	return sent, nil
}

// pasteKind is the action by which text is pasted into a session.
func (s *Server) pasteKind(ctx context.Context, id string) (string, error) {
	var r struct {
		Bracketed bool `json:"bracketed_paste"`
	}
	if err := s.Call(ctx, "session.snapshot", map[string]any{"session": id, "cells": "none"}, &r); err != nil {
		return "", err
	}
	if r.Bracketed {
		return "bracketed_paste", nil
	}
	return "paste", nil
}
