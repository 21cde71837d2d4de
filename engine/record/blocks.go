package record

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

const (
	// blockLines is how many lines of one command's output are kept, the last ones: more than a reader reads, and a few
	// hundred KiB.
	blockLines = 2000
	// commandMax bounds a command line, in bytes.
	commandMax = 8 << 10
	// markMax is how long a mark may be before it is none: what the terminal keeps of a sequence.
	markMax = 8 << 10
)

// A Block is one command and what came of it.
type Block struct {
	Command        string // as it was typed or told; "" when that is not known
	Dir            string // working directory; "" when that is not known
	Output         string // plain text: what a reader of the terminal would have, without colours and overwritten lines
	Dropped        int    // lines of output that were left out before it
	Started, Ended time.Time
	ExitCode       int
	Exited         bool // ExitCode was told
}

// Blocks takes a session's output apart at its shell's marks (OSC 133, OSC 633, and OSC 7 for the directory). What comes
// before the first mark, or all when there is none, is one block without a command. It keeps the block under way and no
// more; the zero value is not usable, see [NewBlocks]. It is not safe for concurrent use.
type Blocks struct {
	done       func(Block)
	rows, cols int
	kept       []byte // the beginning of a sequence that goes on in the next output
	term       *vt.Terminal
	phase      engine.ShellPhase // of what term shows; "" before the first mark
	reports    engine.Reports
	marks      map[string]bool
	inputLine  uint64 // where the command line begins in term
	inputCol   int
	told       string // the command line, by OSC 633 ; E
	block      Block
	began      bool // anything was written in this block
	inLine     bool // what runs began to write behind its command line, not below it
}

// NewBlocks returns an empty one for a terminal of this size. done is called with each block that ended.
func NewBlocks(rows, cols int, done func(Block)) *Blocks {
	b := &Blocks{done: done, rows: rows, cols: cols, marks: map[string]bool{}}
	b.fresh()
	return b
}

// Marks says what marks the shell has written so far: "osc633", "osc133" or "none".
func (b *Blocks) Marks() string {
	switch {
	case b.marks["633"]:
		return "osc633"
	case b.marks["133"]:
		return "osc133"
	}
	return "none"
}

func (b *Blocks) fresh() { b.term = vt.New(b.rows, b.cols, vt.Options{Scrollback: blockLines}) }

// Resize tells of a new size.
func (b *Blocks) Resize(rows, cols int) {
	b.rows, b.cols = rows, cols
	b.term.Resize(rows, cols, 0, 0)
}

// Output takes what the child wrote.
func (b *Blocks) Output(at time.Time, p []byte) {
	if len(b.kept) > 0 {
		p = append(b.kept, p...)
		b.kept = nil
	}
	for len(p) > 0 {
		i := bytes.IndexByte(p, 0x1b)
		if i < 0 {
			b.feed(at, p)
			return
		}
		b.feed(at, p[:i])
		p = p[i:]
		n, whole := markLen(p)
		if !whole {
			b.kept = bytes.Clone(p)
			return
		}
		if n == 0 {
			b.feed(at, p[:1])
			p = p[1:]
			continue
		}
		b.mark(at, p[:n])
		p = p[n:]
	}
}

// markLen returns the length of the mark that p begins with; 0 when it begins with none. Not whole: what follows decides.
func markLen(p []byte) (n int, whole bool) {
	for _, code := range [...]string{"\x1b]133;", "\x1b]633;", "\x1b]7;"} {
		if len(p) < len(code) && strings.HasPrefix(code, string(p)) {
			return 0, false
		}
		if !bytes.HasPrefix(p, []byte(code)) {
			continue
		}
		for i := len(code); i < len(p) && i < markMax; i++ {
			switch p[i] {
			case 0x07:
				return i + 1, true
			case 0x1b:
				if i+1 == len(p) {
					return 0, false
				}
				if p[i+1] == '\\' {
					return i + 2, true
				}
				return 0, true
			case 0x18, 0x1a:
				return 0, true
			}
		}
		return 0, len(p) >= markMax
	}
	return 0, true
}

func (b *Blocks) feed(at time.Time, p []byte) {
	if len(p) == 0 {
		return
	}
	if b.phase == "" && !b.began {
		b.block.Started = at
	}
	b.began = true
	b.term.Feed(p)
}

