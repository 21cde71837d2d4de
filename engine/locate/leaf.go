package locate

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/nearest"
	"github.com/ptywright/ptywright/internal/tree"
)

// TextOptions say how a text is compared.
type TextOptions struct {
	Exact      bool // it is all that its line has, but for blanks at the ends
	IgnoreCase bool
	Flow       bool // blanks and line ends are one space: for paragraphs that a program wrapped itself
}

// Text finds a text.
func Text(s string, o TextOptions) Locator { return Locator{text{s, o}} }

type text struct {
	want string
	TextOptions
}

func (t text) parts() []node { return nil }

func (t text) words() string {
	s := "text " + quote(t.want)
	for _, f := range []struct {
		on   bool
		word string
	}{{t.Exact, " exact"}, {t.IgnoreCase, " nocase"}, {t.Flow, " flow"}} {
		if f.on {
			s += f.word
		}
	}
	return s
}

// fold makes the text of a character comparable.
func (t text) fold(s string) string {
	if s = norm.NFC.String(s); t.IgnoreCase {
		s = strings.ToLower(s)
	}
	return s
}

func (t text) find(p *page) []Place {
	want := t.fold(t.want)
	if t.Flow {
		want = strings.Join(strings.Fields(want), " ")
	}
	if t.Exact {
		want = strings.TrimSpace(want)
	}
	if want == "" {
		return nil
	}
	var out []Place
	for _, l := range t.lines(p) {
		line := l.Text()
		if !p.step(len(line) + 1) {
			return nil
		}
		if t.Exact {
			start := len(line) - len(strings.TrimLeft(line, " "))
			if strings.TrimSpace(line) == want {
				out = append(out, placeOf(p, &l, start, start+len(want)))
			}
			continue
		}
		for from := 0; ; {
			i := strings.Index(line[from:], want)
			if i < 0 {
				break
			}
			start := from + i
			if from = start + len(want); !l.Whole(start, from) {
				from = start + 1
				continue
			}
			out = append(out, placeOf(p, &l, start, from))
		}
	}
	return out
}

// lines returns what is compared: the lines of the page, folded; with Flow, all as one.
func (t text) lines(p *page) []vt.Line {
	lines := p.screen.LinesIn(p.rect)
	if t.Flow {
		return []vt.Line{t.flow(lines)}
	}
	for i := range lines {
		if ascii := isASCII(lines[i].Text()); ascii && !t.IgnoreCase {
			continue
		}
		var folded vt.Line
		lines[i].EachCell(func(s string, at vt.Span) { folded.Append(t.fold(s), at) })
		lines[i] = folded
	}
	return lines
}

// flow makes one line of all, in which blanks and line ends are single spaces.
func (t text) flow(lines []vt.Line) vt.Line {
	var all vt.Line
	var gap *vt.Span // the blank before the next character; nil: there is none
	begun := false
	for i := range lines {
		end := vt.Span{}
		lines[i].EachCell(func(s string, at vt.Span) {
			if s == " " {
				if gap == nil && begun {
					gap = &at
				}
				return
			}
			if gap != nil {
				all.Append(" ", *gap)
				gap = nil
			}
			all.Append(t.fold(s), at)
			end, begun = vt.Span{Row: at.Row, Col: at.End, End: at.End}, true
		})
		if begun && end.End > 0 {
			gap = &end // no cell: what follows is in another row
		}
	}
	return all
}

// nearest returns the line of the page that comes closest to the text.
func (t text) nearest(p *page) string {
	var lines []string
	for _, l := range p.screen.LinesIn(p.rect) {
		if line := strings.TrimSpace(l.Text()); line != "" {
			lines = append(lines, line)
		}
	}
	line, _ := nearest.Line(t.want, lines)
	return line
}

// Regexp finds what an expression matches in a line, or its first group.
func Regexp(re *regexp.Regexp) Locator {
	steps, err := stepsOf(re.String())
	if err != nil {
		steps = maxProgram
	}
	return Locator{expression{re, steps}}
}

type expression struct {
	re    *regexp.Regexp
	steps int // of its program: a search takes at most so many for a character
}

// Bounds of an expression from outside, those of package matchers.
const (
	maxPattern = 4 << 10 // bytes
	maxProgram = 2000    // instructions
)

