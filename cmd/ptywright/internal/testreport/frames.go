package testreport

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

const (
	// maxFrames bounds the frames of a page: as many as a slider has places on a large display.
	maxFrames = 400
	// maxPage bounds the screens of a page, in bytes: a page of this size opens at once.
	maxPage = 6 << 20
)

// A sheaf holds screens as a page has them: rows that are alike and styles are written once.
type sheaf struct {
	Styles []string          `json:"styles"` // as CSS
	Rows   []json.RawMessage `json:"rows"`   // lists of runs: [text, columns, style]

	style map[look]int
	row   map[string]int
	size  int // of Rows, in bytes
}

// A look is a style, and whether what has it is under a mask.
type look struct {
	vt.Style
	masked bool
}

func newSheaf() *sheaf {
	s := &sheaf{style: map[look]int{}, row: map[string]int{}}
	s.of(look{}) // the default is 0
	return s
}

// A frame is a screen: its rows by their numbers in a sheaf.
type frame struct {
	At     float64 `json:"at"` // milliseconds since the script's start
	Cols   int     `json:"cols"`
	Rows   []int   `json:"rows"`
	Cursor []int   `json:"cursor,omitempty"` // row and column; none: it is hidden
	Title  string  `json:"title,omitempty"`
}

// of returns the number of a style.
func (s *sheaf) of(l look) int {
	l.Link = ""
	n, ok := s.style[l]
	if !ok {
		n = len(s.Styles)
		s.style[l] = n
		s.Styles = append(s.Styles, css(l))
	}
	return n
}

