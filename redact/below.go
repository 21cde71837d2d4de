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

// goOn judges the reading as the line below what m remembers, after apply has judged it by itself;
// with last, m remembers it.
func (s *scan) goOn(m *memory, last bool) {
	text, open, grows, marks := s.text, s.tail, s.grows, s.Marks // judging other texts changes them
	rules.Dotted(text, func(start, end int) { s.hide("discord-token", start, end) })
	framed := isFramed(text)
	parts := []span{{0, len(text)}}
	if framed && (last || len(m.tails) > 0) {
		parts = columns(text)
	}
	var next []string // what precedes each part; nil: it begins by itself
	if len(m.tails) == len(parts) {
		next = make([]string, len(parts))
		for i, p := range parts {
			if s.across(string(m.tails[i]), p, m.edge) {
				next[i] = string(m.tails[i])
			}
		}
	}
	joined := ""
	if m.below.text != "" {
		joined = s.byHand(m.below)
	}
	s.Marks = marks
	ended := s.keyLine(&m.block, last)
	if !last {
		return
	}
	m.ended = ended
	hand := !framed && rules.HandBroken(text)
	if hand {
		parts[0].end--
	}
	if framed || hand || open < len(text) {
		for _, p := range parts {
			s.cutOff(p, hand)
		}
	}
	m.tails, m.below = nil, below{}
	if !hand {
		m.tails = s.tails(parts, next, open, framed)
	}
	m.edge = m.tails != nil && !framed && standardWidth(utf8.RuneCountInString(text))
	if framed {
		return
	}
	switch {
	case joined != "":
		text = joined
	case hand:
		text = text[:len(text)-1]
	}
	if joined != "" || hand {
		_, grows = s.leftOpen(text)
	}
	m.below = leaves(text, grows, hand)
}

