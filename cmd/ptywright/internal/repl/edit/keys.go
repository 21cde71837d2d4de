package edit

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/ansi"
)

// A key is one input: a key by its name ("enter", "ctrl+a", "alt+b"), or text, typed or pasted.
type key struct {
	name string
	text string // of "text" and "paste"
}

const (
	// maxPaste bounds a paste, in bytes; the rest is dropped. A REPL line of a MiB is a mistake
	// already.
	maxPaste = 1 << 20
	// maxSequence bounds a control sequence; a longer one is invalid.
	maxSequence = 256
)

var pasteEnd = []byte(ansi.PasteEnd)

// A decoder turns bytes into keys, however they are split into reads.
type decoder struct {
	rest    []byte
	pasting bool
	pasted  []byte
}

// feed takes the bytes of a read and returns the complete keys.
func (d *decoder) feed(p []byte) []key {
	d.rest = append(d.rest, p...)
	return d.take(false)
}

// flush returns an unfinished sequence as separate keys, because nothing more came.
func (d *decoder) flush() []key { return d.take(true) }

// partial reports whether something is held that flush would return.
func (d *decoder) partial() bool { return len(d.rest) > 0 && !d.pasting }

func (d *decoder) take(final bool) (keys []key) {
	for len(d.rest) > 0 {
		if d.pasting {
			if !d.paste(&keys) {
				return keys
			}
			continue
		}
		if bytes.HasPrefix(d.rest, []byte(ansi.PasteBegin)) {
			d.rest, d.pasting, d.pasted = d.rest[len(ansi.PasteBegin):], true, nil
			continue
		}
		k, n := one(d.rest, final)
		if n == 0 {
			return keys
		}
		d.rest = d.rest[n:]
		switch last := len(keys) - 1; {
		case k.name == "":
		case k.name == "text" && last >= 0 && keys[last].name == "text":
			keys[last].text += k.text
		default:
			keys = append(keys, k)
		}
	}
	return keys
}

// paste takes the bytes of a paste and reports whether it has ended.
func (d *decoder) paste(keys *[]key) bool {
	body, after, ended := bytes.Cut(d.rest, pasteEnd)
	if !ended { // keep what may be the start of the end mark
		keep := 0
		for n := min(len(pasteEnd)-1, len(d.rest)); n > 0; n-- {
			if bytes.HasPrefix(pasteEnd, d.rest[len(d.rest)-n:]) {
				keep = n
				break
			}
		}
		body, after = d.rest[:len(d.rest)-keep], bytes.Clone(d.rest[len(d.rest)-keep:])
	}
	d.pasted = append(d.pasted, body[:min(len(body), maxPaste-len(d.pasted))]...)
	d.rest = after
	if ended {
		*keys = append(*keys, key{"paste", clean(strings.ToValidUTF8(string(d.pasted), "\ufffd"))})
		d.pasting, d.pasted = false, nil
	}
	return ended
}

// one decodes the first key of b and returns its length: 0 when it is incomplete. A key without a
// name must be dropped.
func one(b []byte, final bool) (key, int) {
	switch c := b[0]; {
	case c == 0x1b:
		return escape(b, final)
	case c == '\r' || c == '\n':
		return key{name: "enter"}, 1
	case c == '\t':
		return key{name: "tab"}, 1
	case c == 0x7f || c == 0x08:
		return key{name: "backspace"}, 1
	case c == 0:
		return key{name: "ctrl+space"}, 1
	case c == 0x1f:
		return key{name: "ctrl+_"}, 1
	case c < 0x1b:
		return key{name: "ctrl+" + string(rune('a'+c-1))}, 1
	case c < ' ':
		return key{}, 1
	}
	if !utf8.FullRune(b) && !final {
		return key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 || r >= 0x80 && r < 0xa0 {
		return key{}, n
	}
	return key{"text", string(r)}, n
}

// escape decodes what begins with ESC.
func escape(b []byte, final bool) (key, int) {
	if len(b) == 1 {
		if final {
			return key{name: "escape"}, 1
		}
		return key{}, 0
	}
	switch b[1] {
	case '[':
		n, whole := ansi.Key(b[:min(len(b), maxSequence)])
		switch {
		case whole:
			return key{name: sequence(string(b[2:n-1]), b[n-1])}, n
		case n == len(b) && n < maxSequence && !final:
			return key{}, 0
		}
		return key{}, n // broken off, or too long
	case 'O':
		if len(b) == 2 {
			if final {
				return key{name: "alt+O"}, 2
			}
			return key{}, 0
		}
		return key{name: sequence("", b[2])}, 3
	case ']', 'P', '_', '^', 'X': // a terminal's answer to another program's question
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return key{}, i + 1
			} else if b[i] == 0x1b && i+1 < len(b) {
				return key{}, i + 2
			}
		}
		if final || len(b) >= maxSequence {
			return key{}, len(b)
		}
		return key{}, 0
	case 0x1b:
		return key{name: "escape"}, 1
	}
	k, n := one(b[1:], final)
	if n == 0 {
		return key{}, 0
	}
	if k.name == "text" {
		return key{name: "alt+" + k.text}, n + 1
	} else if k.name != "" {
		k.name = "alt+" + k.name
	}
	return k, n + 1
}

// finals are the keys of CSI and SS3 by their final byte, numbered those of CSI n ~.
var (
	finals = map[byte]string{'A': "up", 'B': "down", 'C': "right", 'D': "left", 'H': "home",
		'F': "end", 'Z': "shift+tab", 'M': "enter"}
	numbered = map[string]string{"1": "home", "7": "home", "4": "end", "8": "end", "2": "insert",
		"3": "delete", "5": "page_up", "6": "page_down"}
	coded = map[string]string{"9": "tab", "13": "enter", "27": "escape", "127": "backspace"}
)

// sequence is the name of a control sequence's key, or "".
func sequence(params string, final byte) string {
	number, mods, _ := strings.Cut(params, ";")
	name := finals[final]
	switch final {
	case '~':
		name = numbered[number]
	case 'u':
		name = coded[number]
		if n, err := strconv.Atoi(number); name == "" && err == nil && n > ' ' && n < 0x7f {
			name = string(rune(n))
		}
	}
	if name == "" {
		return ""
	}
	bits, _ := strconv.Atoi(mods)
	for _, m := range []struct {
		bit  int
		name string
	}{{1, "shift+"}, {2, "alt+"}, {4, "ctrl+"}} {
		if bits > 0 && (bits-1)&m.bit != 0 {
			name = m.name + name
		}
	}
	return name
}
