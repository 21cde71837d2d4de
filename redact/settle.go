package redact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/redact/internal/rules"
)

// The last step: candidates become spans, and spans placeholders. What an earlier redaction has
// already replaced stays as it is.

type span struct{ from, end int }

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
		k, ok := slices.BinarySearchFunc(areas, i,
			func(a span, i int) int { return cmp.Compare(a.from, i) })
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
			for k < len(line) &&
				(rules.IsLower(line[k]) || rules.IsDigit(line[k]) || line[k] == '-') {
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