// compile compiles an expression from outside.
func compile(pattern string) (node, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("pattern of %d bytes, at most %d are allowed", len(pattern), maxPattern)
	}
	var bad *syntax.Error
	steps, err := stepsOf(pattern)
	switch {
	case errors.As(err, &bad):
		return nil, fmt.Errorf("invalid regular expression: %s: %s", bad.Code, tree.Quote(bad.Expr))
	case err != nil:
		return nil, fmt.Errorf("invalid regular expression: not RE2 syntax")
	case steps > maxProgram:
		return nil, fmt.Errorf("an expression of %d steps, at most %d are allowed; repeat less", steps,
			maxProgram)
	}
	re, err := regexp.Compile(plain(pattern))
	return expression{re, steps}, err
}

// plain writes an expression without \Q and \/: a slash is escaped when it is written in words.
func plain(pattern string) string {
	if strings.Contains(pattern, `\Q`) {
		if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil {
			pattern = parsed.String()
		}
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			if i++; pattern[i] != '/' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// stepsOf counts the instructions of an expression: counted repetitions make small texts large.
func stepsOf(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}

func (e expression) parts() []node { return nil }
func (e expression) words() string {
	return "regex /" + strings.ReplaceAll(e.re.String(), "/", `\/`) + "/"
}

// usualSteps is the size of an expression that costs as much as a text: what people write has fewer.
const usualSteps = 64

func (e expression) find(p *page) []Place {
	var out []Place
	for _, l := range p.screen.LinesIn(p.rect) {
		line := strings.TrimRight(l.Text(), " ")
		if !p.step(len(line)*(1+e.steps/usualSteps) + 1) {
			return nil
		}
		for _, at := range e.re.FindAllStringSubmatchIndex(line, -1) {
			start, end := at[0], at[1]
			if len(at) > 2 && at[2] >= 0 {
				start, end = at[2], at[3]
			}
			if start < end && l.Whole(start, end) {
				out = append(out, placeOf(p, &l, start, end))
			}
		}
	}
	return out
}

// Style finds the longest stretches of cells that have all of these colours and attributes.
func Style(s Look) Locator { return Locator{style{s}} }

// A Look is what of a style is asked for, in words: "fg=green bold". A colour may be default.
type Look struct {
	want vt.Style
	// which default colours were named
	defaultFG, defaultBG bool
	text                 string
}

// ParseLook reads a Look.
func ParseLook(words string) (Look, error) {
	l := Look{text: words}
	var rest []string
	for w := range strings.FieldsSeq(words) {
		switch w {
		case "fg=default":
			l.defaultFG = true
		case "bg=default":
			l.defaultBG = true
		default:
			rest = append(rest, w)
		}
	}
	if len(rest) == 0 && !l.defaultFG && !l.defaultBG {
		return Look{}, fmt.Errorf("no style is named")
	}
	var err error
	l.want, err = vt.ParseStyle(strings.Join(rest, " "))
	return l, err
}

// in reports whether a style has all that is asked for.
func (l Look) in(s vt.Style) bool {
	w := l.want
	on := func(want, got bool) bool { return !want || got }
	color := func(want, got vt.Color) bool { return want.IsDefault() || want == got }
	return color(w.Foreground, s.Foreground) && color(w.Background, s.Background) &&
		color(w.UnderlineColor, s.UnderlineColor) &&
		on(l.defaultFG, s.Foreground.IsDefault()) && on(l.defaultBG, s.Background.IsDefault()) &&
		on(w.Bold, s.Bold) && on(w.Dim, s.Dim) && on(w.Italic, s.Italic) &&
		on(w.Inverse, s.Inverse) && on(w.Strike, s.Strike) && on(w.Hidden, s.Hidden) &&
		on(w.Blink, s.Blink) && on(w.Overline, s.Overline) &&
		(w.Underline == vt.UnderlineNone || w.Underline == s.Underline) &&
		(w.Link == "" || w.Link == s.Link)
}

// seen reports whether the style shows on a blank cell.
func (l Look) seen() bool {
	w := l.want
	return !w.Background.IsDefault() || l.defaultBG || w.Inverse || w.Strike || w.Overline ||
		w.Underline != vt.UnderlineNone
}

type style struct{ look Look }

func (s style) parts() []node { return nil }
func (s style) words() string { return "style " + quote(s.look.text) }

func (s style) find(p *page) []Place {
	return runs(p, s.look.in, s.look.seen())
}

// Link finds the text of hyperlinks (OSC 8) whose URI contains a text.
func Link(uri string) Locator { return Locator{link{uri}} }

type link struct{ uri string }

func (l link) parts() []node { return nil }
func (l link) words() string { return "link " + quote(l.uri) }

func (l link) find(p *page) []Place {
	return runs(p, func(s vt.Style) bool { return s.Link != "" && strings.Contains(s.Link, l.uri) }, true)
}

// runs finds the longest stretches of cells whose style is one of those asked for. Where it does not
// show on blanks, a stretch has none at its ends.
func runs(p *page, is func(vt.Style) bool, onBlanks bool) []Place {
	var out []Place
	for _, l := range p.screen.LinesIn(p.rect) {
		var spans []vt.Span
		var link string // two links side by side are two
		end := func() {
			if spans = trim(p, spans, onBlanks); len(spans) > 0 {
				out = append(out, p.place(spans))
			}
			spans = nil
		}
		l.EachCell(func(_ string, at vt.Span) {
			s := p.screen.Cell(at.Row, at.Col).Style
			p.step(1)
			if !is(s) || s.Link != link {
				end()
			}
			if link = s.Link; !is(s) {
				return
			}
			if n := len(spans); n > 0 && spans[n-1].Row == at.Row {
				spans[n-1].End = at.End
			} else {
				spans = append(spans, at)
			}
		})
		end()
	}
	return out
}

// trim removes blank cells from the ends of a stretch; all of them when onBlanks is false and there
// is nothing else.
func trim(p *page, spans []vt.Span, onBlanks bool) []vt.Span {
	blank := func(row, col int) bool {
		c := p.screen.Cell(row, col)
		return !c.Continuation && strings.TrimSpace(c.Text) == ""
	}
	for !onBlanks && len(spans) > 0 {
		first, last := &spans[0], &spans[len(spans)-1]
		switch {
		case first.Col >= first.End:
			spans = spans[1:]
		case last.Col >= last.End:
			spans = spans[:len(spans)-1]
		case blank(first.Row, first.Col):
			first.Col++
		case blank(last.Row, last.End-1):
			last.End--
		default:
			return spans
		}
	}
	return spans
}

// Cursor finds the cell of the cursor, unless it is hidden.
func Cursor() Locator { return Locator{cursor{}} }

type cursor struct{}

func (cursor) parts() []node { return nil }
func (cursor) words() string { return "cursor" }

func (cursor) find(p *page) []Place {
	c := p.screen.Cursor
	if !c.Visible || !holds(p.rect, c.Row, c.Col) {
		return nil
	}
	col, end := c.Col, c.Col+1
	if p.screen.Cell(c.Row, col).Continuation {
		col--
	} else if p.screen.Cell(c.Row, col).Wide {
		end++
	}
	return []Place{p.place([]vt.Span{{Row: c.Row, Col: col, End: end}})}
}

func holds(r vt.Rect, row, col int) bool {
	return row >= r.Row && row < r.Row+r.Rows && col >= r.Col && col < r.Col+r.Cols
}

// Rect finds a rectangle. Negative rows and columns count from the end: -1 is the last. No rows or
// columns (0) reach to the end.
func Rect(r vt.Rect) Locator { return Locator{rect{r}} }

type rect struct{ vt.Rect }

func (r rect) parts() []node { return nil }
func (r rect) words() string { return "rect " + r.String() }

func (r rect) find(p *page) []Place {
	from := func(at, size, first, n int) (int, int) {
		if at < 0 {
			at += n
		}
		if size <= 0 {
			size = n
		}
		return first + max(at, 0), first + min(at+size, n)
	}
	top, bottom := from(r.Row, r.Rows, p.rect.Row, p.rect.Rows)
	left, right := from(r.Col, r.Cols, p.rect.Col, p.rect.Cols)
	return p.block(top, left, bottom, right)
}

// block returns the place of a rectangle of cells; none when it is empty.
func (p *page) block(top, left, bottom, right int) []Place {
	if top >= bottom || left >= right || !p.step(bottom-top) {
		return nil
	}
	var spans []vt.Span
	for y := top; y < bottom; y++ {
		spans = append(spans, vt.Span{Row: y, Col: left, End: right})
	}
	return []Place{p.place(spans)}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] > unicode.MaxASCII {
			return false
		}
	}
	return true
}

func quote(s string) string {
	if !strings.ContainsRune(s, '\'') && strconv.CanBackquote(s) {
		return "'" + s + "'"
	}
	return strconv.Quote(s)
}
