package redact

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

const (
	// leastWidth is how wide a line must be for a token at its end to continue in the next:
	// programs break at the edge of a screen or a frame. Less joins unrelated neighbours; more
	// misses narrow panes.
	leastWidth = 32
	// maxTail bounds what is kept of the lines before: no token is longer, except keys, which have
	// lines of their own.
	maxTail = 8 << 10
)

// memory is what one line leaves for the next: tokens and keywords cut off by its end, per column
// of a frame (one, where there is none), and its place in a private key.
type memory struct {
	tails []tail
	below
	block
	ended bool // the line ended a private key whose beginning was not seen
	edge  bool // the line is as wide as screens are
	clip  bool // the line ended inside clipboard content, see clip.go
}

// block is the place of the following lines in a private key, or in something public that is
// armoured like one.
type block struct {
	left   int  // lines that may still belong to it; 0: outside any
	body   bool // a line of it was seen
	public bool // a certificate, a public key: none of it is hidden
	alone  bool // its first mark was not seen, so it may end after any line
}

// tail is the end of a line that may continue in the next: from where a candidate begins.
type tail string

// active reports whether m affects the next line.
func (m *memory) active() bool {
	return m.left > 0 || len(m.tails) > 0 || m.below.text != "" || m.clip
}

// goOn judges text as the line below what m remembers, after apply has judged it by itself; with
// last, m remembers it.
func (r *compiled) goOn(s *scan, text string, at []int32, m *memory, last bool) {
	open, grows := s.tail, s.grows
	began, ended, public := s.Began, s.Ended, s.Public
	start, end, alone := 0, 0, false
	if m.left == 0 && !began {
		if start, end, alone = rules.Lone(text); alone {
			s.hide("private-key", text, start, end, at)
		}
	}
	rules.Dotted(text, func(start, end int) { s.hide("discord-token", text, start, end, at) })
	framed := isFramed(text)
	var parts []span
	if framed && (last || len(m.tails) > 0) {
		parts = columns(text)
	} else {
		parts = append(parts, span{0, len(text)})
	}
	var next []string // what precedes each part; nil: it begins by itself
	if len(m.tails) == len(parts) {
		next = make([]string, len(parts))
		for i, p := range parts {
			before := string(m.tails[i])
			if before == "" || p.from == p.end || text[p.from] == ' ' || text[p.from] == '\t' {
				continue
			}
			if r.across(s, before, text[p.from:p.end], p.from, at, p.end == len(text), m.edge) {
				next[i] = before
			}
		}
	}
	joined := ""
	if m.below.text != "" {
		joined = r.byHand(s, m.below, text, at)
	}
	if m.left > 0 && !m.public {
		start, end, body, _ := rules.KeyLine(text, m.body, m.alone)
		if !body && !last { // it may become one: its beginning must not leave
			start, end = rules.KeyRun(text)
			body = end == len(text) && end-start >= rules.LeastRest
		}
		if body {
			s.hide("private-key", text, start, end, at)
		}
	}
	if !last {
		return
	}
	m.ended = ended && !began && m.left == 0
	switch {
	case began:
		m.block = block{left: ReachLines}
	case public:
		m.block = block{left: ReachLines, public: true}
	case alone:
		m.block = block{left: ReachLines, body: true, alone: true}
	case m.left > 0:
		_, _, body, more := rules.KeyLine(text, m.body, m.alone)
		m.left--
		m.body = m.body || body
		if !more {
			m.block = block{}
		}
	}
	hand := !framed && rules.HandBroken(text)
	if hand {
		parts[0].end--
	}
	if framed || hand || open < len(text) {
		for _, p := range parts {
			r.cutOff(s, text, p, hand, at)
		}
	}
	m.tails = nil
	if !hand {
		m.tails = r.tails(s, text, parts, next, open, framed)
	}
	m.edge = m.tails != nil && !framed && standardWidth(utf8.RuneCountInString(text))
	m.below = below{}
	if !framed {
		read := text
		if joined != "" {
			read = joined
		} else if hand {
			read = text[:len(text)-1]
		}
		if joined != "" || hand {
			s.dry = true
			r.apply(s, read, nil, 0)
			s.dry, grows = false, s.grows
		}
		m.below = leaves(read, grows, hand)
	}
}

