package picture

import (
	"fmt"
	"math"
	"strings"

	"github.com/ptywright/ptywright/engine/vt"
)

// lineHeight is the height of a line of HTML, relative to its font size: no more than that of the
// fonts asked for (1.13 to 1.17), or box lines and backgrounds of two rows do not meet. It makes
// whole pixels, or they meet with a seam.
const lineHeight = 1.16

// HTML returns the screen as a page of its own, or for embedding in one: it runs nothing, loads
// nothing, and its links lead only to http, https and mailto. Mask the screen before. The error is
// [ErrTooLarge].
func HTML(s *vt.Screen, o Options) (string, error) {
	l := o.layout(s, o.scale())
	w := htmlWriter{layout: l, screen: s, o: o}
	w.head()
	for y := range s.Rows {
		for _, sp := range spans(s, y, o.cursorIn(s, y)) {
			sp.style.Link = o.clean(sp.style.Link)
			w.span(sp)
			if w.b.Len() > MaxMarkup {
				return "",
					fmt.Errorf("a page of %d rows and %d columns %w, the limit is %d bytes", s.Rows,
						s.Cols, ErrTooLarge, MaxMarkup)
			}
		}
		w.b.WriteByte('\n')
	}
	w.b.WriteString("</pre>")
	if l.windowed() {
		w.b.WriteString("</div>")
	}
	w.b.WriteString("</body></html>\n")
	return w.b.String(), nil
}

// An htmlWriter writes a screen as HTML.
type htmlWriter struct {
	*layout
	screen *vt.Screen
	o      Options
	b      strings.Builder
}

