package record

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

// eventMax is the most text of one event, in bytes: four times a batch of the engine. More is split
// into several events with the same time. A control character is six bytes in JSON, so a line stays
// below 2 MiB, far below the readers' limit (lineMax).
const eventMax = 256 << 10

// headMax is the most text of a value of the header, in bytes; the rest is cut off. Four of them
// fit in a line as above.
const headMax = 64 << 10

// CastOptions say how a session is recorded. The zero value records output, redacted, as asciicast
// v2.
type CastOptions struct {
	Format     Format        // AsciicastV2 when empty
	Rows, Cols int           // of the terminal; 24 and 80 when zero
	Start      time.Time     // time zero of the recording; now when zero
	Screen     *vt.Screen    // what is already on the screen; nil: nothing, the session is new
	Term       string        // the child's TERM; "xterm-256color" when empty
	Shell      string        // the child's SHELL; left out when empty
	Command    string        // what runs; left out when empty
	Title      string        // of the recording; left out when empty
	IdleLimit  time.Duration // longest pause during playback; 0: as recorded
	// CutIdle writes no pauses over IdleLimit, instead of only asking the player; except the first.
	CutIdle  bool
	Input    bool  // record the text given to [Cast.Input]
	MaxBytes int64 // of the file; 0: DefaultMaxBytes
	// Redactor hides secrets; nil means redact.Default. Output that may belong to a secret is
	// written once that is decided, with its original time.
	Redactor *redact.Redactor
	Raw      bool // hide nothing
}

// A Cast records a session as asciicast v2 or v3. It is an [engine.Tap]; its methods are safe for
// concurrent use, and each waits for the disk.
//
// Until it is closed the file is called path.part and is a valid cast of what happened so far, up
// to an unfinished line of output. Closing gives it its name. A full disk ends the recording and
// not the session: the error is returned once, [Cast.Status] keeps it, and the file holds whole
// events.
type Cast struct {
	*file
	opts  CastOptions
	queue *Queue
	text  utf8Joiner // of the output
	buf   []byte     // lines to be written
	clock clock
}

var _ engine.EventTap = (*Cast)(nil)

// NewCast begins a recording in a new file, mode 0600. Neither path nor path.part may exist, and
// the folder must exist and not be a symbolic link. Errors are *[engine.FileError] around
// [ErrExists], [ErrSymlink], [ErrNoFolder], [ErrFolder] or an error of the system.
func NewCast(path string, o CastOptions) (*Cast, error) {
	return recordTo(path, func(s sink) (*Cast, error) { return newCast(s, path, o) })
}

func newCast(s sink, path string, o CastOptions) (*Cast, error) {
	if o.Format == "" {
		o.Format = AsciicastV2
	}
	if o.Rows <= 0 || o.Cols <= 0 {
		o.Rows, o.Cols = 24, 80
	}
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	if o.Term == "" {
		o.Term = "xterm-256color"
	}
	if o.Redactor == nil {
		o.Redactor = redact.Default
	}
	c := &Cast{file: newFile(s, path, o.Format, o.MaxBytes), opts: o}
	c.clock = clock{intervals: o.Format == AsciicastV3}
	if o.CutIdle {
		c.clock.cut = o.IdleLimit
	}
	judge := o.Redactor
	if o.Raw {
		judge = nil
	}
	c.queue = NewQueue(judge, o.Screen, c.emit)
	head, err := c.header()
	if err != nil {
		return nil, err
	}
	c.buf = append(head, '\n')
	if o.Screen != nil { // redacted; the stream also gets what was there
		shown := o.Screen
		if !o.Raw {
			shown = Mask(shown, o.Redactor)
		}
		c.emit(0, 'o', picture.Restore(shown, c.hide))
	}
	if err := c.flush(0); err != nil {
		return nil, err
	}
	return c, nil
}

// hide redacts a text other than output, unless the recording is raw.
func (c *Cast) hide(s string) string {
	if c.opts.Raw {
		return s
	}
	return c.opts.Redactor.String(s)
}

// header is the first line. Unknown members are left out.
func (c *Cast) header() ([]byte, error) {
	o, hide := &c.opts, c.hide
	env := map[string]string{}
	if o.Shell != "" {
		env["SHELL"] = clip(hide(o.Shell), headMax)
	}
	h := header{Version: 2, Timestamp: o.Start.Unix(), Env: env,
		Command: clip(hide(o.Command), headMax), Title: clip(hide(o.Title), headMax)}
	if !o.CutIdle { // otherwise there is nothing left to cut
		h.IdleLimit = o.IdleLimit.Seconds()
	}
	switch o.Format {
	case AsciicastV2:
		h.Width, h.Height = o.Cols, o.Rows
		env["TERM"] = clip(o.Term, headMax)
	case AsciicastV3:
		h.Version, h.Term = 3, &headerTerm{Cols: o.Cols, Rows: o.Rows, Type: clip(o.Term, headMax)}
	default:
		return nil, fmt.Errorf("record: %s is not an asciicast format: use %q or %q",
			engine.Quote(string(o.Format)), AsciicastV2, AsciicastV3)
	}
	return json.Marshal(h)
}

// Output records what the child wrote. Bytes that are no UTF-8 become U+FFFD, as on the screen.
func (c *Cast) Output(at time.Time, p []byte) error {
	return c.do(at, func(d time.Duration) { c.say(d, 'o', c.text.join(p)) })
}

// Input records what was sent to the child, if the recording includes input. Do not pass what the
// child asked for with its echo off.
func (c *Cast) Input(at time.Time, p []byte) error {
	if !c.opts.Input {
		return nil
	}
	return c.do(at, func(d time.Duration) { c.say(d, 'i', new(utf8Joiner).whole(p)) })
}

