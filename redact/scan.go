package redact

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// candidate is a secret, or what may still become one, in the text that a rule read.
type candidate struct {
	from       int  // where what makes it a secret begins: its key, or start
	start, end int  // what is to be hidden
	hit        bool // it is a secret
	open       bool // the text ended inside: more text could make it one, or a longer one
	until      ending
}

// ending is what ends an open candidate, beside the line's end.
type ending struct {
	quote   byte // 0: white space or any quote; '\n': nothing else
	escaped bool // the quote is written \", so a backslash before it does not protect it
}

// scan is the work on one line: scratch space, and what was found.
type scan struct {
	text  string      // what the rules are reading: a line, or a reading of it
	found []candidate // in offsets of the raw line
	clean []byte      // a reading of the line, see read.go
	at    []int32     // raw offset of each byte of clean; nil when text is the line itself
	base  int         // raw offset of text when at is nil
	size  int         // of the raw line

	// partial asks for literals whose beginning ends the text, too.
	partial bool

	last candidate // that was added, in offsets of text

	// The last value and run that a rule has walked through: a second walk from inside ends
	// where the first did, so a line of nested candidates costs linear time.
	values [2]struct{ from, end int } // outside and inside a query
	run    struct{ from, end int }

	budget int
}

// errOverrun ends work on a line that costs more than workFactor allows. It does not happen with
// rules that keep to their memos; it is there for the next rule.
var errOverrun = errors.New("redact: a rule reads the line too often")

// workFactor is how many bytes rules may walk through for each byte of a line, beside the one
// pass for keywords. The worst line known needs 6.
const workFactor = 32

// spend counts n bytes of work and panics with errOverrun when there were too many.
func (s *scan) spend(n int) {
	if s.budget -= n; s.budget < 0 {
		panic(errOverrun)
	}
}

func (s *scan) release() {
	// A line of megabytes must not stay in the pool.
	const keep = 64 << 10
	if cap(s.clean) > keep || cap(s.found) > keep/32 {
		return
	}
	s.text, s.partial = "", false
	scanPool.Put(s)
}

// judge finds all candidates of line, hits and open ones, in offsets of line and in no order.
// What it returns is valid until s is used again.
func (r *Redactor) judge(s *scan, line string) []candidate {
	s.found, s.size = s.found[:0], len(line)
	if plain(line) {
		r.apply(s, line, nil, 0)
	} else {
		r.judgeReadings(s, line)
	}
	if len(s.found) > 0 && strings.Contains(line, r.replacement) {
		s.found = slices.DeleteFunc(s.found, r.hidden(line))
	}
	return s.found
}

// judgeReadings judges a line with control bytes: as the characters that are left without them;
// when the cursor moves back, as what is left where it overwrote; and the payload of each control
// string (a title, a link) by itself.
func (r *Redactor) judgeReadings(s *scan, line string) {
	moved := s.read(line, false, func(from, to int) { r.apply(s, line[from:to], nil, from) })
	r.applyClean(s, len(line))
	if moved {
		s.read(line, true, func(int, int) {})
		r.applyClean(s, len(line))
	}
}

// applyClean makes a string of s.clean only if there is something to look at.
func (r *Redactor) applyClean(s *scan, end int) {
	if len(r.regexes) > 0 || r.words.in(s.clean) {
		s.at = append(s.at, int32(end))
		r.apply(s, string(s.clean), s.at, 0)
	}
}

// in reports whether any keyword ends in text.
func (a *automaton) in(text []byte) bool {
	state := uint16(0)
	for _, c := range text {
		if state = a.step(state, c); state&marked != 0 {
			return true
		}
	}
	return false
}

// apply runs every rule over text and records what they find in offsets of the raw line: at[i]
// for byte i of text, or base+i when at is nil.
func (r *Redactor) apply(s *scan, text string, at []int32, base int) {
	s.text, s.base = text, base
	s.last = candidate{}
	s.values[0].end, s.values[1].end, s.run.end = 0, 0, 0
	s.budget = workFactor*len(text) + 1<<12
	state := uint16(0)
	for i := 0; i < len(text); i++ {
		if state = r.words.step(state, text[i]); state&marked == 0 {
			continue
		}
		for _, h := range r.words.out[state&^marked] {
			start := i + 1 - min(len(h.word), maxKeyword)
			if len(h.word) > maxKeyword && !matches(text[start:], h.word) {
				continue
			}
			if c, ok := r.rules[h.rule].find(s, start, start+len(h.word)); ok {
				s.add(c, at)
			}
		}
	}
	if s.partial {
		if i := r.partialLiteral(text); i >= 0 {
			s.add(candidate{from: i, start: i, end: len(text), open: true}, at)
		}
	}
	for _, re := range r.regexes {
		for _, m := range re.FindAllStringIndex(text, -1) {
			if m[0] < m[1] {
				s.add(candidate{from: m[0], start: m[0], end: m[1], hit: true, open: m[1] == len(text)}, at)
			}
		}
	}
}

