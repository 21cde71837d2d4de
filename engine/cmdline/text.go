package cmdline

import (
	"strings"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// keptLines bounds the lines of what is shown on a screen. As many short ones as engine.MaxBlockOutput
// has room for would be four times as many; a program that numbers a million lines fills the bound of
// bytes first.
const keptLines = 64 << 10

// ScreenText is Output as a terminal shows it: with tabs as blanks, without blanks at the ends of lines,
// each line as it was left by what moved the cursor, without empty lines at the beginning and at the
// end. A program that has not left the alternate screen is shown as it is there.
func (r *Result) ScreenText() string {
	s := r.View.Screen
	return render([]byte(strings.ReplaceAll(r.Raw, "\n", "\r\n")), s.Rows, s.Cols)
}

// render is output as it stands on a screen of its own: nothing else is on it, and nothing scrolls away.
func render(output []byte, rows, cols int) string {
	t := vt.New(rows, cols, vt.Options{Scrollback: keptLines})
	var from vt.Position
	for _, e := range t.Feed(output).Events {
		if e.Kind == vt.EventErase && !e.Alt && e.Line > from.Line { // then it is written from the top again
			from = vt.Position{Line: e.Line}
		}
	}
	s := t.Snapshot()
	if s.Modes.AltScreen {
		return trim(s.Text())
	}
	h := s.History()
	text, _ := s.Between(from, vt.Position{Line: h.Dropped() + uint64(h.Len()+s.Rows)}, engine.MaxBlockOutput)
	return trim(text)
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
