package engine

import (
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/ansi"
)

// Typed is what was typed into a session since its program last took a line, as far as keys say:
// the session knows what it sent, while the screen shows it a moment later, among other output.
// Line never holds what is typed while nothing is echoed.
type Typed struct {
	Bytes uint64    // ever
	Lines uint64    // that were entered or interrupted, ever
	At    time.Time // when the last of them was typed; zero: nothing yet
	// Line is what has been typed since the last Enter or interrupt, without what Backspace and
	// Ctrl+U deleted: at most its last 256 bytes.
	Line string
	// Keys: other keys were typed since, which move, complete, recall or erase: Line is then not
	// what they made of it.
	Keys bool
	// Ahead: some of it, or a line that was entered, was typed while the shell ran something,
	// according to its marks. Whether that program or the shell has read it is not known.
	Ahead bool
	// Entered: at a shell's prompt, according to its marks, a line was entered or interrupted, and
	// the shell has neither begun to run it nor come to a new prompt. It may be waiting for more of
	// the line.
	Entered     bool
	Interrupted bool   // the last key was Ctrl+C
	Dropped     string // Line before that: a shell that was about to write its prompt may keep it
}

// Nothing reports whether the command line is empty after everything that was typed.
func (t *Typed) Nothing() bool { return t.Line == "" && !t.Keys && !t.Ahead && !t.Entered }

// typedMax bounds Typed.Line, in bytes: it is compared with the screen's rows.
const typedMax = 256

// A keyboard makes Typed of what is typed. The session's lock protects it.
type keyboard struct {
	now    Typed
	line   []byte
	key    []byte // of an unfinished escape sequence, with its ESC
	paste  bool   // within a bracketed paste
	prompt uint64 // the line where the shell's last prompt began
}

// keyMax bounds an escape sequence, in bytes. The longest of a keyboard or a mouse have about 30.
const keyMax = 64

// typed takes what is being typed at a phase of the shell. It keeps no character of a secret.
func (k *keyboard) typed(p []byte, phase ShellPhase, secret bool, now time.Time) {
	k.now.Bytes += uint64(len(p))
	k.now.At = now
	running := phase != "" && phase != ShellInput
	for _, c := range p {
		k.now.Interrupted, k.now.Dropped = false, ""
		switch {
		case len(k.key) > 0:
			k.sequence(c, phase == ShellInput)
		case c == 0x1b:
			k.key = append(k.key, c)
		case k.paste, c >= ' ' && c != 0x7f:
			if k.now.Ahead = k.now.Ahead || running; secret {
				k.now.Keys = true
			} else {
				k.line = append(k.line, c)
			}
		default:
			k.control(c, running, phase == ShellInput)
		}
	}
	if over := len(k.line) - typedMax; over > 0 {
		k.line, k.now.Keys = append([]byte(nil), k.line[over:]...), true
	}
	k.now.Line = string(k.line)
}

// control takes a control character.
func (k *keyboard) control(c byte, running, prompt bool) {
	switch c {
	case '\r', '\n':
		k.clear()
		k.now.Lines++
		k.now.Ahead = k.now.Ahead || running
		k.now.Entered = k.now.Entered || prompt
	case 0x03, 0x1a, 0x1c: // the terminal discards unread input
		if c == 0x03 {
			k.now.Dropped = string(k.line)
		}
		k.clear()
		k.now.Lines++
		k.now.Ahead, k.now.Interrupted = false, c == 0x03
		k.now.Entered = k.now.Entered || prompt && c == 0x03
	case 0x7f, 0x08:
		_, n := utf8.DecodeLastRune(k.line)
		k.line = k.line[:len(k.line)-n]
	case 0x15:
		k.line = k.line[:0]
	case 0x04:
		k.now.Keys = k.now.Keys || len(k.line) > 0
	default:
		k.now.Keys, k.now.Ahead = true, k.now.Ahead || running
	}
}

func (k *keyboard) clear() { k.line, k.now.Keys, k.paste = k.line[:0], false, false }

// sequence takes the next byte of an escape sequence.
func (k *keyboard) sequence(c byte, prompt bool) {
	k.key = append(k.key, c)
	n := len(k.key)
	switch {
	case n == 2 && (c == '[' || c == 'O'), n > 2 && (c < 0x40 || c > 0x7e) && n < keyMax:
		return
	case string(k.key) == ansi.PasteBegin:
		k.paste = true
	case string(k.key) == ansi.PasteEnd:
		k.paste = false
	case k.paste: // the program's text, not ours
		k.line = append(k.line, k.key...)
	case string(k.key) == "\x1b[99;5u": // Ctrl+C with disambiguated keys
		k.control(0x03, false, prompt)
	default:
		k.now.Keys = true
	}
	k.key = k.key[:0]
}

// marked takes one of the shell's own marks, and its line. An editor redraws its prompt in the same
// line.
func (k *keyboard) marked(mark byte, line uint64) {
	switch mark {
	case 'A':
		if line != k.prompt {
			k.prompt, k.now.Entered = line, false
		}
	case 'D':
		k.now.Entered = false
	case 'C':
		k.now.Entered = false
		if k.now.Line == "" && !k.now.Keys {
			k.now.Ahead = false
		}
	}
}
