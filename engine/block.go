package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/ansi"
)

// A Block is one command of a shell that marks its prompts (OSC 133 or OSC 633): what was run, what
// it printed and how it ended. Its text is the program's, not redacted.
type Block struct {
	Number uint64 // counts the session's blocks, from 1
	// Command is the one of OSC 633 ; E, or else the text between the marks B and C, without the
	// end of the line. A command over 8 KiB is cut and ends with an ellipsis.
	Command string
	// Output is what the command wrote, byte for byte, as far as a terminal lets that be known: the
	// CR that it puts in front of each line feed is removed, an invalid byte becomes U+FFFD, and
	// escape sequences are cut out. Tabs, trailing blanks, carriage returns and other control
	// characters are kept. It includes what the terminal itself shows between the marks: the echo
	// of what is typed, and what an interactive shell says about its jobs. The output of a line
	// that the shell refused is the shell's message.
	Output string
	Raw    string // Output with its escape sequences
	Whole  bool   // Output is all of it, not the end, of at most MaxBlockOutput bytes of Raw
	// Above is, if Output is not Whole, what came right before Raw, up to 64 KiB: redacting Output
	// needs it, since a secret may have begun there. It may begin within a line.
	Above string
	// ScreenText is what the screen showed: wrapped lines joined, tabs as blanks, trailing blanks
	// removed, each line as the cursor's movements left it. It ends without a line feed.
	ScreenText  string
	ScreenWhole bool   // nothing of it was cut at MaxBlockOutput or lost from the scrollback
	Dir         string // working directory when it began; "" when unknown
	Started     time.Time
	Ended       time.Time // zero while it runs
	// ExitCode is valid when Exited is set: a shell need not report it, and an abandoned command
	// line has none.
	ExitCode int
	Exited   bool
	// Line is the first of its output, counted from the first line ever; see vt.History.Dropped.
	Line uint64
}

const (
	// MaxBlockOutput bounds what is kept of one command's output, in bytes with escape sequences:
	// its end. It is several times what a person, or an agent, reads.
	MaxBlockOutput = ansi.MaxPrinted
	// maxBlocks bounds the blocks that are kept. The oldest are dropped first.
	maxBlocks = 1000
	// maxBlockBytes bounds the text of all of them. A thousand commands of a day's work have less.
	maxBlockBytes = 6 << 20
	// maxCommand bounds a command line that is read off the screen, in bytes.
	maxCommand = 16 << 10
)

// An Integration is how a shell marks its commands.
type Integration string

const (
	// IntegrationNone: no mark was seen, so there are no blocks; none are guessed.
	IntegrationNone   Integration = "none"
	IntegrationOSC133 Integration = "osc133"
	IntegrationOSC633 Integration = "osc633"
)

// blocks follows the marks of a session's shell. The session's lock protects it.
type blocks struct {
	done        []Block // by number; copied when cut, so that earlier results stay valid
	bytes       int     // of the texts in done
	last        uint64
	integration Integration
	trusted     bool         // only the shell's own marks come here, on whatever screen
	input       *vt.Position // where B was
	entered     *vt.Position // where the command line ended, if an E without one said so
	command     string       // of E, for the next C
	told        bool         // E has come
	running     *Block       // since C
	printed     printed      // what it writes, or since B what is written at the prompt
	said        string       // the screen's text before the last change of width
	partly      bool         // that is incomplete
	behind      bool         // C came before the line end of Enter, which is then not output
	output      vt.Position  // position of C, or where the rest begins
	width       bool         // the width is changing
}

// write takes output, up to and including a mark, before [blocks.after] gets the mark.
func (b *blocks) write(p []byte) {
	if b.running != nil || b.input != nil {
		b.printed.Write(p)
	}
}

