package redact

import (
	"slices"
	"strings"
	"sync"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

// scan is the work on one line: what it can be read as, and what was found in it.
type scan struct {
	by    *compiled
	line  string
	found []candidate // in offsets of line

	reading    // the one that is judged
	rules.Text // what the rules see of it
	last       candidate
	// tail is where in the text the first candidate left open by its end begins, or a keyword that
	// it cuts off; the text's length when nothing continues.
	tail int
	// grows is tail for findings of rules only, which a line below may continue anywhere.
	grows int
	// dry leaves findings out of found: only tail and grows are wanted.
	dry  bool
	clip bool // the line ends inside clipboard content

	// Scratch space for readings.
	clean    []byte
	came     []int32
	grid     placing // see placed.go
	sight    glance  // see quiet.go
	everyRow bool    // sight does not know which rows have to be judged
}

type candidate = rules.Candidate

// scanPool keeps scratch space between calls, so that a line without a secret costs no allocation.
var scanPool = sync.Pool{New: func() any { return new(scan) }}

// scan begins the work on a line; release ends it.
func (r *compiled) scan(line string) *scan {
	s := scanPool.Get().(*scan)
	s.by, s.line, s.dry = r, line, false
	return s
}

func (s *scan) release() {
	// A line of megabytes must not stay in the pool.
	const keep = 64 << 10
	if cap(s.clean) > keep || cap(s.found) > keep/32 || cap(s.sight.over) > keep ||
		cap(s.sight.starts) > keep/8 {
		return
	}
	s.by, s.line, s.reading = nil, "", reading{}
	s.Read("", nil)
	scanPool.Put(s)
}

// judge finds all candidates of the line, hits and open ones, in no order, as the line below what m
// remembers. With last, the line is complete and m remembers it. n is what a first look found, or
// needLook. The result is valid until s is released.
func (s *scan) judge(n need, m *memory, last bool) []candidate {
	if n == needLook {
		n = s.look()
	}
	s.found, s.Marks, s.clip = s.found[:0], rules.Marks{}, false
	if m.clip {
		s.hideClipboardRest()
	}
	if m.active() {
		n |= needText
	} else if n&needText == 0 && last {
		*m = memory{}
	}
	s.readings(n, func(rd reading, whole bool) {
		if s.apply(rd); whole {
			s.goOn(m, last)
		}
	})
	if last {
		m.clip = s.clip
		if rules.HandBroken(s.line) { // the backslash that joins the lines is not part of the value
			for i := range s.found {
				if c := &s.found[i]; c.End == len(s.line) && c.Start < c.End-1 {
					c.End--
				}
			}
		}
	}
	if len(s.found) > 0 && strings.Contains(s.line, s.by.head) {
		s.found = s.by.settle(s.line, s.found)
	}
	return s.found
}

// mustJudge is judge for callers that cannot fail: if it panics, all of the line is one secret, to
// the line's end.
func (s *scan) mustJudge(n need, m *memory) (found []candidate) {
	defer func() {
		if recover() != nil {
			*s = scan{by: s.by, line: s.line} // its scratch space is in disorder
			found = []candidate{{End: len(s.line), Hit: true, Open: true,
				Until: rules.Ending{Quote: '\n'}}}
		}
	}()
	return s.judge(n, m, false)
}

// busy reports whether a rule may have something to judge in the reading being made.
func (s *scan) busy() bool {
	r := s.by
	if len(r.regexes) > 0 {
		return true
	}
	a, state := r.words, uint32(0)
	for _, c := range s.clean {
		if state = a.fast[state+uint32(a.class[c])]; state >= fastMark {
			return true
		}
	}
	return r.index.in(s.clean)
}

// leastCut is how much of a keyword must be at the end of a line for the next to be read with it:
// two characters are there by chance too often.
const leastCut = 3

// apply runs every rule over a reading and records what they find.
func (s *scan) apply(rd reading) {
	r, a, text := s.by, s.by.words, rd.text
	s.reading, s.last, s.tail, s.grows = rd, candidate{}, len(text), len(text)
	if rd.apart {
		rd.at = nil
	}
	s.Read(text, rd.at)
	state := uint32(0)
	for i := 0; i < len(text); i++ {
		if state = a.fast[state+uint32(a.class[text[i]])]; state < fastMark {
			continue
		}
		state &^= fastMark
		for _, h := range a.out[int(state)/a.cols] {
			start := i + 1 - min(len(h.word), rules.MaxKeyword)
			if len(h.word) > rules.MaxKeyword && !rules.Matches(text[start:], h.word) {
				continue
			}
			rule := &r.table[h.rule]
			if c := rule.Find(&s.Text, start, start+len(h.word)); c.Hit || c.Open {
				c.Class, c.Tier = rule.Class, rule.Tier
				s.add(c)
			}
		}
	}
	if n := int(a.part[int(state)/a.cols]); n > 0 {
		s.given("literal", len(text)-n, len(text), false)
	}
	if n := int(a.deep[state]); n >= leastCut {
		s.tail = min(s.tail, len(text)-n)
	}
	if r.index != nil {
		s.applyKnown()
	}
	for _, re := range r.regexes {
		for _, m := range re.FindAllStringIndex(text, -1) {
			if m[0] < m[1] {
				s.given("pattern", m[0], m[1], true)
			}
		}
	}
}

// leastBegun is how much of a known value must be at the end of a line to be hidden as its beginning,
// in bytes: less is in many words, and says little.
const leastBegun = MinKnown

// applyKnown is apply for the known values.
func (s *scan) applyKnown() {
	r, text := s.by, s.text
	x, w := r.index, uint64(0)
	for i := 0; i < len(text); i++ {
		if w = w<<8 | uint64(text[i]); !x.gate.lets(w) {
			continue
		}
		for n := MinKnown; n <= min(gateLen, i+1); n++ {
			if !x.known(w, n) {
				continue
			}
			start := i + 1 - n
			rest, skip := x.root.walk(text[start:], func(v *value, length int) {
				if r.hides(v) {
					s.given("literal", start, start+length, true)
				}
			})
			if rest != nil && rest.leads(MaxLiteralLen, skip, r.hides) {
				s.given("literal", start, len(text), r.reader.begun)
			}
		}
	}
	if !x.cut(w) {
		return
	}
	for n := min(gateLen-1, len(text)); n >= leastCut-1; n-- { // the longest beginning wins
		rest, skip := x.root.walk(text[len(text)-n:], func(*value, int) {})
		if rest == nil {
			continue
		}
		if n >= leastCut && rest.leads(MaxLiteralLen, skip, r.hides) {
			s.tail = min(s.tail, len(text)-n)
		}
		most := n // of a shorter beginning twice as much must be there: see leastPart
		if n >= rules.MaxLeastPart {
			most = MaxLiteralLen
		}
		if rest.leads(most, skip, r.hides) {
			s.given("literal", len(text)-n, len(text), r.reader.begun && n >= leastBegun)
			return
		}
	}
}

// given adds a value that the caller gave, or its beginning, which the end of the text cuts off.
func (s *scan) given(class string, start, end int, hit bool) {
	s.add(candidate{From: start, Start: start, End: end, Hit: hit,
		Open: !hit || class == "pattern" && end == len(s.text), Class: class, Tier: rules.Given})
}

// add records c unless it lies within the hit before it: a hostile line has many nested candidates,
// each of which would cost its length here.
func (s *scan) add(c candidate) {
	if c.Open {
		if s.tail = min(s.tail, c.From); c.Tier != rules.Given {
			s.grows = min(s.grows, c.From)
		}
	}
	if l := s.last; s.dry ||
		l.Hit && l.Tier <= c.Tier && l.Start <= c.Start && c.End <= l.End && (l.Open || !c.Open) {
		return
	}
	s.last = c
	s.keep(c)
}

// keep records c, which is in offsets of the reading, in offsets of the line.
func (s *scan) keep(c candidate) {
	at := s.at
	switch {
	case s.apart:
		for i := c.Start; c.Hit && i < c.End; i++ {
			if at[i] < 0 {
				continue
			}
			from := int(at[i])
			for i+1 < c.End && at[i+1] == at[i]+1 {
				i++
			}
			s.found = append(s.found,
				candidate{From: from, Start: from, End: int(at[i]) + 1, Hit: true, Class: c.Class,
					Tier: c.Tier})
		}
		return
	case at == nil:
		c.From, c.Start, c.End = c.From+s.base, c.Start+s.base, c.End+s.base
		c.Open = c.Open && !s.closed
	case c.Start == c.End:
		c.Start = int(at[c.Start])
		c.From, c.End = min(int(at[c.From]), c.Start), c.Start
	default: // where the cursor moved back the offsets do not rise
		part := at[c.Start:c.End]
		c.Start, c.End = int(slices.Min(part)), int(slices.Max(part))+1
		c.From = min(int(at[c.From]), c.Start)
	}
	s.found = append(s.found, c)
}
