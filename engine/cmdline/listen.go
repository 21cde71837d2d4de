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

// A listener is the tap that detects a sentinel. Its wait reads its fields while the session goes
// on.
type listener struct {
	session *engine.Session
	count   func() uint64 // all bytes ever typed to it
	begin   []byte        // what is written right before the command runs
	end     []byte        // and after it, in front of its status
	prompt  string        // the cursor's row when the line was typed
	pid     int           // of the shell that it was typed to; 0: not known
	typed   engine.Typed  // with the line; zero when somebody else typed at the same time
	open    bool          // the line is incomplete
	closed  bool          // protected by the lock of turns

	mu sync.Mutex
	// protects the fields below
	held       []byte // output that may be the beginning of the awaited bytes
	rows, cols int
	printed    ansi.Printed // what the command prints
	unasked    bool         // it is no longer needed
	begun      int          // how often the beginning was printed
	done       bool
	status     string // unparsed
	before     []byte // the end of the output before begin, which may never come
	heard      time.Time
	// atEnd: bytes typed when the end was seen, including those that the command may have read.
	atEnd       uint64
	interrupted time.Time // when a key that interrupts was last typed; zero: never
}

const (
	// statusMax bounds a status, in bytes: a sign and the digits of 32 bits, with some room.
	statusMax = 16
	// beforeMax bounds what is kept of the output before the command's beginning, in bytes: when
	// the beginning is missed, this contains the command's output. It holds several screens of
	// text.
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

// awaitBegin looks for the command's beginning. Output before its last occurrence is not the
// command's.
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

// awaitEnd looks for the command's end, and takes everything that cannot be part of it as output.
func (l *listener) awaitEnd() {
	for {
		i := bytes.Index(l.held, l.end)
		if i < 0 {
			l.print(len(l.held) - max(partial(l.held, l.end), partial(l.held, l.begin)))
			return
		}
		rest := l.held[i+len(l.end):]
		n := bytes.IndexAny(rest, "\r\n")
		if n < 0 && len(rest) <= statusMax { // the rest is still to come
			l.print(i)
			return
		}
		if n < 0 || n > statusMax { // not ours, by whatever accident
			l.print(i + 1)
			continue
		}
		l.print(i)
		l.printed.DropEnd("\r") // of the line end before the marker
		l.done, l.status, l.held = true, string(rest[:n]), nil
		// Input's count would be late: it comes after the write, and so perhaps after the answer to
		// it.
		l.atEnd = l.count()
		return
	}
}

// print takes the first n held bytes as output.
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

// Input watches for keys that interrupt, stop or end a program that reads: after one the sentinel
// may never come.
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

// A heard is what a listener has found so far.
type heard struct {
	begun       int
	done        bool
	status      string
	atEnd       uint64
	quiet       time.Time // since when nothing was printed, and no interrupting key typed
	interrupted bool
}

func (l *listener) heardSoFar() heard {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := heard{begun: l.begun, done: l.done, status: l.status, atEnd: l.atEnd, quiet: l.heard,
		interrupted: !l.interrupted.IsZero()}
	if l.interrupted.After(h.quiet) {
		h.quiet = l.interrupted
	}
	return h
}

// goesOn reports whether the command still runs, as far as the listener knows. False for a nil
// listener.
func (l *listener) goesOn() bool {
	if l == nil {
		return false
	}
	h := l.heardSoFar()
	return !h.done && !h.interrupted
}

// atPrompt reports whether this process's shell certainly waits for a line: it has reported the end
// of the last one, and nothing was typed since. False for a nil listener.
func (l *listener) atPrompt(v *engine.View, pid int) bool {
	return l != nil && l.heardSoFar().done && l.pid == pid && l.typed.Bytes == v.Typed.Bytes
}

// onLine reports whether everything typed since is certainly on the command line, or was deleted
// from it: no command could have read it.
func (l *listener) onLine(v *engine.View, pid int) bool {
	if l == nil {
		return false
	}
	h := l.heardSoFar()
	return h.done && h.atEnd == l.typed.Bytes && l.pid == pid && l.typed.Lines == v.Typed.Lines &&
		!v.Typed.Keys
}

// unsettled is for how much longer an interrupt may take effect; 0 for a nil listener.
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

// output is what the command has printed. When its beginning was missed, it is the screen's text
// after the echo's first line end.
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

// forget drops the output, which is no longer needed.
func (l *listener) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.unasked = nil, true
	l.printed.Reset()
}

// code parses a status as an exit code; nil when it is invalid.
func code(status string) *int {
	n, err := strconv.ParseInt(strings.TrimSpace(status), 10, 64)
	if err != nil {
		return nil
	}
	c := int(n)
	return &c
}

var _ engine.InputTap = (*listener)(nil)
