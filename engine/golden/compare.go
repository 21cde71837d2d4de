package golden

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/text/unicode/norm"

	"github.com/ptywright/ptywright/engine/vt"
)

// Like writes a screen as f was written: its parts, masks and region, with its letters.
func (f *File) Like(s *vt.Screen) (*File, error) {
	return Of(s, Options{Parts: f.Parts, Masks: f.Masks, Region: f.Region, Like: f})
}

// With returns a copy of the file whose masks and region are others: a test's, which decide. A mask
// of the file that has the name of none of them stays.
func (f *File) With(masks []Mask, region *vt.Rect) *File {
	g := *f
	if region != nil {
		g.Region = region
	}
	g.Masks = slices.Clone(masks)
	for _, m := range f.Masks {
		if !slices.ContainsFunc(masks, func(n Mask) bool { return n.Name == m.Name }) {
			g.Masks = append(g.Masks, m)
		}
	}
	return &g
}

// Compare holds a screen against the file. The error is one of [Of]; a mask that covers nothing is
// one.
func (f *File) Compare(s *vt.Screen) (*Diff, error) {
	if f.Region != nil && (s.Rows != f.Height || s.Cols != f.Width) {
		return nil, &RegionError{*f.Region, s.Rows, s.Cols}
	}
	got, err := f.Like(s)
	if err != nil {
		return nil, err
	}
	return f.Diff(got), nil
}

// Equal reports whether two files say the same. Texts are the same when their canonical
// composition (NFC) is.
func (f *File) Equal(g *File) bool {
	return f.sameHead(g) && slices.EqualFunc(f.Rows, g.Rows, func(a, b Row) bool {
		return a.Wrapped == b.Wrapped && sameText(a.Text, b.Text) && sameStyles(f, g, a, b)
	})
}

// Diff compares two files; g is the newer.
func (f *File) Diff(g *File) *Diff {
	d := &Diff{Want: f, Got: g}
	if f.Equal(g) {
		return d
	}
	d.Head = f.headChanges(g)
	for y := range max(len(f.Rows), len(g.Rows)) {
		var a, b Row
		if y < len(f.Rows) {
			a = f.Rows[y]
		}
		if y < len(g.Rows) {
			b = g.Rows[y]
		}
		d.rowChanges(y, a, b)
	}
	return d
}

// A Diff is what differs between two files.
type Diff struct {
	Want, Got *File
	// Head names what differs besides the cells, a line each: "cursor 1,2, not 3,4".
	Head []string
	// Changes are the cells that differ, by rows and columns of what was written.
	Changes []Change
}

// A Change is a stretch of cells of one row that differ: columns Col to End-1.
type Change struct {
	Row, Col, End       int
	Want, Got           string   // what they show
	WantStyle, GotStyle vt.Style // of the first of them
	WantMask, GotMask   bool     // whether that is under a mask
	styled, text, wrap  bool
}

// Equal reports whether nothing differs.
func (d *Diff) Equal() bool { return len(d.Head) == 0 && len(d.Changes) == 0 }

// Cells returns how many cells differ: how near a screen was.
func (d *Diff) Cells() int {
	n := 0
	for _, c := range d.Changes {
		n += c.End - c.Col
	}
	return n
}

// distance is how far the two are apart: what a title or a mode counts is a cell's worth.
func (d *Diff) distance() int { return d.Cells() + len(d.Head) }

// String explains the difference: what differs, at most 8 stretches of it, and the difference of
// the two files as text. "" when nothing does.
func (d *Diff) String() string {
	if d.Equal() {
		return ""
	}
	var b strings.Builder
	for _, h := range d.Head {
		b.WriteString(h + "\n")
	}
	for i, c := range d.Changes {
		if i == maxChanges {
			fmt.Fprintf(&b, "and %d more: %d cells differ\n", len(d.Changes)-i, d.Cells())
			break
		}
		b.WriteString(c.String() + "\n")
	}
	b.Write(diff.Diff("want", d.Want.AppendText(nil), "got", d.Got.AppendText(nil)))
	return b.String()
}

// Summary explains the difference on one line: how many cells differ, and the first of what differs.
// "" when nothing does.
func (d *Diff) Summary() string {
	if d.Equal() {
		return ""
	}
	first, more := "", len(d.Head)+len(d.Changes)-1
	if len(d.Head) > 0 {
		first = d.Head[0]
	} else {
		first = d.Changes[0].String()
	}
	if more > 0 {
		first += fmt.Sprintf("; and %d more", more)
	}
	if n := d.Cells(); n > 1 {
		first += fmt.Sprintf(" (%d cells differ)", n)
	}
	return first
}

// maxChanges bounds the stretches that Diff.String names; the text below them has all.
const maxChanges = 8

// String names the cells and what they show: `row 3, columns 4 to 7: "main", not "text"`.
func (c Change) String() string {
	where := fmt.Sprintf("row %d, columns %d to %d", c.Row, c.Col, c.End-1)
	if c.End == c.Col+1 {
		where = fmt.Sprintf("row %d, column %d", c.Row, c.Col)
	}
	var what []string
	if c.text {
		what = append(what, fmt.Sprintf("%s, not %s", clip(c.Got), clip(c.Want)))
	}
	if c.styled {
		what = append(what, fmt.Sprintf("%s, not %s", styleOr(c.GotStyle, c.GotMask),
			styleOr(c.WantStyle, c.WantMask)))
	}
	if c.wrap {
		where = fmt.Sprintf("row %d", c.Row)
		what = append(what, "another end: one row goes on in the next, the other ends")
	}
	return where + ": " + strings.Join(what, "; ")
}

