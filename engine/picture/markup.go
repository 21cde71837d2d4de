package picture

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	blank     bool // what follows shows nothing
	cursor    bool // a cursor that covers the cell is on it
}

// spans splits a row where the style changes and around everything that a reader's font may make
// wider or narrower than its cells, and around the cell in column cursor. Trailing blanks that show
// nothing are left out, but for the cursor's.
func spans(s *vt.Screen, y, cursor int) (all []span) {
	var last *span
	cells := cellsOf(s, y)
	if cursor >= 0 && cursor < len(cells) && cells[cursor].Continuation {
		cursor-- // the rest of a wide character
	}
	for x, c := range cells {
		if c.Continuation {
			continue
		}
		text, cols := c.Text, 1
		if text == "" {
			text = " "
		}
		c.Style = shown(c.Style)
		if c.Wide {
			cols = 2
		}
		exact := len(text) == 1 && x != cursor // ASCII: all monospaced fonts agree
		if last != nil && exact && last.style == c.Style && last.cols == len(last.text) &&
			!last.cursor {
			last.text, last.cols = last.text+text, last.cols+1
			continue
		}
		all = append(all, span{x, cols, text, c.Style, blankAt(cells, x+1), x == cursor})
		last = &all[len(all)-1]
	}
	for n := len(all) - 1; n >= 0; n-- {
		st := all[n].style
		if all[n].cursor || strings.TrimSpace(all[n].text) != "" || st.Inverse ||
			!st.Background.IsDefault() || st.Underline != 0 || st.Strike || st.Overline {
			break
		}
		all = all[:n]
	}
	return all
}

// shown is how a style is drawn: links are underlined.
func shown(s vt.Style) vt.Style {
	if s.Link != "" && s.Underline == vt.UnderlineNone && leadsOut(s.Link) {
		s.Underline = vt.UnderlineSingle
	}
	return s
}

// cursorIn is the column of the cursor in a row; -1: it is not there, or not to be drawn.
func (o Options) cursorIn(s *vt.Screen, y int) int {
	if !s.Cursor.Visible || o.NoCursor || y != s.Cursor.Row {
		return -1
	}
	return s.Cursor.Col
}

// spanInk is the ink of a span, and whether a cursor covers all of it.
func (t *Theme) spanInk(sp span, s *vt.Screen) (k ink, covered bool) {
	k = t.inkOf(sp.style, sp.text, s.Modes.ReverseVideo)
	switch s.Cursor.Shape {
	case vt.CursorUnderline, vt.CursorBar:
		return k, false
	}
	if sp.cursor {
		return ink{fg: k.bg, bg: t.Cursor, line: k.bg}, true
	}
	return k, false
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
// Box drawing, blocks, braille, icons and symbols are shapes, so that they look the same with every
// font, with invisible text over them. It runs nothing and loads nothing. Mask the screen before. The
// error is [ErrTooLarge].
func SVG(s *vt.Screen, o Options) (string, error) {
	l := o.layout(s, 1)
	rows := svgRows{layout: l, o: o}
	origin := l.origin()
	for y := range s.Rows {
		if rows.row(s, y, origin.X, origin.Y+y*l.face.h); rows.size() > MaxMarkup {
			return "",
				fmt.Errorf("an SVG of %d rows and %d columns %w, the limit is %d bytes", s.Rows,
					s.Cols, ErrTooLarge, MaxMarkup)
		}
	}
	var b strings.Builder
	l.svgHead(&b, s, o)
	rows.write(&b)
	b.WriteString("</g>\n</svg>\n")
	return b.String(), nil
}

// svgHead writes what is around the cells, and begins the group that has them.
func (l *layout) svgHead(b *strings.Builder, s *vt.Screen, o Options) {
	w, h := l.size()
	scale := o.scale()
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %d %d">`+"\n",
		number(float64(w)*scale), number(float64(h)*scale), w, h)
	if l.title != "" {
		fmt.Fprintf(b, "<title>%s</title>\n", clean(l.title))
	}
	paper := css(l.theme.ink(vt.Style{}, s.Modes.ReverseVideo).bg)
	if !l.windowed() {
		fmt.Fprintf(b, "<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", paper)
	} else {
		l.svgWindow(b, paper)
	}
	fmt.Fprintf(b, `<g font-family="%s" font-size="%s">`+"\n", fonts, number(l.face.size))
	if box := l.titleBox(); !box.Empty() {
		title := ""
		for _, c := range titleCells(l.title, box.Dx()/l.face.w) {
			title += c.Text
		}
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="%s">%s</text>`+"\n",
			(box.Min.X+box.Max.X)/2, box.Min.Y+(l.bar-l.face.h)/2+l.face.baseline,
			css(l.titleColour()), clean(title))
	}
}

// svgWindow draws a window, and what it stands on.
func (l *layout) svgWindow(b *strings.Builder, paper string) {
	r := l.window()
	switch {
	case l.ground.empty():
	case l.ground.plain():
		fmt.Fprintf(b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", css(l.ground.from))
	default:
		fmt.Fprintf(b, `<defs><linearGradient id="ground" x2="1" y2="1"><stop stop-color="%s"/>`+
			`<stop offset="1" stop-color="%s"/></linearGradient></defs>`+"\n", css(l.ground.from),
			css(l.ground.to))
		b.WriteString(`<rect width="100%" height="100%" fill="url(#ground)"/>` + "\n")
	}
	if l.ground.shadow {
		fmt.Fprintf(b, `<defs><filter id="shadow" x="-20%%" y="-20%%" `+
			`width="140%%" height="150%%"><feGaussianBlur stdDeviation="%s"/></filter></defs>`+"\n",
			number(float64(l.face.h)*shadowReach/2))
		fmt.Fprintf(b, `<rect x="%d" y="%s" width="%d" height="%d" rx="%d" fill-opacity="%s" filter="url(#shadow)"/>`+"\n",
			r.Min.X, number(float64(r.Min.Y)+shadowDown*float64(l.face.h)), r.Dx(), r.Dy(),
			l.radius, number(shadowPart))
	}
	window := fmt.Sprintf(`x="%d" y="%d" width="%d" height="%d" rx="%d"`, r.Min.X, r.Min.Y, r.Dx(),
		r.Dy(), l.radius)
	fmt.Fprintf(b, `<rect %s fill="%s"/>`+"\n", window, paper)
	if l.bar == 0 {
		return
	}
	fmt.Fprintf(b, `<clipPath id="window"><rect %s/></clipPath>`+"\n", window)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" clip-path="url(#window)" fill="%s"/>`+"\n",
		r.Min.X, r.Min.Y, r.Dx(), l.bar, css(l.barColour()))
	l.svgButtons(b, image.Point{})
}