// head writes what is before the cells. A browser drops a line feed right after <pre>: without one more,
// a first row that is blank would be lost.
func (w *htmlWriter) head() {
	def := w.theme.ink(vt.Style{}, w.screen.Modes.ReverseVideo)
	title := w.title
	if title == "" {
		title = "terminal"
	}
	w.b.WriteString("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" + clean(title) +
		"</title>\n")
	// The policy holds even if the page is put on a server.
	w.b.WriteString(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` + "\n")
	ground := css(def.bg)
	switch {
	case w.windowed() && w.ground.empty():
		ground = "transparent"
	case w.windowed() && w.ground.plain():
		ground = css(w.ground.from)
	case w.windowed():
		ground = "linear-gradient(135deg," + css(w.ground.from) + "," + css(w.ground.to) + ") fixed"
	}
	apart := int(math.Round(w.face.spacing)) // pixels more for each column
	fmt.Fprintf(&w.b, "<style>body{margin:0;background:%[6]s}pre{margin:0;padding:%[1]dpx;font:%[2]spx/%[7]dpx %[3]s;color:%[4]s;background:%[5]s}a{color:inherit;text-decoration:none}.w,.c{display:inline-block;width:2ch;text-align:center}.c{width:1ch}.g{position:relative;-webkit-text-fill-color:transparent}.g svg{position:absolute;left:0;top:0;height:%[7]dpx;fill:currentColor;overflow:visible}",
		w.pad, number(w.face.size), fonts, css(def.fg), css(def.bg), ground,
		int(w.face.size*lineHeight*w.face.line))
	if apart != 0 {
		fmt.Fprintf(&w.b, "pre{letter-spacing:%[1]dpx}.w,.c{letter-spacing:0;width:calc(2ch + %[2]dpx)}.c{width:calc(1ch + %[1]dpx)}",
			apart, 2*apart)
	}
	if w.windowed() {
		w.openWindow()
		return
	}
	w.b.WriteString("</style>\n</head><body><pre>\n")
}

// openWindow writes the rest of the style, and begins a window with its bar.
func (w *htmlWriter) openWindow() {
	fmt.Fprintf(&w.b, ".win{display:inline-block;margin:%dpx;border-radius:%dpx;overflow:hidden",
		w.margin, w.radius)
	if w.ground.shadow {
		fmt.Fprintf(&w.b, ";box-shadow:0 %[1]spx %[2]spx rgba(0,0,0,%[3]s)",
			number(shadowDown*float64(w.face.h)), number(2*shadowReach*float64(w.face.h)),
			number(shadowPart))
	}
	if w.bar == 0 {
		w.b.WriteString("}</style>\n</head><body><div class=\"win\"><pre>\n")
		return
	}
	at := w.buttonsAt()
	side, from := "left", w.window().Min
	wide := at[2].X - from.X + w.bar
	if w.buttons.Right {
		side, from.X = "right", at[2].X-w.bar
		wide = w.window().Max.X - from.X
	}
	fmt.Fprintf(&w.b, "}.bar{position:relative;height:%[1]dpx;font:%[2]spx/%[1]dpx %[3]s;color:%[4]s;background:%[5]s;text-align:center;white-space:pre}.bar svg{position:absolute;%[6]s:0;top:0}",
		w.bar, number(w.face.size), fonts, css(w.titleColour()), css(w.barColour()), side)
	w.b.WriteString("</style>\n</head><body><div class=\"win\"><div class=\"bar\">")
	fmt.Fprintf(&w.b, `<svg width="%d" height="%d">`, wide, w.bar)
	w.svgButtons(&w.b, from)
	w.b.WriteString("</svg>")
	if box := w.titleBox(); !box.Empty() {
		for _, c := range titleCells(w.title, box.Dx()/w.face.w) {
			w.b.WriteString(clean(c.Text))
		}
	}
	w.b.WriteString("</div><pre>\n")
}

// span writes a span of a row.
func (w *htmlWriter) span(sp span) {
	st, s := sp.style, w.screen
	k, covered := w.theme.spanInk(sp, s)
	def := w.theme.ink(vt.Style{}, s.Modes.ReverseVideo)
	var rules []string
	if k.fg != def.fg {
		rules = append(rules, "color:"+css(k.fg))
	}
	if k.bg != def.bg {
		rules = append(rules, "background:"+css(k.bg))
	}
	if sp.cursor && !covered {
		side := "inset 2px 0 "
		if s.Cursor.Shape == vt.CursorUnderline {
			side = "inset 0 -2px "
		}
		rules = append(rules, "box-shadow:"+side+css(w.theme.Cursor))
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
	if d := w.shapeOf(sp); d != "" {
		class = strings.TrimSuffix(class, `"`) + ` g"`
		text = fmt.Sprintf(`<svg viewBox="0 0 %d %d"><path d="%s"/></svg>`, sp.cols*w.face.w,
			w.face.h, d) + text
	}
	if st.Link != "" && leadsOut(st.Link) {
		text = `<a rel="noopener noreferrer" href="` + clean(st.Link) + `">` + text + "</a>"
	}
	if class == "" && len(rules) == 0 {
		w.b.WriteString(text)
		return
	}
	w.b.WriteString("<span" + class)
	if len(rules) > 0 {
		w.b.WriteString(` style="` + strings.Join(rules, ";") + `"`)
	}
	w.b.WriteString(">" + text + "</span>")
}

// shapeOf is the outline of a character that is drawn as a shape; "" of all others.
func (w *htmlWriter) shapeOf(sp span) string {
	runes := []rune(sp.text)
	if len(runes) != 1 || sp.style.Hidden {
		return ""
	}
	if prompt := promptPath(runes[0], float64(sp.cols*w.face.w), float64(w.face.h), 0, 0); prompt != "" {
		return prompt
	}
	if runes[0] >= 0x1fb00 && isBox(runes[0]) { // few fonts have them
		var p svgPaths
		m := boxMask(runes[0], sp.cols*w.face.w, w.face.h)
		p.add(m.Pix, m.Stride, 0, 0, "")
		for _, d := range p.paths {
			return d.String()
		}
	}
	if !drawnAlike(runes[0]) {
		return ""
	}
	out, _ := w.face.shape(sp.glyph(runes[0], true))
	return out.path(0, 0)
}

// promptPath is the outline of an arrow of themed prompts in a cell of w by h pixels at left and top; ""
// of all others.
func promptPath(r rune, w, h, left, top float64) string {
	if r < 0xe0b0 || r > 0xe0b3 {
		return ""
	}
	t := max(1, h/12) // of a line, across
	corners := [][2]float64{{0, 0}, {w, h / 2}, {0, h}}
	if r == 0xe0b1 || r == 0xe0b3 {
		corners = [][2]float64{{0, 0}, {w - t, h / 2}, {0, h}, {t, h}, {w, h / 2}, {t, 0}}
	}
	var b strings.Builder
	for i, c := range corners {
		if r >= 0xe0b2 {
			c[0] = w - c[0]
		}
		b.WriteString("ML"[min(i, 1):][:1] + number(left+c[0]) + " " + number(top+c[1]))
	}
	return b.String() + "z"
}

// leadsOut reports whether a page may have a link, which the program chose.
func leadsOut(link string) bool {
	scheme, _, ok := strings.Cut(strings.ToLower(link), ":")
	return ok && (scheme == "http" || scheme == "https" || scheme == "mailto")
}
