package vt

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
)

var update = flag.Bool("update", false, "rewrite the golden files; read the difference before keeping it")

// draw writes down what a terminal shows and told, as the texts in testdata/states have it, which
// are never rewritten. All else is compared with golden screens: see TestGolden.
func draw(term *Terminal, all *outcome) string {
	s := term.Snapshot()
	var b strings.Builder
	for y := range s.Rows {
		b.WriteByte('|')
		s.EachCell(y, func(_ int, c Cell) {
			if c.Text == "" && !c.Continuation {
				c.Text = " "
			}
			b.WriteString(c.Text)
		})
		if s.Wrapped(y) {
			b.WriteString("↵\n")
		} else {
			b.WriteString("|\n")
		}
	}
	fmt.Fprintf(&b, "cursor %d,%d", s.Cursor.Row, s.Cursor.Col)
	for name, on := range map[string]bool{" pending": s.Cursor.PendingWrap} {
		if on {
			b.WriteString(name)
		}
	}
	if !s.Cursor.Visible {
		b.WriteString(" hidden")
	}
	if s.Cursor.Shape != CursorBlock || s.Cursor.Blink {
		fmt.Fprintf(&b, " %s blink=%v", s.Cursor.Shape, s.Cursor.Blink)
	}
	b.WriteByte('\n')
	for y := range s.Rows {
		s.EachRun(y, func(r Run) {
			if r.Style != (Style{}) {
				fmt.Fprintf(&b, "style %d,%d+%d %s\n", y, r.Col, r.Cols, describe(r.Style))
			}
		})
	}
	if m := modeNames(s.Modes); m != "" {
		fmt.Fprintf(&b, "modes%s\n", m)
	}
	if s.TitleSet {
		fmt.Fprintf(&b, "title %q\n", s.Title)
	}
	h := s.History()
	for i := range h.Len() {
		fmt.Fprintf(&b, "scrollback %q", h.Line(i))
		if h.Wrapped(i) {
			b.WriteString("↵")
		}
		b.WriteByte('\n')
	}
	if len(all.reply) > 0 {
		fmt.Fprintf(&b, "reply %q\n", all.reply)
	}
	if all.bell > 0 {
		fmt.Fprintf(&b, "bell %d\n", all.bell)
	}
	for _, e := range all.events {
		if e.Kind == EventErase { // the screen shows it; TestEraseIsTold has the place
			continue
		}
		fmt.Fprintf(&b, "event %d at %d,%d mark=%q exit=%d/%v state=%d value=%d text=%q\n",
			e.Kind, e.Line, e.Col, e.Mark, e.Exit, e.HasExit, e.State, e.Value, e.Text)
	}
	return b.String()
}

func describe(s Style) string {
	var out []string
	for _, f := range []struct {
		on   bool
		name string
	}{{s.Bold, "bold"}, {s.Dim, "dim"}, {s.Italic, "italic"}, {s.Inverse, "inverse"}, {s.Strike, "strike"}, {s.Hidden, "hidden"},
		{s.Blink, "blink"}, {s.Overline, "overline"}, {s.Underline != 0, "underline=" + s.Underline.String()},
		{s.Foreground != 0, "fg=" + s.Foreground.String()}, {s.Background != 0, "bg=" + s.Background.String()},
		{s.UnderlineColor != 0, "ul=" + s.UnderlineColor.String()}, {s.Link != "", "link=" + s.Link}} {
		if f.on {
			out = append(out, f.name)
		}
	}
	return strings.Join(out, " ")
}

// modeNames lists what is not as after power-on.
func modeNames(m Modes) string {
	var b strings.Builder
	for _, f := range []struct {
		on   bool
		name string
	}{{m.AltScreen, "alt"}, {m.AppCursor, "app-cursor"}, {m.AppKeypad, "app-keypad"}, {m.BracketedPaste, "paste"},
		{m.FocusEvents, "focus"}, {m.Mouse != 0, "mouse=" + m.Mouse.String()}, {m.MouseEncoding != 0, "encoding=" + strconv.Itoa(int(m.MouseEncoding))},
		{!m.AlternateScroll, "no-alternate-scroll"}, {!m.AutoWrap, "no-wrap"}, {m.Origin, "origin"}, {m.Insert, "insert"},
		{m.NewLine, "newline"}, {m.ReverseVideo, "reverse-video"}, {m.ReverseWrap, "reverse-wrap"}, {m.InBandResize, "in-band"},
		{m.GraphemeClusters, "clusters"}, {m.Synchronized, "synchronized"}, {m.BackarrowIsBS, "backarrow"},
		{m.ModifyOtherKeys != 0, "other-keys=" + strconv.Itoa(int(m.ModifyOtherKeys))}, {m.KittyKeyboard != 0, "kitty=" + strconv.Itoa(int(m.KittyKeyboard))}} {
		if f.on {
			b.WriteString(" " + f.name)
		}
	}
	return b.String()
}