// svgButtons draws the buttons of a window, from an origin.
func (l *layout) svgButtons(b *strings.Builder, from image.Point) {
	for i, p := range l.buttonsAt() {
		p = p.Sub(from)
		circle := func(radius float64, c color.RGBA) {
			fmt.Fprintf(b, `<circle cx="%d" cy="%d" r="%s" fill="%s"/>`, p.X, p.Y, number(radius), css(c))
		}
		circle(l.buttons.radius, l.buttonColour(i))
		if l.buttons.Rings {
			circle(l.buttons.inner, l.barColour())
		}
	}
	b.WriteByte('\n')
}

// svgRows are rows of cells as SVG.
type svgRows struct {
	*layout
	o                   Options
	tight               bool // text is spaced to its cells, but not stretched: many rows are shorter
	paper, shapes, text strings.Builder
	paths               svgPaths
}

func (w *svgRows) size() int {
	return w.paper.Len() + w.shapes.Len() + w.text.Len() + w.paths.size
}

// write appends the rows, inside of a group that has the font.
func (w *svgRows) write(b *strings.Builder) {
	if w.paper.Len()+w.paths.size+w.shapes.Len() > 0 {
		b.WriteString(`<g shape-rendering="crispEdges">` + "\n" +
			w.paper.String() + w.paths.String() + w.shapes.String() + "</g>\n")
	}
	b.WriteString(w.text.String())
}

// row adds row y of a screen, at left and top.
func (w *svgRows) row(s *vt.Screen, y, left, top int) {
	f, th := w.face, w.theme
	begun := false
	cursor := w.o.cursorIn(s, y)
	all := joinDrawn(spans(s, y, cursor))
	for i, sp := range all {
		if w.tight && i == len(all)-1 {
			sp = sp.trimmed()
		}
		k, covered := th.spanInk(sp, s)
		x := left + sp.col*f.w
		if !sp.style.Background.IsDefault() || sp.style.Inverse || covered {
			fmt.Fprintf(&w.paper, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n",
				x, top, sp.cols*f.w, f.h, css(k.bg))
		}
		svgLines(&w.shapes, f, x, top, sp, k)
		if sp.cursor && !covered {
			svgCursor(&w.shapes, f, th, s, x, top, sp.cols)
		}
		if strings.TrimSpace(sp.text) == "" && sp.style.Link == "" && !begun {
			continue
		}
		if !begun {
			begun = true
			fmt.Fprintf(&w.text, `<text y="%d" xml:space="preserve">`, top+f.baseline)
		}
		fill := css(k.fg)
		if drawn(sp.text) {
			if !sp.style.Hidden {
				w.draw(sp, x, top, fill)
			}
			fill = "none"
		}
		w.span(x, sp, fill)
	}
	if begun {
		w.text.WriteString("</text>\n")
	}
}

