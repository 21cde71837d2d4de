package terminalmcp

import (
	"strings"
	"sync"
)

// keyNames are the keys in the order in which they are listed; the message about an unknown key
// lists the first fifteen.
var keyNames = []string{
	"Enter", "Tab", "Escape", "Backspace", "Delete", "ArrowUp", "ArrowDown", "ArrowRight",
	"ArrowLeft", "Home", "End", "PageUp", "PageDown", "Insert", "F1", "F2", "F3", "F4", "F5", "F6",
	"F7", "F8", "F9", "F10", "F11", "F12", "Ctrl+A", "Ctrl+B", "Ctrl+C", "Ctrl+D", "Ctrl+E",
	"Ctrl+F", "Ctrl+G", "Ctrl+H", "Ctrl+I", "Ctrl+J", "Ctrl+K", "Ctrl+L", "Ctrl+M", "Ctrl+N",
	"Ctrl+O", "Ctrl+P", "Ctrl+Q", "Ctrl+R", "Ctrl+S", "Ctrl+T", "Ctrl+U", "Ctrl+V", "Ctrl+W",
	"Ctrl+X", "Ctrl+Y", "Ctrl+Z", "Ctrl+[", `Ctrl+\`, "Ctrl+]", "Ctrl+^", "Ctrl+_", "Ctrl+Space",
}

// toldKeys is how many names the message about an unknown key lists.
const toldKeys = 15

// keys are the bytes of all keys, by name and by lower-case name: no two names differ in case
// alone. Arrows, Home and End are always CSI, even in application mode: programs that ask for
// application cursor keys accept these as well.
var keys = sync.OnceValue(func() map[string]string {
	notImplied := map[string]string{
		"Enter": "\r", "Tab": "\t", "Escape": "\x1b", "Backspace": "\x7f",
		"Delete": "\x1b[3~", "Insert": "\x1b[2~", "PageUp": "\x1b[5~", "PageDown": "\x1b[6~",
		"Home": "\x1b[H", "End": "\x1b[F", "ArrowUp": "\x1b[A", "ArrowDown": "\x1b[B",
		"ArrowRight": "\x1b[C", "ArrowLeft": "\x1b[D", "F1": "\x1bOP", "F2": "\x1bOQ", "F3": "\x1bOR",
		"F4": "\x1bOS", "F5": "\x1b[15~", "F6": "\x1b[17~", "F7": "\x1b[18~", "F8": "\x1b[19~",
		"F9": "\x1b[20~", "F10": "\x1b[21~", "F11": "\x1b[23~", "F12": "\x1b[24~",
		"Ctrl+Space": "\x00",
	}
	m := make(map[string]string, 2*len(keyNames))
	for _, name := range keyNames {
		b, ok := notImplied[name]
		if !ok { // a control character is its letter without the upper three bits (ECMA-48, section 5.2)
			b = string(rune(name[len("Ctrl+")] & 0x1f))
		}
		m[name] = b
		m[strings.ToLower(name)] = b
	}
	return m
})

// A keyError reports an unknown key.
type keyError struct{ name string }

func (e *keyError) Error() string {
	return `Unknown key: "` + e.name + `". Available keys include: ` +
		strings.Join(keyNames[:toldKeys], ", ") + "..."
}

// encodeKey returns the bytes of a key. White space around the name and case are ignored. The error
// is a *keyError.
func encodeKey(name string) (string, error) {
	trimmed := trim(name)
	if b, ok := keys()[trimmed]; ok {
		return b, nil
	}
	if b, ok := keys()[lower(trimmed)]; ok {
		return b, nil
	}
	return "", &keyError{name}
}

// lower is for ASCII names only: a dotted capital I is not an i.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// trim removes what JavaScript's trim does: Unicode's white space, line ends and the byte order
// mark.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		switch r {
		case '\t', '\n', '\v', '\f', '\r', ' ', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f,
			0x3000, 0xfeff:
			return true
		}
		return r >= 0x2000 && r <= 0x200a
	})
}
