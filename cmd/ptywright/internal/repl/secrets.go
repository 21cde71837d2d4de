package repl

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/protocol/client"
)

// Three rules, in addition to those of [secret], decide what the history file must not contain:
//
//   - no line is kept that was entered while a session in hand read a secret, whether it failed,
//     did something else, or typed the secret;
//   - no line is kept that contains text typed as a secret, whole or a piece of it, see [holds];
//   - text typed as a secret is removed from the file, also what earlier runs wrote.

const (
	// minPiece is how many bytes of a secret count as a piece of it. Fewer would remove most of a
	// history, more would leave more of a secret.
	minPiece = 4
	// maxHand bounds the sessions in hand: each costs a call to the server, some 0.2 ms, twice per
	// line.
	maxHand = 16
	// maxSecrets bounds the secrets remembered while the REPL runs, and maxTyped each of them, in
	// bytes.
	maxSecrets, maxTyped = 64, 4 << 10
)

// A keeper knows what the history must not contain. It belongs to the goroutine that evaluates.
type keeper struct {
	hush   bool              // do not keep the last entry
	hand   []string          // sessions used here, the last one last
	typing map[string]string // what was typed of a secret so far, by session
	typed  []string          // secrets
}

// use notes that a session is in hand.
func (k *keeper) use(h *handle) {
	id := h.id
	if h.kind != "session" {
		id = h.owns
	}
	if n := len(k.hand); id == "" || n > 0 && k.hand[n-1] == id {
		return
	}
	k.hand = append(slices.DeleteFunc(k.hand, func(s string) bool { return s == id }), id)
	k.hand = k.hand[max(len(k.hand)-maxHand, 0):]
}

// watched reports whether a person's lines are kept.
func (c *console) watched() bool { return c.tty && c.history.path != "" }

// secretInHand reports whether one of the sessions in hand reads a secret right now.
func (c *console) secretInHand() bool {
	if !c.watched() || c.client.Load() == nil {
		return false
	}
	if h := c.m.current; h != nil {
		c.keeper.use(h)
	}
	ctx, cancel := context.WithTimeout(c.ctx, completeBound)
	defer cancel()
	for _, id := range slices.Clone(c.keeper.hand) {
		if c.readsSecret(ctx, id) {
			return true
		}
	}
	return false
}

// readsSecret reports whether a session reads a secret right now, as at a password prompt. If that
// is unknown, it reports true.
func (c *console) readsSecret(ctx context.Context, session string) bool {
	var s struct {
		Secret bool `json:"secret_input"`
	}
	err := c.call(ctx, "session.snapshot",
		map[string]string{"session": session, "cells": "none"}, &s)
	var e *client.Error
	if errors.As(err, &e) && e.Reason == "unknown_session" {
		c.keeper.hand = slices.DeleteFunc(c.keeper.hand,
			func(id string) bool { return id == session })
		return false
	}
	return err != nil || s.Secret
}

// touch checks an input before it is sent.
func (c *console) touch(ctx context.Context, params map[string]any) {
	session, _ := params["session"].(string)
	k := &c.keeper
	k.use(&handle{kind: "session", id: session})
	if !c.watched() {
		return
	}
	if !c.readsSecret(ctx, session) {
		delete(k.typing, session)
		return
	}
	k.hush = true
	if k.typing == nil {
		k.typing = map[string]string{}
	}
	actions, _ := params["actions"].([]any)
	text := k.typing[session]
	for _, action := range append([]any{params["action"]}, actions...) {
		text += typedBy(action)
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, l := range lines {
		k.learn(l)
	}
	delete(k.typing, session)
	if len(lines) > 0 && !strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\r") { // the line is unfinished
		last := lines[len(lines)-1]
		k.typing[session] = last[:min(len(last), maxTyped)]
	}
}

// typedBy is the text that an action types, if it is part of a line.
func typedBy(action any) string {
	o, _ := action.(map[string]any)
	text, _ := o["value"].(string)
	if o["type"] != "key" {
		return text
	}
	switch k, err := vt.ParseKey(text); {
	case err != nil || k.Mods&^vt.Shift != 0:
		return ""
	case k.Code == vt.KeyEnter:
		return "\n"
	case k.Code == vt.KeyRune && k.Mods != 0:
		return strings.ToUpper(string(k.Rune))
	case k.Code == vt.KeyRune:
		return string(k.Rune)
	}
	return ""
}

// learn remembers text typed as a secret. If it continues an earlier one, it replaces that.
func (k *keeper) learn(s string) {
	s = s[:min(len(s), maxTyped)]
	if len(s) < minPiece {
		return
	}
	k.typed = slices.DeleteFunc(k.typed, func(old string) bool { return strings.HasPrefix(s, old) })
	k.typed = append(k.typed, s)
	k.typed = k.typed[max(len(k.typed)-maxSecrets, 0):]
}

