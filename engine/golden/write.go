package golden

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
)

// A StylesError says that a screen has more styles than there are letters, some 2,000: a picture in
// 24-bit colour. Leave the styles out, or write a region.
type StylesError struct{ Row, Col int } // the first cell without a letter

// Error says so.
func (e *StylesError) Error() string {
	return fmt.Sprintf("the screen has more styles than a golden has letters (row %d, column %d "+
		"has none left): leave the styles out or name a region", e.Row, e.Col)
}

// A RegionError says that a region is empty or reaches beyond the screen.
type RegionError struct {
	Region        vt.Rect
	Height, Width int // of the screen, in cells
}

// Error says so.
func (e *RegionError) Error() string {
	return fmt.Sprintf("region %s does not lie within a screen of %dx%d",
		e.Region, e.Height, e.Width)
}

// Of writes a screen down. The screen should have been redacted ([vt.Screen.Mask]): what it shows
// is what stands in the file. The errors are a [*MaskError] for a mask that covers nothing, a
// [*RegionError] and a [*StylesError].
func Of(s *vt.Screen, o Options) (*File, error) {
	f := &File{Parts: o.Parts, Height: s.Rows, Width: s.Cols, Region: o.Region, Masks: o.Masks}
	if o.Parts&Title != 0 {
		f.Title, f.HasTitle = s.Title, s.TitleSet
	}
	if o.Parts&Cursor != 0 {
		f.Cursor = cursorWords(s.Cursor)
	}
	if o.Parts&Modes != 0 {
		f.Modes = ModeWords(s.Modes)
	}
	g := f.region()
	if g.Row < 0 || g.Col < 0 || g.Rows < 1 || g.Cols < 1 || g.Rows > s.Rows-g.Row ||
		g.Cols > s.Cols-g.Col {
		return nil, &RegionError{g, s.Rows, s.Cols}
	}
	covers, err := coversOf(s, o.Masks)
	if err != nil {
		return nil, err
	}
	w := writer{screen: s, region: g, covers: covers, letters: newLetters(o.Like)}
	if o.Parts&Styles != 0 {
		if o.Like != nil && o.Like.Parts&Styles != 0 {
			f.Base = o.Like.Base
		} else {
			f.Base = w.commonest()
		}
		w.base, w.styled = f.Base, true
	}
	f.Rows = make([]Row, g.Rows)
	for y := range f.Rows {
		if f.Rows[y], err = w.row(g.Row + y); err != nil {
			return nil, err
		}
	}
	if w.styled {
		f.Legend = w.legend(f.Rows)
	}
	return f, nil
}

// A writer writes the rows of a screen.
type writer struct {
	screen  *vt.Screen
	region  vt.Rect
	covers  []cover // in the order of the cells
	letters letters
	styled  bool
	base    vt.Style

	text, styles []byte
}

// commonest returns the style that more than half of the cells have, or the default.
func (w *writer) commonest() vt.Style {
	count := make(map[vt.Style]int)
	for y := range w.region.Rows {
		w.cells(w.region.Row+y, func(_ int, c vt.Cell) { count[c.Style]++ })
	}
	for s, n := range count {
		if 2*n > w.region.Rows*w.region.Cols {
			return s
		}
	}
	return vt.Style{}
}

// cells calls f for each column of a row that the region has.
func (w *writer) cells(y int, f func(x int, c vt.Cell)) {
	w.screen.EachCell(y, func(x int, c vt.Cell) {
		if x >= w.region.Col && x < w.region.Col+w.region.Cols {
			f(x, c)
		}
	})
}

// row writes one row.
func (w *writer) row(y int) (Row, error) {
	w.text, w.styles = w.text[:0], w.styles[:0]
	wrapped := w.screen.Wrapped(y) && w.region.Col+w.region.Cols == w.screen.Cols
	var covers []cover // of this row
	for len(w.covers) > 0 && w.covers[0].Row <= y {
		if w.covers[0].Row == y {
			covers = append(covers, w.covers[0])
		}
		w.covers = w.covers[1:]
	}
	textEnd, styleEnd := 0, 0
	var last vt.Style
	letter, under := ' ', false // of last; whether the last column was under a mask
	var failed error
	w.cells(y, func(x int, c vt.Cell) {
		if len(covers) > 0 && x >= covers[0].End {
			covers = covers[1:]
		}
		if len(covers) > 0 && x >= covers[0].Col {
			if m := covers[0]; x == max(m.Col, w.region.Col) {
				cells := min(m.End, w.region.Col+w.region.Cols) - x
				shown := m.shown(cells)
				w.text = append(w.text, shown...)
				textEnd = len(w.text)
				if m.open {
					cells = utf8.RuneCountInString(shown)
				}
				if w.styled {
					w.styles = append(w.styles, strings.Repeat(".", cells)...)
					styleEnd = len(w.styles)
				}
			}
			under = true
			return
		}
		switch {
		case c.Continuation && (x > w.region.Col && !under):
		case c.Text == "" || c.Continuation: // half a wide character is blank at a region's edge
			w.text = append(w.text, ' ')
		default:
			w.text = append(w.text, c.Text...)
			if c.Text != " " {
				textEnd = len(w.text)
			}
		}
		under = false
		if !w.styled {
			return
		}
		if c.Style != last || letter == ' ' {
			last, letter = c.Style, ' '
			if c.Style != w.base {
				var ok bool
				if letter, ok = w.letters.letter(c.Style); !ok && failed == nil {
					failed = &StylesError{y, x}
				}
			}
		}
		w.styles = utf8.AppendRune(w.styles, letter)
		if letter != ' ' {
			styleEnd = len(w.styles)
		}
	})
	if wrapped {
		textEnd = len(w.text)
	}
	return Row{string(w.text[:textEnd]), wrapped, string(w.styles[:styleEnd])}, failed
}

