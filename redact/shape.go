package redact

import (
	"fmt"
	"strconv"
	"strings"
)

// A shape is an anchored expression for tokens that can be told by their form: a literal that the
// automaton finds, what must stand before it, and what must follow. It is matched in one walk
// without backtracking, and knows when the text ended before it did, which is what a Stream needs
// and package regexp cannot say.
type shape struct {
	literal string  // exact, in this case
	before  []piece // read backwards from the literal; always of bounded length
	after   []piece
}

// A piece is a run of characters of one set.
type piece struct {
	set      int // index into sets
	min, max int // max < 0: no limit
}

// sets are the character sets of all shapes. Runs are remembered by set, so that nested candidates
// of a hostile line share one walk.
var sets []*[256]bool

// setOf returns the index of the set with exactly these members.
func setOf(members *[256]bool) int {
	for i, s := range sets {
		if *s == *members {
			return i
		}
	}
	sets = append(sets, members)
	return len(sets) - 1
}

// parseShape reads an expression in the notation of RE2, of which it knows characters, `\.`, sets
// in brackets, `\d`, `\w` (with `-`, as in base64url), and the counts `?`, `+`, `{n}`, `{n,}`,
// `{n,m}`. It begins with the literal.
func parseShape(before, expr string) (*shape, error) {
	pieces, err := parsePieces(expr)
	if err != nil {
		return nil, err
	}
	s := &shape{after: pieces}
	for len(s.after) > 0 && s.after[0].min == 1 && s.after[0].max == 1 {
		c, ok := single(s.after[0].set)
		if !ok {
			break
		}
		s.literal += string(c)
		s.after = s.after[1:]
	}
	if len(s.literal) < 2 {
		return nil, fmt.Errorf("shape %q begins with no literal", expr)
	}
	if s.before, err = parsePieces(before); err != nil {
		return nil, err
	}
	for _, p := range s.before {
		if p.max < 0 {
			return nil, fmt.Errorf("shape %q has no bound before its literal", expr)
		}
	}
	return s, nil
}

func single(set int) (byte, bool) {
	found, n := byte(0), 0
	for c, in := range sets[set] {
		if in {
			found, n = byte(c), n+1
		}
	}
	return found, n == 1
}

func parsePieces(expr string) (pieces []piece, err error) {
	for i := 0; i < len(expr); {
		var set [256]bool
		switch c := expr[i]; c {
		case '[':
			end := strings.IndexByte(expr[i:], ']')
			if end < 0 {
				return nil, fmt.Errorf("shape %q: set without end", expr)
			}
			addRanges(&set, expr[i+1:i+end])
			i += end + 1
		case '\\':
			if c := expr[i+1]; c == 'd' || c == 'w' {
				addRanges(&set, expr[i:i+2])
			} else {
				set[c] = true
			}
			i += 2
		default:
			set[c] = true
			i++
		}
		p := piece{min: 1, max: 1}
		if i < len(expr) {
			switch expr[i] {
			case '?':
				p.min = 0
				i++
			case '+':
				p.max = -1
				i++
			case '{':
				end := strings.IndexByte(expr[i:], '}')
				low, high, ranged := strings.Cut(expr[i+1:i+end], ",")
				if p.min, err = strconv.Atoi(low); err != nil {
					return nil, fmt.Errorf("shape %q: %w", expr, err)
				}
				p.max = p.min
				if ranged {
					p.max = -1
					if high != "" {
						if p.max, err = strconv.Atoi(high); err != nil {
							return nil, fmt.Errorf("shape %q: %w", expr, err)
						}
					}
				}
				i += end + 1
			}
		}
		p.set = setOf(&set)
		pieces = append(pieces, p)
	}
	return pieces, nil
}

var shorthands = strings.NewReplacer(`\d`, "0-9", `\w`, "A-Za-z0-9_\\-")