// after follows one mark. screen returns the terminal as it is now.
func (b *blocks) after(e *vt.Event, shell *Shell, now time.Time, screen func() *vt.Screen) {
	if e.Alt && !b.trusted { // a program within a program: not the shell's lines
		return
	}
	at := vt.Position{Line: e.Line, Col: e.Col}
	switch e.Kind {
	case vt.EventErase: // what follows is written from the top again
		if b.output.Line > at.Line || b.output.Line == at.Line && b.output.Col > 0 {
			b.output, b.behind = at, false
		}
		return
	case vt.EventMark:
		if b.integration != IntegrationOSC633 {
			b.integration = IntegrationOSC133
		}
	case vt.EventMark633:
		b.integration = IntegrationOSC633
	default:
		return
	}
	switch e.Mark {
	case 'A':
		if e.Kind == vt.EventMark && secondary(e.Text) { // within a command line
			return
		}
		if b.running != nil { // the shell marks no ends
			b.printed.DropMark(false)
			b.end(at, nil, now, screen)
		}
		b.input, b.entered, b.command, b.told = nil, nil, "", false
		b.printed.prompt()
	case 'B':
		b.input = &at
		if b.running == nil {
			b.printed.prompt()
		}
	case 'E':
		switch {
		case e.Kind != vt.EventMark633:
		case e.Text == "":
			b.entered = &at
		case b.running == nil:
			b.command, b.told = commandOf(e), true
		case !b.told: // two scripts mark the same command: C was the other's
			b.running.Command, b.told = commandOf(e), true
		}
	case 'C':
		b.printed.DropMark(true)
		// The same mark in both forms, or of bash's next line.
		if b.running != nil && b.input == nil {
			return
		}
		b.end(at, nil, now, screen)
		b.last++
		b.running, b.output = &Block{Number: b.last, Command: b.command, Started: now,
			Line: e.Line}, at
		b.said, b.partly, b.behind = "", e.Alt, b.input != nil && at.Col > 0
		b.printed.begin(e.Text, b.behind)
		if shell != nil {
			b.running.Dir = shell.Dir
		}
		if !b.told && b.input != nil && !e.Alt {
			if b.entered != nil {
				at = *b.entered
			}
			text, _ := screen().Between(*b.input, at, maxCommand)
			b.running.Command = strings.TrimSpace(text)
		}
		b.input, b.entered, b.command = nil, nil, ""
	case 'D':
		b.printed.DropMark(false)
		if b.running == nil && b.input != nil {
			b.printed.refused()
		}
		b.end(at, e, now, screen)
	}
}

// secondary reports whether a prompt is for a further line of a command line (kitty's k=s), not for
// its first.
func secondary(options string) bool {
	return slices.Contains(strings.Split(options, ";"), "k=s")
}

// commandOf is the command line of a mark E, of which the terminal keeps 8 KiB.
func commandOf(e *vt.Event) string {
	if e.Cut {
		return e.Text + "…"
	}
	return e.Text
}

// end ends the running block, if there is one; e is its mark D.
func (b *blocks) end(at vt.Position, e *vt.Event, now time.Time, screen func() *vt.Screen) {
	if b.running == nil {
		return
	}
	r := *b.running
	b.running, b.told = nil, false
	r.Ended = now
	if e != nil {
		r.ExitCode, r.Exited = e.Exit, e.HasExit
	}
	b.show(&r, screen(), at)
	b.printed.Reset()
	b.bytes += r.size()
	drop := 0
	for n := len(b.done); drop < n && (n-drop >= maxBlocks || b.bytes > maxBlockBytes); drop++ {
		b.bytes -= b.done[drop].size()
	}
	if drop > 0 {
		b.done = append([]Block(nil), b.done[drop:]...)
	}
	b.done = append(b.done, r)
}

// show sets a block's output to what the running command has printed, up to a position.
func (b *blocks) show(r *Block, s *vt.Screen, to vt.Position) {
	b.printed.trim()
	t := b.printed.Text()
	r.Output, r.Raw, r.Above, r.Whole = t.Plain, t.Raw, t.Above, !t.Cut
	text, whole := b.onScreen(s, to)
	r.ScreenText, r.ScreenWhole = strings.TrimSuffix(text, "\n"), whole
	plain := strings.TrimSuffix(r.Output, "\n")
	// The message came before C; equal text is kept once.
	if b.printed.message || r.ScreenText == plain {
		r.ScreenText = plain
	}
}

