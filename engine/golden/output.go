package golden

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ptywright/ptywright/engine/vt"
)

// Output returns what a program prints to have a fresh terminal of the file's size show the file:
// text, styles, title, cursor and modes, as far as the file has them. What stands for a mask is
// drawn as it is written, and of a file of a region the region alone.
func (f *File) Output() string {
	var b strings.Builder
	late := "" // what would change how text is drawn
	for word := range strings.FieldsSeq(f.Modes) {
		switch seq := modeSequence(word); word {
		case "no-wrap", "insert":
			late += seq
		default:
			b.WriteString(seq)
		}
	}
	if f.HasTitle {
		b.WriteString("\x1b]2;" + harmless(f.Title) + "\x1b\\")
	}
	if plain := f.plain(); f.Parts&Styles == 0 {
		b.WriteString(plain)
	} else {
		f.paint(&b, plain)
	}
	return b.String() + late + cursorSequences(f.Cursor)
}

// harmless replaces control characters, which no screen shows: a file may have been made by anybody.
func harmless(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, s)
}

// plain draws the text.
func (f *File) plain() string {
	var b strings.Builder
	g, goesOn := f.region(), false
	for y, r := range f.Rows {
		text := harmless(r.Text)
		if !goesOn {
			fmt.Fprintf(&b, "\x1b[%d;%dH", g.Row+y+1, g.Col+1)
		} else if text == "" {
			text = " " // a line goes on when it is written
		}
		b.WriteString(text)
		goesOn = r.Wrapped && g.Col == 0
	}
	return b.String()
}

// paint writes every cell in its style. A terminal that shows the text says which columns it takes.
func (f *File) paint(b *strings.Builder, plain string) {
	t := vt.New(f.Height, f.Width, vt.Options{})
	if strings.Contains(" "+f.Modes+" ", " clusters ") {
		t.Feed([]byte(modeSequence("clusters")))
	}
	t.Feed([]byte(plain))
	s := t.Snapshot()
	g, goesOn := f.region(), false
	var last vt.Style
	for y, r := range f.Rows {
		letters := []rune(r.Styles)
		if !goesOn {
			fmt.Fprintf(b, "\x1b[%d;%dH", g.Row+y+1, g.Col+1)
		}
		goesOn = r.Wrapped && g.Col == 0
		s.EachCell(g.Row+y, func(x int, c vt.Cell) {
			if x < g.Col || x >= g.Col+g.Cols || c.Continuation {
				return
			}
			if style, _ := f.styleAt(letters, x-g.Col); style != last {
				if style.Link != last.Link {
					b.WriteString("\x1b]8;;" + harmless(style.Link) + "\x1b\\")
				}
				b.WriteString("\x1b[" + style.SGR() + "m")
				last = style
			}
			if c.Text == "" {
				c.Text = " "
			}
			b.WriteString(c.Text)
		})
	}
	if last.Link != "" {
		b.WriteString("\x1b]8;;\x1b\\")
	}
	if last != (vt.Style{}) {
		b.WriteString("\x1b[m")
	}
}

// cursorSequences puts the cursor where the words of a file say.
func cursorSequences(words string) string {
	fields := strings.Fields(words)
	switch {
	case len(fields) == 0:
		return ""
	case fields[0] == "hidden":
		return "\x1b[?25l"
	}
	row, col, _ := parsePoint(fields[0])
	style := 2 // a block that does not blink, as a terminal has it at its start
	for _, word := range fields[1:] {
		switch word {
		case "underline":
			style = 4
		case "bar":
			style = 6
		case "blink":
			style--
		}
	}
	out := fmt.Sprintf("\x1b[%d;%dH", row+1, col+1)
	if style != 2 {
		out += "\x1b[" + strconv.Itoa(style) + " q"
	}
	return out
}

// modeSequence turns a mode on by its word of [ModeWords]; "" for a word that says nothing of how a
// screen is drawn again, such as "synchronized".
func modeSequence(word string) string {
	switch word {
	case "app-keypad":
		return "\x1b="
	case "no-alternate-scroll":
		return "\x1b[?1007l"
	case "no-wrap":
		return "\x1b[?7l"
	case "insert":
		return "\x1b[4h"
	case "newline":
		return "\x1b[20h"
	}
	if n, ok := strings.CutPrefix(word, "other-keys="); ok {
		return "\x1b[>4;" + n + "m"
	}
	if n, ok := strings.CutPrefix(word, "kitty="); ok {
		return "\x1b[=" + n + ";1u"
	}
	n, ok := map[string]int{
		"alt": 1049, "app-cursor": 1, "paste": 2004, "focus": 1004, "origin": 6, "mouse=x10": 9,
		"mouse=vt200": 1000, "mouse=drag": 1002, "mouse=any": 1003, "encoding=utf8": 1005,
		"encoding=sgr": 1006, "encoding=urxvt": 1015, "encoding=pixels": 1016, "reverse-video": 5,
		"reverse-wrap": 45, "in-band-resize": 2048, "clusters": 2027, "backarrow": 67,
	}[word]
	if !ok {
		return ""
	}
	return "\x1b[?" + strconv.Itoa(n) + "h"
}
