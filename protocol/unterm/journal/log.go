package journal

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

// The events of a log.
const (
	eventOut    = "out"          // the program wrote
	eventPrompt = "block_prompt" // a prompt begins
	eventInput  = "block_input"  // it ends; typed input follows
	eventOutput = "block_output" // a command line was entered, the data if known; its output follows
	eventExit   = "block_exit"   // it ended, with the status as data if known
)

// codes are the events by the codes of record.Queue.
var codes = map[byte]string{'o': eventOut, 'P': eventPrompt, 'I': eventInput, 'C': eventOutput,
	'D': eventExit}

const (
	// flushBytes, flushEvents and flushAfter are how much of a log waits at most, as in Unterm.
	// More would lose more in a crash.
	flushBytes  = 64 << 10
	flushEvents = 100
	flushAfter  = 5 * time.Second
	// outMax is the most data of one out, in bytes: a batch of the engine.
	outMax = 64 << 10
	// mostLog is how large a log may become, and still be read: some hours of a busy full-screen
	// program. Making its document takes several times as much memory.
	mostLog = 256 << 20
	// mostLine bounds a line when reading: the base64 of what other writers of such logs may have
	// read at once.
	mostLine = 4 << 20
)

// errLimit ends a recording that is too large.
var errLimit = fmt.Errorf("the log has reached %d MiB", mostLog>>20)

// A logFile is what a log is written to; *os.File is one.
type logFile interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
}

// A logWriter writes one session's log. It is a tap behind a [record.Behind]. An error ends it: the
// file then has complete lines only.
type logWriter struct {
	turn  chan struct{} // held while the fields below are used; a lock would be held across I/O
	file  logFile
	limit int64
	began time.Time
	queue *record.Queue
	hide  func(string) string
	buf   []byte // lines not yet written
	held  int    // how many
	size  int64  // of the file
	timer *time.Timer
	err   error // the first
	over  bool  // nothing more comes
	ended func()

	mu sync.Mutex
	// protects the fields below
	blocks int
	bytes  int64 // of output
}

var (
	_ engine.MarkTap = (*logWriter)(nil)
	_ logFile        = (*os.File)(nil)
)

// newLogWriter returns a writer whose times count from began. Ended is called once, when nothing
// more will be written.
func newLogWriter(f logFile, began time.Time, ended func()) *logWriter {
	return &logWriter{turn: make(chan struct{}, 1), file: f, limit: mostLog, began: began,
		ended: ended}
}

// attach returns the tap of a session in the state of v. R redacts secrets; nil does not.
func (w *logWriter) attach(v *engine.View, r *redact.Redactor) engine.Tap {
	var screen *vt.Screen
	if v != nil {
		screen = v.Screen
		if r != nil {
			r = r.For(string(v.Session))
		}
	}
	w.queue = record.NewQueue(r, screen, w.emit)
	w.hide = func(s string) string { return s }
	if r != nil {
		w.hide = r.String
	}
	if v != nil && v.Reports.Shell != nil { // the shell's state when the log begins
		switch sh := v.Reports.Shell; sh.Phase {
		case engine.ShellPrompt:
			w.mark(0, engine.Mark{Kind: 'A'})
		case engine.ShellInput:
			w.mark(0, engine.Mark{Kind: 'A'})
			w.mark(0, engine.Mark{Kind: 'B'})
		case engine.ShellRunning:
			w.mark(0, engine.Mark{Kind: 'C', Command: sh.Command})
		}
	}
	tap := record.NewBehind(w)
	if r != nil {
		r.Hold(tap.Done())
	}
	return tap
}

// Output is Marked without a mark.
func (w *logWriter) Output(at time.Time, p []byte) error { return w.Marked(at, p, nil) }

// Marked logs output, and the marks where they ended.
func (w *logWriter) Marked(at time.Time, p []byte, marks []engine.Mark) error {
	return w.do(func() {
		d := at.Sub(w.began)
		w.count(len(p), marks)
		from := 0
		for _, m := range marks {
			w.out(d, p[from:m.End])
			w.mark(d, m)
			from = m.End
		}
		w.out(d, p[from:])
	})
}

// Resize is not logged.
func (w *logWriter) Resize(time.Time, int, int) error { return nil }

// out logs output. The current line, which a redactor may hold back, is an event of its own, so
// that it holds back no other.
func (w *logWriter) out(at time.Duration, p []byte) {
	whole := bytes.LastIndexByte(p, '\n') + 1
	for _, part := range [][]byte{p[:whole], p[whole:]} {
		if len(part) > 0 {
			w.queue.Text(at, 'o', string(part))
		}
	}
}

