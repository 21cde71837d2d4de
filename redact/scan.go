package redact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/redact/internal/rules"
)

type span struct{ from, end int }

// scan is the work on one line: scratch space and findings.
type scan struct {
	rules.Text             // what the rules are reading: a line, or a reading of it
	found      []candidate // in offsets of the raw line
	clean      []byte      // a reading of the line, see read.go
	at         []int32     // raw offset of each byte of clean
	base       int         // raw offset of the text when it is a part of the line
	ends       bool        // the text ends where the line does
	size       int         // of the raw line

	last candidate // that was added, in offsets of the text

	// tail is where in the text the first candidate left open by its end begins, or a keyword that
	// it cuts off; the text's length when nothing continues.
	tail int
	// grows is tail for findings of rules only, which a line below may continue anywhere.
	grows int
	// dry leaves findings out of found: only tail is wanted.
	dry bool

	clip bool // the line ends inside clipboard content

	grid     placing // see placed.go
	sight    glance  // see quiet.go
	everyRow bool    // sight does not know which rows have to be judged
}

type candidate = rules.Candidate

// begin begins a text: at[i] is the raw offset of byte i, or base+i when at is nil.
func (s *scan) begin(text string, at []int32, base int) {
	s.Read(text, at)
	s.base, s.ends, s.last = base, base+len(text) == s.size, candidate{}
	s.tail, s.grows = len(text), len(text)
}

func (s *scan) release() {
	// A line of megabytes must not stay in the pool.
	const keep = 64 << 10
	if cap(s.clean) > keep || cap(s.found) > keep/32 || cap(s.sight.over) > keep || cap(s.sight.starts) > keep/8 {
		return
	}
	s.Read("", nil)
	scanPool.Put(s)
}

// judge finds all candidates of line, hits and open ones, in offsets of line and in no order, as
// the line below what m remembers. With last, the line is complete and m remembers it. The result
// is valid until s is used again.
func (r *compiled) judge(s *scan, line string, m *memory, last bool) []candidate {
	if plain(line) {
		return r.judgeSeen(s, line, m, last, needText)
	}
	n, sure := r.look(&s.sight, line, false)
	s.everyRow = !sure
	return r.judgeSeen(s, line, m, last, n)
}

// judgeSeen is judge after a first look.
func (r *compiled) judgeSeen(s *scan, line string, m *memory, last bool, n need) []candidate {
	s.found, s.size = s.found[:0], len(line)
	s.Marks, s.clip = rules.Marks{}, false
	if m.clip {
		s.hideClipboardRest(line)
	}
	if plain(line) {
		r.apply(s, line, nil, 0)
		r.goOn(s, line, nil, m, last)
	} else {
		r.judgeReadings(s, line, m, last, n)
	}
	if last {
		m.clip = s.clip
	}
	if last && len(s.found) > 0 && rules.HandBroken(line) {
		// The backslash that joins the lines is not part of the value.
		for i := range s.found {
			if c := &s.found[i]; c.End == len(line) && c.Start < c.End-1 {
				c.End--
			}
		}
	}
	if len(s.found) > 0 && strings.Contains(line, r.head) {
		s.found = r.settle(line, s.found)
	}
	return s.found
}

// judgeReadings judges a line with control bytes: as the characters left without them; when the
// cursor moves back, as what is left after overwriting; when it is placed, as the resulting rows;
// and the payload of each control string (a title, a link) by itself.
func (r *compiled) judgeReadings(s *scan, line string, m *memory, last bool, n need) {
	moved, placed := true, s.sight.placed // as the first look saw, or as reading shows
	if n&needText != 0 || m.active() {
		moved, placed = s.read(line, false, func(from, to int) {
			if start, is := clipboardIn(line, from, to); is {
				s.hideClipboard(line, start, to)
			} else {
				r.apply(s, line[from:to], nil, from)
			}
		})
		text := string(s.clean)
		s.at = append(s.at, int32(len(line)))
		r.apply(s, text, s.at, 0)
		r.goOn(s, text, s.at, m, last)
	} else if last {
		*m = memory{}
	}
	if moved && n&needOver != 0 {
		s.read(line, true, func(int, int) {})
		if r.busy(s.clean) {
			s.at = append(s.at, int32(len(line)))
			r.apply(s, string(s.clean), s.at, 0)
		}
	}
	if placed && n&needRows != 0 {
		r.applyPlaced(s, line)
	}
}

