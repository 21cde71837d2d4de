package picture

import (
	"fmt"
	"html"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ptywright/ptywright/engine/vt"
)

// MaxMarkup bounds SVG and HTML in bytes. A screen of 50x200 with a colour for each cell has about
// two megabytes.
const MaxMarkup = 16 << 20

// fonts are the fonts that markup asks for.
const fonts = "'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace"

// A span is part of a row that is written as one piece.
type span struct {
	col, cols int
	text      string
	style     vt.Style
}

// spans splits a row where the style changes and around everything that a reader's font may make
// wider or narrower than its cells. Trailing blanks that show nothing are left out, except for keep
// columns.
func spans(s *vt.Screen, y, keep int) (all []span) {
	var last *span
	s.EachCell(y, func(x int, c vt.Cell) {
		if c.Continuation {
			return
		}
		text, cols := c.Text, 1
		if text == "" {
			text = " "
		}
		if c.Wide {
			cols = 2
		}
		exact := len(text) == 1 // ASCII: all monospaced fonts agree
		if last != nil && exact && last.style == c.Style && last.cols == len(last.text) {
			last.text, last.cols = last.text+text, last.cols+1
			return
		}
		all = append(all, span{x, cols, text, c.Style})
		last = &all[len(all)-1]
	})
	for n := len(all) - 1; n >= 0; n-- {
		st := all[n].style
		if all[n].col < keep || strings.TrimSpace(all[n].text) != "" || st.Inverse ||
			!st.Background.IsDefault() || st.Underline != 0 || st.Strike || st.Overline {
			break
		}
		all = all[:n]
	}
	return all
}

func css(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// clean makes a text valid in XML: cells hold no control characters, but may hold what XML 1.0
// (section 2.2) excludes.
func clean(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, s))
}

// number writes a coordinate, to a hundredth.
func number(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }

// SVG draws the screen as SVG 1.1 with text that can be selected and searched, a line for each row.
// Box drawing, blocks and braille are shapes, so that they join in every font, with invisible text
// over them. It runs nothing and loads nothing. Mask the screen before. The error is [ErrTooLarge].
func SVG(s *vt.Screen, o Options) (string, error) {
	f, th := faceOf(o.size()), o.theme(s.Theme)
	pad := o.padding()
	w, h := s.Cols*f.w+2*pad, s.Rows*f.h+2*pad
	reversed := s.Modes.ReverseVideo
	var paper, shapes, text strings.Builder
	boxes := svgPaths{paths: map[string]*strings.Builder{}}
	for y := range s.Rows {
		top := pad + y*f.h
		begun := false
		for _, sp := range joinDrawn(spans(s, y, 0)) {
			k := th.ink(sp.style, reversed)
			x := pad + sp.col*f.w
			if !sp.style.Background.IsDefault() || sp.style.Inverse {
				fmt.Fprintf(&paper, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n",
					x, top, sp.cols*f.w, f.h, css(k.bg))
			}
			svgLines(&shapes, f, x, top, sp, k)
			if strings.TrimSpace(sp.text) == "" && sp.style.Link == "" && !begun {
				continue
			}
			if !begun {
				begun = true
				fmt.Fprintf(&text, `<text y="%d" xml:space="preserve">`, top+f.baseline)
			}
			fill := css(k.fg)
			if drawn(sp.text) {
				for i, r := range []rune(sp.text) {
					if m := boxMask(r, f.w, f.h); !sp.style.Hidden {
						boxes.add(m.Pix, m.Stride, x+i*f.w, top, fill)
					}
				}
				fill = "none"
			}
			svgSpan(&text, f, x, sp, fill)
			if text.Len()+shapes.Len()+paper.Len()+boxes.size > MaxMarkup {
				return "",
					fmt.Errorf("an SVG of %d rows and %d columns %w, the limit is %d bytes", s.Rows,
						s.Cols, ErrTooLarge, MaxMarkup)
			}
		}
		if begun {
			text.WriteString("</text>\n")
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", w, h, w, h)
	if s.Title != "" {
		fmt.Fprintf(&b, "<title>%s</title>\n", clean(o.clean(s.Title)))
	}
	fmt.Fprintf(&b, "<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n",
		css(th.ink(vt.Style{}, reversed).bg))
	b.WriteString(`<g shape-rendering="crispEdges">` + "\n" +
		paper.String() + boxes.String() + shapes.String() + "</g>\n")
	if s.Cursor.Visible && !o.NoCursor {
		svgCursor(&b, f, th, s, pad)
	}
	fmt.Fprintf(&b, `<g font-family="%s" font-size="%s">`+"\n", fonts, number(f.size))
	b.WriteString(text.String() + "</g>\n</svg>\n")
	return b.String(), nil
}

// svgSpan writes the text of a span, stretched to its cells.
func svgSpan(b *strings.Builder, f *face, x int, sp span, fill string) {
	fmt.Fprintf(b, `<tspan x="%d" textLength="%d" lengthAdjust="spacingAndGlyphs" fill="%s"`, x,
		sp.cols*f.w, fill)
	if sp.style.Hidden {
		b.WriteString(` fill-opacity="0"`)
	}
	if sp.style.Bold {
		b.WriteString(` font-weight="bold"`)
	}
	if sp.style.Italic {
		b.WriteString(` font-style="italic"`)
	}
	b.WriteString(">" + clean(sp.text) + "</tspan>")
}

// drawn reports whether a text consists of characters that are drawn as shapes.
func drawn(text string) bool {
	for _, r := range text {
		if !isBox(r) {
			return false
		}
	}
	return text != ""
}

// joinDrawn joins neighbours that are drawn as shapes: their text is invisible, whatever the font.
func joinDrawn(all []span) (out []span) {
	for _, sp := range all {
		if n := len(out) - 1; n >= 0 && out[n].style == sp.style && drawn(out[n].text) &&
			drawn(sp.text) {
			out[n].text += sp.text
			out[n].cols += sp.cols
			continue
		}
		out = append(out, sp)
	}
	return out
}

// svgPaths are shapes, one path for each colour.
type svgPaths struct {
	paths map[string]*strings.Builder // by the attributes that fill them
	size  int
}

// add adds the parts of a mask as rectangles of whole pixels.
func (p *svgPaths) add(pix []byte, stride, left, top int, fill string) {
	h := len(pix) / stride
	row := func(y int) string { return string(pix[y*stride : (y+1)*stride]) }
	for y := 0; y < h; {
		n := y + 1
		for n < h && row(n) == row(y) {
			n++
		}
		line := row(y)
		for x := 0; x < len(line); {
			to := x + 1
			for to < len(line) && line[to] == line[x] {
				to++
			}
			if a := line[x]; a > 0 {
				key := `fill="` + fill + `"`
				if a < 255 {
					key += ` fill-opacity="` + number(float64(a)/255) + `"`
				}
				b := p.paths[key]
				if b == nil {
					b = new(strings.Builder)
					p.paths[key] = b
				}
				before := b.Len()
				fmt.Fprintf(b, "M%d %dh%dv%dh%dz", left+x, top+y, to-x, n-y, x-to)
				p.size += b.Len() - before
			}
			x = to
		}
		y = n
	}
}

func (p *svgPaths) String() string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(p.paths)) {
		fmt.Fprintf(&b, `<path d="%s" %s/>`+"\n", p.paths[key], key)
	}
	return b.String()
}