// Resize records a new size.
func (c *Cast) Resize(at time.Time, rows, cols int) error {
	return c.do(at, func(d time.Duration) {
		c.queue.Plain(d, 'r',
			fmt.Sprintf("%dx%d", cols, rows))
	})
}

// Marker records a place for the player to stop at or jump to.
func (c *Cast) Marker(at time.Time, label string) error {
	return c.do(at, func(d time.Duration) {
		if !c.opts.Raw {
			label = c.opts.Redactor.String(label)
		}
		c.queue.Plain(d, 'm', vt.Clean([]byte(label), eventMax))
	})
}

// Event records what happened to the session beside its output: waits and how they ended, commands
// and their exit codes, leases, how much was typed and hidden, states of an adapter. It is an event
// with a letter of ours, 'p', which other players skip, and has the JSON of the event, redacted.
// What the recording shows anyway (titles, bells, sizes, the exit) is left out.
func (c *Cast) Event(e engine.Event) error {
	switch e.Kind {
	case engine.EventTitle, engine.EventBell, engine.EventResize, engine.EventExit:
		return nil
	}
	return c.do(noted(&e), func(d time.Duration) {
		text, err := json.Marshal(e.Clean(c.hide))
		if err != nil {
			panic("record: " + err.Error()) // texts and numbers do encode
		}
		c.queue.Plain(d, eventLetter, string(text))
	})
}

// eventLetter is the code of an event of a session in a cast. asciicast leaves codes other than its
// own to those who write them.
const eventLetter = byte(EventSession)

// noted is when an event was noted: at its beginning, or its end.
func noted(e *engine.Event) time.Time {
	if e.Until.IsZero() {
		return e.At
	}
	return e.Until
}

// Exit records the child's exit status. asciicast v2 does not define it, and its players skip it.
func (c *Cast) Exit(at time.Time, code int) error {
	return c.do(at, func(d time.Duration) {
		c.queue.Flush() // nothing comes after it
		c.queue.Plain(d, 'x', fmt.Sprint(code))
	})
}

// SetRedactor changes what is hidden from here on, when a secret has become known. Text that is
// held back is judged by the old rules.
func (c *Cast) SetRedactor(r *redact.Redactor) error {
	if c.opts.Raw {
		return nil
	}
	if err := c.begin(); err != nil {
		return err
	}
	defer c.end()
	c.opts.Redactor = r
	c.queue.SetRedactor(r)
	return c.flush(c.clock.now)
}

// Close writes the text held back and gives the file its name. Closing again does nothing.
func (c *Cast) Close() error {
	return c.close(func() error {
		if c.Status().State != StateRecording {
			return nil
		}
		c.queue.Flush()
		return c.flush(c.clock.now)
	})
}

// do takes one event and writes what has become ready.
func (c *Cast) do(at time.Time, what func(time.Duration)) error {
	if err := c.begin(); err != nil {
		return err
	}
	defer c.end()
	d := c.clock.at(at.Sub(c.opts.Start))
	what(d)
	return c.flush(d)
}

// say records text in pieces of at most eventMax.
func (c *Cast) say(at time.Duration, code byte, text string) {
	for len(text) > eventMax {
		n := eventMax
		for !utf8.RuneStart(text[n]) {
			n--
		}
		c.queue.Text(at, code, text[:n])
		text = text[n:]
	}
	if text != "" {
		c.queue.Text(at, code, text)
	}
}

// emit writes the line of an event, or several for text longer than eventMax.
func (c *Cast) emit(at time.Duration, code byte, text ...string) {
	begin := func() {
		c.buf = append(c.buf, '[')
		c.buf = c.clock.append(c.buf, at)
		c.buf = append(c.buf, ',', ' ', '"', code, '"', ',', ' ', '"')
	}
	end := func() { c.buf = append(c.buf, '"', ']', '\n') }
	begin()
	room := eventMax
	for _, t := range text {
		for len(t) > room {
			n := room
			for n > 0 && !utf8.RuneStart(t[n]) {
				n--
			}
			c.buf = appendJSON(c.buf, t[:n])
			t, room = t[n:], eventMax
			end()
			begin()
		}
		c.buf = appendJSON(c.buf, t)
		room -= len(t)
	}
	end()
}

func (c *Cast) flush(at time.Duration) error {
	if len(c.buf) == 0 {
		return nil
	}
	err := c.append(c.buf, at)
	if c.buf = c.buf[:0]; cap(c.buf) > 2*eventMax { // after a flood
		c.buf = nil
	}
	return err
}

// Mask returns a screen with its secrets hidden. Titles and links are not part of it: pass those to
// the redactor.
func Mask(s *vt.Screen, r *redact.Redactor) *vt.Screen {
	return s.MaskPage(func(lines []string, above func(int) (string, bool)) [][]vt.Mask {
		masks := make([][]vt.Mask, len(lines))
		for i, spans := range r.Page(lines, above) {
			for _, sp := range spans {
				masks[i] = append(masks[i], vt.Mask(sp))
			}
		}
		return masks
	})
}

// before is what a stream that continues from a screen has to know: the line that the cursor is in,
// and what comes before it.
func before(s *vt.Screen) string {
	h := s.History()
	at := vt.Position{Line: h.Dropped() + uint64(h.Len()+s.Cursor.Row), Col: s.Cursor.Col}
	from := vt.Position{Line: h.Dropped()}
	if at.Line > redact.ReachLines {
		from.Line = max(from.Line, at.Line-redact.ReachLines)
	}
	text, _ := s.Between(from, at, redact.ReachBytes)
	return text[redact.Reach([]byte(text)):]
}
