package testfrom

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/ansi"
)

// A tokenKind says what a piece of recorded input is.
type tokenKind uint8

const (
	tokenText    tokenKind = iota // text is what was typed
	tokenKey                      // text is a key's name
	tokenPaste                    // text was pasted in brackets
	tokenMouse                    // mouse
	tokenReply                    // an answer of the terminal, which it gives by itself
	tokenUnknown                  // text is a sequence that no key sends
)

// A token is a piece of recorded input.
type token struct {
	kind  tokenKind
	text  string
	mouse vt.Mouse
}

// keyBytes maps what terminals send for keys to the keys' names.
var keyBytes = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	// The plainest terminal and the plainest key of several with the same bytes come first.
	var keys []vt.Key
	for class := range 3 {
		for _, name := range vt.KeyNames() {
			of := 0
			switch {
			case strings.HasPrefix(name, "ctrl_"):
				of = 1
			case strings.HasPrefix(name, "keypad_"):
				of = 2
			}
			if k, err := vt.ParseKey(name); err == nil && of == class {
				keys = append(keys, k)
			}
		}
	}
	for c := rune(' '); c < 0x7f; c++ {
		keys = append(keys, vt.Key{Rune: c})
	}
	for _, modes := range []string{"", "\x1b[?1h", "\x1b[?1h\x1b=", "\x1b[>4;2m", "\x1b[>1u"} {
		t := vt.New(1, 1, vt.Options{})
		t.Feed([]byte(modes))
		for _, mods := range []vt.Mods{0, vt.Shift, vt.Ctrl, vt.Alt, vt.Ctrl | vt.Shift, vt.Alt | vt.Shift,
			vt.Ctrl | vt.Alt, vt.Ctrl | vt.Alt | vt.Shift} {
			for _, k := range keys {
				if k.Mods&mods != 0 || k.Code == vt.KeyRune && mods == 0 && k.Mods == 0 {
					continue
				}
				k.Mods |= mods
				b := string(t.EncodeKey(k))
				if _, ok := names[b]; ok || b == "" || typed(b) {
					continue
				}
				if name := k.String(); same(name, k) {
					names[b] = name
				}
			}
		}
	}
	return names
})

// same reports whether a key's name is read as the key.
func same(name string, k vt.Key) bool {
	again, err := vt.ParseKey(name)
	return err == nil && again == k
}

// typed reports whether bytes are text that a person types.
func typed(b string) bool {
	return !strings.ContainsFunc(b, unicode.IsControl)
}

// maxKey bounds what a key sends, in bytes: kitty's longest is shorter.
const maxKey = 24

// tokens cuts recorded input into what was typed and pressed.
func tokens(in string) (all []token) {
	add := func(t token) {
		if n := len(all); n > 0 && t.kind == tokenText && all[n-1].kind == tokenText {
			all[n-1].text += t.text
			return
		}
		all = append(all, t)
	}
	for in != "" {
		t, n := next(in)
		add(t)
		in = in[n:]
	}
	return all
}

// next returns the first token of input, which is not empty, and how many bytes it has.
func next(in string) (token, int) {
	if paste, ok := strings.CutPrefix(in, ansi.PasteBegin); ok {
		text, _, _ := strings.Cut(paste, ansi.PasteEnd)
		return token{kind: tokenPaste, text: text}, min(len(in), len(ansi.PasteBegin)+len(text)+len(ansi.PasteEnd))
	}
	if m, n, ok := mouseOf(in); ok {
		return token{kind: tokenMouse, mouse: m}, n
	}
	if n := replyOf(in); n > 0 {
		return token{kind: tokenReply, text: in[:n]}, n
	}
	most := min(maxKey, len(in))
	if n, whole := ansi.Key([]byte(in)); strings.HasPrefix(in, "\x1b[") && whole {
		if keyBytes()[in[:n]] == "" { // no Alt and a bracket before some text
			return token{kind: tokenUnknown, text: in[:n]}, n
		}
		most = n
	}
	for n := most; n > 0; n-- {
		if name, ok := keyBytes()[in[:n]]; ok {
			return token{kind: tokenKey, text: name}, n
		}
	}
	if in[0] == 0x1b {
		n, _, _ := ansi.Sequence(in, 0)
		return token{kind: tokenUnknown, text: in[:n]}, n
	}
	r, n := utf8.DecodeRuneInString(in)
	if unicode.IsControl(r) || r == utf8.RuneError {
		return token{kind: tokenUnknown, text: in[:n]}, n
	}
	return token{kind: tokenText, text: in[:n]}, n
}

// replyOf returns the length of an answer that a terminal gives when it is asked, or of its report
// that it has the focus; 0: in begins with none.
func replyOf(in string) int {
	for _, focus := range []string{"\x1b[I", "\x1b[O"} {
		if strings.HasPrefix(in, focus) {
			return len(focus)
		}
	}
	for _, begin := range []string{"\x1b]", "\x1bP", "\x1b_", "\x1b^"} { // OSC, DCS, APC, PM
		if !strings.HasPrefix(in, begin) {
			continue
		}
		for i := len(begin); i < len(in); i++ {
			if in[i] == 0x07 {
				return i + 1
			}
			if strings.HasPrefix(in[i:], "\x1b\\") {
				return i + 2
			}
		}
		if len(in) > len(begin) {
			return len(in)
		}
		return 0 // Alt and the letter
	}
	if !strings.HasPrefix(in, "\x1b[") {
		return 0
	}
	n, whole := ansi.Key([]byte(in))
	if !whole {
		return 0
	}
	params, final := in[2:n-1], in[n-1]
	private := strings.HasPrefix(params, "?") || strings.HasPrefix(params, ">")
	switch final {
	case 'c', 'y', 'u', 'm', 'S':
		if private {
			return n
		}
	case 'R': // a cursor's place has a row and a column; F3 with a modifier is 1;N
		if row, _, ok := strings.Cut(strings.TrimPrefix(params, "?"), ";"); ok && (private || row != "1") {
			return n
		}
	case 'n', 't', 'x':
		return n
	}
	return 0
}

// mouseOf reads a report of the mouse in the form of xterm's mode 1006.
func mouseOf(in string) (m vt.Mouse, n int, ok bool) {
	rest, ok := strings.CutPrefix(in, "\x1b[<")
	end := strings.IndexAny(rest, "Mm")
	if !ok || end < 0 || end > maxKey {
		return m, 0, false
	}
	parts := strings.Split(rest[:end], ";")
	if len(parts) != 3 {
		return m, 0, false
	}
	var v [3]int
	for i, p := range parts {
		var err error
		if v[i], err = strconv.Atoi(p); err != nil {
			return m, 0, false
		}
	}
	m = vt.Mouse{Row: v[2] - 1, Col: v[1] - 1, Action: vt.MousePress}
	buttons := map[int]vt.MouseButtonCode{0: vt.MouseLeft, 1: vt.MouseMiddle, 2: vt.MouseRight,
		64: vt.MouseWheelUp, 65: vt.MouseWheelDown}
	m.Button, ok = buttons[v[0]&^0x3c]
	if v[0]&3 == 3 && v[0] < 64 { // no button: it moved
		m.Button, ok = vt.MouseLeft, true
	}
	switch {
	case rest[end] == 'm':
		m.Action = vt.MouseRelease
	case v[0]&32 != 0:
		m.Action = vt.MouseMotion
	}
	return m, len("\x1b[<") + end + 1, ok
}

// comment writes a sequence so that it can stand in a comment.
func comment(sequence string) string { return fmt.Sprintf("%q", sequence) }
