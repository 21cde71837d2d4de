package client

import (
	"strconv"
	"strings"
	"unicode"
)

// Modes that the person's terminal shares with the program's, so that what it sends is what the
// program reads.
var sharedModes = [...]struct {
	set     func(FrameModes) bool
	on, off string
}{
	{func(m FrameModes) bool { return m.ApplicationCursor }, "\x1b[?1h", "\x1b[?1l"},
	{func(m FrameModes) bool { return m.ApplicationKeypad }, "\x1b=", "\x1b>"},
	{func(m FrameModes) bool { return m.BracketedPaste }, "\x1b[?2004h", "\x1b[?2004l"},
	{func(m FrameModes) bool { return m.FocusEvents }, "\x1b[?1004h", "\x1b[?1004l"},
	{func(m FrameModes) bool { return m.ReverseVideo }, "\x1b[?5h", "\x1b[?5l"},
	{func(m FrameModes) bool { return m.Mouse == "x10" || m.Mouse == "vt200" }, "\x1b[?1000;1006h", "\x1b[?1000;1006l"},
	{func(m FrameModes) bool { return m.Mouse == "drag" }, "\x1b[?1002;1006h", "\x1b[?1002;1006l"},
	{func(m FrameModes) bool { return m.Mouse == "any" }, "\x1b[?1003;1006h", "\x1b[?1003;1006l"},
}

const (
	// enterScreen keeps the title and shows the alternate screen, on which lines do not wrap: so a
	// row that the terminal shows wider than it is touches no other.
	enterScreen = "\x1b[22;0t\x1b[?1049h\x1b[r\x1b[?6;7l\x1b[0m\x1b[2J\x1b[H"
	leaveScreen = "\x1b[0m\x1b]8;;\x1b\\\x1b[?7h\x1b[0 q\x1b[?25h\x1b[?1049l\x1b[23;0t"
)

// drawing is what shows a frame on a terminal that shares the modes of before.
func drawing(f *Frame, before FrameModes) string {
	var b strings.Builder
	b.WriteString("\x1b[?25l")
	if f.Full {
		b.WriteString("\x1b[0m\x1b[2J")
	}
	for _, r := range f.Rows {
		b.WriteString(at(r.Row, 0) + "\x1b[0m\x1b[2K" + r.ANSI + "\x1b[0m\x1b]8;;\x1b\\")
	}
	b.WriteString(changing(before, f.Modes))
	if f.Title != nil {
		title := strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, *f.Title)
		b.WriteString("\x1b]2;" + title + "\x1b\\")
	}
	b.WriteString(at(f.Cursor.Row, f.Cursor.Col) + "\x1b[" + strconv.Itoa(f.Cursor.Style) + " q")
	if f.Cursor.Visible {
		b.WriteString("\x1b[?25h")
	}
	return b.String()
}

// changing turns modes into others.
func changing(from, to FrameModes) string {
	var off, on string
	for _, m := range sharedModes {
		switch was, is := m.set(from), m.set(to); {
		case was && !is:
			off += m.off
		case is && !was:
			on += m.on
		}
	}
	return off + on
}

// at moves the cursor, from 0.
func at(row, col int) string {
	return "\x1b[" + strconv.Itoa(row+1) + ";" + strconv.Itoa(col+1) + "H"
}
