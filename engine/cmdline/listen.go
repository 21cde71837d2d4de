package cmdline

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/ansi"
)

// A listener is the tap that hears a sentinel. Its fields are read by the wait that it is for, while the session goes on.
type listener struct {
	session *engine.Session
	count   func() uint64 // bytes typed to it, ever
	begin   []byte        // what is written right before the command runs
	end     []byte        // and after it, in front of its status
	prompt  string        // the cursor's row when the line was typed
	pid     int           // of the shell that it was typed to; 0: not known
	typed   engine.Typed  // with the line; zero when another typed at the same time
	open    bool          // the line is not complete
	closed  bool          // protected by the lock of turns

	mu sync.Mutex
	// protects the fields below
	held        []byte // output that may be the beginning of what is listened for
	rows, cols  int
	printed     ansi.Printed // what the command prints
	unasked     bool         // nobody asks for that any more
	begun       int          // how often the beginning was told
	done        bool
	status      string // as it was told
	before      []byte // the end of what came before begin, which may never come
	heard       time.Time
	atEnd       uint64    // bytes typed when the end was heard, those included that the command may have read
	interrupted time.Time // when a key that interrupts was last typed; zero: never
}

const (
	// statusMax bounds a status, in bytes: a sign and the digits of 32 bits, with some room.
	statusMax = 16
	// beforeMax bounds what is kept of what came before the command's beginning, in bytes: when that is not heard, the output is
	// in it. It has several screens of text.
	beforeMax = 64 << 10
)

func (l *listener) Output(at time.Time, p []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = at
	if l.done {
		return nil
	}
	l.held = append(l.held, p...)
	l.awaitBegin()
	l.awaitEnd()
	return nil
}

// awaitBegin looks for the command's beginning. What came before the last time that it is told is none of the command's.
func (l *listener) awaitBegin() {
	for {
		i := bytes.Index(l.held, l.begin)
		if i < 0 {
			return
		}
		l.begun++
		l.held = l.held[i+len(l.begin):]
		l.before = nil
		l.printed.Reset()
	}
}

// awaitEnd looks for the command's end, and takes what cannot be the beginning of it as printed.
func (l *listener) awaitEnd() {
	for {
		i := bytes.Index(l.held, l.end)
		if i < 0 {
			l.print(len(l.held) - max(partial(l.held, l.end), partial(l.held, l.begin)))
			return
		}
		rest := l.held[i+len(l.end):]
		n := bytes.IndexAny(rest, "\r\n")
		if n < 0 && len(rest) <= statusMax { // not all of it is here
			l.print(i)
			return
		}
		if n < 0 || n > statusMax { // not ours, by whatever accident
			l.print(i + 1)
			continue
		}
		l.print(i)
		l.printed.DropEnd("\r") // of the line end in front of the marker
		l.done, l.status, l.held = true, string(rest[:n]), nil
		// Not counted as Input tells it: that comes behind the write, and so perhaps behind the answer to it.
		l.atEnd = l.count()
		return
	}
}

// print takes the first n bytes of what is held as printed.
func (l *listener) print(n int) {
	if n <= 0 {
		return
	}
	p := l.held[:n]
	switch {
	case l.begun > 0 && !l.unasked:
		l.printed.Write(p)
	case l.begun == 0:
		l.before = append(l.before, p...)
		if over := len(l.before) - beforeMax; over > 0 {
			l.before = append([]byte(nil), l.before[over:]...)
		}
	}
	l.held = append(l.held[:0:0], l.held[n:]...)
}

// partial is how many bytes at the end of p are the beginning of want.
func partial(p, want []byte) int {
	for n := min(len(p), len(want)-1); n > 0; n-- {
		if bytes.Equal(p[len(p)-n:], want[:n]) {
			return n
		}
	}
	return 0
}

// Input hears the keys that interrupt, stop or end what reads: after one the sentinel may never come.
func (l *listener) Input(at time.Time, p []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes.ContainsAny(p, "\x03\x04\x1a\x1c") {
		l.interrupted = at
	}
	return nil
}

func (l *listener) Resize(_ time.Time, rows, cols int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows, l.cols = rows, cols
	return nil
}

// A heard is what a listener has heard up to now.
type heard struct {
	begun       int
	done        bool
	status      string
	atEnd       uint64
	quiet       time.Time // since when nothing was printed, nor an interrupting key typed
	interrupted bool
}

func (l *listener) heardSoFar() heard {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := heard{begun: l.begun, done: l.done, status: l.status, atEnd: l.atEnd, quiet: l.heard, interrupted: !l.interrupted.IsZero()}
	if l.interrupted.After(h.quiet) {
		h.quiet = l.interrupted
	}
	return h
}

// goesOn reports whether, as far as is heard, the command goes on. A nil listener has none.
func (l *listener) goesOn() bool {
	if l == nil {
		return false
	}
	h := l.heardSoFar()
	return !h.done && !h.interrupted
}

// atPrompt reports whether the shell of this process surely waits for a line: it has told the end of the one before, and nothing was
// typed since. A nil listener knows nothing.
func (l *listener) atPrompt(v *engine.View, pid int) bool {
	return l != nil && l.heardSoFar().done && l.pid == pid && l.typed.Bytes == v.Typed.Bytes
}

// onLine reports whether all that was typed since is sure to stand on the command line, or to have been taken off it: no command
// was there to read it.
func (l *listener) onLine(v *engine.View, pid int) bool {
	if l == nil {
		return false
	}
	h := l.heardSoFar()
	return h.done && h.atEnd == l.typed.Bytes && l.pid == pid && l.typed.Lines == v.Typed.Lines && !v.Typed.Keys
}

// unsettled is for how much longer an interrupt may be under way. A nil listener knows of none.
func (l *listener) unsettled(now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	h := l.heardSoFar()
	if !h.interrupted || h.done {
		return 0
	}
	return settled - now.Sub(h.quiet)
}

// output is what the command has printed. When its beginning was not heard it is what stood on the
// screen behind the echo's first line end.
func (l *listener) output() ansi.Text {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun > 0 {
		return l.printed.TextWith(l.held[:len(l.held)-partial(l.held, l.begin)])
	}
	_, after, _ := bytes.Cut(l.before, []byte("\n"))
	text := render(after, l.rows, l.cols)
	return ansi.Text{Raw: text, Plain: text}
}

// forget lets go of what was printed: nobody asks for it any more.
func (l *listener) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.unasked = nil, true
	l.printed.Reset()
}

// code is a status as an exit code; nil when it is none.
func code(status string) *int {
	n, err := strconv.ParseInt(strings.TrimSpace(status), 10, 64)
	if err != nil {
		return nil
	}
	c := int(n)
	return &c
}

var _ engine.InputTap = (*listener)(nil)