// keyLine hides what a private key has on the line: base64 that can be nothing else, or that is
// below the key's first mark. With last, b becomes the place of the next line, and ended reports
// whether the line ended a key whose beginning was not seen.
func (s *scan) keyLine(b *block, last bool) (ended bool) {
	var start, end int
	var hidden, alone, body, more bool
	switch {
	case b.left > 0:
		start, end, body, more = rules.KeyLine(s.text, b.body, b.alone)
		hidden = body
		if !body && !last { // it may become one: its beginning must not leave
			start, end = rules.KeyRun(s.text)
			hidden = end == len(s.text) && end-start >= rules.LeastRest
		}
	case !s.Began:
		start, end, alone = rules.Lone(s.text)
		hidden = alone
	}
	if hidden && !b.public {
		s.hide("private-key", start, end)
	}
	if !last {
		return false
	}
	ended = s.Ended && !s.Began && b.left == 0
	switch {
	case s.Began:
		*b = block{left: ReachLines}
	case s.Public:
		*b = block{left: ReachLines, public: true}
	case alone:
		*b = block{left: ReachLines, body: true, alone: true}
	case more:
		b.left--
		b.body = b.body || body
	default:
		*b = block{}
	}
	return ended
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
func (s *scan) hide(class string, start, end int) {
	s.keep(candidate{From: start, Start: start, End: end, Hit: true, Open: end == len(s.text),
		Class: class})
}

// cutOff hides the candidates that the end of a part of the text cuts off, if the part shown looks
// like the beginning of a secret: by the time the next line proves it, this one may have left.
// hand: a backslash cuts it off.
func (s *scan) cutOff(p span, hand bool) {
	part := s.text[p.from:p.end]
	wide := hand || utf8.RuneCountInString(part) >= leastWidth
	for _, c := range s.judgeText(part) {
		if !rules.CutsOff(part, c, wide) {
			continue
		}
		if c.Tier == rules.Structure {
			c.Start = c.From
		}
		c.Hit, c.Open = true, false
		c.From, c.Start, c.End = p.from+c.From, p.from+c.Start, p.from+c.End
		s.keep(c)
	}
}

// across judges a part of the text as the continuation of the previous line's tail and records what
// spans the line's end. It reports whether a token does, or a keyword may. edge: that line was as
// wide as screens are.
func (s *scan) across(before string, p span, edge bool) bool {
	part := s.text[p.from:p.end]
	if before == "" || part == "" || part[0] == ' ' || part[0] == '\t' || rules.Digested(part) {
		return false
	}
	own, cut, opens := rules.StartsName(part), len(before), false
	goes := s.spanning(before, p, func(joined string, c candidate, complete bool) bool {
		if own && c.Start < cut {
			return false
		}
		opens = opens || c.Open
		return rules.GoesOn(joined, cut, c, complete, edge)
	})
	return goes || opens
}

// spanning calls goesOn with each candidate that spans the end of before, which a part of the text
// follows, and records the rest of those for which it returns true. complete: the part in before
// needs nothing more.
func (s *scan) spanning(before string, p span,
	goesOn func(joined string, c candidate, complete bool) bool) (goes bool) {
	var complete []int // where they begin
	for _, c := range s.judgeText(before) {
		if c.Hit && c.Tier == rules.Structure {
			complete = append(complete, c.From)
		}
	}
	joined, cut := before+s.text[p.from:p.end], len(before)
	for _, c := range s.judgeText(joined) {
		if c.From < cut && c.End > cut && goesOn(joined, c, slices.Contains(complete, c.From)) {
			goes, c.Hit = true, true
			c.Open = c.Open && p.end == len(s.text)
			c.From, c.Start, c.End = p.from, p.from+max(0, c.Start-cut), p.from+c.End-cut
			s.keep(c)
		}
	}
	return goes
}

// judgeText returns what apply finds in a text other than the reading, in offsets of that text.
func (s *scan) judgeText(text string) []candidate {
	was, first := s.reading, len(s.found)
	s.apply(reading{text: text})
	mine := slices.Clone(s.found[first:])
	s.reading, s.found = was, s.found[:first]
	return mine
}

// leftOpen returns where in a text the first candidate or keyword left open by its end begins, and
// the first candidate of a rule.
func (s *scan) leftOpen(text string) (tail, grows int) {
	s.dry = true
	s.judgeText(text)
	s.dry = false
	return s.tail, s.grows
}

// tails returns what the parts of the text leave for the next line: nil if nothing.
func (s *scan) tails(parts []span, next []string, open int, framed bool) []tail {
	var tails []tail
	for i, p := range parts {
		read := s.text[p.from:p.end]
		if utf8.RuneCountInString(read) < leastWidth || read[len(read)-1] == ' ' {
			continue
		}
		if k, end := s.by.lastMarker(read); k >= 0 &&
			(end == len(read) || len(read)-(end-k) < leastWidth) {
			continue // what was already hidden does not continue
		}
		continues := next != nil && next[i] != "" && len(next[i])+len(read) <= maxTail
		if continues {
			read = next[i] + read
		}
		if continues || framed {
			open, _ = s.leftOpen(read)
		}
		if open >= len(read) || len(read)-open > maxTail {
			continue
		}
		if tails == nil {
			tails = make([]tail, len(parts))
		}
		tails[i] = tail(strings.Clone(read[open:]))
	}
	return tails
}

// lastMarker finds the last replacement in part.
func (r *compiled) lastMarker(part string) (start, end int) {
	start, end = -1, -1
	for from, to := r.nextMarker(part, 0); from >= 0; from, to = r.nextMarker(part, to) {
		start, end = from, to
	}
	return start, end
}

// isFramed reports whether text contains a border, or is enclosed in two bars.
func isFramed(text string) bool {
	if len(text) > 1 && text[0] == '|' && text[len(text)-1] == '|' {
		return true
	}
	for i := 0; i < len(text); i++ {
		if text[i] == 0xe2 &&
			(strings.HasPrefix(text[i:], "│") ||
				strings.IndexByte("\x94\x95\x96", text[min(i+1, len(text)-1)]) >= 0 &&
					rules.IsBorder(text[i:])) {
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
// people break lines after a backslash, and indent the rest of a long one. See [scan.goOn] for
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

// byHand judges the reading below the line that left b, and records what continues in it. It
// returns what precedes the line below it, without a trailing backslash; "" where nothing
// continues.
func (s *scan) byHand(b below) (joined string) {
	p := span{rules.Blanks(s.text, 0), len(s.text)}
	part := s.text[p.from:]
	if rules.HandBroken(part) {
		p.end--
		part = part[:len(part)-1]
	}
	lone := rules.LoneWord(part)
	if part == "" || !b.hand && (p.from == 0 || lone == 0 || rules.StartsName(part)) ||
		len(b.text)+len(part) > maxTail {
		return ""
	}
	before, way := b.text, rules.ByHand{Backslash: b.hand, Indented: p.from > 0, Lone: lone}
	if !b.hand {
		before, way.Block = rules.BlockScalar(before)
	}
	goes := s.spanning(before, p, func(joined string, c candidate, complete bool) bool {
		return (c.Hit || rules.CutToken(joined, c)) && way.GoesOn(joined, len(before), c, complete)
	})
	if !goes && !b.hand {
		return ""
	}
	return before + part
}
