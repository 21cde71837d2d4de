package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/vt"
)

const (
	// lineMax bounds one line of a cast, in bytes: ten times the longest that [Cast] writes
	// (eventMax, escaped). asciinema writes lines of a few KiB.
	lineMax = 16 << 20
	// timeMax bounds the time of an event, in seconds: thirty years. Anything beyond is invalid.
	timeMax = 1e9
	// farTime says so.
	farTime = "the event's time is over 1,000,000,000 seconds, which are 30 years: " +
		"times are seconds, not nanoseconds or dates"
)

// A CastError says where a cast is invalid. It quotes nothing of it.
type CastError struct {
	Line   int // from one
	Reason string
	Err    error // the cause; may be nil
}

func (e *CastError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }
func (e *CastError) Unwrap() error { return e.Err }

// An EventKind is the kind of an event, by its letter in asciicast. Skip unknown letters.
type EventKind byte

const (
	EventOutput EventKind = 'o'
	EventInput  EventKind = 'i'
	EventResize EventKind = 'r' // Rows and Cols
	EventMarker EventKind = 'm'
	EventExit   EventKind = 'x' // Exit
	// EventSession is ours: Text is the JSON of an [engine.Event], see [Event.Session].
	EventSession EventKind = 'p'
)

// An Event is one line of a cast.
type Event struct {
	At         time.Duration // since the recording began; never decreases
	Kind       EventKind
	Text       string
	Rows, Cols int
	Exit       int
}

// Session is the event of the session that e holds; ok is false if it holds none. It is untrusted:
// its texts are made plain lines, and its kind may be any word.
func (e *Event) Session() (of engine.Event, ok bool) {
	if e.Kind != EventSession || json.Unmarshal([]byte(e.Text), &of) != nil || of.Kind == "" {
		return engine.Event{}, false
	}
	return of.Clean(func(s string) string { return s }), true
}

// A Header is what a cast says about itself. Its text is untrusted.
type Header struct {
	Version    int // 1, 2 or 3
	Rows, Cols int
	Started    time.Time     // zero when not given
	IdleLimit  time.Duration // 0: none
	Command    string
	Title      string
	Term       string
	Shell      string
}

