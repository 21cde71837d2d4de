package sandbox

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/lazy"
)

// A Kind says what went wrong.
type Kind string

// The kinds of error.
const (
	Syntax  Kind = "syntax"   // the source does not compile, or is refused before that
	Runtime Kind = "runtime"  // an error raised by the plugin
	Time    Kind = "time"     // the call's time, instructions or context ended
	Memory  Kind = "memory"   // more allocated in a call, or kept after it, than allowed; or one string too long
	Pattern Kind = "patterns" // a pattern took too many steps
	Output  Kind = "output"   // the result is too large or too deep, or contains what cannot leave the machine
	Panic   Kind = "panic"    // a bug in the interpreter or in our code
	Dead    Kind = "dead"     // an earlier fatal error; make a new machine
	Busy    Kind = "busy"     // called during a call
	Missing Kind = "missing"  // no function of that name
)

// An Error says what a plugin did wrong, in which function and where.
type Error struct {
	Function string // the function called, "main chunk" while loading
	Module   string // where it happened, as in require; empty when unknown
	Line     int    // from 1; 0 when unknown
	Kind     Kind
	Code     string // the plugin's own error code: the code of error({code=..., message=...}); else empty
	Message  string // valid UTF-8 and at most 1 KiB; may quote the plugin, and so the screen
}

// Error includes function, module, line and message.
func (e *Error) Error() string {
	if e.Module == "" {
		return fmt.Sprintf("%s: %s: %s", e.Function, e.Kind, e.Message)
	}
	return fmt.Sprintf("%s: %s.lua:%d: %s: %s", e.Function, e.Module, e.Line, e.Kind, e.Message)
}

// Fatal reports whether the machine can no longer be used. A limit interrupts the interpreter at
// any point.
func (e *Error) Fatal() bool {
	switch e.Kind {
	case Time, Memory, Pattern, Panic, Dead:
		return true
	}
	return false
}

// maxMessage keeps a hostile message out of logs and replies; an honest one is a line.
const maxMessage = 1 << 10

// maxCode bounds an error code, in bytes: it is a word.
const maxCode = 64

func clip(s string) string {
	if len(s) > maxMessage {
		s = s[:maxMessage] + "..."
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

// position is how the interpreter begins a message: chunk, line, text.
var position = lazy.Regexp(`^([\w.-]+)\.lua:(\d+):\s*`)

func splitPosition(message string) (module string, line int, text string) {
	message = clip(message)
	if m := position().FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[2])
		return m[1], line, message[len(m[0]):]
	}
	return "", 0, message
}
