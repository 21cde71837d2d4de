package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A paper is the colours of a chart, for a page that is light or dark. Each text has a contrast of
// 4.5:1 or better on the page (WCAG 1.4.3), and the dots 3:1 (1.4.11).
type paper struct {
	page, text, quiet, line, dot, ours string
}

var papers = map[string]paper{
	"light": {page: "#ffffff", text: "#1f2328", quiet: "#59636e", line: "#d1d9e0", dot: "#818b98", ours: "#0969da"},
	"dark":  {page: "#0d1117", text: "#f0f6fc", quiet: "#9198a1", line: "#30363d", dot: "#656c76", ours: "#4493f8"},
}

// Sizes in pixels. The chart is as wide as a README's column.
const (
	panelWidth  = 284
	nameWidth   = 112 // of the tools' names, at 12 px
	valueWidth  = 44  // of the figure behind the longest line
	rowHeight   = 22
	headHeight  = 46
	footHeight  = 34
	chartMargin = 8
)

// svg draws the figures as dots on logarithmic scales: bars would need a zero, which these do not have.
func (f *figures) svg(p paper) string {
	var b strings.Builder
	rows := len(f.panels[0].dots)
	width := panelWidth*len(f.panels) + 2*chartMargin
	height := headHeight + rows*rowHeight + footHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" `+
		`font-family="-apple-system,'Segoe UI',Helvetica,Arial,sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n", "ptywright beside other tools", f.words())
	for i, panel := range f.panels {
		panel.draw(&b, p, chartMargin+i*panelWidth)
	}
	text(&b, chartMargin, height-10, p.quiet, "", fmt.Sprintf(
		"One run of %s on two shared cores; logarithmic scales. * keeps no screen: it searches the bytes.", f.date))
	b.WriteString("</svg>\n")
	return b.String()
}

// words says the figures for those who cannot see them.
func (f *figures) words() string {
	var all []string
	for _, p := range f.panels {
		var dots []string
		for _, d := range p.dots {
			dots = append(dots, fmt.Sprintf("%s %s", d.tool, figure(d.value)))
		}
		all = append(all, fmt.Sprintf("%s, %s: %s", p.title, p.unit, strings.Join(dots, ", ")))
	}
	return strings.Join(all, ". ") + "."
}

func (panel panel) draw(b *strings.Builder, p paper, left int) {
	better := "less is better"
	if panel.more {
		better = "more is better"
	}
	text(b, left, 16, p.text, ` font-weight="600" font-size="13"`, panel.title)
	text(b, left, 33, p.quiet, "", panel.unit+", "+better)
	low, high := math.Inf(1), 0.0
	for _, d := range panel.dots {
		low, high = min(low, d.value), max(high, d.value)
	}
	from, to := left+nameWidth, left+panelWidth-valueWidth
	at := func(v float64) int {
		share := (math.Log(v) - math.Log(low)) / (math.Log(high) - math.Log(low))
		return from + 4 + int(math.Round(share*float64(to-from-8)))
	}
	for i, d := range panel.dots {
		y := headHeight + i*rowHeight + rowHeight/2
		colour, dot, weight := p.quiet, p.dot, ""
		if d.tool == ours {
			colour, dot, weight = p.text, p.ours, ` font-weight="600"`
		}
		text(b, left, y+4, colour, weight, d.tool)
		fmt.Fprintf(b, `<path d="M%d %dH%d" stroke="%s"/><circle cx="%d" cy="%d" r="5" fill="%s"/>`+"\n",
			from, y, at(d.value), p.line, at(d.value), y, dot)
		text(b, at(d.value)+10, y+4, colour, weight, figure(d.value))
	}
}

// figure prints a value with two significant digits, or all of its whole part.
func figure(v float64) string {
	if v >= 10 {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func text(b *strings.Builder, x, y int, colour, more, words string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s"%s>%s</text>`+"\n", x, y, colour, more, words)
}
