package cmdline

import (
	"strings"
	"unicode/utf8"

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

// A text is what was printed.
type text struct {
	kept   string
	before string // the end of what is not kept: what a secret at the beginning of kept may be known by
	cut    bool   // there was something before
}

const (
	// aboveBytes bounds text.before, in bytes: as much as the lines of a private key have.
	aboveBytes = 64 << 10
	// aboveLines is how many lines of what is left are taken for it when the lines were too many: as many as a private key has.
	aboveLines = 512
)

// text is what has been printed. A program that has not left the alternate screen is shown as it is there.
func (p *page) text() text {
	s := p.term.Snapshot()
	if s.Modes.AltScreen {
		return text{kept: trim(s.Text())}
	}
	h := s.History()
	all, whole := s.Between(p.from, vt.Position{Line: h.Dropped() + uint64(h.Len()+s.Rows)}, engine.MaxBlockOutput+aboveBytes)
	return cutAbove(all, whole)
}

// cutAbove cuts a text that is too long, or has lost its beginning: at the beginning of a line, if there is one.
func cutAbove(all string, whole bool) text {
	if whole && len(all) <= engine.MaxBlockOutput {
		return text{kept: trim(all)}
	}
	at := max(0, len(all)-engine.MaxBlockOutput)
	if !whole {
		lines := 0
		for n := 0; n < aboveLines; n++ {
			i := strings.IndexByte(all[lines:], '\n')
			if i < 0 {
				break
			}
			lines += i + 1
		}
		at = max(at, lines)
	}
	if i := strings.IndexByte(all[at:], '\n'); i >= 0 && at > 0 && all[at-1] != '\n' {
		at += i + 1
	}
	for at < len(all) && !utf8.RuneStart(all[at]) {
		at++
	}
	return text{kept: trim(all[at:]), before: all[:at], cut: true}
}

// render is output as text.
func render(output []byte, rows, cols int) text {
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