// addRanges adds characters and ranges, `\d` and `\w`; a `-` at the end stands for itself.
func addRanges(set *[256]bool, spec string) {
	spec = shorthands.Replace(spec)
	for i := 0; i < len(spec); i++ {
		if spec[i] == '\\' {
			i++
			set[spec[i]] = true
			continue
		}
		low, high := spec[i], spec[i]
		if i+2 < len(spec) && spec[i+1] == '-' {
			high = spec[i+2]
			i += 2
		}
		for c := int(low); c <= int(high); c++ {
			set[c] = true
		}
	}
}

// runEnd returns where the run of characters of the set from i ends.
func (s *scan) runEnd(set, i int) int {
	for len(s.runs) < len(sets) {
		s.runs = append(s.runs, span{})
	}
	memo := &s.runs[set]
	if memo.end > 0 && memo.from <= i && i <= memo.end {
		return memo.end
	}
	in := sets[set]
	j := i
	for j < len(s.text) && in[s.text[j]] {
		j++
	}
	s.spend(j - i)
	memo.from, memo.end = i, j
	return j
}

// begins matches what must stand before the literal at t[at:] and returns where that begins.
func (sh *shape) begins(s *scan, at int) (int, bool) {
	t, i := s.text, at
	for k := len(sh.before) - 1; k >= 0; k-- {
		p, n := sh.before[k], 0
		for n < p.max && i > 0 && sets[p.set][t[i-1]] {
			i--
			n++
		}
		if n < p.min {
			return 0, false
		}
	}
	if len(sh.before) > 0 { // the run before it may follow on a word, as in /bot123:, but not go on
		return i, i == 0 || !sets[sh.before[0].set][t[i-1]] || s.wordBegins(i)
	}
	return i, !isAlnum(sh.literal[0]) || s.wordBegins(i)
}

// ends matches what must follow the literal, from i on. done: all of it stands there. open: the
// text ended inside, or in a run that may grow.
func (sh *shape) ends(s *scan, i int) (end int, done, open bool) {
	t := s.text
	for k, p := range sh.after {
		j := 0
		if p.max < 0 {
			j = s.runEnd(p.set, i)
		} else {
			for j = i; j < len(t) && j-i < p.max && sets[p.set][t[j]]; j++ {
			}
		}
		if j-i < p.min {
			return j, false, j == len(t)
		}
		if last := k == len(sh.after)-1; last {
			if p.max >= 0 && j < len(t) && sets[p.set][t[j]] && isAlnum(t[j]) {
				return 0, false, false // longer than any such token
			}
			return j, true, j == len(t) && (p.max < 0 || j-i < p.max)
		}
		i = j
	}
	return i, true, false
}

// wordBegins is wordBegins of the text; a control sequence before it ends a word, too.
func (s *scan) wordBegins(i int) bool {
	return wordBegins(s.text, i) || s.raw != nil && s.raw[i] > s.raw[i-1]+1
}

// wordBegins reports whether a token can begin at t[i:]: nothing that belongs to a word stands
// before it, but for what escapes a character (%3D, \n, \u003d).
func wordBegins(t string, i int) bool {
	if i == 0 || !isAlnum(t[i-1]) && t[i-1] != '_' {
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
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// enough is how many characters beyond its literal a shape that the text cuts off must have for
// them to be hidden at once: more would let more of a secret out that is written with pauses
// inside, less hides the beginnings of ordinary words. A longer literal is less of a word.
func enough(literal string) int { return min(7, max(2, 10-len(literal))) }

// rule makes a rule of the shape.
func (sh *shape) rule(class string) rule {
	return rule{class: class, tier: structure, keywords: []string{sh.literal}, find: func(s *scan, at, end int) (candidate, bool) {
		t := s.text
		if t[at:end] != sh.literal {
			return candidate{}, false
		}
		from, ok := sh.begins(s, at)
		if !ok {
			return candidate{}, false
		}
		stop, done, open := sh.ends(s, end)
		if !done && !open {
			return candidate{}, false
		}
		c := candidate{from: from, start: from, end: stop, open: open, hit: done && plausible(t[from:at], t[end:stop])}
		if !c.hit {
			c.start = min(end, stop)
			if stop-end < enough(sh.literal) || stop-end >= 8 && !plausible("", t[end:stop]) {
				c.start = stop
			}
		}
		return c, c.hit || c.open
	}}
}