// svgLines writes the lines under, through and over a span.
func svgLines(b *strings.Builder, f *face, x, top int, sp span, k ink) {
	t := max(1, f.h/18)
	w := sp.cols * f.w
	under := top + min(f.baseline+t+1, f.h-t)
	rect := func(y int, c color.RGBA) {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", x, y, w, t,
			css(c))
	}
	dashes := map[vt.UnderlineStyle]string{vt.UnderlineDotted: fmt.Sprintf("%d %d", t, t),
		vt.UnderlineDashed: fmt.Sprintf("%d %d", f.w/2, f.w/4+1)}
	switch u := sp.style.Underline; u {
	case vt.UnderlineNone:
	case vt.UnderlineSingle:
		rect(under, k.line)
	case vt.UnderlineDouble:
		second := min(under+2*t, top+f.h-t)
		rect(second-2*t, k.line)
		rect(second, k.line)
	case vt.UnderlineCurly:
		fmt.Fprintf(b, `<path d="M%d %d`, x, under+t)
		for i := range 2 * sp.cols { // half a wave up, half a wave down
			fmt.Fprintf(b, "q%s %d %s 0", number(float64(f.w)/4), 2*t*(1-i%2*2),
				number(float64(f.w)/2))
		}
		fmt.Fprintf(b, `" fill="none" stroke="%s" stroke-width="%d" shape-rendering="auto"/>`+"\n",
			css(k.line), t)
	default:
		fmt.Fprintf(b,
			`<path d="M%d %sh%d" stroke="%s" stroke-width="%d" stroke-dasharray="%s"/>`+
				"\n", x, number(float64(under)+float64(t)/2), w, css(k.line), t, dashes[u])
	}
	if sp.style.Strike {
		rect(top+f.baseline-int(0.26*f.size), k.fg)
	}
	if sp.style.Overline {
		rect(top, k.fg)
	}
}

// svgCursor writes the cursor under the text: half transparent, as text keeps its colour.
func svgCursor(b *strings.Builder, f *face, th *Theme, s *vt.Screen, pad int) {
	y, x := s.Cursor.Row, s.Cursor.Col
	if s.Cell(y, x).Continuation && x > 0 {
		x--
	}
	left, top, w, h := pad+x*f.w, pad+y*f.h, f.w, f.h
	if s.Cell(y, x).Wide {
		w *= 2
	}
	t := max(2, f.h/9)
	opacity := ""
	switch s.Cursor.Shape {
	case vt.CursorUnderline:
		top, h = top+h-t, t
	case vt.CursorBar:
		w = t
	default:
		opacity = ` fill-opacity="0.6"`
	}
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"%s/>`+"\n", left, top, w, h,
		css(th.Cursor), opacity)
}

