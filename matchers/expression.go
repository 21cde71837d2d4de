package matchers

import (
	"bytes"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
)

// An expression is a regular expression that can be interrupted, and that several matchers may
// share.
type expression struct {
	re *regexp.Regexp
	// steps is the number of its program's instructions: a search takes at most this many steps
	// per character.
	steps   int
	prefix  []byte // every match begins with it
	begins  bool   // ^ or \A without (?m): it needs the text's beginning
	ends    bool   // $ or \z without (?m): it needs the text's end
	crosses bool   // a match may contain a line feed
	most    int    // bytes of text that are searched without interruption
	// behind is the expression with a character in front, for searches that begin within a text,
	// when the character before a match matters. nil: it does not.
	behind func() *regexp.Regexp
}

// analyze parses a pattern and counts the instructions of its program. Counted repetitions make
// small texts large, so the size is checked before the pattern is compiled for use.
func analyze(pattern string) (tree *syntax.Regexp, steps int, err error) {
	if tree, err = syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, 0, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, err
	}
	return tree, len(program.Inst), nil
}

// newExpression takes a result of [regexp.Compile]. It panics on one that only
// [regexp.CompilePOSIX] makes.
func newExpression(re *regexp.Regexp) *expression {
	tree, steps, err := analyze(re.String())
	if err != nil {
		panic("matchers: " + err.Error())
	}
	return analyzed(re, tree, steps)
}

func analyzed(re *regexp.Regexp, tree *syntax.Regexp, steps int) *expression {
	e := &expression{re: re, steps: steps, begins: has(tree, syntax.OpBeginText),
		ends: has(tree, syntax.OpEndText), crosses: crosses(tree), most: direct / max(1, steps)}
	// After ^ it is the prefix of what follows.
	if prefix, _ := re.LiteralPrefix(); prefix != "" && !e.begins {
		e.prefix = []byte(prefix)
	}
	if e.begins || has(tree, syntax.OpBeginLine) || has(tree, syntax.OpWordBoundary) ||
		has(tree, syntax.OpNoWordBoundary) {
		e.behind = sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`(?s:.)(?:` +
				re.String() + `)`)
		})
	}
	return e
}

// direct is how many steps an uninterrupted search may take: some 10 ms at 3 ns a step. With more,
// cancelling is slow; with less, more searches are interruptible, which takes three times as long.
const direct = 4 << 20

// hits implements query. The matches are those of [regexp.Regexp.FindAllSubmatchIndex].
func (e *expression) hits(text []byte, patience func() bool, f func(loc []int) bool) error {
	for at, last := 0, -1; at <= len(text); {
		loc, err := e.next(text, at, patience)
		if loc == nil {
			return err
		}
		again := loc[1] == at && loc[0] == last // an empty match right after the one before
		if last = loc[1]; last > at {
			at = last
		} else {
			_, n := utf8.DecodeRune(text[at:])
			at += max(1, n)
		}
		switch {
		case again:
		case !f(loc):
			return nil
		case !patience():
			return engine.ErrInterrupted
		}
	}
	return nil
}

// next returns the first match in text that begins at a byte or later; nil when there is none. A
// long search goes on while patience returns true.
func (e *expression) next(text []byte, at int, patience func() bool) ([]int, error) {
	if e.prefix != nil {
		i := bytes.Index(text[at:], e.prefix)
		if i < 0 {
			return nil, nil
		}
		at += i
	}
	if len(text)-at <= e.most || e.crosses || e.begins || e.ends {
		return e.search(text, at, patience)
	}
	// No match spans lines, so pieces of whole lines give the same matches.
	for at <= len(text) {
		end := len(text)
		if rest := text[at:]; len(rest) > e.most {
			if i := bytes.LastIndexByte(rest[:e.most], '\n'); i >= 0 {
				end = at + i
			} else if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				end = at + i
			}
		}
		if loc, err := e.search(text[:end], at, patience); loc != nil || err != nil {
			return loc, err
		}
		if at = end + 1; at <= len(text) && !patience() {
			return nil, engine.ErrInterrupted
		}
	}
	return nil, nil
}

// search is next for one piece.
func (e *expression) search(text []byte, at int, patience func() bool) (loc []int, err error) {
	re, begin := e.re, at
	behind := e.behind != nil && at > 0
	if behind {
		_, n := utf8.DecodeLastRune(text[:at])
		re, begin = e.behind(), at-n
	}
	if text = text[begin:]; len(text) <= e.most {
		loc = re.FindSubmatchIndex(text)
	} else {
		r := &runeReader{text: text, patience: patience}
		if loc = re.FindReaderSubmatchIndex(r); r.interrupted {
			return nil, engine.ErrInterrupted
		}
	}
	if loc == nil {
		return nil, nil
	}
	if behind {
		_, n := utf8.DecodeRune(text[loc[0]:])
		loc[0] += n
	}
	return shift(loc, begin), nil
}

// shift moves a match by n bytes.
func shift(loc []int, n int) []int {
	for i := range loc {
		if loc[i] >= 0 {
			loc[i] += n
		}
	}
	return loc
}

// A runeReader reads a text while patience returns true.
type runeReader struct {
	text        []byte
	read        int
	patience    func() bool
	interrupted bool
}

// runesAtOnce is how many characters are read between two calls of patience: with the largest
// expression allowed, a few milliseconds.
const runesAtOnce = 1 << 10

func (r *runeReader) ReadRune() (c rune, size int, err error) {
	if r.read++; r.read%runesAtOnce == 0 && !r.patience() {
		r.interrupted = true
	}
	if r.interrupted || len(r.text) == 0 {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return c, size, nil
}

func (e *expression) near(text, where string) (why, nearest string) {
	return unmatched(e.re, text, where)
}
func (e *expression) source() string { return e.re.String() }
func (e *expression) verb() string   { return "matches" }
func (e *expression) spans() bool    { return e.crosses }
func (e *expression) ofScreen() bool { return e.begins || e.ends }
func (e *expression) grows() bool    { return true }

// again implements query. A new match ends in new text, so it begins in the line where the last
// read ended, or in the lookback if the expression may match a line feed. The cut is after a line
// feed, where (?m)^ and \b see what they would see in the whole text.
func (e *expression) again(read []byte) int {
	if e.begins {
		return 0
	}
	if e.crosses {
		read = read[:max(0, len(read)-engine.Lookback)]
	}
	return bytes.LastIndexByte(read, '\n') + 1
}

func (e *expression) groups(text []byte, loc []int) []engine.Group {
	groups := make([]engine.Group, len(loc)/2)
	for i, name := range e.re.SubexpNames() {
		if groups[i].Name = name; loc[2*i] >= 0 {
			groups[i].Text, groups[i].Took = string(text[loc[2*i]:loc[2*i+1]]), true
		}
	}
	return groups
}

func (e *expression) answer(kind string, h *hit) engine.Result {
	capture := h.groups[0].Text
	if len(h.groups) > 1 && h.groups[1].Took {
		capture = h.groups[1].Text
	}
	return matched(engine.Match{Kind: kind, Pattern: e.source(), Capture: capture, Groups: h.groups,
		Place: h.place})
}

// crosses reports whether a match of re may contain a line feed.
func crosses(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass: // pairs of bounds
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, crosses)
}

// has reports whether op occurs anywhere in re.
func has(re *syntax.Regexp, op syntax.Op) bool {
	return re.Op == op ||
		slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return has(sub, op) })
}
