package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Shape is an anchored expression for tokens recognized by their form: a literal that the
// automaton finds, what must precede it, and what must follow. It is matched in one walk without
// backtracking, and reports when the text ended before it did, which a Stream needs and package
// regexp cannot say.
type Shape struct {
	Literal string  // exact, in this case
	Before  []Piece // read backwards from the literal; always of bounded length
	After   []Piece
}

// A Piece is a run of characters of one set.
type Piece struct {
	Set      *set
	Min, Max int // max < 0: no limit
}

// A set is a set of characters. Runs are remembered by its number, so that nested candidates of a
// hostile line share one walk: sets with the same members are the same set.
type set struct {
	number  int
	Members [256]bool
}

// shapes parses shapes. It numbers their sets after the named sets.
type shapes struct {
	sets   []*set
	bySpec map[string]*set // as written in an expression
}

func NewShapes() *shapes {
	return &shapes{sets: slices.Clone(namedSets), bySpec: map[string]*set{}}
}

// set returns the set that spec describes in brackets, `[a-z_]` without them.
func (p *shapes) set(spec string) *set {
	known := p.bySpec[spec]
	if known != nil {
		return known
	}
	found := &set{number: len(p.sets)}
	addRanges(&found.Members, spec)
	if i := slices.IndexFunc(p.sets,
		func(s *set) bool { return s.Members == found.Members }); i >= 0 {
		found = p.sets[i]
	} else {
		p.sets = append(p.sets, found)
	}
	p.bySpec[spec] = found
	return found
}

// Parse reads an expression in the notation of RE2, limited to characters, `\.`, sets in brackets,
// `\d`, `\w` (with `-`, as in base64url), and the counts `?`, `+`, `{n}`, `{n,}`, `{n,m}`. It
// begins with the literal.
func (p *shapes) Parse(before, expr string) (*Shape, error) {
	rest := expr
	var literal []byte
	for rest != "" {
		spec, n, err := term(rest)
		if err != nil {
			return nil, fmt.Errorf("shape %q: %w", expr, err)
		}
		c, ok := single(spec)
		if !ok || n < len(rest) && strings.IndexByte("?+{", rest[n]) >= 0 {
			break
		}
		literal = append(literal, c)
		rest = rest[n:]
	}
	s := &Shape{Literal: string(literal)}
	if len(literal) < 2 {
		return nil, fmt.Errorf("shape %q begins with no literal", expr)
	}
	var err error
	if s.After, err = p.pieces(rest); err != nil {
		return nil, err
	}
	if s.Before, err = p.pieces(before); err != nil {
		return nil, err
	}
	for _, piece := range s.Before {
		if piece.Max < 0 {
			return nil, fmt.Errorf("shape %q has no bound before its literal", expr)
		}
	}
	return s, nil
}

// term returns the first term of an expression, a character or a set, as a set's spec, and the
// term's length.
func term(expr string) (spec string, n int, err error) {
	switch {
	case expr[0] == '[':
		end := strings.IndexByte(expr, ']')
		if end < 0 {
			return "", 0, errors.New("set without end")
		}
		return expr[1:end], end + 1, nil
	case expr[0] == '\\' && len(expr) > 1:
		return expr[:2], 2, nil
	}
	return expr[:1], 1, nil
}

// single returns the only character of a set.
func single(spec string) (byte, bool) {
	switch {
	case len(spec) == 1:
		return spec[0], true
	case len(spec) == 2 && spec[0] == '\\' && spec[1] != 'd' && spec[1] != 'w':
		return spec[1], true
	}
	return 0, false
}

func (p *shapes) pieces(expr string) (pieces []Piece, err error) {
	for i := 0; i < len(expr); {
		spec, n, err := term(expr[i:])
		if err != nil {
			return nil, fmt.Errorf("shape %q: %w", expr, err)
		}
		i += n
		next := Piece{Set: p.set(spec), Min: 1, Max: 1}
		if i < len(expr) {
			switch expr[i] {
			case '?':
				next.Min = 0
				i++
			case '+':
				next.Max = -1
				i++
			case '{':
				end := strings.IndexByte(expr[i:], '}')
				low, high, ranged := strings.Cut(expr[i+1:i+end], ",")
				if next.Min, err = strconv.Atoi(low); err != nil {
					return nil, fmt.Errorf("shape %q: %w", expr, err)
				}
				next.Max = next.Min
				if ranged {
					next.Max = -1
					if high != "" {
						if next.Max, err = strconv.Atoi(high); err != nil {
							return nil, fmt.Errorf("shape %q: %w", expr, err)
						}
					}
				}
				i += end + 1
			}
		}
		pieces = append(pieces, next)
	}
	return pieces, nil
}

