package redact

import (
	"slices"
	"strings"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

// Page returns what to replace in adjacent lines, as on a screen: for each line what
// [Redactor.Spans] would, and what only shows in view of the lines around it. A token that a
// program broke at the edge, or in a frame, is hidden in all of its lines; so is a private key,
// even if only its end is left.
//
// Lines are logical ones: join rows that wrapped. above returns the line n lines above the first,
// from 1, such as the newest of the scrollback, and false where there is none; nil means that there
// is nothing above. It is called for a few lines, or as many as a private key has.
func (r *Redactor) Page(lines []string, above func(n int) (string, bool)) [][]Span {
	lead := leading(lines, above)
	all := slices.Concat(lead, lines, []string{""})
	out := make([][]Span, len(lines))
	at, start := 0, 0 // all[at] begins at start
	for _, sp := range r.now().edits(strings.Join(all, pageEnd)) {
		for ; sp.Start > start+len(all[at]); at++ {
			start += len(all[at]) + len(pageEnd)
		}
		if i := at - len(lead); i >= 0 {
			out[i] = append(out[i], Span{sp.Start - start, sp.End - start, sp.Text})
		}
	}
	return out
}

// pageEnd ends the lines of a page. With a line feed alone, a CR at the end of one would be part of
// its end.
const pageEnd = "\r\n"

// leading returns the lines above a page that its first may continue.
func leading(lines []string, above func(n int) (string, bool)) (lead []string) {
	if above == nil || len(lines) == 0 {
		return nil
	}
	reach := nearLines
	inside := func(line string) bool {
		start, end := rules.KeyRun(line)
		return end-start >= rules.FirstKeyLine
	}
	if slices.ContainsFunc(lines[:min(2, len(lines))], inside) {
		reach = ReachLines
	}
	for n := 1; n <= reach; n++ {
		line, ok := above(n)
		if !ok {
			break
		}
		lead = append(lead, line)
		if n >= nearLines && !inside(line) {
			break
		}
	}
	slices.Reverse(lead)
	return lead
}

// edits returns what to replace in a text of many lines, sorted. No span goes over a line's end.
func (r *compiled) edits(s string) []Span {
	var all []Span
	var m memory
	for start := 0; start < len(s); {
		if !m.active() {
			if start += r.quiet(s[start:], len(s)); start == len(s) {
				break
			}
		}
		end := len(s)
		if i := strings.IndexByte(s[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		spans := r.spans(s[start:start+bodyEnd(s[start:end])], &m, true)
		if m.ended {
			all = r.upwards(all, s[:start])
		}
		for _, sp := range spans {
			all = append(all, Span{start + sp.Start, start + sp.End, sp.Text})
		}
		start = end
	}
	return all
}

// upwards adds to spans what to replace in the lines of a private key at the end of text: the line
// below text ends the key, and its beginning was not seen.
func (r *compiled) upwards(spans []Span, text string) []Span {
	var key []Span // nearest first
	full := false
	for start, near := len(text), 0; start > 0 && near < ReachLines; near++ {
		line := text[:start]
		start = strings.LastIndexByte(line[:start-1], '\n') + 1
		s := scan{line: line[start : start+bodyEnd(line[start:])]}
		s.read(false, func(int, int) {})
		from, to, ok := rules.Above(string(s.clean), near)
		if !ok {
			break
		}
		key = append(key,
			Span{start + int(s.came[from]), start + int(s.came[to-1]) + 1, r.marker("private-key")})
		full = full || to-from >= rules.FirstKeyLine
	}
	if !full {
		return spans
	}
	for _, sp := range key {
		spans = with(spans, sp)
	}
	return spans
}

// with adds a span to others, merging those that it overlaps.
func with(spans []Span, s Span) []Span {
	i := len(spans)
	for i > 0 && spans[i-1].Start > s.Start {
		i--
	}
	if i > 0 && spans[i-1].End > s.Start {
		i--
	}
	k := i
	for ; k < len(spans) && spans[k].Start < s.End; k++ {
		s.Start, s.End = min(s.Start, spans[k].Start), max(s.End, spans[k].End)
	}
	return slices.Replace(spans, i, k, s)
}

// bodyEnd is the length of line without its LF or CR LF.
func bodyEnd(line string) int {
	n := len(line)
	if n > 0 && line[n-1] == '\n' {
		n--
		if n > 0 && line[n-1] == '\r' {
			n--
		}
	}
	return n
}
