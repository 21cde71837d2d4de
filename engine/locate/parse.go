package locate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ptywright/ptywright/engine/vt"
)

// Bounds of a locator from outside.
const (
	// MaxParts is how many parts a locator may have; people write five.
	MaxParts = 256
	// MaxDepth is how deep they may be nested.
	MaxDepth = 32
	// maxText bounds its text, in bytes.
	maxText = 16 << 10
)

// A ParseError says what is wrong with the words of a locator, and where.
type ParseError struct {
	At  int // the byte
	Msg string
	// Unknown is the word at At that no locator has where a place should be named; "": something
	// else is wrong.
	Unknown string
}

func (e *ParseError) Error() string { return fmt.Sprintf("locator, at byte %d: %s", e.At, e.Msg) }

// Parse reads a locator in words:
//
//	text 'Commit' in box 'Menu'
//	'b.txt' exact
//	regex /(\d+) files/
//	lines ('b.txt' and style 'fg=green bold')
//	cross 'b.txt' 'Size'
//	last (link 'https://' right_of 'See' within 20)
//
// A quoted text may stand alone for text; exact, nocase and flow may follow it. The operators in, has,
// lacks, right_of, left_of, above and below bind before and, and that before or.
//
// With a [Guesser] there are also selected, field 'Name:' and guess 'plugin' 'predicate', behind
// which may stand its params as JSON, in quotes. The error is a [*ParseError].
func Parse(s string) (Locator, error) { return ParseWith(s, Options{}) }

// ParseWith is Parse with options.
func ParseWith(s string, o Options) (Locator, error) {
	if len(s) > maxText {
		return Locator{}, &ParseError{At: maxText, Msg: fmt.Sprintf("it has more than %d bytes", maxText)}
	}
	parts := 0
	p := &parser{text: s, parts: &parts, Options: o}
	n, err := p.whole(0)
	if err != nil {
		return Locator{}, err
	}
	return Locator{n}, nil
}

// whole parses all of the words.
func (p *parser) whole(depth int) (node, error) {
	n, err := p.or(depth)
	if err == nil && p.peek() != "" {
		err = p.fail("unexpected %s", p.peek())
	}
	return n, err
}

type parser struct {
	Options
	text  string
	at    int
	parts *int // so far, of all that belongs to one locator
}

func (p *parser) fail(format string, a ...any) error {
	return &ParseError{At: p.at, Msg: fmt.Sprintf(format, a...)}
}

func (p *parser) blanks() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// peek returns the next token, "" at the end: a word, a parenthesis, or the opening of a quoted text
// or an expression.
func (p *parser) peek() string {
	p.blanks()
	rest := p.text[p.at:]
	if rest == "" {
		return ""
	}
	if strings.ContainsRune(`()'"/`, rune(rest[0])) {
		return rest[:1]
	}
	end := strings.IndexFunc(rest, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune(`()'"/`, c)
	})
	if end < 0 {
		end = len(rest)
	}
	return rest[:end]
}

// take takes the next token if it is this one.
func (p *parser) take(token string) bool {
	if p.peek() != token {
		return false
	}
	p.at += len(token)
	return true
}

// or parses alternatives.
func (p *parser) or(depth int) (node, error) {
	return p.chain(depth, "or", p.and, func(n []node) node { return anyOf(n) })
}

// and parses what must hold at once.
func (p *parser) and(depth int) (node, error) {
	return p.chain(depth, "and", p.relation, func(n []node) node { return allOf(n) })
}

func (p *parser) chain(depth int, word string, next func(int) (node, error), make func([]node) node) (node, error) {
	first, err := next(depth)
	all := []node{first}
	for err == nil && p.take(word) {
		var n node
		n, err = next(depth)
		all = append(all, n)
	}
	if err != nil || len(all) == 1 {
		return first, err
	}
	return make(all), nil
}

// relation parses a place and what it is in, has or is beside.
func (p *parser) relation(depth int) (node, error) {
	n, err := p.unary(depth)
	for err == nil {
		word := p.peek()
		var of node
		switch word {
		case "in", "has", "lacks", string(RightOf), string(LeftOf), string(Above), string(Below):
			p.at += len(word)
			if of, err = p.unary(depth); err != nil {
				return nil, err
			}
		default:
			return n, nil
		}
		switch word {
		case "in":
			n = in{n, of}
		case "has", "lacks":
			n = has{n, of, word == "has"}
		default:
			b := beside{n, of, Side(word), 0}
			if p.take("within") {
				b.within, err = p.number()
				if err == nil && b.within < 1 {
					err = p.fail("within wants a number of cells from 1")
				}
			}
			n = b
		}
	}
	return nil, err
}

// unary parses what stands before a place, and the place.
func (p *parser) unary(depth int) (node, error) {
	if *p.parts++; *p.parts > MaxParts || depth > MaxDepth {
		return nil, p.fail("more than %d parts, or nested deeper than %d", MaxParts, MaxDepth)
	}
	word := p.peek()
	switch word {
	case "first", "last", "nth", "lines", "cross":
		p.at += len(word)
	default:
		return p.primary(depth)
	}
	n := map[string]int{"last": -1}[word]
	if word == "nth" {
		var err error
		if n, err = p.number(); err != nil {
			return nil, err
		}
	}
	of, err := p.unary(depth + 1)
	if err != nil {
		return nil, err
	}
	switch word {
	case "lines":
		return lines{of}, nil
	case "cross":
		col, err := p.unary(depth + 1)
		return cross{of, col}, err
	}
	return pick{of, n}, nil
}

