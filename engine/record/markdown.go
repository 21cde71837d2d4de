package record

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/redact"
)

// A Document is a readable session.
type Document struct {
	Name           string // of the session; left out when empty
	Program        string // the command line of the session; left out when empty
	Dir            string // where it began; left out when empty
	Rows, Cols     int    // left out when zero
	Started, Ended time.Time
	ExitCode       *int               // nil: unknown, or it still runs
	Marks          engine.Integration // how the beginnings of blocks were marked
	Blocks         []engine.Block
}

// Markdown writes the document: front matter, and a section for each block. r hides secrets, nil
// means redact.Default; raw hides nothing. It returns how many secrets were hidden; the number is
// in the front matter too. Errors are w's.
func Markdown(w io.Writer, d *Document, r *redact.Redactor, raw bool) (redactions int, err error) {
	h := newHider(r, raw)
	f := front{doc: *d, state: StateDone, raw: raw}
	f.doc.Name, f.doc.Program, f.doc.Dir = h.hide(d.Name), h.hide(d.Program), h.hide(d.Dir)
	var body strings.Builder
	for i := range d.Blocks {
		body.WriteString(h.section(&f, &d.Blocks[i]))
	}
	if d.Marks == engine.IntegrationNone {
		body.WriteString(noMarks)
	}
	f.redactions = h.count
	_, err = io.WriteString(w, f.text(0)+body.String())
	return h.count, err
}

// frontMax bounds a value of the front matter, in bytes.
const frontMax = 8 << 10

// noMarks ends a document whose commands are not marked.
const noMarks = "\nThe shell wrote no marks (OSC 133, OSC 633), so commands are not told from their output.\n"

// A hider hides secrets and counts them.
type hider struct {
	r     *redact.Redactor
	raw   bool
	count int
	// before is the text before the document, for the first output: a secret may have begun in it.
	before string
}

func newHider(r *redact.Redactor, raw bool) *hider {
	if r == nil {
		r = redact.Default
	}
	return &hider{r: r, raw: raw}
}

func (h *hider) hide(text string) string {
	if h.raw {
		return text
	}
	hidden := h.r.String(text)
	if hidden == text {
		return text
	}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		for _, sp := range h.r.Spans(line) {
			if sp.Text != "" {
				n++
			}
		}
	}
	h.count += max(n, 1) // a secret of several lines is not one in each of them
	return hidden
}

// output hides the secrets of a block's output.
func (h *hider) output(text string) string {
	before := h.before
	h.before = ""
	if before == "" || h.raw {
		return h.hide(text)
	}
	cut := strings.LastIndexByte(before, '\n') + 1
	lines := strings.SplitAfterN(h.hide(before+text), "\n", strings.Count(before, "\n")+1)
	// Hiding over several lines leaves fewer, and some of the text before is shown, hidden.
	rest := lines[len(lines)-1]
	return strings.TrimPrefix(rest, before[cut:])
}

// front is the front matter. It has been redacted.
type front struct {
	doc        Document
	blocks     int // commands so far; without marks several may count as one
	redactions int
	state      State
	raw        bool
}

