package tmux

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ptywright/ptywright/protocol/client"
)

// named are tmux's names of keys, in lower case, with ptywright's.
var named = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"f1": "f1", "f2": "f2", "f3": "f3", "f4": "f4", "f5": "f5", "f6": "f6", "f7": "f7",
		"f8": "f8", "f9": "f9", "f10": "f10", "f11": "f11", "f12": "f12", "ic": "insert",
		"insert": "insert", "dc": "delete", "delete": "delete", "home": "home", "end": "end",
		"npage": "page_down", "pagedown": "page_down", "pgdn": "page_down", "ppage": "page_up",
		"pageup": "page_up", "pgup": "page_up", "tab": "tab", "btab": "shift_tab", "space": "space",
		"bspace": "backspace", "enter": "enter", "escape": "escape", "up": "up", "down": "down",
		"left": "left", "right": "right", "kp/": "keypad_divide", "kp*": "keypad_multiply",
		"kp-": "keypad_subtract", "kp+": "keypad_add", "kpenter": "keypad_enter",
		"kp.": "keypad_decimal", "kp0": "keypad_0", "kp1": "keypad_1", "kp2": "keypad_2",
		"kp3": "keypad_3", "kp4": "keypad_4", "kp5": "keypad_5", "kp6": "keypad_6",
		"kp7": "keypad_7", "kp8": "keypad_8", "kp9": "keypad_9",
	}
})

// controls are the keys that a terminal sends as one control character beside those with a letter.
var controls = sync.OnceValue(func() map[rune]string {
	return map[rune]string{
		'@': "\x00", ' ': "\x00", '2': "\x00", '3': "\x1b", '[': "\x1b", '4': "\x1c", '\\': "\x1c",
		'5': "\x1d", ']': "\x1d", '6': "\x1e", '^': "\x1e", '7': "\x1f", '_': "\x1f", '/': "\x1f",
		'-': "\x1f", '8': "\x7f", '?': "\x7f",
	}
})

// action is what a word of send-keys does: a key, or the text that it is.
func action(word string) client.Action {
	typed := client.Action{Type: "text", Value: word}
	rest, mods := word, ""
	if len(rest) > 2 && strings.HasPrefix(rest, "0x") {
		if n, err := strconv.ParseUint(rest[2:], 16, 32); err == nil {
			return client.Action{Type: "text", Value: character(n)}
		}
		return typed
	}
	for {
		if len(rest) > 2 && rest[1] == '-' && strings.IndexByte("CMScms", rest[0]) >= 0 {
			mods += strings.ToLower(rest[:1])
			rest = rest[2:]
			continue
		}
		if len(rest) > 1 && rest[0] == '^' && utf8.RuneCountInString(rest) == 2 {
			mods += "c"
			rest = rest[1:]
		}
		break
	}
	r, size := utf8.DecodeRuneInString(rest)
	single := size == len(rest) && size > 0
	name, known := named()[strings.ToLower(rest)]
	switch {
	case mods == "" && single:
		return typed
	case single && mods != "" && (r == ' ' || r > ' ' && r != 0x7f):
		text := string(r)
		if strings.Contains(mods, "c") {
			if text = control(r); text == "" {
				return typed
			}
		}
		if strings.Contains(mods, "m") {
			text = "\x1b" + text
		}
		return client.Action{Type: "text", Value: text}
	case !known:
		return typed
	}
	if name == "space" && strings.Contains(mods, "c") {
		return client.Action{Type: "text",
			Value: strings.Repeat("\x1b", strings.Count(mods, "m")) + "\x00"}
	}
	if name == "shift_tab" {
		mods = strings.ReplaceAll(mods, "s", "")
	}
	for _, m := range []struct{ of, name string }{{"c", "ctrl+"}, {"m", "alt+"}, {"s", "shift+"}} {
		if strings.Contains(mods, m.of) {
			name = m.name + name
		}
	}
	return client.Action{Type: "key", Value: name}
}

// control is the character that a terminal sends for a key with ctrl; "" for one with which it sends
// nothing of its own.
func control(r rune) string {
	switch {
	case r >= 'a' && r <= 'z':
		return string(r - 'a' + 1)
	case r >= 'A' && r <= 'Z':
		return string(r - 'A' + 1)
	}
	return controls()[r]
}

// character is the text of a key that is given by its number.
func character(n uint64) string {
	if n > utf8.MaxRune {
		return ""
	}
	return string(rune(n))
}

// sendKeys types into a pane.
func sendKeys(ctx context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofPane)
	if err != nil {
		return err
	}
	if a.has('X') {
		return failf("not in a mode") // a pane never is in copy mode
	}
	times, err := a.number('N', 1, 1<<20, 1, "repeat count")
	if err != nil {
		return err
	}
	var actions []client.Action
	for _, word := range a.rest {
		switch {
		case a.has('H'):
			n, err := strconv.ParseUint(word, 16, 8)
			if err != nil {
				continue // as tmux does
			}
			actions = append(actions, client.Action{Type: "text", Value: character(n)})
		case a.has('l'):
			actions = append(actions, client.Action{Type: "text", Value: word})
		default:
			actions = append(actions, action(word))
		}
	}
	return t.typed(ctx, x, w, actions, times)
}

// typed types actions, several times over. Text in a row becomes one piece: what comes at once is
// written at once.
func (t *tmux) typed(ctx context.Context, x *session, w *window, actions []client.Action,
	times int) error {
	if i, ok := t.live[w.Of]; ok && i.Exit != nil { // remain-on-exit: tmux types into nothing
		return nil
	}
	var joined []client.Action
	for range times {
		for _, a := range actions {
			if a.Type == "text" && a.Value == "" {
				continue
			}
			if n := len(joined); n > 0 && a.Type == "text" && joined[n-1].Type == "text" {
				joined[n-1].Value = joined[n-1].Value.(string) + a.Value.(string)
				continue
			}
			joined = append(joined, a)
		}
	}
	if len(joined) == 0 {
		return nil
	}
	return t.server.Call(ctx, "session.input",
		map[string]any{"session": w.Of, "actions": joined}, nil)
}