// mark logs a mark. The text before a prompt's mark is separate from the text after it: a secret at
// the end of the first does not continue in the second.
func (w *logWriter) mark(at time.Duration, m engine.Mark) {
	switch m.Kind {
	case 'A', 'P':
		w.queue.EndLine('o')
		w.queue.Plain(at, 'P', "")
	case 'B', 'I':
		w.queue.Flush()
		w.queue.Plain(at, 'I', "")
	case 'C':
		w.queue.EndLine('o')
		w.queue.Plain(at, 'C', w.hide(m.Command))
	case 'D':
		status := ""
		if m.Exited {
			status = strconv.Itoa(m.Exit)
		}
		w.queue.EndLine('o')
		w.queue.Plain(at, 'D', status)
	}
}

// count updates the numbers that Status returns.
func (w *logWriter) count(n int, marks []engine.Mark) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bytes == 0 && n > 0 && (len(marks) == 0 || marks[0].Kind != 'A') {
		w.blocks++
	}
	for _, m := range marks {
		if m.Kind == 'C' {
			w.blocks++
		}
	}
	w.bytes += int64(n)
}

func (w *logWriter) counts() (blocks int, bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.blocks, w.bytes
}

// do takes the turn, and flushes when enough lines wait.
func (w *logWriter) do(what func()) error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	if w.err == nil && !w.over {
		what()
		if len(w.buf) >= flushBytes || w.held >= flushEvents {
			w.flush()
		} else if w.held > 0 && w.timer == nil {
			w.timer = time.AfterFunc(flushAfter, w.sync)
		}
	}
	return w.err
}

// sync writes the lines that wait.
func (w *logWriter) sync() { _ = w.do(w.flush) }

// emit makes lines of an event that is final.
func (w *logWriter) emit(at time.Duration, code byte, text ...string) {
	var data []byte
	line := func() {
		w.buf = appendLine(w.buf, w.began.Add(at), codes[code], data)
		w.held++
		data = data[:0]
		if len(w.buf) >= flushBytes {
			w.flush()
		}
	}
	for _, t := range text {
		for len(data)+len(t) > outMax {
			n := outMax - len(data)
			data = append(data, t[:n]...)
			t = t[n:]
			line()
		}
		data = append(data, t...)
	}
	if len(data) > 0 || code != 'o' {
		line()
	}
}

func appendLine(dst []byte, at time.Time, event string, data []byte) []byte {
	dst = strconv.AppendInt(dst, at.UnixMicro(), 10)
	dst = append(dst, '\t')
	dst = append(dst, event...)
	dst = append(dst, '\t')
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '\n')
}

// flush writes the lines that wait: all of them, or none.
func (w *logWriter) flush() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if len(w.buf) > 0 && w.err == nil {
		if w.size+int64(len(w.buf)) > w.limit {
			w.err = errLimit
		} else if _, err := w.file.Write(w.buf); err != nil {
			_ = w.file.Truncate(w.size)
			w.err = fmt.Errorf("write the log: %w", bare(err))
		} else {
			w.size += int64(len(w.buf))
		}
	}
	w.buf, w.held = w.buf[:0], 0
}

// Close logs what was held back.
func (w *logWriter) Close() error {
	err := w.do(func() {
		w.queue.Flush()
		w.flush()
		w.over = true
	})
	w.ended()
	return err
}

// finish closes the file, and returns why it is incomplete.
func (w *logWriter) finish() error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	if w.timer != nil {
		w.timer.Stop()
	}
	w.over = true
	err := w.file.Sync()
	if cerr := w.file.Close(); err == nil {
		err = cerr
	}
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("write the log: %w", bare(err))
	}
	return w.err
}

// An event is one line of a log.
type event struct {
	at   time.Time
	kind string
	data []byte // valid until the next event
}

// errTooLarge reports a log that is too large to read.
var errTooLarge = fmt.Errorf("the log has more than %d MiB", mostLog>>20)

// readLog calls tell with the events of a log, in order. Invalid lines, and an unfinished last one,
// which a crash leaves, are skipped. Errors: errTooLarge; those of r.
func readLog(r io.Reader, tell func(event)) error {
	in := bufio.NewReaderSize(&limited{r, mostLog}, 64<<10)
	var line, data []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= mostLine { // a longer one is not an event
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if len(line) <= mostLine {
			if e, ok := parseLine(line[:len(line)-1], &data); ok {
				tell(e)
			}
		}
		line = line[:0]
	}
}

// limited ends with errTooLarge.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, errTooLarge
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// parseLine reads one line; data is its buffer.
func parseLine(line []byte, data *[]byte) (e event, ok bool) {
	at, rest, _ := bytes.Cut(line, []byte{'\t'})
	kind, text, ok := bytes.Cut(rest, []byte{'\t'})
	micros, err := strconv.ParseInt(string(at), 10, 64)
	if !ok || err != nil || micros < 0 {
		return e, false
	}
	if *data, err = base64.StdEncoding.AppendDecode((*data)[:0], text); err != nil {
		return e, false
	}
	return event{at: time.UnixMicro(micros).UTC(), kind: string(kind), data: *data}, true
}
