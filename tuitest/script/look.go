package script

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/internal/nearest"
	"github.com/ptywright/ptywright/matchers"
)

// A look is what a wait or an expectation looks for.
type look struct {
	words string
	// make returns a matcher: of an event, whose waits have a position, or of a state.
	make func(p *player, event bool) matchers.Matcher
}

// looks are the words that begin a look beside those of a locator.
var looks = []string{"text", "regex", "title", "cursor", "stable", "bell", "command", "style", "link",
	"rect", "box", "lines", "cross", "first", "last", "nth"}

// bounds are what may stand behind a look.
type bounds struct {
	within time.Duration // 0: the script's
	hold   time.Duration // for how long it has to hold
	count  int           // exactly so many places; -1: any number but 0
}

// tail cuts the words of bounds off the end of a text.
func (a *args) tail(text string, col int, allowed ...string) (rest string, b bounds, err error) {
	b.count = -1
	for {
		value := lastWord(text)
		before := strings.TrimRight(strings.TrimSuffix(text, value), " \t")
		word := lastWord(before)
		at := col + strings.LastIndex(text, value)
		known := word == "within" || word == "for" || word == "count"
		if !known || before == word {
			return text, b, nil
		}
		d, derr := time.ParseDuration(value)
		n, nerr := strconv.Atoi(value)
		switch {
		case word == "count" && nerr != nil, word != "count" && derr != nil:
			return text, b, nil // such as within 20 of a locator
		case !slices.Contains(allowed, word):
			return "", b, a.fail(at, "%s takes no %s", a.verb.name, word)
		case word == "count":
			if n < 1 || n > 1000 {
				return "", b, a.fail(at, "count is 1 to 1000; ! expect says that there is none")
			}
			b.count = n
		default:
			if _, err = a.duration(at, value); err != nil {
				return "", b, err
			}
			if word == "for" {
				b.hold = d
			} else {
				b.within = d
			}
		}
		text = strings.TrimRight(strings.TrimSuffix(before, word), " \t")
	}
}

func lastWord(s string) string { return s[strings.LastIndexAny(s, " \t")+1:] }

// look reads what is looked for.
func (a *args) look(allowed ...string) (look, bounds, error) {
	text, col := uncommented(a.line, a.at)
	if text == "" {
		return look{}, bounds{}, a.usage()
	}
	rest, b, err := a.tail(text, col, allowed...)
	if err != nil {
		return look{}, b, err
	}
	l := look{words: text}
	if l.make, err = a.maker(rest, col, b); err != nil {
		err = a.bare(rest, col, err)
	}
	return l, b, err
}

// bare returns the error of a text that could not be read, or, where it ends in a bound without a
// unit, what that bound wants.
func (a *args) bare(text string, col int, err error) error {
	value := lastWord(text)
	word := lastWord(strings.TrimRight(strings.TrimSuffix(text, value), " \t"))
	at := col + strings.LastIndex(text, value)
	switch {
	case value == "within" || value == "for":
		word, value = value, ""
	case word != "within" && word != "for":
		return err
	}
	example := map[string]string{"within": "5s", "for": "200ms"}[word]
	if _, nerr := strconv.ParseFloat(value, 64); value != "" && nerr != nil {
		return err
	}
	return a.fail(at, "%s needs a time such as %s", word, example)
}

var (
	cursorAt  = lazy.Regexp(`^cursor (\d{1,4}),(\d{1,4})$`)
	plainText = lazy.Regexp(`^(?:text[ \t]+)?'([^']+)'$`)
)

