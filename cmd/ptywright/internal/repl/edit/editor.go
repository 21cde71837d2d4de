package edit

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
)

// ErrInterrupt is returned by [Editor.Line] for Ctrl-C.
var ErrInterrupt = errors.New("interrupted")

// Options configure an editor. In and Out are required; the functions may be nil. All are called by
// the goroutine that runs [Editor.Line].
type Options struct {
	In  io.Reader // a terminal in raw mode
	Out io.Writer

	Size    func() (rows, cols int)
	Resized <-chan struct{}

	Prompt    func() (first, more string)                                  // without control characters
	PromptSGR string                                                       // how it is shown; "": as text
	Highlight func(text string) []Span                                     // in order, without overlap
	Complete  func(text string, cursor int) (start int, items []Candidate) // positions in bytes
	More      func(text string) bool                                       // Enter adds another line
	Notices   <-chan struct{}                                              // readable when Take has something
	Take      func() []string                                              // to show above the input; no control characters but SGR
	History   []string                                                     // oldest first
}

const (
	// escapeBound is how long the rest of a key's sequence may take to arrive before an ESC counts
	// as the Escape key. A terminal writes a sequence at once; more makes Escape slow, less breaks
	// keys over a slow line.
	escapeBound = 50 * time.Millisecond
	// maxUndo bounds the undo history, in changes.
	maxUndo = 200
	// menuRows is how many rows of candidates are shown, on a terminal that has twice as many.
	menuRows = 12
	// readSize is the size of one read, in bytes.
	readSize = 4096
)

// An Editor edits lines. It reads its terminal only inside [Editor.Line], and no more than is
// there, so that between lines another program can have the terminal.
type Editor struct {
	Options

	buffer
	decoder decoder
	painter painter
	keys    []key // typed and not yet used
	menu    *menu
	search  *search

	history []string
	edits   map[int]string // changed history entries, by index; the new line is at len(history)
	place   int
	killed  string
	killing bool // the last key was a kill, too
	undo    []buffer
	typing  bool // the last key typed text, too

	asked  bool // a read is in progress
	ended  error
	chunks chan chunk // has room for the result of one read
}

type chunk struct {
	data []byte
	err  error
}

// New returns an editor.
func New(o Options) *Editor {
	return &Editor{Options: o, history: o.History, chunks: make(chan chunk, 1)}
}

// read starts one read. A terminal read cannot be cancelled, so none is started before it is
// needed.
func (e *Editor) read() {
	b := make([]byte, readSize)
	n, err := e.In.Read(b)
	e.chunks <- chunk{b[:n], err}
}

// Remember adds a line to the history, unless it repeats the last one.
func (e *Editor) Remember(line string) {
	if n := len(e.history); line != "" && (n == 0 || e.history[n-1] != line) {
		e.history = append(e.history, line)
	}
}

// Entries returns the history, oldest first. The caller must not change it.
func (e *Editor) Entries() []string { return e.history }

// Line edits one line, or several, and returns it when it is entered. It blocks until then.
//
// Errors: io.EOF for Ctrl-D on an empty line, [ErrInterrupt], the cause of ctx's end, and those of
// reading.
func (e *Editor) Line(ctx context.Context) (string, error) {
	e.buffer, e.undo, e.menu, e.search = buffer{}, nil, nil, nil
	e.edits, e.place = map[int]string{}, len(e.history)
	e.painter = painter{}
	e.write("\x1b[?2004h")
	defer e.write("\x1b[?2004l")
	for {
		for len(e.keys) > 0 {
			k := e.keys[0]
			e.keys = e.keys[1:]
			if done, err := e.press(k); done || err != nil {
				e.leave()
				return string(e.text), err
			}
		}
		e.draw()
		if err := e.await(ctx); err != nil {
			e.leave()
			return "", err
		}
	}
}

// Interrupted reports whether Ctrl-C was typed after the line that [Editor.Line] returned last,
// while the terminal was still raw and did not turn it into a signal. It drops the Ctrl-C and what
// was typed before it. available is how many bytes can be read; those are kept for the next line.
func (e *Editor) Interrupted(available int) bool {
	if available > 0 && !e.asked && e.ended == nil {
		e.read()
		c := <-e.chunks
		e.keys = append(e.keys, e.decoder.feed(c.data)...)
		e.ended = c.err
	}
	for i, k := range slices.Backward(e.keys) {
		if k.name == "ctrl+c" {
			e.keys = e.keys[i+1:]
			return true
		}
	}
	return false
}

// await waits for keys, or handles other events.
func (e *Editor) await(ctx context.Context) error {
	if e.ended != nil {
		return e.ended
	}
	if !e.asked {
		e.asked = true
		go e.read()
	}
	var late <-chan time.Time
	if e.decoder.partial() {
		t := time.NewTimer(escapeBound)
		defer t.Stop()
		late = t.C
	}
	select {
	case c := <-e.chunks:
		e.asked = false
		e.keys = append(e.keys, e.decoder.feed(c.data)...)
		if e.ended = c.err; c.err != nil {
			e.keys = append(e.keys, e.decoder.flush()...)
		}
	case <-late:
		e.keys = append(e.keys, e.decoder.flush()...)
	case <-e.Resized:
	case <-e.Notices:
		e.show()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

func (e *Editor) write(s string) { _, _ = io.WriteString(e.Out, s) } // reading notices errors

func (e *Editor) size() (rows, cols int) {
	if e.Size != nil {
		rows, cols = e.Size()
	}
	if rows < 1 || cols < 1 {
		return 24, 80
	}
	return rows, max(cols, 2)
}

// show prints lines above the input.
func (e *Editor) show() {
	var b strings.Builder
	_, cols := e.size()
	e.painter.erase(&b, cols)
	for _, line := range e.Take() {
		b.WriteString(line + "\r\n")
	}
	e.write(b.String())
}

// draw redraws the input in place. The terminal shows it in one step if it supports that (mode
// 2026).
func (e *Editor) draw() {
	rows, cols := e.size()
	var b strings.Builder
	b.WriteString("\x1b[?2026h\x1b[?25l")
	e.painter.erase(&b, cols)
	first, more := "> ", ". "
	if e.Prompt != nil {
		first, more = e.Prompt()
	}
	text, cursor := e.text, e.cursor
	var below []string
	if s := e.search; s != nil {
		first, more = "(search) "+s.query+": ", strings.Repeat(" ", 4)
	} else if e.menu != nil {
		below = e.menu.rows(cols, min(menuRows, rows/2))
	}
	first, more = Cut(first, cols-1), Cut(more, cols-1)
	var spans []Span
	if e.Highlight != nil {
		spans = e.Highlight(string(text))
	}
	d := layout(first, more, e.PromptSGR, string(text), len(string(text[:cursor])), spans, cols)
	e.painter.draw(&b, d, below, rows)
	b.WriteString("\x1b[?25h\x1b[?2026l")
	e.write(b.String())
}

// leave shows the input as it was entered, and moves to the row below.
func (e *Editor) leave() {
	e.menu, e.search = nil, nil
	e.cursor = len(e.text)
	e.draw()
	e.write("\r\n")
}