// primary parses a leaf, or what stands in parentheses.
func (p *parser) primary(depth int) (node, error) {
	word := p.peek()
	switch word {
	case "'", `"`:
		return p.leafText()
	case "/":
		return p.regex()
	case "":
		return nil, p.fail("the locator ends where a place should be named, such as 'text' or box")
	}
	p.at += len(word)
	switch word {
	case "(":
		n, err := p.or(depth + 1)
		if err == nil && !p.take(")") {
			err = p.fail("a parenthesis is not closed")
		}
		return n, err
	case "text":
		return p.leafText()
	case "regex":
		return p.regex()
	case "style":
		s, err := p.quoted()
		if err != nil {
			return nil, err
		}
		look, err := ParseLook(s)
		if err != nil {
			return nil, p.fail("%v", err)
		}
		return style{look}, nil
	case "link":
		s, err := p.quoted()
		return link{s}, err
	case "cursor":
		return cursor{}, nil
	case "rect":
		return p.rect()
	case "selected", "field", "guess":
		return p.guess(word)
	case "box":
		switch p.peek() {
		case "'", `"`:
			t, err := p.quoted()
			return box{text{want: t}}, err
		case "(":
			title, err := p.primary(depth + 1)
			return box{title}, err
		}
		return box{}, nil
	}
	p.at -= len(word)
	msg := fmt.Sprintf("unknown word %q: have text, regex, style, link, cursor, rect, box, lines, "+
		"cross, first, last, nth", clip(word))
	return nil, &ParseError{At: p.at, Msg: msg, Unknown: word}
}

func (p *parser) leafText() (node, error) {
	s, err := p.quoted()
	if err != nil {
		return nil, err
	}
	if s == "" {
		return nil, p.fail("an empty text is everywhere")
	}
	t := text{want: s}
	for {
		switch {
		case p.take("exact"):
			t.Exact = true
		case p.take("nocase"):
			t.IgnoreCase = true
		case p.take("flow"):
			t.Flow = true
		default:
			return t, nil
		}
	}
}

// quoted reads 'as it is' or "as Go has it".
func (p *parser) quoted() (string, error) {
	p.blanks()
	rest := p.text[p.at:]
	if strings.HasPrefix(rest, "'") {
		end := strings.IndexByte(rest[1:], '\'')
		if end < 0 {
			return "", p.fail("a quoted text is not closed")
		}
		p.at += end + 2
		return rest[1 : end+1], nil
	}
	q, err := strconv.QuotedPrefix(rest)
	if err != nil || rest[0] != '"' {
		return "", p.fail(`expected a 'quoted text'`)
	}
	p.at += len(q)
	return strconv.Unquote(q)
}

func (p *parser) regex() (node, error) {
	p.blanks()
	pattern, rest, ok := CutPattern(p.text[p.at:])
	if !ok {
		return nil, p.fail("expected a /regular expression/, closed by a slash")
	}
	n, err := compile(pattern)
	if err != nil {
		return nil, p.fail("%v", err)
	}
	p.at = len(p.text) - len(rest)
	return n, nil
}

// CutPattern cuts /pattern/ off the beginning of s; within it \/ is a slash. ok is false when s does
// not begin with one that is closed.
func CutPattern(s string) (pattern, rest string, ok bool) {
	if !strings.HasPrefix(s, "/") {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '/':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			if i++; s[i] != '/' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(s[i])
	}
	return "", s, false
}

func (p *parser) number() (int, error) {
	word := p.peek()
	n, err := strconv.ParseInt(word, 10, 16)
	if err != nil {
		return 0, p.fail("expected a number, not %q", clip(word))
	}
	p.at += len(word)
	return int(n), nil
}

// rect reads "row,column rowsxcolumns"; the size may be left out.
func (p *parser) rect() (node, error) {
	var r vt.Rect
	at := p.peek()
	row, col, ok := strings.Cut(at, ",")
	y, err := strconv.ParseInt(row, 10, 16)
	x, err2 := strconv.ParseInt(col, 10, 16)
	if !ok || err != nil || err2 != nil {
		return nil, p.fail("rect wants ROW,COLUMN, from 0 or negative from the end, not %q", clip(at))
	}
	p.at += len(at)
	r.Row, r.Col = int(y), int(x)
	size := p.peek()
	h, w, ok := strings.Cut(size, "x")
	height, err := strconv.ParseUint(h, 10, 15)
	width, err2 := strconv.ParseUint(w, 10, 15)
	if ok && err == nil && err2 == nil {
		p.at += len(size)
		r.Rows, r.Cols = int(height), int(width)
	}
	return rect{r}, nil
}

// guess reads what a plugin is asked: a word of [Library], or the names of plugin and predicate.
func (p *parser) guess(word string) (node, error) {
	g := guess{plugin: Library, predicate: word}
	var err error
	switch word {
	case "field":
		var label string
		if label, err = p.quoted(); err == nil {
			g.params = map[string]any{"label": label}
		}
	case "guess":
		if g.plugin, err = p.quoted(); err != nil {
			return nil, err
		}
		if g.predicate, err = p.quoted(); err != nil {
			return nil, err
		}
		if next := p.peek(); next == "'" || next == `"` {
			var params string
			if params, err = p.quoted(); err == nil && json.Unmarshal([]byte(params), &g.params) != nil {
				return nil, p.fail("the params of a guess are JSON in quotes")
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if err := g.resolve(p.Options); err != nil {
		return nil, p.fail("%v", err)
	}
	return g, nil
}