// standardWidth reports whether terminals often have this many columns: text that reaches the last
// one may have been cut there.
func standardWidth(columns int) bool {
	switch columns {
	case 40, 60, 72, 80, 90, 100, 110, 120, 132, 140, 150, 160, 180, 200:
		return true
	}
	return false
}

// hide records a secret that a line reveals by its form.
func (s *scan) hide(class, text string, start, end int, at []int32) {
	s.begin(text, at, 0)
	s.add(candidate{From: start, Start: start, End: end, Hit: true, Open: end == len(text), Class: class}, at)
}

// cutOff hides the candidates that the end of a part of text cuts off, if the part shown looks like
// the beginning of a secret: by the time the next line proves it, this one may have left. hand: a
// backslash cuts it off.
func (r *compiled) cutOff(s *scan, text string, p span, hand bool, at []int32) {
	part := text[p.from:p.end]
	wide := hand || utf8.RuneCountInString(part) >= leastWidth
	for _, c := range r.judgeText(s, part) {
		if !rules.CutsOff(part, c, wide) {
			continue
		}
		if c.Tier == rules.Structure {
			c.Start = c.From
		}
		c.Hit, c.Open = true, false
		c.From, c.Start, c.End = p.from+c.From, p.from+c.Start, p.from+c.End
		s.keep(c, at)
	}
}

// across judges part as the continuation of the previous line's tail and records what spans the
// line's end. It reports whether a token does, or a keyword may. edge: that line was as wide as
// screens are.
func (r *compiled) across(s *scan, before, part string, base int, at []int32, atEnd, edge bool) bool {
	if rules.Digested(part) {
		return false
	}
	joined := before + part
	cut := len(before)
	alone := r.complete(s, before) // the tokens that need nothing more
	own := rules.StartsName(part)
	goes := false
	for _, c := range r.judgeText(s, joined) {
		if c.From >= cut || c.End <= cut || own && c.Start < cut {
			continue
		}
		goes = goes || c.Open
		c.Open = c.Open && atEnd
		if !rules.GoesOn(joined, cut, c, alone(c.From), edge) {
			continue
		}
		goes = true
		c.From, c.Start, c.End = base, base+max(0, c.Start-cut), base+c.End-cut
		s.keep(c, at)
	}
	return goes
}

// keep records c, found in a part of a reading, in offsets of the raw line.
func (s *scan) keep(c candidate, at []int32) {
	if at != nil {
		c.From = int(at[c.From])
		c.Start, c.End = rawRange(at, c.Start, c.End)
	}
	s.found = append(s.found, c)
}

// judgeText returns what apply finds in a text other than the line, in offsets of that text.
func (r *compiled) judgeText(s *scan, text string) []candidate {
	found, size := len(s.found), s.size
	s.size = len(text)
	r.apply(s, text, nil, 0)
	s.size = size
	mine := slices.Clone(s.found[found:])
	s.found = s.found[:found]
	return mine
}

// tails returns what the parts of text leave for the next line: nil if nothing.
func (r *compiled) tails(s *scan, text string, parts []span, next []string, open int, framed bool) []tail {
	var tails []tail
	for i, p := range parts {
		part := text[p.from:p.end]
		if utf8.RuneCountInString(part) < leastWidth || part[len(part)-1] == ' ' {
			continue
		}
		if k, end := r.lastMarker(part); k >= 0 && (end == len(part) || len(part)-(end-k) < leastWidth) {
			continue // what was already hidden does not continue
		}
		at, read := open, part
		if next != nil && next[i] != "" && len(next[i])+len(part) <= maxTail {
			read = next[i] + part
			at = r.tailOf(s, read)
		} else if framed {
			at = r.tailOf(s, read)
		}
		if at >= len(read) || len(read)-at > maxTail {
			continue
		}
		if tails == nil {
			tails = make([]tail, len(parts))
		}
		tails[i] = tail(strings.Clone(read[at:]))
	}
	return tails
}

// lastMarker finds the last replacement in part.
func (r *compiled) lastMarker(part string) (start, end int) {
	start, end = -1, -1
	if !strings.Contains(part, r.head) {
		return start, end
	}
	for i := 0; ; {
		from, to := r.nextMarker(part, i)
		if from < 0 {
			return start, end
		}
		start, end, i = from, to, to
	}
}

