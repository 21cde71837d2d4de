package redact

import (
	"strings"
	"sync"
)

// rule is one kind of secret. Rules are judged only where one of their keywords stands, so a
// rule costs nothing on text without it. To add a kind, add a row to providers when its form
// tells it, and to context when a name before it does.
type rule struct {
	class string
	tier  tier
	// keywords are found in any case.
	keywords []string
	// find judges the keyword at s.text[at:end]. It may look at all of s.text, calls s.spend for
	// what it walks through beyond a fixed distance, and returns false when this is no
	// candidate. An open candidate may be no hit yet and hide nothing yet (start == end).
	find func(s *scan, at, end int) (candidate, bool)
}

// tier is what a rule goes by.
type tier uint8

const (
	structure tier = iota // the secret's own form
	hint                  // a name, a header, a command before it
	given                 // a caller's literal or regex, or a known value
)

// builtin returns the rules that are always on. Many a process never hides anything, so they are
// made for the first that does.
var builtin = sync.OnceValue(func() []rule {
	rules := make([]rule, 0, len(providers)+len(context()))
	shapes := newShapes()
	for _, p := range providers {
		sh, err := shapes.parse(p.before, p.expr)
		if err != nil {
			panic(err) // the table is ours
		}
		rules = append(rules, sh.rule(p.class))
	}
	return append(rules, context()...)
})

// maxBlanks bounds the white space between the parts of a candidate, so that one that is still
// open is never longer than what a Stream looks back over.
const maxBlanks = 64

// blanks returns where a run of at most maxBlanks spaces and tabs from i ends.
func blanks(s string, i int) int {
	for end := min(len(s), i+maxBlanks); i < end && (s[i] == ' ' || s[i] == '\t'); i++ {
	}
	return i
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlnum(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) }

// literalRule hides each occurrence of text.
func literalRule(class, text string) rule {
	return rule{class: class, tier: given, keywords: []string{text[:min(len(text), maxKeyword)]},
		find: func(s *scan, at, _ int) (candidate, bool) {
			rest := s.text[at:]
			if len(rest) < len(text) && strings.HasPrefix(text, rest) {
				c := candidate{from: at, start: at, end: len(s.text), open: true}
				if len(rest) < leastPart(text) {
					c.start = c.end
				}
				return c, true
			}
			if !strings.HasPrefix(rest, text) {
				return candidate{}, false
			}
			return candidate{from: at, start: at, end: at + len(text), hit: true}, true
		}}
}

// leastPart is how much of a literal's beginning is hidden when a text ends in it: fewer bytes may
// be anything and give nothing away.
func leastPart(text string) int { return min(maxLeastPart, (len(text)+1)/2) }

const maxLeastPart = 4
