package tmux

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/protocol/client"
)

// page is how many lines of history are asked for at once: some 500 KiB of them, far below what an
// answer may have.
const page = 5000

// A line is one row of a pane as it is captured. Lines of the history have no cells.
type line struct {
	text    string // without blanks at the end
	cells   []client.Cell
	wrapped bool // it goes on in the next one
}

// A capture says what to capture, and how.
type capture struct {
	first, last  string // -S and -E
	join, styles bool
	trailing     bool // blanks at the end that were written
}

// capturePane prints what a pane shows, or its history, or keeps it in a buffer.
func capturePane(ctx context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofPane)
	if err != nil {
		return err
	}
	if a.has('a') { // the screen below an alternate one
		if a.has('q') {
			return nil
		}
		return failf("no alternate screen")
	}
	if a.has('P') { // an escape sequence that has only begun: what is captured is always whole
		return nil
	}
	c := capture{first: a.get('S'), last: a.get('E'), join: a.has('J'), styles: a.has('e'),
		trailing: a.has('J') || a.has('N')}
	lines, err := t.lines(ctx, x, w, c)
	if err != nil {
		return err
	}
	text := c.render(lines)
	if a.has('C') {
		text = escaped(text)
	}
	if a.has('p') {
		_, err := io.WriteString(t.std.Out, text)
		return err
	}
	return t.change(func() { t.state.keep(a.get('b'), text, false) })
}

// redact says whether what is secret is hidden; nil: it is.
func (t *tmux) redact(x *session, w *window) *bool {
	if t.option(x, w, "@ptywright-redact") == "off" {
		return new(bool)
	}
	return nil
}

// A scrolled is the answer of session.scrollback.
type scrolled struct {
	Lines   []string `json:"lines"`
	Start   int      `json:"start"`
	Total   int      `json:"total"`
	Dropped uint64   `json:"dropped"`
}

// tries is how often a pane that changes while it is read is read again; the last answer then may
// have a line twice or miss one.
const tries = 5

// lines reads the lines that a capture is about.
func (t *tmux) lines(ctx context.Context, x *session, w *window, c capture) ([]line, error) {
	form := "none"
	switch {
	case c.trailing:
		form = "full"
	case c.styles:
		form = "runs"
	}
	for try := 1; ; try++ {
		screen, err := t.snapshot(ctx, w, form, t.redact(x, w))
		if err != nil {
			return nil, err
		}
		shown := linesOf(screen)
		if !c.above() {
			return c.cut(shown, 0), nil
		}
		history, err := t.history(ctx, x, w, len(shown), screen.Size.Cols)
		if err != nil {
			return nil, err
		}
		after, err := t.snapshot(ctx, w, "none", nil)
		if err != nil {
			return nil, err
		}
		if after.Sequence == screen.Sequence || try == tries {
			return c.cut(append(history, shown...), len(history)), nil
		}
	}
}

// snapshot reads the screen of a window; cells and redact are as in session.snapshot.
func (t *tmux) snapshot(ctx context.Context, w *window, cells string,
	redact *bool) (*client.Snapshot, error) {
	p := map[string]any{"session": w.Of, "cells": cells}
	if redact != nil {
		p["redact"] = *redact
	}
	s := &client.Snapshot{}
	return s, t.server.Call(ctx, "session.snapshot", p, s)
}

// above reports whether the capture may begin above the screen.
func (c capture) above() bool {
	return strings.HasPrefix(c.first, "-") || strings.HasPrefix(c.last, "-") && c.last != "-"
}

// cut keeps the lines from -S to -E. above is how many are history.
func (c capture) cut(all []line, above int) []line {
	edge := func(text string, usual, whole int) int {
		switch n, err := strconv.Atoi(text); {
		case text == "-":
			return whole
		case err != nil:
			return usual
		default:
			return min(max(above+n, 0), len(all)-1)
		}
	}
	first, last := edge(c.first, above, 0), edge(c.last, len(all)-1, len(all)-1)
	if last < first {
		first, last = last, first
	}
	return all[first : last+1]
}

// history reads the lines above the screen, but for those that clear-history has cleared.
func (t *tmux) history(ctx context.Context, x *session, w *window, rows, cols int) ([]line, error) {
	var all []line
	for at := 0; ; {
		var r scrolled
		p := map[string]any{"session": w.Of, "start": at, "count": page}
		if redact := t.redact(x, w); redact != nil {
			p["redact"] = *redact
		}
		if err := t.server.Call(ctx, "session.scrollback", p, &r); err != nil {
			return nil, err
		}
		for i, text := range r.Lines {
			n := r.Start + i
			if n >= r.Total-rows || r.Dropped+uint64(n) < w.Cleared {
				continue
			}
			// The wire does not say which lines of the history go on: those that fill the width.
			all = append(all, line{text: text, wrapped: utf8.RuneCountInString(text) >= cols})
		}
		if at += page; at >= r.Total-rows || len(r.Lines) == 0 {
			return all, nil
		}
	}
}

// linesOf are the rows of a screen. Which of them go on in the next is what the text says in which
// they are joined.
func linesOf(s *client.Snapshot) []line {
	lines := make([]line, len(s.Lines))
	joined := strings.Split(s.PlainText, "\n")
	rest := ""
	for i, text := range s.Lines {
		lines[i].text = text
		if rest == "" && len(joined) > 0 {
			rest, joined = joined[0], joined[1:]
		}
		if after, ok := strings.CutPrefix(rest, text); ok && strings.TrimLeft(after, " ") != "" {
			lines[i].wrapped = true
			rest = after
			if next := ""; i+1 < len(s.Lines) { // blanks at the end of a row that goes on
				next = s.Lines[i+1]
				for strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, next) {
					rest = rest[1:]
				}
			}
		} else {
			rest = ""
		}
	}
	for _, c := range s.Cells {
		if c.Row < len(lines) {
			lines[c.Row].cells = append(lines[c.Row].cells, c)
		}
	}
	return lines
}

