// Package rules defines what a secret looks like: a table of tokens recognized by their form, and
// one of names before a value. [Builtin] returns the rules. A [Rule] judges a place in a [Text]
// where one of its keywords is; finding that place, and acting on a [Candidate], is the job of
// package redact.
//
// It makes no promise to other programs: they use package redact.
package rules

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Rule is one kind of secret. Rules are judged only where one of their keywords is, so a rule costs
// nothing on text without it. To add a kind, add a row to [Providers] when its form identifies
// it, and to context when a name before it does.
type Rule struct {
	Class string
	Tier  Tier
	// Keywords are matched in any case.
	Keywords []string
	// Find judges the keyword at the text from at to end. It may look at all of the text, and calls
	// s.Spend for what it walks through beyond a fixed distance. What is neither a hit nor open is
	// no candidate. An open one may not be a hit yet and hide nothing yet (start == end).
	Find func(s *Text, at, end int) Candidate
}

// Tier is what a rule relies on.
type Tier uint8

const (
	Structure Tier = iota // the secret's own form
	Hint                  // a name, a header, a command before it
	Given                 // a caller's literal or regex, or a known value
)

// Builtin returns the rules that are always on. Many processes never hide anything, so the rules
// are made on first use.
var Builtin = sync.OnceValue(func() []Rule {
	rules := make([]Rule, 0, len(Providers)+len(context()))
	shapes := NewShapes()
	for _, p := range Providers {
		sh, err := shapes.Parse(p.Before, p.Expr)
		if err != nil {
			panic(err) // the table is ours
		}
		rules = append(rules, sh.rule(p.Class))
	}
	return append(rules, context()...)
})

// MaxKeyword is how many bytes of a keyword an automaton knows; the rest of a longer one is
// compared where they match.
const MaxKeyword = 8

// maxBlanks bounds the white space between the parts of a candidate, so that an open one is never
// longer than a Stream's lookback.
const maxBlanks = 64

// Blanks returns where a run of at most maxBlanks spaces and tabs from i ends.
func Blanks(s string, i int) int {
	for end := min(len(s), i+maxBlanks); i < end && (s[i] == ' ' || s[i] == '\t'); i++ {
	}
	return i
}

func IsLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }
func IsAlnum(c byte) bool { return IsLower(c) || isUpper(c) || IsDigit(c) }

// Literal hides each occurrence of text.
func Literal(class, text string) Rule {
	return Rule{Class: class, Tier: Given, Keywords: []string{text[:min(len(text), MaxKeyword)]},
		Find: func(s *Text, at, _ int) Candidate {
			rest := s.text[at:]
			if len(rest) < len(text) && strings.HasPrefix(text, rest) {
				c := Candidate{From: at, Start: at, End: len(s.text), Open: true}
				if len(rest) < LeastPart(text) {
					c.Start = c.End
				}
				return c
			}
			if !strings.HasPrefix(rest, text) {
				return Candidate{}
			}
			return Candidate{From: at, Start: at, End: at + len(text), Hit: true}
		}}
}

// LeastPart is how much of a literal's beginning is hidden when a text ends in it: fewer bytes
// could be anything and reveal nothing.
func LeastPart(text string) int { return min(MaxLeastPart, (len(text)+1)/2) }

const MaxLeastPart = 4

// Matches reports whether text begins with word, ASCII case folded.
func Matches(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if Fold(text[i]) != Fold(word[i]) {
			return false
		}
	}
	return true
}

func Fold(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// ASCII reports whether all characters of s are ASCII.
func ASCII(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c >= utf8.RuneSelf }) < 0
}

// SecretVariable reports whether a variable of this name and value holds a secret.
func SecretVariable(name, value string) bool {
	return SecretName(name) && len(value) >= 6 && !status(value) &&
		!placeholder(value, 0, len(value)) && !named(value)
}

// SecretName reports whether a variable, field or flag of this name holds a secret.
func SecretName(name string) bool {
	t := name + "=Zz9_x8Yy7-w6Vv5_u4Tt3=" // drawn at random, as far as any rule can see
	var s Text
	s.Read(t, nil)
	s.budget = 1 << 20
	for _, r := range context() {
		if r.Tier != Hint || r.Class == "bearer" || r.Class == "signature" {
			continue
		}
		for _, w := range r.Keywords {
			for i := 0; i < len(name) && i+len(w) <= len(name)+1; i++ { // a keyword may include the `=`
				if Fold(name[i]) != Fold(w[0]) || !Matches(t[i:], w) { // the first byte decides most cases
					continue
				}
				if c := r.Find(&s, i, i+len(w)); c.Hit && c.Start == len(name)+1 {
					return true
				}
			}
		}
	}
	return false
}
