package attach

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/ansi"
)

// An eventKind says what arrived from the person's terminal.
type eventKind uint8

const (
	eventText     eventKind = iota // data is whole UTF-8 characters, controls among them
	eventKey                       // data is an escape sequence: a key, or focus
	eventPrefix                    // the detach key
	eventMouse                     // mouse
	eventPaste                     // data was pasted
	eventPasteOn                   // a paste begins
	eventPasteOff                  // the paste has ended
	eventReply                     // data is the terminal's answer to a question of ours
	eventInvalid                   // bytes that are not UTF-8, which the wire cannot carry
	eventChoice                    // data is a key of the menu; the viewer makes it
)

// An event is a piece of what arrived from the person's terminal. Events are in order, and nothing
// is left out.
type event struct {
	kind  eventKind
	data  string
	mouse mouse
}

// A mouse is one mouse event, as the server's mouse action takes it. Rows and columns count from 0
// on the person's terminal.
type mouse struct {
	row, col       int
	button, action string
	mods           []string
}

// A decoder finds in the person's input the little that is not simply passed on: the detach key,
// the mouse, pastes, answers. The result does not depend on how the bytes are split into reads,
// except for [decoder.flush]. Not safe for concurrent use.
type decoder struct {
	prefix  byte // the detach key: a control character
	asked   bool // answers are expected
	mouse   bool // so are mouse reports in the old form
	pasting bool
	pending []byte // an unfinished sequence or character
}

const (
	// sequenceMax bounds an escape sequence, in bytes: kitty's longest report is under 40. Longer
	// ones are passed on unchanged.
	sequenceMax = 128
	pasteOn     = ansi.PasteBegin
	pasteOff    = ansi.PasteEnd
)

// feed takes the bytes of a read and returns their events.
func (d *decoder) feed(p []byte) []event {
	p = append(d.pending, p...)
	d.pending = nil
	var out []event
	for len(p) > 0 {
		n, e, ok := d.next(p)
		if !ok {
			d.pending = bytes.Clone(p)
			break
		}
		out = join(out, e)
		p = p[n:]
	}
	return out
}

// join appends an event, merging it with the one before if both are text.
func join(out []event, e event) []event {
	if n := len(out); n > 0 && out[n-1].kind == e.kind &&
		(e.kind == eventText || e.kind == eventPaste || e.kind == eventInvalid) {
		out[n-1].data += e.data
		return out
	}
	return append(out, e)
}

// waiting reports whether the decoder holds something unfinished that may be complete, such as the
// Escape key.
func (d *decoder) waiting() bool { return len(d.pending) > 0 && !d.pasting }

// flush returns what is held, because nothing followed it.
func (d *decoder) flush() []event {
	p := d.pending
	d.pending = nil
	if len(p) == 0 {
		return nil
	}
	if !utf8.Valid(p) {
		return []event{{kind: eventInvalid, data: string(p)}}
	}
	return []event{{kind: eventText, data: string(p)}}
}

// next returns the first event of p, which is not empty, and its length; not ok: it needs more
// bytes.
func (d *decoder) next(p []byte) (n int, e event, ok bool) {
	if d.pasting {
		return d.paste(p)
	}
	switch c := p[0]; {
	case c == d.prefix:
		return 1, event{kind: eventPrefix}, true
	case c == 0x1b:
		return d.escape(p)
	}
	return d.text(p, eventText, func(c byte) bool { return c == 0x1b || c == d.prefix })
}

// text takes whole characters up to one that ends the text.
func (d *decoder) text(p []byte, kind eventKind, ends func(byte) bool) (n int, e event, ok bool) {
	for n < len(p) && !ends(p[n]) {
		if r, size := utf8.DecodeRune(p[n:]); r != utf8.RuneError || size != 1 {
			n += size
			continue
		}
		if n > 0 {
			break
		}
		if !utf8.FullRune(p) {
			return 0, event{}, false
		}
		return 1, event{kind: eventInvalid, data: string(p[:1])}, true
	}
	return n, event{kind: kind, data: string(p[:n])}, true
}

