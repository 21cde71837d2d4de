package cmdline

import (
	"strings"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// keptLines bounds the lines of what is shown on a screen. engine.MaxBlockOutput has room for four
// times as many short ones; a program that numbers a million lines fills the bound of bytes first.
const keptLines = 64 << 10

// ScreenText is Output as a terminal shows it: with tabs as blanks, without trailing blanks, each
// line as the cursor's movements left it, without empty lines at the beginning and at the end. For
// a program that is still on the alternate screen it is the text there.
func (r *Result) ScreenText() string {
	s := r.View.Screen
	return render([]byte(strings.ReplaceAll(r.Raw, "\n", "\r\n")), s.Rows, s.Cols)
}

// render is output on a screen of its own, with nothing else on it and without scrolling.
func render(output []byte, rows, cols int) string {
	t := vt.New(rows, cols, vt.Options{Scrollback: keptLines})
	var from vt.Position
	for _, e := range t.Feed(output).Events {
		// Then it is written from the top again.
		if e.Kind == vt.EventErase && !e.Alt && e.Line > from.Line {
			from = vt.Position{Line: e.Line}
		}
	}
	s := t.Snapshot()
	if s.Modes.AltScreen {
		return trim(s.Text())
	}
	h := s.History()
	text, _ := s.Between(from, vt.Position{Line: h.Dropped() + uint64(h.Len()+s.Rows)},
		engine.MaxBlockOutput)
	return trim(text)
}

// trim removes the empty lines at the beginning and the end of a text, and the last line's end.
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
