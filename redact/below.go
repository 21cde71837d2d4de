package redact

import (
	"strings"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

// A value goes on in the next line not only where a program broke it at the edge of a screen:
// people break lines behind a backslash, and indent the rest of what is too long for one. See
// [compiled.goOn] for the edge.

// below is what a line leaves for one that goes on with it so.
type below struct {
	text string // the end of the line, in which a candidate begins that it left open, without the backslash; "": nothing
	hand bool   // a backslash ended it
}

// leaves returns what text leaves for the line below it: read is what it was read as, and grows
// where in that a candidate begins that its end leaves open.
func leaves(read string, grows int, hand bool) below {
	if grows >= len(read) || len(read)-grows > maxTail {
		return below{}
	}
	return below{strings.Clone(read[max(0, grows-rules.MaxExpression):]), hand}
}

// byHand judges text below the line that left b, and records what goes on in it. It returns what
// the line below it is read behind, without a backslash at its end; "" where nothing goes on.
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

// complete returns whether a token that asks for nothing more begins in text at a place.
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