// paste takes pasted text up to its end. A key inside it is a character of the text.
func (d *decoder) paste(p []byte) (n int, e event, ok bool) {
	if p[0] != 0x1b {
		return d.text(p, eventPaste, func(c byte) bool { return c == 0x1b })
	}
	switch {
	case bytes.HasPrefix(p, []byte(pasteOff)):
		d.pasting = false
		return len(pasteOff), event{kind: eventPasteOff}, true
	case len(p) < len(pasteOff) && strings.HasPrefix(pasteOff, string(p)):
		return 0, event{}, false
	}
	return 1, event{kind: eventPaste, data: "\x1b"}, true
}

// escape takes an escape sequence, or the Escape key before something else.
func (d *decoder) escape(p []byte) (n int, e event, ok bool) {
	if len(p) == 1 {
		return 0, event{}, false
	}
	switch p[1] {
	case '[':
		return d.control(p)
	case 'O': // SS3: keypad keys, and keys in application mode
		if len(p) == 2 {
			return 0, event{}, false
		}
		if p[2] > 0x20 && p[2] < 0x7f {
			return 3, event{kind: eventKey, data: string(p[:3])}, true
		}
	}
	if p[1] < 0x80 && p[1] != 0x1b { // Alt and a key: one piece, and not the detach key
		return 2, event{kind: eventKey, data: string(p[:2])}, true
	}
	return 1, event{kind: eventText, data: "\x1b"}, true
}

// control takes a control sequence.
func (d *decoder) control(p []byte) (n int, e event, ok bool) {
	n, whole := ansi.Key(p[:min(len(p), sequenceMax)])
	switch {
	case !whole && n == len(p) && n < sequenceMax:
		return 0, event{}, false
	case !whole: // not a control sequence
		return 2, event{kind: eventKey, data: string(p[:2])}, true
	}
	seq := string(p[:n])
	params, final := seq[2:n-1], seq[n-1]
	switch {
	case seq == pasteOn:
		d.pasting = true
		return n, event{kind: eventPasteOn}, true
	case params == "" && final == 'M' && d.mouse: // a terminal that does not know mode 1006
		if len(p) < n+3 {
			return 0, event{}, false
		}
		m := oldMouse(p[n], p[n+1], p[n+2])
		return n + 3, event{kind: eventMouse, mouse: m}, true
	case strings.HasPrefix(params, "<") && (final == 'M' || final == 'm'):
		if m, ok := sgrMouse(params[1:], final); ok {
			return n, event{kind: eventMouse, mouse: m}, true
		}
	case d.asked && isReply(params, final):
		return n, event{kind: eventReply, data: seq}, true
	}
	if k, ok := keyOf(seq); ok && k.is(d.prefix) {
		if k.release {
			return n, event{kind: eventReply}, true // hidden from everyone
		}
		return n, event{kind: eventPrefix}, true
	}
	return n, event{kind: eventKey, data: seq}, true
}

// isReply recognises the answers to our questions; see questions.
func isReply(params string, final byte) bool {
	return strings.HasPrefix(params, "?") && (final == 'u' || final == 'c' || final == 'y') ||
		strings.HasPrefix(params, ">4;") && final == 'm'
}

// sgrMouse reads a mouse report in the form of mode 1006.
func sgrMouse(params string, final byte) (mouse, bool) {
	var n [3]int
	fields := strings.Split(params, ";")
	if len(fields) != 3 {
		return mouse{}, false
	}
	for i, f := range fields {
		v, err := strconv.ParseUint(f, 10, 16)
		if err != nil {
			return mouse{}, false
		}
		n[i] = int(v)
	}
	return mouseOf(n[0], n[1], n[2], int(final))
}

// oldMouse reads the three bytes of a report in the form before mode 1006, which does not say which
// button was released.
func oldMouse(code, x, y byte) mouse {
	final := 'M'
	if (code-32)&0x63 == 3 {
		code, final = code-3, 'm'
	}
	m, _ := mouseOf(int(code-32)&0x7f, int(x)-32, int(y)-32, int(final))
	return m
}