// trimmed is a span without the blanks at its end that show nothing.
func (sp span) trimmed() span {
	st := sp.style
	if sp.cols == len(sp.text) && !sp.cursor && !st.Inverse && st.Background.IsDefault() &&
		st.Underline == 0 && !st.Strike && !st.Overline {
		sp.text = strings.TrimRight(sp.text, " ")
		sp.cols = len(sp.text)
	}
	return sp
}

// draw adds the shapes of a span whose characters are drawn.
func (w *svgRows) draw(sp span, x, top int, fill string) {
	f := w.face
	cols := sp.cols / len([]rune(sp.text))
	for i, r := range []rune(sp.text) {
		if at := x + i*cols*f.w; promptPath(r, 1, 1, 0, 0) != "" {
			w.paths.addPath(promptPath(r, float64(f.w*cols), float64(f.h), float64(at),
				float64(top)), fill)
		} else if isBox(r) {
			m := boxMask(r, f.w*cols, f.h)
			w.paths.add(m.Pix, m.Stride, at, top, fill)
		} else if out, ok := f.shape(sp.glyph(r, i == len([]rune(sp.text))-1)); ok {
			w.paths.addPath(out.path(float64(at), float64(top)), fill)
		}
	}
}

// glyph is that of a character of a span of drawn ones; last: it is the span's last.
func (sp span) glyph(r rune, last bool) glyph {
	g := glyph{r: r, cols: sp.cols / len([]rune(sp.text)), bold: sp.style.Bold,
		italic: sp.style.Italic}
	if last && sp.blank && g.cols == 1 && private(r) {
		g.room = 2
	}
	return g
}

// span writes the text of a span: ASCII fitted to its cells, another character in their middle.
func (w *svgRows) span(x int, sp span, fill string) {
	b := &w.text
	if sp.cols != len(sp.text) && !drawn(sp.text) {
		fmt.Fprintf(b, `<tspan x="%s" text-anchor="middle"`,
			number(float64(x)+float64(sp.cols*w.face.w)/2))
	} else {
		fmt.Fprintf(b, `<tspan x="%d" textLength="%d"`, x, sp.cols*w.face.w)
		if !w.tight && w.face.spacing == 0 { // text that is spaced is not to be stretched
			b.WriteString(` lengthAdjust="spacingAndGlyphs"`)
		}
	}
	b.WriteString(` fill="` + fill + `"`)
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
		if !isBox(r) && !drawnAlike(r) {
			return false
		}
	}
	return text != ""
}

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// joinDrawn joins neighbours that are drawn as shapes: their text is invisible, whatever the font.
func joinDrawn(all []span) (out []span) {
	for _, sp := range all {
		if n := len(out) - 1; n >= 0 && out[n].style == sp.style && drawn(out[n].text) &&
			drawn(sp.text) && sp.cols == 1 && out[n].cols == len([]rune(out[n].text)) &&
			isBox(firstRune(out[n].text)) == isBox(firstRune(sp.text)) &&
			!sp.cursor && !out[n].cursor && !strings.ContainsFunc(out[n].text, private) {
			out[n].text += sp.text
			out[n].cols += sp.cols
			out[n].blank = sp.blank
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

// to appends to the path with the attributes.
func (p *svgPaths) to(attributes, d string) {
	if p.paths == nil {
		p.paths = map[string]*strings.Builder{}
	}
	if p.paths[attributes] == nil {
		p.paths[attributes] = new(strings.Builder)
	}
	p.paths[attributes].WriteString(d)
	p.size += len(d)
}

// addPath adds an outline, with smooth edges.
func (p *svgPaths) addPath(d, fill string) {
	p.to(`fill="`+fill+`" shape-rendering="auto"`, d)
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
				p.to(key, fmt.Sprintf("M%d %dh%dv%dh%dz", left+x, top+y, to-x, n-y, x-to))
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

// svgCursor draws a cursor that does not cover its cell.
func svgCursor(b *strings.Builder, f *face, th *Theme, s *vt.Screen, left, top, cols int) {
	w, h, t := cols*f.w, f.h, max(2, f.h/9)
	if s.Cursor.Shape == vt.CursorUnderline {
		top, h = top+h-t, t
	} else {
		w = t
	}
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", left, top, w, h,
		css(th.Cursor))
}
