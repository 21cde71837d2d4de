package engine

import (
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// A Block is one command of a shell that marks its prompts (OSC 133 or OSC 633): what was run, what it printed and how it
// ended. It holds text of the program as it is.
type Block struct {
	Number  uint64 // counts the session's blocks, from 1
	Command string // of OSC 633 ; E, else what stood between the marks B and C; without the line's end
	Output  string // lines joined as on the screen, without blanks at their ends and without escape sequences
	Whole   bool   // Output is all of it: it has not been cut at MaxBlockOutput, nor left the scrollback
	Dir     string // working directory when it began; "" when that was not told
	Started time.Time
	Ended   time.Time // zero while it runs
	// ExitCode is of meaning when Exited is set: a shell need not tell, and a command line that was given up has none.
	ExitCode int
	Exited   bool
	Line     uint64 // the first of its output, counted from the first line ever; see vt.History.Dropped
}

const (
	// MaxBlockOutput bounds what is kept of one command's output, in bytes: its end. It is several times what a person, or an
	// agent, reads.
	MaxBlockOutput = 256 << 10
	// maxBlocks bounds the blocks that are kept. The oldest go first.
	maxBlocks = 1000
	// maxBlockBytes bounds the text of all of them. A thousand commands of a day's work have less.
	maxBlockBytes = 4 << 20
	// maxCommand bounds a command line that is read off the screen, in bytes.
	maxCommand = 16 << 10
)

// An Integration is how a shell marks its commands.
type Integration string

const (
	IntegrationNone   Integration = "none" // no mark was seen: there are no blocks, and none are guessed
	IntegrationOSC133 Integration = "osc133"
	IntegrationOSC633 Integration = "osc633"
)

// blocks follows the marks of a session's shell. It belongs to whoever holds the session's lock.
type blocks struct {
	done        []Block // by number; replaced when it is cut, so that what was handed out stays
	bytes       int     // of the texts in done
	last        uint64
	integration Integration
	input       *vt.Position // where B was
	command     string       // of E, for the next C
	told        bool         // E has come
	running     *Block       // since C
	output      vt.Position  // where C was
}

// after follows one mark. Screen returns the terminal as it is now.
func (b *blocks) after(e *vt.Event, shell *Shell, now time.Time, screen func() *vt.Screen) {
	if e.Alt { // a program within a program: not the shell's lines
		return
	}
	switch e.Kind {
	case vt.EventMark:
		if b.integration != IntegrationOSC633 {
			b.integration = IntegrationOSC133
		}
	case vt.EventMark633:
		b.integration = IntegrationOSC633
	default:
		return
	}
	at := vt.Position{Line: e.Line, Col: e.Col}
	switch e.Mark {
	case 'A':
		b.end(at, nil, now, screen) // a shell that tells no end
		b.input, b.command, b.told = nil, "", false
	case 'B':
		b.input = &at
	case 'E':
		if e.Kind == vt.EventMark633 {
			b.command, b.told = e.Text, true
		}
	case 'C':
		if b.running != nil && b.input == nil { // the same mark in both forms
			return
		}
		b.end(at, nil, now, screen)
		b.last++
		b.running, b.output = &Block{Number: b.last, Command: b.command, Started: now, Line: e.Line}, at
		if shell != nil {
			b.running.Dir = shell.Dir
		}
		if !b.told && b.input != nil {
			text, _ := screen().Between(*b.input, at, maxCommand)
			b.running.Command = strings.TrimSpace(text)
		}
		b.input, b.command, b.told = nil, "", false
	case 'D':
		b.end(at, e, now, screen)
	}
}

// end ends the block that runs, if there is one; e is its mark D.
func (b *blocks) end(at vt.Position, e *vt.Event, now time.Time, screen func() *vt.Screen) {
	if b.running == nil {
		return
	}
	r := *b.running
	b.running = nil
	r.Ended = now
	if e != nil {
		r.ExitCode, r.Exited = e.Exit, e.HasExit
	}
	r.Output, r.Whole = screen().Between(b.output, at, MaxBlockOutput)
	r.Output = strings.TrimSuffix(r.Output, "\n")
	b.bytes += len(r.Command) + len(r.Output)
	drop := 0
	for n := len(b.done); drop < n && (n-drop >= maxBlocks || b.bytes > maxBlockBytes); drop++ {
		b.bytes -= len(b.done[drop].Command) + len(b.done[drop].Output)
	}
	if drop > 0 {
		b.done = append([]Block(nil), b.done[drop:]...)
	}
	b.done = append(b.done, r)
}

// Blocks returns the commands whose number is greater than since, oldest first, at last the one that runs, and how the shell
// marks them. The newest 1,000 are kept, as far as their texts have less than 4 MiB. The caller must not modify them.
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
		running.Output, running.Whole = screen.Between(s.blocks.output, end(screen), MaxBlockOutput)
		done = append(done, running)
	}
	if s.blocks.integration == "" {
		return done, IntegrationNone
	}
	return done, s.blocks.integration
}

// end is the position behind everything that a screen shows up to its cursor.
func end(s *vt.Screen) vt.Position {
	h := s.History()
	return vt.Position{Line: h.Dropped() + uint64(h.Len()) + uint64(s.Cursor.Row), Col: s.Cursor.Col}
}