// size is what a block's texts take, in bytes. Equal texts share memory.
func (r *Block) size() int {
	n := len(r.Command) + len(r.Raw) + len(r.Above)
	if len(r.Output) != len(r.Raw) {
		n += len(r.Output)
	}
	if len(r.ScreenText) != len(strings.TrimSuffix(r.Output, "\n")) {
		n += len(r.ScreenText)
	}
	return n
}

// onScreen is the running block's text on the screen, up to a position: for a program that is still
// on the alternate screen, the text there.
func (b *blocks) onScreen(s *vt.Screen, to vt.Position) (text string, whole bool) {
	if s.Modes.AltScreen && b.trusted {
		return s.Text(), true
	}
	text, whole = s.Between(b.output, to, MaxBlockOutput)
	if b.behind && whole {
		text = strings.TrimPrefix(text, "\n")
	}
	if text = b.said + text; len(text) > MaxBlockOutput {
		text, whole = strings.ToValidUTF8(text[len(text)-MaxBlockOutput:], ""), false
	}
	return text, whole && !b.partly
}

// cut is called before the terminal changes to cols columns. Lines are then rewrapped, and all
// positions are invalid: what was printed is kept as it is, and the rest begins at the cursor. The
// shell writes its prompt again.
func (b *blocks) cut(cols int, s *vt.Screen) {
	if cols == s.Cols {
		return
	}
	b.input, b.entered = nil, nil
	if b.running == nil {
		return
	}
	if s.Modes.AltScreen { // the main screen's cursor cannot be seen
		b.partly = true
		return
	}
	text, whole := b.onScreen(s, end(s))
	b.said, b.partly, b.width = text, !whole, true
	b.behind = b.behind && text == ""
}

// resume follows cut, once the terminal has its new size.
func (b *blocks) resume(s *vt.Screen) {
	if b.width {
		b.width, b.output = false, end(s)
	}
}

// bare is what a keyframe keeps: without the blocks that have ended and what the running one has
// printed, which are the session's.
func (b *blocks) bare() blocks {
	c := *b
	c.done, c.bytes, c.printed = nil, 0, printed{}
	if b.running != nil {
		r := *b.running
		c.running = &r
	}
	return c
}

// close ends the running block with the session: a shell that ends, or becomes another program,
// reports no more. The session's exit code is the shell's. exited says that no signal ended the
// program.
func (b *blocks) close(now time.Time, s *vt.Screen, exited bool) {
	if b.running != nil {
		if exited {
			b.printed.farewell(b.running.Command)
		}
		b.end(end(s), nil, now, func() *vt.Screen { return s })
	}
}

// Blocks returns the commands whose number is greater than since, oldest first, the running one
// last, and how the shell marks them. The newest 1,000 are kept, as long as their texts take less
// than 6 MiB. The caller must not modify them.
func (s *Session) Blocks(since uint64) ([]Block, Integration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.blocks.done
	for len(done) > 0 && done[0].Number <= since {
		done = done[1:]
	}
	done = done[:len(done):len(done)]
	if r := s.blocks.running; r != nil && r.Number > since {
		running := *r
		screen := s.term.Snapshot()
		s.blocks.show(&running, screen, end(screen))
		done = append(done, running)
	}
	if s.blocks.integration == "" {
		return done, IntegrationNone
	}
	return done, s.blocks.integration
}

// newest is the block that ended last; nil when none has.
func (b *blocks) newest() *Block {
	if n := len(b.done); n > 0 {
		return &b.done[n-1]
	}
	return nil
}

// end is the position after everything that a screen shows up to its cursor.
func end(s *vt.Screen) vt.Position {
	h := s.History()
	return vt.Position{Line: h.Dropped() + uint64(h.Len()) + uint64(s.Cursor.Row),
		Col: s.Cursor.Col}
}

// named is what the shell has reported, with the command line read off the screen where the shell
// does not report it.
func (b *blocks) named(s *Shell) *Shell {
	if r := b.running; r != nil && r.Command != "" && s != nil && s.Command != r.Command {
		with := *s
		with.Command = r.Command
		return &with
	}
	return s
}
