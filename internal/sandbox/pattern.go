package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Bounds of a pattern. The number of captures is Lua's own limit.
const (
	maxPattern  = 1 << 10 // bytes; people's patterns have tens, and the matcher recurses per item
	maxCaptures = 32
)

// A pattern is a Lua 5.1 pattern (manual section 5.4.1, and %f) in the form used for matching: a
// list of items.
type pattern struct {
	items    []item
	captures int
	anchored bool   // begins with ^
	literal  string // what every match begins with, to find candidates fast
}

type itemKind uint8

const (
	itemSet      itemKind = iota // one byte of a set, repeated as repeat says
	itemOpen                     // (
	itemClose                    // ) of capture n
	itemPosition                 // ()
	itemBack                     // %1
	itemBalance                  // %bxy
	itemFrontier                 // %f[set]
	itemEnd                      // $ at the end
)

type item struct {
	kind   itemKind
	repeat byte // 0, '*', '+', '-' or '?'
	n      int  // number of the capture, from 0
	x, y   byte // of a balance
	set    set
}

// A set is a set of bytes.
type set [4]uint64

func (s *set) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *set) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

func (s *set) addSet(other set) {
	for i := range s {
		s[i] |= other[i]
	}
}

func (s set) complement() set {
	for i := range s {
		s[i] = ^s[i]
	}
	return s
}

// classes are the meanings of a letter after %, in the C locale. The upper-case letter is the
// complement.
var classes = sync.OnceValue(func() map[byte]set {
	tests := map[byte]func(c byte) bool{
		'a': isAlpha,
		'c': func(c byte) bool { return c < 32 || c == 127 },
		'd': isDigit,
		'l': func(c byte) bool { return 'a' <= c && c <= 'z' },
		'p': func(c byte) bool { return 32 < c && c < 127 && !isAlpha(c) && !isDigit(c) },
		's': func(c byte) bool { return c == ' ' || 9 <= c && c <= 13 },
		'u': func(c byte) bool { return 'A' <= c && c <= 'Z' },
		'w': func(c byte) bool { return isAlpha(c) || isDigit(c) },
		'x': func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
		'z': func(c byte) bool { return c == 0 },
	}
	all := map[byte]set{}
	for letter, test := range tests {
		var s set
		for c := range 256 {
			if test(byte(c)) {
				s.add(byte(c))
			}
		}
		all[letter], all[letter&^0x20] = s, s.complement()
	}
	return all
})

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// parsePattern reads a pattern.
func parsePattern(source string) (*pattern, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("pattern of %d bytes, at most %d are allowed", len(source),
			maxPattern)
	}
	p := &pattern{}
	rest, anchored := strings.CutPrefix(source, "^")
	p.anchored = anchored
	var open []int
	for rest != "" {
		it := item{}
		switch {
		case strings.HasPrefix(rest, "()"):
			it.kind, it.n, rest = itemPosition, p.captures, rest[2:]
			p.captures++
		case rest[0] == '(':
			it.kind, it.n, rest = itemOpen, p.captures, rest[1:]
			open = append(open, p.captures)
			p.captures++
		case rest[0] == ')':
			if len(open) == 0 {
				return nil, errors.New("invalid pattern capture")
			}
			it.kind, it.n, rest = itemClose, open[len(open)-1], rest[1:]
			open = open[:len(open)-1]
		case rest == "$":
			it.kind, rest = itemEnd, ""
		case strings.HasPrefix(rest, "%b"):
			if len(rest) < 4 {
				return nil, errors.New("missing arguments to '%b'")
			}
			it.kind, it.x, it.y, rest = itemBalance, rest[2], rest[3], rest[4:]
		case strings.HasPrefix(rest, "%f"):
			if !strings.HasPrefix(rest, "%f[") {
				return nil, errors.New("missing '[' after '%f' in pattern")
			}
			s, after, err := parseSet(rest[2:])
			if err != nil {
				return nil, err
			}
			it.kind, it.set, rest = itemFrontier, s, after
		case len(rest) > 1 && rest[0] == '%' && isDigit(rest[1]):
			it.kind, it.n, rest = itemBack, int(rest[1])-'1', rest[2:]
			if it.n < 0 || it.n >= p.captures || contains(open, it.n) || p.isPosition(it.n) {
				return nil, errors.New("invalid capture index")
			}
		default:
			s, after, err := parseSet(rest)
			if err != nil {
				return nil, err
			}
			it.set, rest = s, after
			if rest != "" && strings.IndexByte("*+-?", rest[0]) >= 0 {
				it.repeat, rest = rest[0], rest[1:]
			}
		}
		if p.captures > maxCaptures {
			return nil, errors.New("too many captures")
		}
		p.items = append(p.items, it)
	}
	if len(open) > 0 {
		return nil, errors.New("unfinished capture")
	}
	p.literal = p.prefix()
	return p, nil
}

func contains(list []int, n int) bool {
	for _, x := range list {
		if x == n {
			return true
		}
	}
	return false
}

func (p *pattern) isPosition(n int) bool {
	for _, it := range p.items {
		if it.kind == itemPosition && it.n == n {
			return true
		}
	}
	return false
}

// prefix is the text that every match begins with.
func (p *pattern) prefix() string {
	var b []byte
	for _, it := range p.items {
		c, single := it.set.only()
		if it.kind != itemSet || it.repeat != 0 || !single {
			break
		}
		b = append(b, c)
	}
	return string(b)
}

