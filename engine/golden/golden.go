// Package golden (no stability promise) writes screens down as files that people read and review,
// and compares screens with them cell by cell. Tests use it through tuitest.
//
// [Of] makes a [File] of a screen, [Parse] reads one, and [File.Compare] holds a screen against it.
// A file is UTF-8 text, and is named NAME.screen:
//
//	screen 1
//	size 24x80
//	title "lazygit"
//	cursor 5,2 bar
//	modes alt paste mouse=any
//	mask clock /\d\d:\d\d:\d\d/ in row 1
//	--
//	|╭ Files ─────────────────────╮   «clock»
//	~                                 .......
//	|│ M  main.go                 │
//	~ b  gggggggggggggggggggggggg b
//	|a line that the pro↵
//	|gram wrapped
//	|
//	*14
//	--
//	base fg=white bg=blue
//	b fg=bright-blue
//	g fg=green bold
//
// The head names the size and what else is compared: a part that the file does not have is not
// compared. Rows and columns count from zero. Then come the rows. A row is | and its text, cut after
// its last visible cell; ↵ after it says that the line goes on in the next row; *N says that the row
// above it stands there N times in all. Under a row in which something is styled stands ~ with a
// letter for each column. The legend, after the second --, says what the letters mean; a blank is
// the base style, which is the default unless the legend says otherwise, and a dot is a cell under a
// mask. A file without the second -- does not compare styles.
//
// A row that cannot be read as it stands (control characters, blanks other than the space, a ↵ of
// the program's own at its end) is written as a quoted Go string instead of with |.
//
// Rows have neither numbers nor a right border, so that a diff aligns rows that scrolled and no wide
// character bends a frame; a wide character stands once, and its letter twice.
package golden

import (
	"strings"

	"github.com/ptywright/ptywright/engine/vt"
)

// Parts says what of a screen is written down beside its text.
type Parts uint8

const (
	// Styles are colours, attributes and links.
	Styles Parts = 1 << iota
	// Cursor is where the cursor is, its shape, and whether it is shown.
	Cursor
	// Title is the window's title.
	Title
	// Modes are those modes of the terminal that are not as a terminal has them at its start.
	Modes

	// Text is no part beside the text.
	Text Parts = 0
	// All is everything.
	All = Styles | Cursor | Title | Modes
)

// Options say how a screen is written down.
type Options struct {
	// Parts are what is written beside the text.
	Parts Parts
	// Masks cover what differs from run to run.
	Masks []Mask
	// Region limits what is written to a rectangle; nil is the whole screen.
	Region *vt.Rect
	// Like is the file that the new one replaces: styles keep the letters that they have there, so
	// that a diff shows what changed and nothing else. It may be nil.
	Like *File
}

// A File is a screen as it is written down. Files are compared with [File.Diff].
type File struct {
	// Parts are what the file has beside its text, and what is compared.
	Parts Parts
	// Height and Width are the size of the screen, in cells.
	Height, Width int
	// Region is what was written of it; nil: all.
	Region *vt.Rect
	// Title is the window's title; HasTitle is false when none was set.
	Title    string
	HasTitle bool
	// Cursor is "hidden", or its row and column with what differs from a steady block:
	// "5,2 bar blink".
	Cursor string
	// Modes are the words of [ModeWords].
	Modes string
	// Masks are what was covered.
	Masks []Mask
	// Rows are the rows, as many as the region has.
	Rows []Row
	// Legend says what the letters of Row.Styles mean, Base what a blank means.
	Legend map[rune]vt.Style
	Base   vt.Style
}

// A Row is one row of a File.
type Row struct {
	// Text is what the row shows, without blanks at its end unless Wrapped.
	Text string
	// Wrapped says that the line goes on in the next row.
	Wrapped bool
	// Styles has a letter for each column, without blanks at its end; "" when all is in the base
	// style. A dot is a cell under a mask.
	Styles string
}

// rows and cols return the size of what is written.
func (f *File) region() vt.Rect {
	if f.Region != nil {
		return *f.Region
	}
	return vt.Rect{Rows: f.Height, Cols: f.Width}
}

// ModeWords lists the modes that are not as a terminal has them at its start, separated by blanks:
// "alt paste mouse=any".
func ModeWords(m vt.Modes) string {
	var words []string
	for _, w := range []struct {
		on   bool
		word string
	}{
		{m.AltScreen, "alt"}, {m.AppCursor, "app-cursor"}, {m.AppKeypad, "app-keypad"},
		{m.BracketedPaste, "paste"}, {m.FocusEvents, "focus"},
		{m.Mouse != 0, "mouse=" + m.Mouse.String()},
		{m.MouseEncoding != 0, "encoding=" + encoding(m.MouseEncoding)},
		{!m.AlternateScroll, "no-alternate-scroll"}, {!m.AutoWrap, "no-wrap"},
		{m.Origin, "origin"}, {m.Insert, "insert"}, {m.NewLine, "newline"},
		{m.ReverseVideo, "reverse-video"}, {m.ReverseWrap, "reverse-wrap"},
		{m.InBandResize, "in-band-resize"}, {m.GraphemeClusters, "clusters"},
		{m.Synchronized, "synchronized"}, {m.BackarrowIsBS, "backarrow"},
		{m.ModifyOtherKeys != 0, "other-keys=" + string('0'+rune(m.ModifyOtherKeys))},
		{m.KittyKeyboard != 0, "kitty=" + decimal(m.KittyKeyboard)},
	} {
		if w.on {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, " ")
}

func encoding(e vt.MouseEncoding) string {
	names := [...]string{"default", "utf8", "sgr", "urxvt", "pixels"}
	if int(e) < len(names) {
		return names[e]
	}
	return decimal(uint8(e))
}

// cursorWords writes a cursor.
func cursorWords(c vt.Cursor) string {
	if !c.Visible {
		return "hidden"
	}
	s := point(c.Row, c.Col)
	if c.Shape != vt.CursorBlock {
		s += " " + c.Shape.String()
	}
	if c.Blink {
		s += " blink"
	}
	return s
}