// lineHeight is the height of a line of HTML, relative to its font size: no more than that of the
// fonts asked for (1.13 to 1.17), or box lines and backgrounds of two rows do not meet. It makes
// whole pixels, or they meet with a seam.
const lineHeight = 1.16

// HTML returns the screen as a page of its own, or for embedding in one: it runs nothing, loads
// nothing, and its links lead only to http, https and mailto. Mask the screen before. The error is
// [ErrTooLarge].
func HTML(s *vt.Screen, o Options) (string, error) {
	th := o.theme(s.Theme)
	size := o.size()
	def := th.ink(vt.Style{}, s.Modes.ReverseVideo)
	var b strings.Builder
	title := o.clean(s.Title)
	if title == "" {
		title = "terminal"
	}
	b.WriteString("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" + clean(title) +
		"</title>\n")
	// The policy holds even if the page is put on a server.
	b.WriteString(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` + "\n")
	fmt.Fprintf(&b, "<style>body{margin:0;background:%[5]s}pre{margin:0;padding:%[1]dpx;font:%[2]spx/%[6]dpx %[3]s;color:%[4]s;background:%[5]s}a{color:inherit}.w{display:inline-block;width:2ch}.c{display:inline-block;width:1ch}</style>\n",
		o.padding(), number(size), fonts, css(def.fg), css(def.bg), int(size*lineHeight))
	b.WriteString("</head><body><pre>")
	for y := range s.Rows {
		cursor := -1
		if s.Cursor.Visible && !o.NoCursor && y == s.Cursor.Row {
			cursor = s.Cursor.Col
		}
		for _, sp := range spans(s, y, cursor+1) {
			sp.style.Link = o.clean(sp.style.Link)
			htmlSpan(&b, th, sp, s.Modes.ReverseVideo, cursor)
			if b.Len() > MaxMarkup {
				return "",
					fmt.Errorf("a page of %d rows and %d columns %w, the limit is %d bytes", s.Rows,
						s.Cols, ErrTooLarge, MaxMarkup)
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString("</pre></body></html>\n")
	return b.String(), nil
}

// htmlSpan writes a span of a row with the cursor in column cursor, if any; a span longer than a
// character is split around it.
func htmlSpan(b *strings.Builder, th *Theme, sp span, reversed bool, cursor int) {
	at := cursor - sp.col
	under := at >= 0 && at < sp.cols
	if under && sp.cols == len(sp.text) && sp.cols > 1 {
		for _, part := range [...]span{{sp.col, at, sp.text[:at], sp.style},
			{sp.col + at, 1, sp.text[at : at+1], sp.style},
			{sp.col + at + 1, sp.cols - at - 1, sp.text[at+1:], sp.style}} {
			if part.cols > 0 {
				htmlSpan(b, th, part, reversed, cursor)
			}
		}
		return
	}
	st := sp.style
	k, def := th.ink(st, reversed), th.ink(vt.Style{}, reversed)
	var rules []string
	if under {
		rules = append(rules, "outline:1px solid "+css(th.Cursor))
	}
	if k.fg != def.fg {
		rules = append(rules, "color:"+css(k.fg))
	}
	if k.bg != def.bg {
		rules = append(rules, "background:"+css(k.bg))
	}
	if st.Bold {
		rules = append(rules, "font-weight:bold")
	}
	if st.Italic {
		rules = append(rules, "font-style:italic")
	}
	if st.Hidden {
		rules = append(rules, "opacity:0")
	}
	var lines []string
	if st.Underline != 0 {
		lines = append(lines, "underline")
	}
	if st.Strike {
		lines = append(lines, "line-through")
	}
	if st.Overline {
		lines = append(lines, "overline")
	}
	if len(lines) > 0 {
		kind := [...]string{"solid", "solid", "double", "wavy", "dotted", "dashed"}[st.Underline]
		rules = append(rules, "text-decoration:"+strings.Join(lines, " ")+" "+kind+" "+css(k.line))
	}
	class := ""
	switch {
	case sp.cols == 2 && sp.cols != len(sp.text):
		class = ` class="w"`
	case sp.cols != len(sp.text):
		class = ` class="c"`
	}
	text := clean(sp.text)
	if st.Link != "" && leadsOut(st.Link) {
		text = `<a rel="noopener noreferrer" href="` + clean(st.Link) + `">` + text + "</a>"
	}
	if class == "" && len(rules) == 0 {
		b.WriteString(text)
		return
	}
	b.WriteString("<span" + class)
	if len(rules) > 0 {
		b.WriteString(` style="` + strings.Join(rules, ";") + `"`)
	}
	b.WriteString(">" + text + "</span>")
}

// leadsOut reports whether a page may have a link, which the program chose.
func leadsOut(link string) bool {
	scheme, _, ok := strings.Cut(strings.ToLower(link), ":")
	return ok && (scheme == "http" || scheme == "https" || scheme == "mailto")
}