// busy reports whether a rule may have something to judge in a reading.
func (r *compiled) busy(text []byte) bool {
	if len(r.regexes) > 0 {
		return true
	}
	state := uint16(0)
	for _, c := range text {
		if state = r.words.step(state, c); state&marked != 0 {
			return true
		}
	}
	return r.index.in(text)
}

// leastCut is how much of a keyword must be at the end of a line for the next to be read with it:
// two characters are there by chance too often.
const leastCut = 3

// apply runs every rule over text and records what they find in offsets of the raw line: at[i]
// for byte i of text, or base+i when at is nil.
func (r *compiled) apply(s *scan, text string, at []int32, base int) {
	s.begin(text, at, base)
	state := uint16(0)
	for i := 0; i < len(text); i++ {
		if state = r.words.step(state, text[i]); state&marked == 0 {
			continue
		}
		for _, h := range r.words.out[state&^marked] {
			start := i + 1 - min(len(h.word), rules.MaxKeyword)
			if len(h.word) > rules.MaxKeyword && !rules.Matches(text[start:], h.word) {
				continue
			}
			rule := &r.table[h.rule]
			if c, ok := rule.Find(&s.Text, start, start+len(h.word)); ok {
				c.Class, c.Tier = rule.Class, rule.Tier
				s.add(c, at)
			}
		}
	}
	state &^= marked
	if n := int(r.words.part[state]); n > 0 {
		s.add(candidate{From: len(text) - n, Start: len(text) - n, End: len(text), Open: true, Class: "literal", Tier: rules.Given}, at)
	}
	if n := int(r.words.depth[state]); n >= leastCut {
		s.tail = min(s.tail, len(text)-n)
	}
	if r.index != nil {
		r.applyKnown(s, text, at)
	}
	for _, re := range r.regexes {
		for _, m := range re.FindAllStringIndex(text, -1) {
			if m[0] < m[1] {
				s.add(candidate{From: m[0], Start: m[0], End: m[1], Hit: true, Open: m[1] == len(text), Class: "pattern", Tier: rules.Given}, at)
			}
		}
	}
}

// applyKnown is apply for the known values.
func (r *compiled) applyKnown(s *scan, text string, at []int32) {
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
					s.add(candidate{From: start, Start: start, End: start + length, Hit: true, Class: "literal", Tier: rules.Given}, at)
				}
			})
			if rest != nil && rest.leads(MaxLiteralLen, skip, r.hides) {
				s.add(candidate{From: start, Start: start, End: len(text), Open: true, Class: "literal", Tier: rules.Given}, at)
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
			s.add(candidate{From: len(text) - n, Start: len(text) - n, End: len(text), Open: true, Class: "literal", Tier: rules.Given}, at)
			return
		}
	}
}