// css writes a style as CSS declarations, in the page's variables where it is of the terminal's own
// colours.
func css(l look) string {
	fg, bg := colorOf(l.Foreground), colorOf(l.Background)
	if l.Inverse {
		fg, bg = or(bg, "var(--paper)"), or(fg, "var(--ink)")
	}
	var rules []string
	if l.Dim {
		fg = "color-mix(in srgb," + or(fg, "var(--ink)") + " 60%," + or(bg, "var(--paper)") + ")"
	}
	if l.Hidden {
		fg = "transparent"
	}
	if fg != "" {
		rules = append(rules, "color:"+fg)
	}
	if bg != "" {
		rules = append(rules, "background:"+bg)
	}
	for _, a := range [...]struct {
		on   bool
		rule string
	}{{l.Bold, "font-weight:700"}, {l.Italic || l.masked, "font-style:italic"}, {l.masked, "opacity:.6"}} {
		if a.on {
			rules = append(rules, a.rule)
		}
	}
	var lines []string
	for _, a := range [...]struct {
		on   bool
		line string
	}{{l.Underline != vt.UnderlineNone, "underline"}, {l.Strike, "line-through"}, {l.Overline, "overline"}} {
		if a.on {
			lines = append(lines, a.line)
		}
	}
	if len(lines) > 0 {
		kind := [...]string{"solid", "solid", "double", "wavy", "dotted", "dashed"}[l.Underline]
		rules = append(rules, "text-decoration:"+strings.Join(lines, " ")+" "+kind)
		if c := colorOf(l.UnderlineColor); c != "" {
			rules = append(rules, "text-decoration-color:"+c)
		}
	}
	return strings.Join(rules, ";")
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// colorOf writes a colour; "" for the default. The first 16 are the page's.
func colorOf(c vt.Color) string {
	if i, ok := c.Index(); ok {
		if i < 16 {
			return fmt.Sprintf("var(--c%d)", i)
		}
		p := picture.ThemeOf(vt.ThemeDark).Palette[i]
		return fmt.Sprintf("#%02x%02x%02x", p.R, p.G, p.B)
	}
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	return ""
}

// A cell is a column of a row, whatever the row is of.
type cell struct {
	text string // "" for the second column of a wide character
	look look
}

// add writes a row and returns its number.
func (s *sheaf) add(cells []cell) int {
	for len(cells) > 0 && cells[len(cells)-1] == (cell{text: " "}) {
		cells = cells[:len(cells)-1]
	}
	type run struct {
		text  string
		cols  int
		style int
		plain bool // one column a byte, in every font
	}
	var runs []run
	for x := 0; x < len(cells); x++ {
		c := cells[x]
		r := run{shownText(c.text), 1, s.of(c.look), len(c.text) == 1}
		for x+1 < len(cells) && cells[x+1].text == "" {
			r.cols++
			x++
		}
		if n := len(runs); n > 0 && r.plain && runs[n-1].plain && runs[n-1].style == r.style && r.cols == 1 {
			runs[n-1].text += r.text
			runs[n-1].cols++
			continue
		}
		runs = append(runs, r)
	}
	list := make([][3]any, len(runs))
	for i, r := range runs {
		list[i] = [3]any{r.text, r.cols, r.style}
	}
	b, err := json.Marshal(list)
	if err != nil { // texts and numbers
		b = []byte("[]")
	}
	n, ok := s.row[string(b)]
	if !ok {
		n = len(s.Rows)
		s.row[string(b)] = n
		s.Rows = append(s.Rows, b)
		s.size += len(b)
	}
	return n
}

// file adds a golden file.
func (s *sheaf) file(f *golden.File) *frame {
	screen := f.Screen(nil)
	fr := &frame{Cols: screen.Cols, Title: shownText(f.Title)}
	if c := screen.Cursor; c.Visible {
		fr.Cursor = []int{c.Row, c.Col}
	}
	for y := range screen.Rows {
		var cells []cell
		for _, c := range f.Cells(y) {
			l := look{Style: c.Style, masked: c.Masked}
			if c.Masked {
				l.Style = vt.Style{}
			}
			cells = append(cells, cell{c.Text, l})
		}
		fr.Rows = append(fr.Rows, s.add(cells))
	}
	return fr
}

// screen adds a screen.
func (s *sheaf) screen(screen *vt.Screen, at time.Duration) *frame {
	fr := &frame{At: milliseconds(at), Cols: screen.Cols, Title: shownText(screen.Title)}
	if c := screen.Cursor; c.Visible {
		fr.Cursor = []int{c.Row, c.Col}
	}
	cells := make([]cell, 0, screen.Cols)
	for y := range screen.Rows {
		cells = cells[:0]
		screen.EachCell(y, func(_ int, c vt.Cell) {
			text := c.Text
			if text == "" && !c.Continuation {
				text = " "
			}
			cells = append(cells, cell{text, look{Style: c.Style}})
		})
		fr.Rows = append(fr.Rows, s.add(cells))
	}
	return fr
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// A shown is a screen and when it was shown.
type shown struct {
	screen *vt.Screen
	at     time.Duration
	pinned bool // the last before a step's end: it stays when others go
}

// framesOf returns the screens of a recording that differ from the one before, at most maxFrames and
// a few more: of more of them evenly many are left out, but not what a step ended with. The error
// is that of [record.Replay.Err]; what was shown until then is there.
func framesOf(rec *record.Recording, pins []time.Duration) ([]shown, error) {
	pins = slices.Clone(pins)
	slices.Sort(pins)
	var kept []shown
	p := record.NewReplay(rec)
	for v := range p.Views() {
		at := p.At()
		for len(pins) > 0 && pins[0] < at {
			if n := len(kept); n > 0 {
				kept[n-1].pinned = true
			}
			pins = pins[1:]
		}
		if n := len(kept); n > 0 && alike(kept[n-1].screen, v.Screen) {
			continue
		}
		kept = append(kept, shown{v.Screen, at, false})
		if len(kept) > 2*maxFrames {
			kept = thin(kept)
		}
	}
	if n := len(kept); n > 0 {
		kept[n-1].pinned = true
	}
	for len(kept) > maxFrames {
		less := thin(kept)
		if len(less) == len(kept) { // all of them are pinned
			break
		}
		kept = less
	}
	return kept, p.Err()
}

// thin leaves out every other screen that is not pinned.
func thin(all []shown) []shown {
	var out []shown
	skip := false
	for _, s := range all {
		if skip = !skip; s.pinned || skip {
			out = append(out, s)
		}
	}
	if len(out) == len(all) && len(all) > 2*maxFrames { // a script of thousands of steps
		out = out[:0]
		for i := 0; i < len(all); i += 2 {
			out = append(out, all[i])
		}
	}
	return out
}

// alike reports whether two screens of a terminal show the same.
func alike(a, b *vt.Screen) bool {
	if a.Rows != b.Rows || a.Cols != b.Cols || a.Cursor != b.Cursor || a.Title != b.Title {
		return false
	}
	for y := range a.Rows {
		if !a.SameRow(y, b) {
			return false
		}
	}
	return true
}

// film adds the screens of a recording, fewer of them where they are large.
func (s *sheaf) film(rec *record.Recording, pins []time.Duration) ([]*frame, error) {
	all, err := framesOf(rec, pins)
	for {
		var frames []*frame
		next := newSheaf()
		*next = s.clone()
		for _, sh := range all {
			// The recording has no secret that is known; what only looks like one on the screen goes, too.
			if sh.screen.Title != "" {
				title := *sh.screen
				title.Title = redact.Default.String(title.Title)
				sh.screen = &title
			}
			if frames = append(frames, next.screen(record.Mask(sh.screen, redact.Default), sh.at)); next.size > maxPage {
				break
			}
		}
		if next.size <= maxPage {
			*s = *next
			return frames, err
		}
		less := thin(all)
		if len(less) == len(all) {
			return nil, errors.Join(err, fmt.Errorf("the recording has too much to show on a page: play %s", castName))
		}
		all = less
	}
}

// clone copies a sheaf.
func (s *sheaf) clone() sheaf {
	c := sheaf{Styles: slices.Clone(s.Styles), Rows: slices.Clone(s.Rows), size: s.size,
		style: map[look]int{}, row: map[string]int{}}
	for l, n := range s.style {
		c.style[l] = n
	}
	for r, n := range s.row {
		c.row[r] = n
	}
	return c
}