// tailOf returns where in text the part left open by its end begins.
func (r *compiled) tailOf(s *scan, text string) int {
	s.dry = true
	defer func() { s.dry = false }()
	r.apply(s, text, nil, 0)
	return s.tail
}

// isFramed reports whether text contains a border, or is enclosed in two bars.
func isFramed(text string) bool {
	if len(text) > 1 && text[0] == '|' && text[len(text)-1] == '|' {
		return true
	}
	for i := 0; i < len(text); i++ {
		if text[i] == 0xe2 && (strings.HasPrefix(text[i:], "│") || strings.IndexByte("\x94\x95\x96", text[min(i+1, len(text)-1)]) >= 0 && rules.IsBorder(text[i:])) {
			return true
		}
	}
	return false
}

// columns returns the parts of text between its borders, without the blanks next to them.
func columns(text string) []span {
	var parts []span
	bars := text[0] == '|' && text[len(text)-1] == '|'
	from := 0
	for i := 0; i <= len(text); {
		n := 1
		if i < len(text) {
			_, n = utf8.DecodeRuneInString(text[i:])
			if !rules.IsBorder(text[i:]) && !(bars && (i == 0 || i == len(text)-1)) {
				i += n
				continue
			}
		}
		a, b := from, i
		for a < b && text[a] == ' ' {
			a++
		}
		for b > a && text[b-1] == ' ' {
			b--
		}
		parts = append(parts, span{a, b})
		from = i + n
		i += n
	}
	return parts
}

// A value continues in the next line not only where a program broke it at the edge of a screen:
// people break lines after a backslash, and indent the rest of a long one. See [compiled.goOn] for
// the edge.

// below is what a line leaves for one that continues it like that.
type below struct {
	text string // the end of the line, from the beginning of a candidate that it left open, without the backslash; "": nothing
	hand bool   // a backslash ended it
}

// leaves returns what text leaves for the line below it: read is the text as it was read, and grows
// where in it a candidate begins that its end leaves open.
func leaves(read string, grows int, hand bool) below {
	if grows >= len(read) || len(read)-grows > maxTail {
		return below{}
	}
	return below{strings.Clone(read[max(0, grows-rules.MaxExpression):]), hand}
}

// byHand judges text below the line that left b, and records what continues in it. It returns what
// precedes the line below it, without a trailing backslash; "" where nothing continues.
func (r *compiled) byHand(s *scan, b below, text string, at []int32) (joined string) {
	indent := rules.Blanks(text, 0)
	part := text[indent:]
	if rules.HandBroken(part) {
		part = part[:len(part)-1]
	}
	lone := rules.LoneWord(part)
	if part == "" || !b.hand && (indent == 0 || lone == 0) || len(b.text)+len(part) > maxTail {
		return ""
	}
	before, way := b.text, rules.ByHand{Backslash: b.hand, Indented: indent > 0, Lone: lone}
	if !b.hand {
		before, way.Block = rules.BlockScalar(before)
	}
	if !b.hand && rules.StartsName(part) {
		return ""
	}
	joined = before + part
	cut := len(before)
	alone := r.complete(s, before)
	goes := b.hand
	for _, c := range r.judgeText(s, joined) {
		if c.From >= cut || c.End <= cut || !c.Hit && !rules.CutToken(joined, c) {
			continue
		}
		if !way.GoesOn(joined, cut, c, alone(c.From)) {
			continue
		}
		goes, c.Hit = true, true
		c.From, c.Start, c.End = indent, indent+max(0, c.Start-cut), indent+c.End-cut
		c.Open = c.Open && c.End == len(text)
		s.keep(c, at)
	}
	if !goes {
		return ""
	}
	return joined
}

// complete returns whether a token that needs nothing more begins in text at a place.
func (r *compiled) complete(s *scan, text string) func(from int) bool {
	var from []int
	for _, c := range r.judgeText(s, text) {
		if c.Hit && c.Tier == rules.Structure {
			from = append(from, c.From)
		}
	}
	return func(i int) bool {
		for _, f := range from {
			if f == i {
				return true
			}
		}
		return false
	}
}