// maker reads a look without what stands behind it.
func (a *args) maker(text string, col int, b bounds) (func(*player, bool) matchers.Matcher, error) {
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	valueCol := col + strings.LastIndex(text, rest)
	if b.count < 0 {
		switch word {
		case "title":
			re, err := textOrPattern(rest)
			if err != nil {
				return nil, a.fail(valueCol, "title wants 'a text' or an /expression/: %v", err)
			}
			return func(*player, bool) matchers.Matcher { return matchers.Title(re) }, nil
		case "stable":
			d, err := a.duration(valueCol, rest)
			return func(*player, bool) matchers.Matcher { return stable(d) }, err
		case "bell":
			switch {
			case rest != "":
				return nil, a.fail(valueCol, "bell takes nothing behind it")
			case a.step.Kind != Event:
				return nil, a.fail(col, "a bell is an event: say wait bell")
			}
			return func(*player, bool) matchers.Matcher { return matchers.Bell() }, nil
		case "command":
			return a.command(rest, col, valueCol)
		}
		if m := cursorAt().FindStringSubmatch(text); m != nil {
			row, _ := strconv.Atoi(m[1])
			column, _ := strconv.Atoi(m[2])
			return func(*player, bool) matchers.Matcher { return matchers.Cursor(row, column) }, nil
		}
		if m := plainText().FindStringSubmatch(text); m != nil {
			return ofText(func() *matchers.TextMatcher { return matchers.Text(m[1]) }), nil
		}
		if word == "regex" || strings.HasPrefix(text, "/") {
			pattern, behind, ok := locate.CutPattern(strings.TrimSpace(strings.TrimPrefix(text, "regex")))
			if ok && behind == "" {
				if _, err := matchers.Compile(pattern); err != nil {
					return nil, a.fail(col, "%v", err)
				}
				re, err := matchers.Compile("(?m)" + pattern)
				if err != nil {
					return nil, a.fail(col, "%v", err)
				}
				return ofText(func() *matchers.TextMatcher { return matchers.Regexp(re) }), nil
			}
		}
	}
	l, err := a.locator(text, col)
	if err != nil {
		return nil, err
	}
	return func(p *player, event bool) matchers.Matcher {
		return p.located(l, text, b.count, event)
	}, nil
}

// ofText looks for a text: for an event in what scrolls off, too.
func ofText(make func() *matchers.TextMatcher) func(*player, bool) matchers.Matcher {
	return func(_ *player, event bool) matchers.Matcher {
		if event {
			return make()
		}
		return matchers.State(make())
	}
}

// command reads "command [CODE]".
func (a *args) command(rest string, col, valueCol int) (func(*player, bool) matchers.Matcher, error) {
	if a.step.Kind != Event {
		return nil, a.fail(col, "the end of a command is an event: say wait command")
	}
	if rest == "" {
		return func(*player, bool) matchers.Matcher { return matchers.Command() }, nil
	}
	code, err := strconv.Atoi(rest)
	if err != nil || code < 0 || code > 255 {
		return nil, a.fail(valueCol, "%s is not an exit code from 0 to 255", quote(rest))
	}
	return func(*player, bool) matchers.Matcher { return matchers.CommandExit(code) }, nil
}

// textOrPattern reads 'a text' or /an expression/.
func textOrPattern(s string) (*regexp.Regexp, error) {
	if pattern, behind, ok := locate.CutPattern(s); ok && behind == "" {
		return matchers.Compile(pattern)
	}
	words, err := wordsOf(s, 0)
	if err != nil {
		return nil, err
	}
	if len(words) == 1 && (s[0] == '\'' || s[0] == '"') {
		if text, ok := words[0].plain(); ok {
			return matchers.Compile(regexp.QuoteMeta(text))
		}
	}
	return nil, errors.New("got " + quote(s))
}

// behindPlaces are the words that may stand behind a place, and behind those of each verb.
var (
	behindPlaces = []string{"and", "or", "in", "has", "lacks", "right_of", "left_of", "above", "below",
		"exact", "nocase", "flow"}
	behind = map[string][]string{
		"wait": {"within"}, "expect": {"count", "for", "within"}, "click": {"button", "times", "within"},
		"drag": {"to", "within"}, "scroll": {"within"},
	}
)

// locator reads a locator, and says where in the line it is wrong.
func (a *args) locator(text string, col int) (locate.Locator, error) {
	l, err := locate.Parse(text)
	if err == nil {
		return l, nil
	}
	at := (*locate.ParseError)(nil)
	if !errors.As(err, &at) {
		return l, &wordError{col, err.Error()}
	}
	e := &likelyError{wordError: wordError{col + min(at.At, len(text)), at.Msg}}
	if strings.HasPrefix(at.Msg, "unexpected ") {
		word, _, _ := strings.Cut(text[min(at.At, len(text)):], " ")
		known := append(slices.Clone(behindPlaces), behind[a.verb.name]...)
		if len(word) > 2 { // "on" is no "or"
			e.likely = nearest.Of(word, known)
		}
		e.msg += ": here may stand " + strings.Join(known, ", ")
	}
	if at.Unknown != "" {
		e.likely = nearest.Of(at.Unknown, looks)
		if e.likely == "" && at.At == 0 {
			e.msg += "; a text is quoted: 'some text'"
		}
	}
	return l, e
}