// keep writes what was entered to the history, if allowed, and removes from the file what is no
// longer allowed.
func (c *console) keep(text string) {
	k := &c.keeper
	if !c.watched() {
		return
	}
	var err error
	if k.hush {
		err = c.history.forget(k.typed)
	} else if !holdsAny(text, k.typed) {
		err = c.history.add(text)
	}
	if err != nil {
		c.board.add(c.style.As(cli.Red, cli.OneLine(err.Error())))
		c.history.path = ""
	}
}

// holdsAny is [holds] for any of several secrets.
func holdsAny(entry string, secrets []string) bool {
	return slices.ContainsFunc(secrets, func(s string) bool { return holds(entry, s) })
}

// holds reports whether an entry contains a secret: literally, or in a string or number as Lua
// reads it, whole or a piece of minPiece bytes or more. It does not find what is assembled from
// shorter pieces, or computed.
func holds(entry, secret string) bool {
	if strings.Contains(entry, secret) {
		return true
	}
	for _, text := range texts(entry) {
		text = strings.Trim(text, "\r\n")
		if strings.Contains(text, secret) ||
			len(text) >= minPiece && strings.Contains(secret, text) {
			return true
		}
	}
	return false
}

// texts are the strings and numbers in a line, which need not be valid Lua.
func texts(entry string) (all []string) {
	for i := 0; i < len(entry); {
		switch c := entry[i]; {
		case c == '"' || c == '\'':
			text, n := unquoted(entry[i+1:], c)
			all = append(all, text)
			i += 1 + n
		case c == '[':
			rest := strings.TrimLeft(entry[i+1:], "=")
			if !strings.HasPrefix(rest, "[") {
				i++
				continue
			}
			text, _, _ := strings.Cut(rest[1:],
				"]"+strings.Repeat("=", len(entry)-i-1-len(rest))+"]")
			all = append(all, text)
			i = len(entry) - len(rest) + 1 // its content may be a string in another reading
		case '0' <= c && c <= '9':
			n := 1
			for i+n < len(entry) && '0' <= entry[i+n] && entry[i+n] <= '9' {
				n++
			}
			all = append(all, entry[i:i+n])
			i += n
		default:
			i++
		}
	}
	return all
}

// unquoted reads a string after its opening quote, and returns the length including the closing
// quote, which may be missing.
func unquoted(s string, quote byte) (text string, n int) {
	var b strings.Builder
	for n < len(s) {
		c := s[n]
		n++
		switch {
		case c == quote:
			return b.String(), n
		case c != '\\' || n == len(s):
			b.WriteByte(c)
			continue
		}
		c = s[n]
		n++
		if i := strings.IndexByte("abfnrtv", c); i >= 0 {
			b.WriteByte("\a\b\f\n\r\t\v"[i])
			continue
		}
		digits := 0
		for digits < 3 && n-1+digits < len(s) && '0' <= s[n-1+digits] && s[n-1+digits] <= '9' {
			digits++
		}
		if code, err := strconv.ParseUint(s[n-1:n-1+digits], 10, 8); err == nil {
			b.WriteByte(byte(code))
			n += digits - 1
			continue
		}
		b.WriteByte(c)
	}
	return b.String(), n
}

// forget removes the entries that contain a secret: it overwrites them with blanks in place, so
// that nothing is lost that another REPL adds meanwhile. If another REPL rewrites the file
// meanwhile, it starts over.
func (h history) forget(secrets []string) error {
	const most = 3 // tries: the file is rewritten once in two thousand entries
	for range most {
		f, err := os.OpenFile(h.path, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) || len(secrets) == 0 {
			return nil
		}
		if err == nil {
			var same bool
			same, err = blank(f, h.path, secrets)
			if err = errors.Join(err, f.Close()); err == nil && same {
				return nil
			}
		}
		if err != nil {
			return fmt.Errorf("take a secret out of the history: %w", err)
		}
	}
	return nil
}

// blank makes one try, and reports whether the file is still the one at the path.
func blank(f *os.File, path string, secrets []string) (same bool, err error) {
	in := bufio.NewReader(f)
	for at := int64(0); ; {
		l, rerr := in.ReadBytes('\n')
		text := bytes.TrimRight(l, "\n")
		var entry string
		if json.Unmarshal(text, &entry) != nil {
			entry = string(text)
		}
		if len(text) > 0 && holdsAny(entry, secrets) {
			if _, err := f.WriteAt(bytes.Repeat([]byte(" "), len(text)), at); err != nil {
				return false, err
			}
		}
		at += int64(len(l))
		if errors.Is(rerr, io.EOF) {
			break
		} else if rerr != nil {
			return false, rerr
		}
	}
	ours, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Stat(path)
	return err != nil || os.SameFile(ours, now), nil
}