// only returns the single byte of a set, if it has only one.
func (s *set) only() (byte, bool) {
	found, at := 0, byte(0)
	for c := range 256 {
		if s.has(byte(c)) {
			if found++; found > 1 {
				return 0, false
			}
			at = byte(c)
		}
	}
	return at, found == 1
}

// parseSet reads one single-character class and returns what follows it.
func parseSet(rest string) (set, string, error) {
	var s set
	switch c := rest[0]; {
	case c == '.':
		return s.complement(), rest[1:], nil
	case c == '%':
		if len(rest) < 2 {
			return s, "", errors.New("malformed pattern (ends with '%')")
		}
		s.addClass(rest[1])
		return s, rest[2:], nil
	case c != '[':
		s.add(c)
		return s, rest[1:], nil
	}
	rest, negated := strings.CutPrefix(rest[1:], "^")
	for first := true; ; first = false {
		if rest == "" {
			return s, "", errors.New("malformed pattern (missing ']')")
		}
		switch {
		case rest[0] == ']' && !first: // a ] in first position is literal
			if negated {
				s = s.complement()
			}
			return s, rest[1:], nil
		case rest[0] == '%':
			if len(rest) < 2 {
				return s, "", errors.New("malformed pattern (missing ']')")
			}
			s.addClass(rest[1])
			rest = rest[2:]
		case len(rest) > 2 && rest[1] == '-' && rest[2] != ']':
			for c := int(rest[0]); c <= int(rest[2]); c++ {
				s.add(byte(c))
			}
			rest = rest[3:]
		default:
			s.add(rest[0])
			rest = rest[1:]
		}
	}
}

// addClass adds the meaning of %c: a class when c names one, and c itself otherwise.
func (s *set) addClass(c byte) {
	if class, ok := classes()[c]; ok {
		s.addSet(class)
		return
	}
	s.add(c)
}

// A match tries repeatedly to find a pattern in a subject.
type match struct {
	*pattern
	subject string
	spans   [maxCaptures][2]int // start and end; an end of positionOnly marks ()
	step    func(n int)         // pays for n steps; may not return
}

// positionOnly is the end of a capture that is a position without text.
const positionOnly = -2

// find searches for the pattern from init on and returns where it begins and ends, or -1.
func (m *match) find(init int) (from, to int) {
	for at := init; at <= len(m.subject); at++ {
		if m.literal != "" && !m.anchored {
			n := strings.Index(m.subject[at:], m.literal)
			if n < 0 {
				m.step(1 + (len(m.subject)-at)>>4)
				return -1, -1
			}
			m.step(n >> 4)
			at += n
		}
		if end := m.match(0, at); end >= 0 {
			return at, end
		}
		if m.anchored {
			break
		}
	}
	return -1, -1
}

// match tries the items from i on at position at, and returns where the match ends, or -1. It
// recurses once for each item that leaves a choice, so no deeper than the pattern has items.
func (m *match) match(i, at int) int {
	for ; i < len(m.items); i++ {
		m.step(1)
		switch it := &m.items[i]; it.kind {
		case itemSet:
			if it.repeat != 0 {
				return m.repeated(it, i, at)
			}
			if at >= len(m.subject) || !it.set.has(m.subject[at]) {
				return -1
			}
			at++
		case itemOpen:
			m.spans[it.n] = [2]int{at, at}
		case itemClose: // a value left by a failed attempt is set again before it is read
			m.spans[it.n][1] = at
		case itemPosition:
			m.spans[it.n] = [2]int{at, positionOnly}
		case itemBack:
			text := m.subject[m.spans[it.n][0]:m.spans[it.n][1]]
			m.step(len(text) >> 4)
			if !strings.HasPrefix(m.subject[at:], text) {
				return -1
			}
			at += len(text)
		case itemBalance:
			if at = m.balanced(it, at); at < 0 {
				return -1
			}
		case itemFrontier: // the ends of the subject count as \0
			var before, after byte
			if at > 0 {
				before = m.subject[at-1]
			}
			if at < len(m.subject) {
				after = m.subject[at]
			}
			if it.set.has(before) || !it.set.has(after) {
				return -1
			}
		case itemEnd:
			if at != len(m.subject) {
				return -1
			}
		}
	}
	return at
}

func (m *match) repeated(it *item, i, at int) int {
	least, most := 0, len(m.subject)-at
	switch it.repeat {
	case '+':
		least = 1
	case '?':
		most = min(most, 1)
	case '-':
		for ; ; at++ {
			if end := m.match(i+1, at); end >= 0 {
				return end
			}
			if at >= len(m.subject) || !it.set.has(m.subject[at]) {
				return -1
			}
		}
	}
	n := 0
	for n < most && it.set.has(m.subject[at+n]) {
		n++
	}
	m.step(n)
	if i+1 == len(m.items) && n >= least { // nothing follows that might need it to match less
		return at + n
	}
	for ; n >= least; n-- {
		if end := m.match(i+1, at+n); end >= 0 {
			return end
		}
	}
	return -1
}

// balanced returns the end of text that begins with x and ends with the matching y, or -1.
func (m *match) balanced(it *item, at int) int {
	if at >= len(m.subject) || m.subject[at] != it.x {
		return -1
	}
	for depth, end := 1, at+1; end < len(m.subject); end++ {
		switch m.subject[end] {
		case it.y: // checked first: x and y may be the same
			if depth--; depth == 0 {
				m.step(end - at)
				return end + 1
			}
		case it.x:
			depth++
		}
	}
	m.step(len(m.subject) - at)
	return -1
}