// located matches views with so many places of a locator, or with any; of an event, one of them has
// to be in a row that has been written since.
func (p *player) located(l locate.Locator, words string, count int, event bool) matchers.Matcher {
	fresh := func(v *engine.View, places []locate.Place) bool {
		if !event || !v.Since.Set {
			return true
		}
		c := v.Screen.Cursor
		for _, place := range places {
			for _, s := range place.Spans {
				if v.Screen.Changed(s.Row) > v.Since.Seq {
					return true
				}
			}
			if place.Has(c.Row, c.Col) && p.cursorMoved(v) {
				return true
			}
		}
		return false
	}
	return &matchers.Custom{
		Kind: "located", Value: words,
		Ask: func(v *engine.View) engine.Result {
			places, err := l.All(v.Screen)
			if err != nil {
				return engine.Result{Err: err}
			}
			if len(places) == 0 || count >= 0 && len(places) != count || !fresh(v, places) {
				return engine.Result{}
			}
			return engine.Matched("located")
		},
		Why: func(v *engine.View, held bool) string {
			if held {
				return "it is there"
			}
			places, err := l.All(p.drive.Shown(v))
			switch {
			case err != nil:
				return err.Error()
			case len(places) == 0:
				if _, err := l.One(p.drive.Shown(v)); err != nil {
					return err.Error()
				}
				return "found nothing"
			case count >= 0 && len(places) != count:
				return fmt.Sprintf("found %d places, expected %d", len(places), count)
			}
			return "the screen has it, but nothing of it was written after the last input"
		},
	}
}

func parseWait(a *args) (action, error) {
	l, b, err := a.look("within")
	return &wait{l, b.within}, err
}

func parseExpect(a *args) (action, error) {
	l, b, err := a.look("within", "for", "count")
	return &expect{l, b, a.step.Not}, err
}

// maxGoldenName bounds the name of a golden screen.
const maxGoldenName = 64

var goldenName = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func parseScreen(a *args) (action, error) {
	text, col := uncommented(a.line, a.at)
	text, b, err := a.tail(text, col, "within", "for")
	if err != nil {
		return nil, err
	}
	if err := a.bare(text, col, nil); err != nil {
		return nil, err
	}
	words, err := wordsOf(text, 0)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, a.usage()
	}
	s := &screen{bounds: b, parts: golden.All}
	for i := 0; i < len(words); i++ {
		at := col + words[i].col
		name, ok := words[i].plain()
		if !ok {
			return nil, a.fail(at, "a variable cannot stand here")
		}
		if i == 0 {
			if len(name) > maxGoldenName || !goldenName().MatchString(name) {
				return nil, a.fail(at, "%s is not a name: letters, digits, dots, hyphens and underscores", quote(name))
			}
			s.name = name
			continue
		}
		switch name {
		case "text":
			s.parts = golden.Text
		case "no-styles":
			s.parts &^= golden.Styles
		case "no-cursor":
			s.parts &^= golden.Cursor
		case "no-title":
			s.parts &^= golden.Title
		case "no-modes":
			s.parts &^= golden.Modes
		case "region":
			if i+2 >= len(words) {
				return nil, a.fail(at, "region wants ROW,COL ROWSxCOLS")
			}
			r, err := region(words[i+1], words[i+2])
			if err != nil {
				return nil, a.fail(col+words[i+1].col, "%v", err)
			}
			s.region = r
			i += 2
		default:
			return nil, a.oneOf(at, name, "text", "no-styles", "no-cursor", "no-title", "no-modes",
				"region", "for", "within")
		}
	}
	return s, nil
}