// addRanges adds characters and ranges, `\d` and `\w`; a `-` at the end stands for itself.
func addRanges(members *[256]bool, spec string) {
	for i := 0; i < len(spec); i++ {
		if spec[i] == '\\' {
			switch i++; spec[i] {
			case 'd':
				addRanges(members, "0-9")
			case 'w':
				addRanges(members, "A-Za-z0-9_-")
			default:
				members[spec[i]] = true
			}
			continue
		}
		low, high := spec[i], spec[i]
		if i+2 < len(spec) && spec[i+1] == '-' {
			high = spec[i+2]
			i += 2
		}
		for c := int(low); c <= int(high); c++ {
			members[c] = true
		}
	}
}

// runEnd returns where the run of characters of the set from i ends.
func (s *Text) runEnd(in *set, i int) int {
	for len(s.runs) <= in.number {
		s.runs = append(s.runs, span{})
	}
	memo := &s.runs[in.number]
	if memo.end > 0 && memo.from <= i && i <= memo.end {
		return memo.end
	}
	j := i
	for j < len(s.text) && in.Members[s.text[j]] {
		j++
	}
	s.Spend(j - i)
	memo.from, memo.end = i, j
	return j
}

// begins matches what must precede the literal at t[at:] and returns where that begins.
func (sh *Shape) begins(s *Text, at int) (int, bool) {
	t, i := s.text, at
	for k := len(sh.Before) - 1; k >= 0; k-- {
		p, n := sh.Before[k], 0
		for n < p.Max && i > 0 && p.Set.Members[t[i-1]] {
			i--
			n++
		}
		if n < p.Min {
			return 0, false
		}
	}
	if len(sh.Before) > 0 { // the run before it may follow a word, as in /bot123:, but not continue
		return i, i == 0 || !sh.Before[0].Set.Members[t[i-1]] || s.wordBegins(i)
	}
	return i, !IsAlnum(sh.Literal[0]) || s.wordBegins(i)
}

// ends matches what must follow the literal, from i on. done: all of it is there. open: the text
// ended inside, or in a run that may grow.
func (sh *Shape) ends(s *Text, i int) (end int, done, open bool) {
	t := s.text
	for k, p := range sh.After {
		j := 0
		if p.Max < 0 {
			j = s.runEnd(p.Set, i)
		} else {
			for j = i; j < len(t) && j-i < p.Max && p.Set.Members[t[j]]; j++ {
			}
		}
		if j-i < p.Min {
			return j, false, j == len(t)
		}
		if last := k == len(sh.After)-1; last {
			if p.Max >= 0 && j < len(t) && p.Set.Members[t[j]] && IsAlnum(t[j]) {
				return 0, false, false // longer than any such token
			}
			return j, true, j == len(t) && (p.Max < 0 || j-i < p.Max)
		}
		i = j
	}
	return i, true, false
}

// wordBegins is wordBegins of the text; a control sequence before it also ends a word.
func (s *Text) wordBegins(i int) bool {
	return wordBegins(s.text, i) || s.raw != nil && s.raw[i] > s.raw[i-1]+1
}

// wordBegins reports whether a token can begin at t[i:]: no part of a word precedes it, except an
// escaped character (%3D, \n, \u003d).
func wordBegins(t string, i int) bool {
	if i == 0 || !IsAlnum(t[i-1]) && t[i-1] != '_' {
		return true
	}
	switch {
	case i >= 3 && t[i-3] == '%' && isHex(t[i-2]) && isHex(t[i-1]):
		return true
	case i >= 2 && t[i-2] == '\\' && strings.IndexByte("nrt", t[i-1]) >= 0:
		return true
	case i >= 6 && t[i-6] == '\\' && t[i-5] == 'u':
		return true
	}
	return false
}

func isHex(c byte) bool {
	return IsDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// enough is how many characters beyond its literal a shape cut off by the text must have to be
// hidden at once: more would let out more of a secret that is written with pauses inside, less
// hides the beginnings of ordinary words. A longer literal is less like a word.
func enough(literal string) int { return min(7, max(2, 10-len(literal))) }

// rule makes a rule of the shape.
func (sh *Shape) rule(class string) Rule {
	return Rule{Class: class, Tier: Structure, Keywords: []string{sh.Literal},
		Find: func(s *Text, at, end int) Candidate {
			t := s.text
			if t[at:end] != sh.Literal {
				return Candidate{}
			}
			from, ok := sh.begins(s, at)
			if !ok {
				return Candidate{}
			}
			stop, done, open := sh.ends(s, end)
			if !done && !open {
				return Candidate{}
			}
			c := Candidate{From: from, Start: from, End: stop, Open: open,
				Hit: done && Plausible(t[from:at], t[end:stop])}
			if !c.Hit {
				c.Start = min(end, stop)
				if stop-end < enough(sh.Literal) ||
					stop-end >= 8 && sh.Literal[0] != '/' && !Plausible("", t[end:stop]) {
					c.Start = stop
				}
			}
			return c
		}}
}