// mark acts on one mark, read by a terminal as a session's is.
func (b *Blocks) mark(at time.Time, sequence []byte) {
	events := vt.New(1, 1, vt.Options{Scrollback: -1}).Feed(sequence).Events
	for i := range events {
		e := &events[i]
		b.reports = b.reports.After(e)
		switch {
		case e.Kind == vt.EventMark:
			b.marks["133"] = true
		case e.Kind == vt.EventMark633:
			b.marks["633"] = true
		}
		if e.Kind != vt.EventMark && e.Kind != vt.EventMark633 {
			continue
		}
		switch e.Mark {
		case 'A':
			b.end(at)
			b.enter(engine.ShellPrompt)
			b.told = ""
		case 'B':
			s := b.term.Snapshot()
			h := s.History()
			b.inputLine, b.inputCol = h.Dropped()+uint64(h.Len()+s.Cursor.Row), s.Cursor.Col
			b.phase = engine.ShellInput
		case 'E':
			b.told = e.Text
		case 'C':
			b.run(at)
		case 'D':
			if b.phase == engine.ShellRunning {
				b.block.ExitCode, b.block.Exited = e.Exit, e.HasExit
				b.end(at)
			}
			b.enter(engine.ShellDone)
		}
	}
}

// enter begins to show something else.
func (b *Blocks) enter(phase engine.ShellPhase) {
	b.phase, b.began, b.inLine = phase, false, false
	b.fresh()
}

// run begins a command.
func (b *Blocks) run(at time.Time) {
	command := b.told
	if command == "" && b.phase == engine.ShellInput {
		command = strings.TrimSpace(textFrom(b.term.Snapshot(), b.inputLine, b.inputCol))
	}
	b.told = ""
	// Some shells set the mark before the line end of Enter is echoed: that is none of the output.
	inLine := b.phase == engine.ShellInput && b.term.Snapshot().Cursor.Col > 0
	b.end(at) // a command under way that nothing ended
	b.block = Block{Command: clip(command, commandMax), Started: at}
	if b.reports.Shell != nil {
		b.block.Dir = b.reports.Shell.Dir
	}
	b.enter(engine.ShellRunning)
	b.inLine = inLine
}

// end ends the block under way, if there is one.
func (b *Blocks) end(at time.Time) {
	if b.phase != engine.ShellRunning && (b.phase != "" || !b.began) {
		return
	}
	if len(b.kept) > 0 && at.IsZero() {
		b.term.Feed(b.kept)
	}
	s := b.term.Snapshot()
	b.block.Output, b.block.Dropped = screenText(s), int(s.History().Dropped())
	if b.inLine && b.block.Dropped == 0 {
		b.block.Output = strings.TrimPrefix(b.block.Output, "\n")
	}
	if !at.IsZero() {
		b.block.Ended = at
	}
	if b.phase == engine.ShellRunning || strings.TrimSpace(b.block.Output) != "" {
		b.done(b.block)
	}
	b.block = Block{}
	b.enter(engine.ShellDone)
}

// Close ends what is under way; a command that runs stays without an end.
func (b *Blocks) Close() { b.end(time.Time{}) }

// textFrom is what stands on a screen and its scrollback from a line and column on; lines as [vt.Event] counts them.
func textFrom(s *vt.Screen, line uint64, col int) string {
	h := s.History()
	var out strings.Builder
	first := max(line, h.Dropped())
	for abs := first; abs < h.Dropped()+uint64(h.Len()+s.Rows); abs++ {
		i := int(abs - h.Dropped())
		from := 0
		if abs == line {
			from = col
		}
		var row strings.Builder
		add := func(x int, c vt.Cell) {
			switch {
			case x < from || c.Continuation:
			case c.Text == "":
				row.WriteByte(' ')
			default:
				row.WriteString(c.Text)
			}
		}
		wrapped := false
		if i < h.Len() {
			h.EachCell(i, add)
			wrapped = h.Wrapped(i)
		} else {
			s.EachCell(i-h.Len(), add)
			wrapped = s.Wrapped(i - h.Len())
		}
		if wrapped {
			out.WriteString(row.String())
			continue
		}
		out.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return strings.TrimRight(out.String(), "\n")
}

// clip cuts a text to at most n bytes, at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n -= len("…"); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + "…"
}