// partialLiteral returns where the longest beginning of a literal starts that text ends in, or -1.
// A few bytes may be anything and give nothing away.
func (r *Redactor) partialLiteral(text string) int {
	first := -1
	for _, l := range r.literals {
		for n := min(len(l)-1, len(text)); n >= min(4, (len(l)+1)/2); n-- {
			if text[len(text)-n:] == l[:n] {
				if first < 0 || len(text)-n < first {
					first = len(text) - n
				}
				break
			}
		}
	}
	return first
}

// add records c, in offsets of the raw line, unless it lies within the hit before it: nested
// candidates are many on a hostile line, and each would cost its length here.
func (s *scan) add(c candidate, at []int32) {
	if l := s.last; l.hit && l.start <= c.start && c.end <= l.end && (l.open || !c.open) {
		return
	}
	s.last = c
	if at == nil {
		c.from, c.start, c.end = c.from+s.base, c.start+s.base, c.end+s.base
		c.open = c.open && s.base+len(s.text) == s.size // a terminated control string goes no further
	} else {
		c.from = int(at[c.from])
		c.start, c.end = rawRange(at, c.start, c.end)
		c.from = min(c.from, c.start)
	}
	s.found = append(s.found, c)
}

// rawRange is the part of the raw line that covers bytes start to end of a reading. Where the
// cursor moved back the offsets do not rise, so it takes the extremes.
func rawRange(at []int32, start, end int) (int, int) {
	if start == end {
		return int(at[start]), int(at[start])
	}
	part := at[start:end]
	return int(slices.Min(part)), int(slices.Max(part)) + 1
}

// hidden returns a test for candidates that lie within replacements that are already in line:
// what is public already is not replaced again, which makes redaction idempotent.
func (r *Redactor) hidden(line string) func(candidate) bool {
	type area struct{ start, end int }
	var areas []area
	for i := 0; ; {
		n := strings.Index(line[i:], r.replacement)
		if n < 0 {
			break
		}
		start, end := i+n, i+n+len(r.replacement)
		if k := len(areas) - 1; k >= 0 && areas[k].end == start {
			areas[k].end = end
		} else {
			areas = append(areas, area{start, end})
		}
		i = end
	}
	return func(c candidate) bool {
		i, found := slices.BinarySearchFunc(areas, c.start, func(a area, start int) int { return cmp.Compare(a.start, start) })
		if !found {
			i--
		}
		return i >= 0 && c.start < c.end && c.end <= areas[i].end
	}
}

// pieces makes spans of the hits among found: sorted, merged where they touch, and broken at the
// control sequences of line, which stay.
func (r *Redactor) pieces(line string, found []candidate) []Span {
	var spans []Span
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Compare(a.start, b.start) })
	for i := 0; i < len(found); {
		start, end := found[i].start, found[i].start
		for ; i < len(found) && found[i].start <= end; i++ {
			if found[i].hit {
				end = max(end, found[i].end)
			}
		}
		spans = r.mask(spans, line, start, end, r.replacement)
	}
	return spans
}

// mask appends the spans that hide line[start:end] but for its control sequences: text stands in
// place of the first piece, the others vanish. The payload of a control string among them is
// judged like any other.
func (r *Redactor) mask(spans []Span, line string, start, end int, text string) []Span {
	for start < end {
		next := end
		if i := strings.IndexByte(line[start:end], esc); i >= 0 {
			next = start + i
		}
		if start < next {
			spans = append(spans, Span{start, next, text})
			text = ""
		}
		for start = next; start < end && line[start] == esc; {
			n, from, to := sequence(line, start)
			if from < to {
				for _, sp := range r.Spans(line[from:to]) {
					spans = append(spans, Span{from + sp.Start, from + sp.End, sp.Text})
				}
			}
			start += n
		}
	}
	return spans
}

// mustJudge is judge for callers that cannot fail: where it panics, all of line is one secret, to
// the line's end.
func (r *Redactor) mustJudge(s *scan, line string) (found []candidate) {
	defer func() {
		if recover() != nil {
			found = []candidate{{end: len(line), hit: true, open: true, until: ending{quote: '\n'}}}
		}
	}()
	return r.judge(s, line)
}