func styleOr(s vt.Style, masked bool) string {
	if masked {
		return "under a mask"
	}
	if words := s.String(); words != "" {
		return words
	}
	return "default style"
}

func (f *File) sameHead(g *File) bool { return len(f.headChanges(g)) == 0 }

// headChanges names what differs besides the cells.
func (f *File) headChanges(g *File) []string {
	var out []string
	differ := func(what, got, want string) {
		if got != want {
			out = append(out, fmt.Sprintf("%s %s, not %s", what, got, want))
		}
	}
	differ("size", fmt.Sprintf("%dx%d", g.Height, g.Width), fmt.Sprintf("%dx%d", f.Height, f.Width))
	differ("region", regionOr(g.Region), regionOr(f.Region))
	both := f.Parts & g.Parts
	if both&Title != 0 {
		differ("title", titleOr(g), titleOr(f))
	}
	if both&Cursor != 0 {
		differ("cursor", g.Cursor, f.Cursor)
	}
	if both&Modes != 0 {
		differ("modes", modesOr(g.Modes), modesOr(f.Modes))
	}
	return out
}

func regionOr(r *vt.Rect) string {
	if r == nil {
		return "all"
	}
	return r.String()
}

func titleOr(f *File) string {
	if !f.HasTitle {
		return "none"
	}
	return clip(norm.NFC.String(f.Title))
}

func modesOr(words string) string {
	if words == "" {
		return "none"
	}
	return words
}

func sameText(a, b string) bool {
	return a == b || norm.NFC.String(a) == norm.NFC.String(b)
}

// sameStyles reports whether two rows, the texts of which are the same, look the same.
func sameStyles(f, g *File, a, b Row) bool {
	if (f.Parts&g.Parts&Styles) == 0 || a.Styles == "" && b.Styles == "" && f.Base == g.Base {
		return true
	}
	x, y := []rune(a.Styles), []rune(b.Styles)
	var texts []string // made when a style differs
	for i := range max(len(x), len(y), f.region().Cols) {
		s, sm := f.styleAt(x, i)
		t, tm := g.styleAt(y, i)
		if s == t && sm == tm {
			continue
		}
		if texts == nil {
			texts = columns(a.Text)
		}
		if sm != tm || at(texts, i) != " " || ofBlank(s) != ofBlank(t) {
			return false
		}
	}
	return true
}

// ofBlank is what of a style can be seen on a blank. A curses program paints some blanks bold and
// some not, from run to run, by what it has found out to be shorter.
func ofBlank(s vt.Style) vt.Style {
	if s.Inverse || s.Underline != vt.UnderlineNone || s.Strike || s.Overline {
		return s
	}
	return vt.Style{Background: s.Background, Link: s.Link}
}

// styleAt returns the style of column i of a row of letters, and whether it is under a mask.
func (f *File) styleAt(letters []rune, i int) (s vt.Style, masked bool) {
	switch {
	case i >= len(letters) || letters[i] == ' ':
		return f.Base, false
	case letters[i] == '.':
		return vt.Style{}, true
	}
	return f.Legend[letters[i]], false
}

// rowChanges adds what differs in row y.
func (d *Diff) rowChanges(y int, a, b Row) {
	before := len(d.Changes)
	sameT := sameText(a.Text, b.Text)
	sameS := sameT && sameStyles(d.Want, d.Got, a, b)
	if !sameT || !sameS {
		ta, tb := columns(a.Text), columns(b.Text)
		sa, sb := []rune(a.Styles), []rune(b.Styles)
		styled := d.Want.Parts&d.Got.Parts&Styles != 0
		var open bool // the last change goes on
		for x := range max(len(ta), len(tb), len(sa), len(sb), d.Want.region().Cols) {
			c := Change{Row: y, Col: x, End: x + 1, Want: at(ta, x), Got: at(tb, x)}
			c.text = c.Want != c.Got
			if styled {
				c.WantStyle, c.WantMask = d.Want.styleAt(sa, x)
				c.GotStyle, c.GotMask = d.Got.styleAt(sb, x)
				c.styled = c.WantMask != c.GotMask || c.WantStyle != c.GotStyle &&
					(c.Want != " " || c.text || ofBlank(c.WantStyle) != ofBlank(c.GotStyle))
			}
			if !c.text && !c.styled {
				open = false
				continue
			}
			if last := len(d.Changes) - 1; open && d.Changes[last].alike(c) {
				l := &d.Changes[last]
				l.End, l.Want, l.Got = c.End, l.Want+c.Want, l.Got+c.Got
				l.text = l.text || c.text
				continue
			}
			d.Changes, open = append(d.Changes, c), true
		}
	}
	if a.Wrapped != b.Wrapped || len(d.Changes) == before && !sameT {
		d.Changes = append(d.Changes, Change{Row: y, wrap: true})
	}
}

// alike reports whether the styles of two changes say the same.
func (c Change) alike(o Change) bool {
	return c.styled == o.styled && (!c.styled ||
		c.WantStyle == o.WantStyle && c.GotStyle == o.GotStyle &&
			c.WantMask == o.WantMask && c.GotMask == o.GotMask)
}

func at(columns []string, x int) string {
	if x < len(columns) {
		return columns[x]
	}
	return " "
}

// columns cuts a text into what stands in each column: "" after a wide character. It serves to say
// where texts differ; whether they do is decided by the whole text.
func columns(s string) []string {
	var out []string
	for g := displaywidth.StringGraphemes(norm.NFC.String(s)); g.Next(); {
		out = append(out, g.Value())
		for range g.Width() - 1 {
			out = append(out, "")
		}
	}
	return out
}