// text writes the front matter as YAML. Values that change while a document grows have a fixed
// width, so that they can be overwritten: a comment fills the rest.
func (f *front) text(pad int) string {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	room := len("# \n")
	late := func(key, value string) {
		line(key, value)
		room += pad - len(value)
	}
	quoted := func(s string) string {
		if s == "" {
			return ""
		}
		return `"` + string(appendJSON(nil, vt.Clean([]byte(s), frontMax))) + `"` // YAML 1.2 takes JSON strings
	}
	moment := func(t time.Time) string {
		if t.IsZero() {
			return "null"
		}
		return t.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	d := &f.doc
	b.WriteString("---\n")
	line("name", quoted(d.Name))
	line("program", quoted(d.Program))
	line("cwd", quoted(d.Dir))
	if d.Rows > 0 {
		line("size", fmt.Sprintf("%dx%d", d.Cols, d.Rows))
	}
	line("started", moment(d.Started))
	late("ended", moment(d.Ended))
	exit := "null"
	if d.ExitCode != nil {
		exit = strconv.Itoa(*d.ExitCode)
	}
	late("exit_code", exit)
	late("state", string(f.state))
	late("shell_marks", string(d.Marks))
	late("blocks", strconv.Itoa(f.blocks))
	late("redacted", strconv.FormatBool(!f.raw))
	late("redactions", strconv.Itoa(f.redactions))
	if pad > 0 {
		b.WriteString("# " + strings.Repeat("-", room-len("# \n")) + "\n")
	}
	b.WriteString("---\n\n# Terminal session\n")
	return b.String()
}

// section writes one block of the document with front matter f, and counts it.
func (h *hider) section(f *front, b *engine.Block) string {
	var out strings.Builder
	greeting := b.Number == 0 && b.Command == "" && f.doc.Marks != engine.IntegrationNone &&
		f.blocks == 0
	if !greeting {
		f.blocks++
	}
	command := h.hide(b.Command)
	title, rest, several := strings.Cut(command, "\n")
	if len(title) > 100 {
		title, several, rest = clip(title, 100), true, command
	}
	switch {
	case greeting:
		out.WriteString("\n## Before the first command\n\n")
	case title == "":
		fmt.Fprintf(&out, "\n## %d. (no command told)\n\n", f.blocks)
	default:
		fmt.Fprintf(&out, "\n## %d. %s\n\n", f.blocks, Code(title))
	}
	if several && rest != "" {
		out.WriteString(Fence("sh", command) + "\n")
	}
	var facts []string
	switch {
	case b.Exited:
		facts = append(facts, "exit "+strconv.Itoa(b.ExitCode))
	case b.Ended.IsZero() && b.Command != "" && f.doc.ExitCode != nil:
		facts = append(facts, "ended with the shell")
	case b.Ended.IsZero() && b.Command != "":
		facts = append(facts, "not ended")
	case b.Command != "":
		facts = append(facts, "exit not told")
	}
	if !b.Started.IsZero() && !b.Ended.IsZero() {
		facts = append(facts, b.Ended.Sub(b.Started).Round(time.Millisecond).String())
	}
	if !b.Started.IsZero() {
		facts = append(facts, b.Started.UTC().Format("15:04:05 UTC"))
	}
	if b.Dir != "" {
		facts = append(facts, Code(h.hide(b.Dir)))
	}
	if len(facts) > 0 {
		out.WriteString(strings.Join(facts, " · ") + "\n\n")
	}
	if !b.Whole {
		out.WriteString("Its beginning is left out.\n\n")
		h.before = ansi.Strip(b.Above)
	}
	if strings.TrimSpace(b.Output) == "" {
		out.WriteString("No output.\n")
	} else {
		out.WriteString(Fence("text", visible(h.output(b.Output))))
	}
	return out.String()
}

// visible shows the control characters of a text as pictures (U+2400 and on; DEL as U+2421), except
// tabs and line feeds, and those that are not ASCII (C1) as U+FFFD: in a file they would act on any
// terminal that shows it, and a carriage return would begin a new line of Markdown.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case r < ' ':
			return '␀' + r
		case r == 0x7f:
			return '␡'
		case r >= 0x80 && r < 0xa0:
			return utf8.RuneError
		}
		return r
	}, text)
}

// clip cuts a text to at most n bytes, at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n -= len("…"); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + "…"
}

// backticks returns a run of backticks longer than any in s, and at least n.
func backticks(s string, n int) string {
	run := 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		n = max(n, run+1)
	}
	return strings.Repeat("`", n)
}

// Fence writes text as a fenced code block that nothing in it can end (CommonMark 0.31, section
// 4.5). Line feeds at its end are left out. language may be empty.
func Fence(language, text string) string {
	f := backticks(text, 3)
	if text = strings.TrimRight(text, "\n"); text != "" {
		text += "\n"
	}
	return f + language + "\n" + text + f + "\n"
}