// header is the first line of v2 and v3, and the whole of v1.
type header struct {
	Version   int               `json:"version"`
	Width     int               `json:"width,omitempty"`
	Height    int               `json:"height,omitempty"`
	Term      *headerTerm       `json:"term,omitempty"`
	Timestamp int64             `json:"timestamp,omitempty"`
	IdleLimit float64           `json:"idle_time_limit,omitempty"`
	Command   string            `json:"command,omitempty"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Stdout    []json.RawMessage `json:"stdout,omitempty"` // v1
}

type headerTerm struct {
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
	Type string `json:"type,omitempty"`
}

// A Reader reads a cast of version 1, 2 or 3 event by event. It is not safe for concurrent use.
type Reader struct {
	Header Header
	// Truncated says that the cast ends within a line, as when its recorder was killed. It is known
	// at the end.
	Truncated bool

	in    *bufio.Reader
	line  int
	last  time.Duration
	v1    []json.RawMessage
	ended bool
}

// byteOrderMark is what editors of Windows begin a file with.
const byteOrderMark = "\ufeff"

// NewReader reads the header. Errors are *[CastError] or the reader's.
func NewReader(r io.Reader) (*Reader, error) {
	c := &Reader{in: bufio.NewReaderSize(r, 64<<10)}
	if mark, _ := c.in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		c.in.Discard(len(mark))
	}
	first, whole, err := c.next()
	if err != nil {
		return nil, err
	}
	var h header
	if err := json.Unmarshal(first, &h); err != nil {
		// v1 is one JSON value, usually over several lines.
		if !bytes.HasPrefix(bytes.TrimSpace(first), []byte("{")) || !whole {
			return nil, c.bad("not an asciicast header", err)
		}
		rest, err := io.ReadAll(io.LimitReader(c.in, lineMax+1))
		if err != nil {
			return nil, err
		}
		if len(first)+len(rest) > lineMax {
			return nil, c.bad("the header is too large", picture.ErrTooLarge)
		}
		h = header{}
		if err := json.Unmarshal(append(append(first, '\n'), rest...), &h); err != nil ||
			h.Version != 1 {
			return nil, c.bad("not an asciicast header", err)
		}
	}
	return c, c.accept(&h)
}

// accept copies the header.
func (c *Reader) accept(h *header) error {
	rows, cols, term := h.Height, h.Width, h.Env["TERM"]
	switch h.Version {
	case 1:
		c.v1, c.ended = h.Stdout, true
	case 2:
	case 3:
		if h.Term == nil {
			return c.bad("the header has no term", nil)
		}
		rows, cols, term = h.Term.Rows, h.Term.Cols, h.Term.Type
	default:
		return c.bad(fmt.Sprintf("asciicast version %d is not known; 1, 2 and 3 are",
			h.Version), nil)
	}
	if !sideOK(rows) || !sideOK(cols) {
		return c.bad(fmt.Sprintf("%d rows by %d columns is not a terminal size: each is 1 to %d",
			rows, cols, vt.MaxSide), nil)
	}
	c.Header = Header{Version: h.Version, Rows: rows, Cols: cols, Command: h.Command,
		Title: h.Title, Term: term, Shell: h.Env["SHELL"]}
	if h.Timestamp > 0 {
		c.Header.Started = time.Unix(h.Timestamp, 0)
	}
	if h.IdleLimit > 0 && h.IdleLimit < timeMax {
		c.Header.IdleLimit = seconds(h.IdleLimit)
	}
	return nil
}

// sizeOf reads the text of a resize.
func sizeOf(text string) (rows, cols int) {
	w, h, _ := strings.Cut(text, "x")
	cols, _ = strconv.Atoi(w)
	rows, _ = strconv.Atoi(h)
	return rows, cols
}

func sideOK(n int) bool { return n >= 1 && n <= vt.MaxSide }

func seconds(s float64) time.Duration { return time.Duration(math.Round(s*1e6)) * time.Microsecond }

func (c *Reader) bad(reason string, err error) error {
	return &CastError{Line: max(c.line, 1), Reason: reason, Err: err}
}

// next returns the next line without its end, and whether it has one.
func (c *Reader) next() (line []byte, whole bool, err error) {
	c.line++
	for {
		p, err := c.in.ReadSlice('\n')
		if len(line)+len(p) > lineMax {
			return nil, false,
				c.bad(fmt.Sprintf("is longer than %d bytes", lineMax), picture.ErrTooLarge)
		}
		line = append(line, p...)
		switch {
		case err == nil:
			return line[:len(line)-1], true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, false, nil
		default:
			return nil, false, err
		}
	}
}

// Next returns the next event, or io.EOF when there is none. A last line that was cut off is the
// end: see Truncated. Other errors are *[CastError] or the reader's.
func (c *Reader) Next() (Event, error) {
	if c.v1 != nil {
		return c.nextV1()
	}
	for !c.ended {
		line, whole, err := c.next()
		if err != nil {
			return Event{}, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' { // v3 has comments
			continue
		}
		e, err := c.event(line)
		if err != nil && !whole {
			c.ended, c.Truncated = true, true
			break
		}
		return e, err
	}
	return Event{}, io.EOF
}

func (c *Reader) nextV1() (Event, error) {
	if len(c.v1) == 0 {
		return Event{}, io.EOF
	}
	var raw [2]json.RawMessage
	err := json.Unmarshal(c.v1[0], &raw)
	c.v1 = c.v1[1:]
	e := Event{Kind: EventOutput}
	if err == nil {
		err = json.Unmarshal(raw[1], &e.Text)
	}
	if err != nil {
		return Event{}, c.bad("not an event: expected a delay and a text", err)
	}
	return e, c.time(&e, raw[0], true)
}

// event reads one line.
func (c *Reader) event(line []byte) (e Event, err error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil || len(raw) < 3 {
		return e, c.bad("not an event: expected a time, a code and a text", err)
	}
	var code string
	if err := json.Unmarshal(raw[1], &code); err != nil || len(code) != 1 {
		return e, c.bad("the event's code is not a letter", err)
	}
	if err := json.Unmarshal(raw[2], &e.Text); err != nil {
		return e, c.bad("the event's data is not text", err)
	}
	e.Kind = EventKind(code[0])
	switch e.Kind {
	case EventResize:
		if e.Rows, e.Cols = sizeOf(e.Text); !sideOK(e.Rows) || !sideOK(e.Cols) {
			return e, c.bad("the new size is not a terminal size", nil)
		}
	case EventExit:
		if e.Exit, err = strconv.Atoi(e.Text); err != nil {
			return e, c.bad("the exit status is not a number", err)
		}
	}
	return e, c.time(&e, raw[0], c.Header.Version == 3)
}

// time reads an event's time.
func (c *Reader) time(e *Event, raw []byte, interval bool) error {
	s, err := strconv.ParseFloat(string(bytes.TrimSpace(raw)), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return c.bad("the event's time is not a number of seconds", err)
	case s < 0:
		return c.bad("the event's time is before the recording's begin: times count from 0", nil)
	case !(s <= timeMax):
		return c.bad(farTime, nil)
	}
	at := seconds(s)
	if interval {
		at += c.last
	}
	if e.At = max(at, c.last); e.At > seconds(timeMax) {
		return c.bad(farTime, nil)
	}
	c.last = e.At
	return nil
}