// legend returns the letters that the rows use.
func (w *writer) legend(rows []Row) map[rune]vt.Style {
	used := make(map[rune]bool)
	for _, r := range rows {
		for _, letter := range r.Styles {
			used[letter] = true
		}
	}
	legend := make(map[rune]vt.Style)
	for s, letter := range w.letters.of {
		if used[letter] {
			legend[letter] = s
		}
	}
	return legend
}

// version is the first line of a file.
const version = "screen 1"

// String returns the file as text, with a newline at its end.
func (f *File) String() string { return string(f.AppendText(nil)) }

// AppendText appends what String returns.
func (f *File) AppendText(b []byte) []byte {
	line := func(words ...string) {
		b = append(b, strings.Join(words, " ")...)
		b = append(b, '\n')
	}
	line(version)
	line("size", fmt.Sprintf("%dx%d", f.Height, f.Width))
	if f.Region != nil {
		line("region", f.Region.String())
	}
	if f.Parts&Title != 0 {
		if f.HasTitle {
			line("title", strconv.Quote(f.Title))
		} else {
			line("title none")
		}
	}
	if f.Parts&Cursor != 0 {
		line("cursor", f.Cursor)
	}
	if f.Parts&Modes != 0 {
		line(strings.TrimSuffix("modes "+f.Modes, " "))
	}
	for _, m := range f.Masks {
		line("mask", m.String())
	}
	line("--")
	for i := 0; i < len(f.Rows); {
		r, n := f.Rows[i], 1
		for i+n < len(f.Rows) && f.Rows[i+n] == r {
			n++
		}
		if n < 3 { // folding saves no line
			n = 1
		}
		line(r.line())
		if r.Styles != "" {
			line("~" + r.Styles)
		}
		if n > 1 {
			line("*" + strconv.Itoa(n))
		}
		i += n
	}
	if f.Parts&Styles == 0 {
		return b
	}
	line("--")
	if f.Base != (vt.Style{}) {
		line("base", f.Base.String())
	}
	for _, letter := range slices.Sorted(maps.Keys(f.Legend)) {
		words := f.Legend[letter].String()
		if words == "" {
			words = "default"
		}
		line(string(letter), words)
	}
	return b
}

// line writes a row's text.
func (r Row) line() string {
	end := ""
	if r.Wrapped {
		end = wrapMark
	}
	if !printable(r.Text) || !r.Wrapped && strings.HasSuffix(r.Text, wrapMark) {
		return strconv.Quote(r.Text) + end
	}
	return "|" + r.Text + end
}

// wrapMark stands at the end of a row that goes on in the next.
const wrapMark = "↵"

// printable reports whether a text can be read as it stands: every character is visible or a space,
// or belongs to the one before it, as joiners and variation selectors of emoji do.
func printable(s string) bool {
	for i, c := range s {
		joins := c == '\u200d' || c == '\ufe0e' || c == '\ufe0f' || unicode.Is(unicode.M, c)
		if joins && i > 0 && s[i-1] != ' ' {
			continue
		}
		if c == utf8.RuneError || !unicode.IsPrint(c) || bidi(c) {
			return false
		}
	}
	return true
}

// bidi reports whether c is invisible and makes an editor draw what follows in another direction.
func bidi(c rune) bool { return unicode.Is(unicode.Bidi_Control, c) }

func point(row, col int) string { return fmt.Sprintf("%d,%d", row, col) }
func decimal(n uint8) string    { return strconv.Itoa(int(n)) }

// clip shortens a text that an error quotes.
func clip(s string) string {
	if r := []rune(s); len(r) > 32 {
		s = string(r[:32]) + "…"
	}
	return strconv.Quote(s)
}