// Code writes one line as a code span (CommonMark 0.31, section 6.1).
func Code(s string) string {
	f := backticks(s, 1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return f + s + f
}

// TranscriptOptions say how a session is recorded as Markdown.
type TranscriptOptions struct {
	Name       string    // of the session; "": none
	Program    string    // the command line of the session
	Dir        string    // where it began
	Rows, Cols int       // of the terminal; 24 and 80 when zero
	Start      time.Time // now when zero
	// Screen is already on the screen and is not recorded; nil: nothing, the session is new.
	Screen   *vt.Screen
	MaxBytes int64 // of the file; 0: DefaultMaxBytes
	Redactor *redact.Redactor
	Raw      bool // hide nothing
}

// A Transcript records a session as Markdown while it runs: a section is added when its block has
// ended. Without marks there is one block, which ends with the recording: until then the file has
// only its front matter, and a full disk goes unnoticed. A [Cast] keeps up with the session. It is
// an [engine.Tap]; its methods are safe for concurrent use, and each waits for the disk. Files and
// errors are as those of a [Cast].
type Transcript struct {
	*file
	front  front
	hider  *hider
	blocks *engine.BlockReader
	ready  []engine.Block // ended and not written yet
	last   time.Time
}

var _ engine.MarkTap = (*Transcript)(nil)

// latePad is the width of a front matter value that is written when the session has ended: a time,
// the longest of them.
const latePad = len("2006-01-02T15:04:05.000Z")

// NewTranscript begins a Markdown document in a new file, as [NewCast] does.
func NewTranscript(path string, o TranscriptOptions) (*Transcript, error) {
	return recordTo(path, func(s sink) (*Transcript, error) { return newTranscript(s, path, o) })
}

func newTranscript(s sink, path string, o TranscriptOptions) (*Transcript, error) {
	if o.Rows <= 0 || o.Cols <= 0 {
		o.Rows, o.Cols = 24, 80
	}
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	t := &Transcript{file: newFile(s, path, MarkdownDoc, o.MaxBytes),
		hider: newHider(o.Redactor, o.Raw), last: o.Start}
	if o.Screen != nil {
		t.hider.before = before(o.Screen)
	}
	// The length of the front matter never changes, so its values are redacted here, once.
	t.front = front{state: StateRecording, raw: o.Raw,
		doc: Document{Name: t.hider.hide(o.Name), Program: t.hider.hide(o.Program),
			Dir:  t.hider.hide(o.Dir),
			Rows: o.Rows, Cols: o.Cols, Started: o.Start, Marks: engine.IntegrationNone}}
	t.front.redactions = t.hider.count
	t.blocks = engine.NewBlockReader(o.Rows, o.Cols,
		func(b engine.Block) { t.ready = append(t.ready, b) })
	return t, t.append([]byte(t.front.text(latePad)), 0)
}

// Output takes what the child wrote. All marks in it count.
func (t *Transcript) Output(at time.Time, p []byte) error {
	return t.do(at, func() { t.blocks.Output(at, p) })
}

// Marked takes what the child wrote; only the shell's own marks count.
func (t *Transcript) Marked(at time.Time, p []byte, marks []engine.Mark) error {
	return t.do(at, func() { t.blocks.Marked(at, p, marks) })
}

// Resize takes a new size.
func (t *Transcript) Resize(at time.Time, rows, cols int) error {
	return t.do(at, func() { t.blocks.Resize(at, rows, cols) })
}

// Exit takes the child's exit status.
func (t *Transcript) Exit(at time.Time, code int) error {
	return t.do(at, func() {
		t.front.doc.ExitCode = &code
		t.blocks.Exited()
	})
}

// SetRedactor changes what is hidden from the next section on, including the block under way.
func (t *Transcript) SetRedactor(r *redact.Redactor) {
	t.turn <- struct{}{}
	defer t.end()
	t.hider.r = r
}

func (t *Transcript) do(at time.Time, what func()) error {
	if err := t.begin(); err != nil {
		return err
	}
	defer t.end()
	if at.After(t.last) {
		t.last = at
	}
	what()
	return t.write()
}

// write adds the sections of the blocks that have ended.
func (t *Transcript) write() error {
	if len(t.ready) == 0 {
		return nil
	}
	var b strings.Builder
	t.front.doc.Marks = t.blocks.Integration()
	for i := range t.ready {
		b.WriteString(t.hider.section(&t.front, &t.ready[i]))
	}
	t.ready = nil
	return t.append([]byte(b.String()), t.last.Sub(t.front.doc.Started))
}

// Close writes the block under way, completes the front matter and gives the file its name. Closing
// again does nothing.
func (t *Transcript) Close() error {
	return t.close(func() error {
		var err error
		if t.Status().State == StateRecording {
			t.blocks.Close()
			if err = t.write(); err == nil && t.blocks.Integration() == engine.IntegrationNone {
				err = t.append([]byte(noMarks), t.last.Sub(t.front.doc.Started))
			}
		}
		f := &t.front
		if f.state = t.Status().State; f.state == StateRecording {
			f.state = StateDone
		}
		f.doc.Ended, f.doc.Marks, f.redactions = t.last, t.blocks.Integration(), t.hider.count
		if _, werr := t.sink.WriteAt([]byte(f.text(latePad)), 0); werr != nil && err == nil {
			err = t.fail(werr)
		}
		return err
	})
}

// Document is the recording in readable form: [Markdown] writes it.
func (r *Recording) Document() *Document {
	d := &Document{Program: r.Command, Rows: r.Rows, Cols: r.Cols, Started: r.Started}
	b := engine.NewBlockReader(r.Rows, r.Cols,
		func(b engine.Block) { d.Blocks = append(d.Blocks, b) })
	for e := range r.Events() {
		at := r.Started.Add(e.At)
		switch e.Kind {
		case EventOutput:
			b.Output(at, []byte(e.Text))
		case EventResize:
			b.Resize(at, e.Rows, e.Cols)
		case EventExit:
			code := e.Exit
			d.ExitCode = &code
			b.Exited()
		}
		d.Ended = at
	}
	b.Close()
	d.Marks = b.Integration()
	return d
}
