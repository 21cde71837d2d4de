package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/protocol/client"
)

// MaxText bounds what is typed at once, in bytes. Escaped for the wire it is at most six times as
// long, which fits into a message of 16 MiB. Larger texts are better passed as a file.
const MaxText = 2 << 20

// An Input is typed in order, without other clients' input in between.
type Input struct {
	Steps   []Step
	Paste   bool          // as a terminal pastes: bracketed if the program asks, no control characters
	Pace    time.Duration // between keystrokes, in whole milliseconds; text is typed by character
	Timeout time.Duration // for a program that does not read; 0: the server's 5 s
}

// A Step is a text, or a key by its name.
type Step struct{ Text, Key string }

// HasText reports whether text is among the steps.
func (in Input) HasText() bool {
	return slices.ContainsFunc(in.Steps, func(s Step) bool { return s.Text != "" })
}

// lasts returns how long the pauses take in total.
func (in Input) lasts() time.Duration {
	n := 0
	for _, s := range in.Steps {
		n += 1 + utf8.RuneCountInString(s.Text)
	}
	return time.Duration(n)*in.Pace + time.Duration(len(in.Steps))*escapePause
}

// escapePause is longer than a server pauses after an Escape.
const escapePause = 200 * time.Millisecond

// ErrLong reports text that is longer than [MaxText].
var ErrLong = fmt.Errorf("it is longer than %d bytes: have the program read it itself", MaxText)

// ReadText reads text to type, up to its end. Errors: [ErrLong], that it is not UTF-8, or the
// reader's.
func ReadText(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > MaxText:
		return "", ErrLong
	case !utf8.Valid(b):
		return "", errors.New("it is not UTF-8 text")
	}
	return string(b), nil
}

// A KeyError reports an unknown key name.
type KeyError struct{ Err error }

func (e *KeyError) Error() string {
	var key *vt.KeyError
	if errors.As(e.Err, &key) && key.Why == "" { // it would list a hundred names
		return fmt.Sprintf("--key %q: unknown key: known are single characters, enter, tab, shift_tab, escape, space, backspace, delete, "+
			"insert, up, down, left, right, home, end, page_up, page_down, f1 to f35, keypad_0 and the like, and any of these behind "+
			"ctrl+, alt+ or shift+, in any case and as tmux spells them (Esc, C-c, M-x, PgUp)", key.Name)
	}
	return "--key: " + e.Err.Error()
}
func (e *KeyError) Unwrap() error { return e.Err }

// Sent is the result of typing.
type Sent struct {
	Session string `json:"session"`
	// Sequence is the session's right before the first byte was typed: a wait since then sees
	// everything that the input caused, and nothing older.
	Sequence uint64 `json:"sequence"`
	Stripped int    `json:"stripped,omitempty"` // control bytes removed from a paste
}

// Send types, and returns when the terminal has taken all of it. Errors: [*KeyError] and [ErrLong],
// both before anything is typed; those of session.input, which say how much was typed.
func (s *Server) Send(ctx context.Context, id string, in Input) (Sent, error) {
	kind, size := "text", 0
	for _, step := range in.Steps {
		if _, err := vt.ParseKey(step.Key); step.Key != "" && err != nil {
			return Sent{}, &KeyError{err}
		}
		size += len(step.Text)
	}
	if size > MaxText {
		return Sent{}, ErrLong
	}
	if in.Paste && in.HasText() {
		var err error
		if kind, err = s.pasteKind(ctx, id); err != nil {
			return Sent{}, err
		}
	}
	var actions []client.Action
	for _, step := range in.Steps {
		if step.Key != "" {
			actions = append(actions, client.Action{Type: "key", Value: step.Key})
		} else {
			actions = append(actions, client.Action{Type: kind, Value: step.Text})
		}
	}
	p := map[string]any{"session": id, "actions": actions, "delay_ms": in.Pace.Milliseconds()}
	if in.Timeout > 0 {
		p["timeout_ms"] = in.Timeout.Milliseconds()
	}
	var r client.Sent
	if err := s.call(ctx, max(in.Timeout, workBound)+in.lasts(), "session.input", p, &r); err != nil {
		return Sent{}, err
	}
	return Sent{Session: id, Sequence: r.Sequence, Stripped: r.Stripped}, nil
}

// pasteKind is the action that pastes text into a session.
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