// mouseOf makes an event from a report's numbers: xterm's ctlseqs, "Extended coordinates".
func mouseOf(code, x, y, final int) (mouse, bool) {
	m := mouse{row: max(y-1, 0), col: max(x-1, 0), action: "press"}
	for i, name := range [...]string{"shift", "alt", "ctrl"} {
		if code&(4<<i) != 0 {
			m.mods = append(m.mods, name)
		}
	}
	if code&^0x7f != 0 { // buttons 8 to 11, which have no name
		return mouse{}, false
	}
	if code&64 != 0 {
		m.button = [...]string{"wheel_up", "wheel_down", "wheel_left", "wheel_right"}[code&3]
		return m, true
	}
	m.button = [...]string{"left", "middle", "right", "none"}[code&3]
	switch {
	case code&32 != 0:
		m.action = "move"
	case final == 'm':
		m.action = "release"
	}
	return m, true
}

// A key is a key as kitty's protocol and xterm's modifyOtherKeys report it.
type key struct {
	code    rune
	mods    int // 1 shift, 2 alt, 4 ctrl, and so on
	release bool
}

// is reports whether this is the key that sends a control character in the default keyboard mode.
func (k key) is(control byte) bool { return k.mods&^(64|128) == 4 && controlOf(k.code) == control } // 64, 128: the locks

// controlOf is the control character of Ctrl and r; 0 if there is none, and for Ctrl-@.
func controlOf(r rune) byte {
	switch {
	case r >= 'a' && r <= 'z':
		return byte(r - 'a' + 1)
	case r >= '[' && r <= '_':
		return byte(r - '[' + 0x1b)
	}
	return 0
}

// keyOf reads CSI code:... ; mods:event ; ... u and CSI 27 ; mods ; code ~.
func keyOf(seq string) (key, bool) {
	params, final := seq[2:len(seq)-1], seq[len(seq)-1]
	fields := strings.Split(params, ";")
	if final == '~' && len(fields) == 3 && fields[0] == "27" {
		fields = []string{fields[2], fields[1]}
	} else if final != 'u' {
		return key{}, false
	}
	numbers := [3]int{0, 1, 1} // code, mods, event
	code, _, _ := strings.Cut(fields[0], ":")
	wanted := []string{code}
	if len(fields) > 1 {
		mods, kind, _ := strings.Cut(fields[1], ":")
		wanted = append(wanted, mods, kind)
	}
	for i, f := range wanted {
		if f == "" && i > 0 {
			continue
		}
		n, err := strconv.ParseUint(f, 10, 21)
		if err != nil {
			return key{}, false
		}
		numbers[i] = int(n)
	}
	return key{code: rune(numbers[0]), mods: numbers[1] - 1, release: numbers[2] == 3}, true
}

// A Key is a control character typed with Ctrl, as a flag's value.
type Key byte

// DefaultKey is Ctrl-\, as in dtach and abduco: unlike tmux's Ctrl-B, screen's Ctrl-A and docker's
// Ctrl-P it does nothing in a shell's line editor, vim or emacs that anybody would miss. As a
// character it is SIGQUIT; press it twice to send it.
const DefaultKey Key = 0x1c

// String is the key as people write it: ctrl+\.
func (k Key) String() string {
	if c := k + 0x40; c >= 'A' && c <= 'Z' {
		return "ctrl+" + string(rune(c+0x20))
	}
	return "ctrl+" + string(rune(k+0x40))
}

// Type names the flag's type.
func (*Key) Type() string { return "key" }

// Set reads ctrl+\, Ctrl-a, ctrl_a or ^A.
func (k *Key) Set(s string) error {
	name, ok := strings.CutPrefix(s, "^")
	if !ok {
		lower := strings.ToLower(s)
		for _, p := range []string{"ctrl+", "ctrl-", "ctrl_"} {
			if strings.HasPrefix(lower, p) {
				name, ok = s[len(p):], true
			}
		}
	}
	if len(name) != 1 || !ok {
		return fmt.Errorf(`%.32q is no such key: give ctrl+ and a letter, or ctrl+\, ctrl+] and the like`, s)
	}
	c := controlOf(rune(strings.ToLower(name)[0]))
	switch c {
	case 0:
		return fmt.Errorf(`%.32q is no such key: give ctrl+ and a letter, or ctrl+\, ctrl+] and the like`, s)
	case 0x08, '\t', '\n', '\r', 0x1b:
		return fmt.Errorf("%s is what Backspace, Tab, Enter or Escape sends: take another", Key(c))
	}
	*k = Key(c)
	return nil
}