// add records c, in offsets of the raw line, unless it lies within the hit before it: a hostile
// line has many nested candidates, each of which would cost its length here.
func (s *scan) add(c candidate, at []int32) {
	if c.Open {
		if s.tail = min(s.tail, c.From); c.Tier != rules.Given {
			s.grows = min(s.grows, c.From)
		}
	}
	if s.dry {
		return
	}
	if l := s.last; l.Hit && l.Tier <= c.Tier && l.Start <= c.Start && c.End <= l.End && (l.Open || !c.Open) {
		return
	}
	s.last = c
	if at == nil {
		c.From, c.Start, c.End = c.From+s.base, c.Start+s.base, c.End+s.base
		c.Open = c.Open && s.ends // a terminated control string does not continue
	} else {
		c.From = int(at[c.From])
		c.Start, c.End = rawRange(at, c.Start, c.End)
		c.From = min(c.From, c.Start)
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

// settle drops candidates that lie within replacements already in line, and lets partly covered
// ones take these in whole: what is public already is not replaced again, nor in part, which makes
// redaction idempotent.
func (r *compiled) settle(line string, found []candidate) []candidate {
	var areas []span
	for i := 0; ; {
		start, end := r.nextMarker(line, i)
		if start < 0 {
			break
		}
		if k := len(areas) - 1; k >= 0 && areas[k].end == start {
			areas[k].end = end
		} else {
			areas = append(areas, span{start, end})
		}
		i = end
	}
	if len(areas) == 0 {
		return found
	}
	at := func(i int) (span, bool) { // the area that i lies in
		k, ok := slices.BinarySearchFunc(areas, i, func(a span, i int) int { return cmp.Compare(a.from, i) })
		if !ok {
			k--
		}
		return areas[max(k, 0)], k >= 0 && i < areas[k].end
	}
	kept := found[:0]
	for _, c := range found {
		if c.Start < c.End {
			first, in := at(c.Start)
			if in && c.End <= first.end {
				continue
			}
			if in {
				c.Start = first.from
			}
			if last, in := at(c.End - 1); in {
				c.End = last.end
			}
			c.From = min(c.From, c.Start)
		}
		kept = append(kept, c)
	}
	return kept
}

// nextMarker finds the next replacement in line from i on, with or without a class; -1: there is
// none.
func (r *compiled) nextMarker(line string, i int) (start, end int) {
	for {
		n := strings.Index(line[i:], r.head)
		if n < 0 {
			return -1, -1
		}
		start = i + n
		end = start + len(r.head)
		if r.classes && end < len(line) && line[end] == ':' {
			k := end + 1
			for k < len(line) && (rules.IsLower(line[k]) || rules.IsDigit(line[k]) || line[k] == '-') {
				k++
			}
			if strings.HasPrefix(line[k:], r.tail) {
				return start, k + len(r.tail)
			}
		}
		if strings.HasPrefix(line[end:], r.tail) {
			return start, end + len(r.tail)
		}
		i = end
	}
}

// pieces makes spans of the hits among found: sorted, merged where they touch, and split at the
// control sequences of line, which stay.
func (r *compiled) pieces(line string, found []candidate) []Span {
	var spans []Span
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Compare(a.Start, b.Start) })
	for i := 0; i < len(found); {
		start, end, first := found[i].Start, found[i].Start, found[i]
		for ; i < len(found) && found[i].Start <= end; i++ {
			if c := found[i]; c.Hit {
				if end = max(end, c.End); !first.Hit || c.Tier < first.Tier {
					first = c
				}
			}
		}
		if end > start {
			covered.Add(1)
		}
		spans = r.mask(spans, line, start, end, r.markerOf(first.Class, line[start:end]))
	}
	return spans
}

// mask appends the spans that hide line[start:end] except its control sequences: text replaces the
// first piece, the others vanish. The payload of a control string among them is judged like any
// other.
func (r *compiled) mask(spans []Span, line string, start, end int, text string) []Span {
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
			n, from, to := ansi.Sequence(line, start)
			if begin, is := clipboardIn(line, max(1, from), max(1, to)); is && begin < to {
				spans = append(spans, Span{begin, to, r.marker("clipboard")})
			} else if from < to {
				for _, sp := range r.spans(line[from:to], new(memory), false) {
					spans = append(spans, Span{from + sp.Start, from + sp.End, sp.Text})
				}
			}
			start += n
		}
	}
	return spans
}

// mustJudge is judge for callers that cannot fail: if it panics, all of line is one secret, to the
// line's end. n is the result of a first look, if seen.
func (r *compiled) mustJudge(s *scan, line string, m *memory, n need, seen bool) (found []candidate) {
	defer func() {
		if recover() != nil {
			found = []candidate{{End: len(line), Hit: true, Open: true, Until: rules.Ending{Quote: '\n'}}}
		}
	}()
	if seen {
		return r.judgeSeen(s, line, m, false, n)
	}
	return r.judge(s, line, m, false)
}