// render writes lines as tmux does: each ends with a line feed, but for one that is joined with the
// next.
func (c capture) render(lines []line) string {
	var b strings.Builder
	var last client.Style
	last.Foreground, last.Background = "default", "default"
	for _, l := range lines {
		text := l.text
		switch {
		case c.styles && l.cells != nil:
			text, last = c.styled(l.cells, last)
		case c.trailing && l.cells != nil:
			text = written(l.cells)
		}
		if !c.trailing {
			text = strings.TrimRight(text, " ")
		}
		b.WriteString(text)
		if !c.join || !l.wrapped {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// written is a row up to the last cell that was written.
func written(cells []client.Cell) string {
	var b strings.Builder
	for _, c := range used(cells) {
		b.WriteString(textOf(c))
	}
	return b.String()
}

// used are the cells up to the last one that was written or has a colour.
func used(cells []client.Cell) []client.Cell {
	n := len(cells)
	for n > 0 && cells[n-1].Text == "" && !cells[n-1].WideContinuation &&
		cells[n-1].Style.Background == "default" {
		n--
	}
	return cells[:n]
}

// textOf is what a cell or a run shows.
func textOf(c client.Cell) string {
	if c.Text == "" && !c.WideContinuation {
		return " "
	}
	return c.Text
}

// styled is a row with the sequences that change the style before each cell. They go on from the
// style of the row before.
func (c capture) styled(cells []client.Cell, last client.Style) (string, client.Style) {
	var b strings.Builder
	for _, cell := range used(cells) {
		if cell.WideContinuation {
			continue
		}
		if cell.Style != last {
			b.WriteString(change(last, cell.Style))
			last = cell.Style
		}
		b.WriteString(textOf(cell))
	}
	return b.String(), last
}

// An attribute is one of SGR. Underlines of other kinds have a number of two parts.
type attribute struct {
	code string
	on   func(client.Style) bool
}

var attributes = []attribute{
	{"1", func(s client.Style) bool { return s.Bold }},
	{"2", func(s client.Style) bool { return s.Dim }},
	{"3", func(s client.Style) bool { return s.Italic }},
	{"4", func(s client.Style) bool {
		return s.Underline && (s.UnderlineStyle == "" || s.UnderlineStyle == "single")
	}},
	{"5", func(s client.Style) bool { return s.Blink }},
	{"7", func(s client.Style) bool { return s.Inverse }},
	{"8", func(s client.Style) bool { return s.Hidden }},
	{"9", func(s client.Style) bool { return s.Strike }},
	{"4:2", func(s client.Style) bool { return s.UnderlineStyle == "double" }},
	{"4:3", func(s client.Style) bool { return s.UnderlineStyle == "curly" }},
	{"4:4", func(s client.Style) bool { return s.UnderlineStyle == "dotted" }},
	{"4:5", func(s client.Style) bool { return s.UnderlineStyle == "dashed" }},
	{"53", func(s client.Style) bool { return s.Overline }},
}

// change is what a terminal is told to come from one style to another: attributes, after a reset
// where one ends, and then each colour that changes, or both after a reset.
func change(from, to client.Style) string {
	var codes []string
	reset := slices.ContainsFunc(attributes,
		func(a attribute) bool { return a.on(from) && !a.on(to) })
	if reset {
		codes = append(codes, "0")
	}
	for _, a := range attributes {
		if a.on(to) && (reset || !a.on(from)) {
			codes = append(codes, a.code)
		}
	}
	var b strings.Builder
	if codes != nil {
		fmt.Fprintf(&b, "\x1b[%sm", strings.Join(codes, ";"))
	}
	for _, colour := range []struct {
		from, to string
		base     int
	}{{from.Foreground, to.Foreground, 30}, {from.Background, to.Background, 40}} {
		if !reset && colour.from == colour.to {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%sm", sgr(colour.to, colour.base))
	}
	return b.String()
}

// sgr is the number of a colour: base is 30 for text and 40 for paper.
func sgr(colour string, base int) string {
	kind, value, _ := strings.Cut(colour, ":")
	switch n := atoi(value, 0); {
	case kind == "rgb":
		return fmt.Sprintf("%d;2;%s", base+8, strings.ReplaceAll(value, ":", ";"))
	case kind != "idx":
		return strconv.Itoa(base + 9)
	case n < 8:
		return strconv.Itoa(base + n)
	case n < 16:
		return strconv.Itoa(base + 60 + n - 8)
	default:
		return fmt.Sprintf("%d;5;%d", base+8, n)
	}
}

// escaped has octal numbers for what does not print.
func escaped(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n', c >= ' ' && c != 0x7f && c != '\\':
			b.WriteByte(c)
		case c == '\\':
			b.WriteString(`\\`)
		default:
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	return b.String()
}

// clearHistory hides the lines that are above the screen now.
func clearHistory(ctx context.Context, t *tmux, a *args) error {
	_, w, err := t.of(a, ofPane)
	if err != nil {
		return err
	}
	total, _, err := t.total(ctx, w)
	if err == nil {
		w.Cleared = total
	}
	return err
}

// total counts the lines that ever left the screen, and those of them that are forgotten.
func (t *tmux) total(ctx context.Context, w *window) (all, dropped uint64, err error) {
	var r scrolled
	if err := t.server.Call(ctx, "session.scrollback",
		map[string]any{"session": w.Of, "start": 0, "count": 0}, &r); err != nil {
		return 0, 0, err
	}
	return r.Dropped + uint64(max(r.Total-t.live[w.Of].Rows, 0)), r.Dropped, nil
}
