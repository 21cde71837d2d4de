package cmdline

import (
	"strings"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// keptLines bounds the lines that are kept of one command's output. As many short ones as engine.MaxBlockOutput has room for would
// be four times as many; a program that numbers a million lines fills the bound of bytes first.
const keptLines = 64 << 10

// A page is what a command prints, on a terminal of its own: nothing scrolls out of it that could still be told, and nothing else
// is on it.
type page struct {
	term *vt.Terminal
	from vt.Position
}

func newPage(rows, cols int) *page {
	return &page{term: vt.New(rows, cols, vt.Options{Scrollback: keptLines})}
}

// write takes output. What is printed after the whole screen was erased is written from the top again.
func (p *page) write(b []byte) {
	for _, e := range p.term.Feed(b).Events {
		if e.Kind == vt.EventErase && !e.Alt && e.Line > p.from.Line {
			p.from = vt.Position{Line: e.Line}
		}
	}
}

// resize follows the session's terminal. Lines are wrapped anew.
func (p *page) resize(rows, cols int) { p.term.Resize(rows, cols, 0, 0) }

// text is what has been printed. A program that has not left the alternate screen is shown as it is there.
func (p *page) text() (text string, cut bool) {
	s := p.term.Snapshot()
	if s.Modes.AltScreen {
		return trim(s.Text()), false
	}
	h := s.History()
	text, whole := s.Between(p.from, vt.Position{Line: h.Dropped() + uint64(h.Len()+s.Rows)}, engine.MaxBlockOutput)
	return trim(text), !whole
}

// render is output as text.
func render(output []byte, rows, cols int) (text string, cut bool) {
	p := newPage(rows, cols)
	p.write(output)
	return p.text()
}

// trim takes the empty lines from the beginning and the end of a text, and the last line's end.
func trim(text string) string {
	for {
		line, rest, more := strings.Cut(text, "\n")
		if !more || strings.TrimSpace(line) != "" {
			break
		}
		text = rest
	}
	return strings.TrimRight(text, " \t\r\n")
}