// region reads "ROW,COL ROWSxCOLS".
func region(at, size word) (*vt.Rect, error) {
	place, _ := at.plain()
	r, c, ok := strings.Cut(place, ",")
	row, err := strconv.ParseUint(r, 10, 16)
	col, err2 := strconv.ParseUint(c, 10, 16)
	text, _ := size.plain()
	s, sized := parseSize(text)
	if !ok || err != nil || err2 != nil || !sized {
		return nil, fmt.Errorf("%s %s is not a region: ROW,COL ROWSxCOLS, such as 0,0 5x40", place, text)
	}
	return &vt.Rect{Row: int(row), Col: int(col), Rows: s.Rows, Cols: s.Cols}, nil
}

func parseClick(a *args) (action, error) {
	text, col := uncommented(a.line, a.at)
	c := &click{button: vt.MouseLeft, times: 1}
	for {
		value := lastWord(text)
		before := strings.TrimRight(strings.TrimSuffix(text, value), " \t")
		word := lastWord(before)
		at := col + strings.LastIndex(text, value)
		rest, b, err := a.tail(text, col, "within")
		if err != nil {
			return nil, err
		}
		if rest != text {
			c.within, text = b.within, rest
			continue
		}
		switch word {
		case "button":
			buttons := map[string]vt.MouseButtonCode{"left": vt.MouseLeft, "middle": vt.MouseMiddle,
				"right": vt.MouseRight}
			if err := a.oneOf(at, value, "left", "middle", "right"); err != nil {
				return nil, err
			}
			c.button = buttons[value]
		case "times":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > 3 {
				return nil, a.fail(at, "times is 1 to 3")
			}
			c.times = n
		default:
			if text == "" {
				return nil, a.usage()
			}
			c.words = text
			if c.at, err = a.locator(text, col); err != nil {
				err = a.bare(text, col, err)
			}
			return c, err
		}
		text = strings.TrimRight(strings.TrimSuffix(before, word), " \t")
	}
}

func parseDrag(a *args) (action, error) {
	text, col := uncommented(a.line, a.at)
	text, b, err := a.tail(text, col, "within")
	if err != nil {
		return nil, err
	}
	i := outside(text, " to ")
	if i < 0 {
		return nil, a.usage()
	}
	d := &drag{fromWords: strings.TrimSpace(text[:i]), within: b.within}
	if d.from, err = a.locator(d.fromWords, col); err != nil {
		return nil, err
	}
	d.toWords = text[i+len(" to "):]
	d.to, err = a.locator(d.toWords, col+i+len(" to "))
	return d, err
}

// outside returns where a word stands that is not within quotes or an expression; -1: nowhere.
func outside(text, word string) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], word):
			return i
		case c == '\'':
			i += max(strings.IndexByte(text[i+1:], '\'')+1, 0)
		case c == '"':
			if q, err := strconv.QuotedPrefix(text[i:]); err == nil {
				i += len(q) - 1
			}
		case c == '/':
			i += closing(text[i:])
		}
	}
	return -1
}

func parseScroll(a *args) (action, error) {
	text, col := uncommented(a.line, a.at)
	text, b, err := a.tail(text, col, "within")
	if err != nil {
		return nil, err
	}
	s := &scroll{times: 1, button: vt.MouseWheelUp, within: b.within}
	if i := outside(text+" ", " at "); i >= 0 {
		s.words = strings.TrimSpace((text + " ")[i+len(" at "):])
		if s.at, err = a.locator(s.words, col+i+len(" at ")); err != nil {
			return nil, err
		}
		text = text[:i]
	}
	words := strings.Fields(text)
	if len(words) == 0 || len(words) > 2 {
		return nil, a.usage()
	}
	if err := a.oneOf(col, words[0], "up", "down"); err != nil {
		return nil, err
	}
	if words[0] == "down" {
		s.button = vt.MouseWheelDown
	}
	if len(words) == 2 {
		n, err := strconv.Atoi(words[1])
		if err != nil || n < 1 || n > 100 {
			return nil, a.fail(col+strings.LastIndex(text, words[1]), "%s is not a number of steps from 1 to 100",
				quote(words[1]))
		}
		s.times = n
	}
	return s, nil
}
