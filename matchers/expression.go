package matchers

import (
	"bytes"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
)

// An expression is a regular expression that can be interrupted, and that several matchers may share.
type expression struct {
	re      *regexp.Regexp
	steps   int    // instructions of its program: a search takes at most this many steps a character
	prefix  []byte // every match begins with it
	begins  bool   // ^ or \A without (?m): it asks for the text's beginning
	ends    bool   // $ or \z without (?m): for its end
	crosses bool   // a match may hold a line feed
	most    int    // bytes of a text that is searched without interruption
}

func newExpression(re *regexp.Regexp, tree *syntax.Regexp, steps int) *expression {
	e := &expression{re: re, steps: steps, begins: has(tree, syntax.OpBeginText), ends: has(tree, syntax.OpEndText), crosses: crosses(tree), most: direct / max(1, steps)}
	if prefix, _ := re.LiteralPrefix(); prefix != "" && !e.begins { // behind ^ it is the prefix of what follows
		e.prefix = []byte(prefix)
	}
	return e
}

// String returns the expression as it was written.
func (e *expression) String() string { return e.re.String() }

// direct is how many steps a search may take that is not interrupted: some 10 ms at 3 ns a step. With more, cancelling is slow;
// with less, more searches take the interruptible way, which takes three times as long.
const direct = 4 << 20

// hits implements query. The matches are those of [regexp.Regexp.FindAllSubmatchIndex].
func (e *expression) hits(text []byte, patience func() bool, f func(loc []int) bool) error {
	if e.prefix != nil && !bytes.Contains(text, e.prefix) {
		return nil
	}
	if len(text) <= e.most {
		e.all(text, f)
		return nil
	}
	if e.crosses || e.begins || e.ends {
		return e.patiently(text, patience, f)
	}
	// No match spans lines, so that pieces of whole lines give the same matches.
	more := true
	for at := 0; more && at <= len(text); {
		end := len(text)
		if rest := text[at:]; len(rest) > e.most {
			if i := bytes.LastIndexByte(rest[:e.most], '\n'); i >= 0 {
				end = at + i
			} else if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				end = at + i
			}
		}
		begin := at
		shifted := func(loc []int) bool {
			more = f(shift(loc, begin))
			return more
		}
		if piece := text[at:end]; len(piece) <= e.most {
			e.all(piece, shifted)
		} else if err := e.patiently(piece, patience, shifted); err != nil {
			return err
		}
		if at = end + 1; !patience() && more && at <= len(text) {
			return engine.ErrInterrupted
		}
	}
	return nil
}

// all tells the matches in text. Most callers want the first only.
func (e *expression) all(text []byte, f func(loc []int) bool) {
	loc := e.re.FindSubmatchIndex(text)
	if loc == nil || !f(loc) {
		return
	}
	for _, loc := range e.re.FindAllSubmatchIndex(text, -1)[1:] {
		if !f(loc) {
			return
		}
	}
}

// patiently is all for what takes long: it reads the text character by character, for as long as there is patience.
func (e *expression) patiently(text []byte, patience func() bool, f func(loc []int) bool) error {
	for at := 0; at <= len(text); {
		if e.prefix != nil { // nothing stands before it that it could depend on
			i := bytes.Index(text[at:], e.prefix)
			if i < 0 {
				return nil
			}
			at += i
		}
		r := &runeReader{text: text[at:], patience: patience}
		loc := e.re.FindReaderSubmatchIndex(r)
		if r.interrupted {
			return engine.ErrInterrupted
		}
		if loc == nil || !f(shift(loc, at)) || e.begins {
			return nil
		}
		next := at + loc[1]
		if loc[0] == loc[1] && next < len(text) {
			_, n := utf8.DecodeRune(text[next:])
			next += n
		} else if loc[0] == loc[1] {
			return nil
		}
		at = next
	}
	return nil
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

// A runeReader reads a text until patience runs out.
type runeReader struct {
	text        []byte
	read        int
	patience    func() bool
	interrupted bool
}

// runesAtOnce is how many characters are read between two looks at whether anybody still waits: with the largest expression that
// is allowed, a few milliseconds.
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

func (e *expression) spans() bool    { return e.crosses }
func (e *expression) ofScreen() bool { return e.begins || e.ends }
func (e *expression) grows() bool    { return true }

func (e *expression) groups(text []byte, loc []int) []engine.Group {
	groups := make([]engine.Group, len(loc)/2)
	for i, name := range e.re.SubexpNames() {
		if groups[i].Name = name; loc[2*i] >= 0 {
			groups[i].Text, groups[i].Took = string(text[loc[2*i]:loc[2*i+1]]), true
		}
	}
	return groups
}

// match makes a match of a hit.
func (e *expression) match(kind string, h *hit) engine.Result {
	capture := h.groups[0].Text
	if len(h.groups) > 1 && h.groups[1].Took {
		capture = h.groups[1].Text
	}
	return matched(engine.Match{Kind: kind, Pattern: e.String(), Capture: capture, Groups: h.groups, Place: h.place})
}

// find returns the first match in text.
func (e *expression) find(text []byte, patience func() bool) (h *hit, err error) {
	err = e.hits(text, patience, func(loc []int) bool {
		h = &hit{groups: e.groups(text, loc)}
		return false
	})
	return h, err
}

// crosses reports whether a match of re may hold a line feed.
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

// has reports whether op stands anywhere in re.
func has(re *syntax.Regexp, op syntax.Op) bool {
	return re.Op == op || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return has(sub, op) })
}
