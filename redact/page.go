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
	compiled := r.now()
	out := make([][]Span, len(lines))
	m := compiled.before(lines, above)
	for i, line := range lines {
		below := ""
		if i+1 < len(lines) {
			below = lines[i+1]
		}
		if !m.active() && compiled.quietLine(line, below) {
			continue
		}
		out[i] = compiled.spans(line, &m, true)
		if !m.ended {
			continue
		}
		for near, s := range compiled.upwards(func(near int) (string, bool) {
			if near >= i {
				return "", false
			}
			return lines[i-1-near], true
		}) {
			out[i-1-near] = with(out[i-1-near], s)
		}
	}
	return out
}

// before returns what the lines above a page leave for its first.
func (r *compiled) before(lines []string, above func(n int) (string, bool)) memory {
	var m memory
	if above == nil || len(lines) == 0 {
		return m
	}
	reach := nearLines
	inside := func(line string) bool {
		start, end := rules.KeyRun(line)
		return end-start >= rules.FirstKeyLine
	}
	if slices.ContainsFunc(lines[:min(2, len(lines))], inside) {
		reach = ReachLines
	}
	var lead []string // nearest first
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
	for _, line := range slices.Backward(lead) {
		if m.active() || !r.quietLine(line, "") {
			r.spans(line, &m, true)
		}
	}
	return m
}

// quietLine reports whether no rule has anything to judge in a whole line above another; below is
// "" when that is unknown.
func (r *compiled) quietLine(line, below string) bool {
	if len(r.regexes) > 0 || !plain(line) {
		return false
	}
	state, x, w := uint16(0), r.index, uint64(0)
	for i := 0; i < len(line); i++ {
		if state = r.words.step(state, line[i]); state&marked != 0 {
			return false
		}
		if w = w<<8 | uint64(line[i]); x != nil && x.gate.lets(w) && x.sure(w) {
			return false
		}
	}
	return r.words.depth[state] < leastCut && !x.cutsLine(w, below, &r.words.stop) && !mayBeLone(line) && !rules.MayBeDotted(line)
}

// edits returns what to replace in a text of many lines, sorted.
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
		body := start + bodyEnd(s[start:end])
		spans := r.spans(s[start:body], &m, true)
		if m.ended {
			var starts []int
			at := start
			for near, sp := range r.upwards(func(int) (string, bool) {
				if at == 0 {
					return "", false
				}
				line := s[:at]
				at = strings.LastIndexByte(s[:at-1], '\n') + 1
				starts = append(starts, at)
				return line[at : at+bodyEnd(line[at:])], true
			}) {
				all = with(all, Span{starts[near] + sp.Start, starts[near] + sp.End, sp.Text})
			}
		}
		for _, sp := range spans {
			all = append(all, Span{start + sp.Start, start + sp.End, sp.Text})
		}
		start = end
	}
	return all
}

// upwards returns what to replace in the lines of a private key above the line that ends it,
// nearest first, when its beginning was not seen. above returns the lines, from 0.
func (r *compiled) upwards(above func(near int) (string, bool)) (key []Span) {
	full := false
	for near := range ReachLines {
		line, ok := above(near)
		if !ok {
			break
		}
		from, to, ok := aboveRaw(line, near)
		if !ok {
			break
		}
		key = append(key, Span{from, to, r.marker("private-key")})
		full = full || to-from >= rules.FirstKeyLine
	}
	if !full {
		return nil
	}
	return key
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

// aboveRaw is above for a line that may contain control sequences, which are hidden with it.
func aboveRaw(line string, near int) (start, end int, ok bool) {
	if plain(line) {
		return rules.Above(line, near)
	}
	s := scanPool.Get().(*scan)
	defer s.release()
	s.read(line, false, func(int, int) {})
	if start, end, ok = rules.Above(string(s.clean), near); ok {
		start, end = int(s.at[start]), int(s.at[end-1])+1
	}
	return start, end, ok
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
