package redact

import (
	"strings"
	"unicode/utf8"
)

// Most text holds no keyword in any way it can be read, and there is nothing to judge in it. A first look tells so at a
// fraction of the cost: it makes no reading, and where it is in doubt it says no. What it may overlook is what
// [rules.judge] overlooks, too: TestFirstLook holds the one against the other.

// quiet returns the length of the lines at the head of s, none longer than most with its end, in which no rule has anything to
// judge: no keyword, and nothing that could put one together. A line that s does not end is not among them, nor one that a
// keyword may be cut off at the end of. moved: what it stopped at is a cursor movement, which quietMoves can look at.
func (r *rules) quiet(s string, most int) (lines int, moved bool) {
	if len(r.regexes) > 0 || r.thorough {
		return 0, false
	}
	w := r.words
	state, fast, framed := uint32(0), w.fast, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if w.stop[c] {
			switch {
			case c == '\n':
				if i >= lines+most || w.cutsLine(state, s[i+1:]) || framed && w.cutsColumn(s[lines:i]) {
					return lines, false
				}
				if i > lines && s[lines] == '|' && w.cutsColumn(strings.TrimSuffix(s[lines:lines+bodyEnd(s[lines:i+1])], "|")) {
					return lines, false
				}
				lines, state, framed = i+1, 0, false
				continue
			case c == esc:
				n := w.passes(s, i)
				if n <= 0 || n > 2 && s[i+1] == '[' && cursor[s[i+n-1]] {
					return lines, n > 0
				}
				i += n - 1
				continue
			case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
				continue
			case c == '\r', c == '\b':
				return lines, true
			case c < 0x20, c == 0x7f:
				continue
			case c == 0xe2 && i+2 < len(s) && isBorder(s[i:i+3]):
				if framed = true; w.cutsColumn(s[lines:i]) {
					return lines, false
				}
			default:
				if n := invisible(s, i); n > 0 {
					i += n - 1
					continue
				}
			}
		}
		if state = fast[state+uint32(w.class[c])]; state >= fastMark {
			return lines, false
		}
	}
	return lines, false
}

// cursor has the final bytes of the control sequences that move the cursor.
var cursor = func() (set [256]bool) {
	for _, c := range "HfdGABCDEF`" {
		set[c] = true
	}
	return set
}()

// cutsLine reports whether a line whose end leads to state may have to be read on in the one below.
func (a *automaton) cutsLine(state uint32, below string) bool {
	if a.deep[state] < leastCut {
		return false
	}
	if a.parts && a.part[int(state)/a.cols] > 0 {
		return true
	}
	for i := 0; int(a.deep[state]) > i; i++ {
		if i == len(below) || a.stop[below[i]] {
			return true // not there yet, or not to be told by a first look
		}
		if state = a.fast[state+uint32(a.class[below[i]])]; state >= fastMark {
			return true
		}
	}
	return false
}

// cutsColumn reports whether the end of a column of a frame cuts off a keyword.
func (a *automaton) cutsColumn(text string) bool {
	text = strings.TrimRight(text, " ")
	state := uint32(0)
	for i := max(0, len(text)-maxKeyword); i < len(text); i++ {
		state = a.fast[state+uint32(a.class[text[i]])] &^ fastMark
	}
	return a.deep[state] >= leastCut
}

// passes returns the length of the control sequence that begins with the ESC at s[i]; 0 when it has to be judged, and a
// negative number when s ends inside of it. It is [sequence] for what is well formed.
func (a *automaton) passes(s string, i int) int {
	j := i + 1
	if j == len(s) {
		return -1
	}
	switch s[j] {
	case '[':
		for j++; j < len(s); j++ {
			if c := s[j]; c >= 0x40 {
				if c > 0x7e {
					return 0
				}
				return j + 1 - i
			} else if c < 0x20 {
				return 0
			}
		}
		return -1
	case ']', 'P', '_', '^', 'X':
		state := uint32(0)
		for j++; j < len(s); j++ {
			c := s[j]
			switch {
			case c == 0x07:
				return j + 1 - i
			case c == esc && j+1 < len(s) && s[j+1] == '\\':
				return j + 2 - i
			case c < 0x20, c == 0xc2:
				return 0
			}
			if state = a.fast[state+uint32(a.class[c])]; state >= fastMark {
				return 0
			}
		}
		return -1
	}
	for ; j < len(s) && s[j] >= 0x20 && s[j] <= 0x2f; j++ {
	}
	if j == len(s) {
		return -1
	}
	if s[j] >= 0x30 && s[j] <= 0x7e {
		j++
	}
	return j - i
}

// glance is the scratch space of a first look at text in which the cursor moves.
type glance struct {
	rows    [][]byte // what stands in each row, a byte a column: other than ASCII as veil
	touched []int
	over    []byte // what the text is when the cursor's moves within the line are followed, a byte a character
	starts  []int  // where control sequences begin
}

// veil stands for a character that is no ASCII, and so in no keyword of an automaton that is not wide.
const veil = 0x80

// place is where a run of text is written to in one of the ways to read it, and what the automaton makes of that. As long as
// one run follows the other there as it does in the text itself, that is what it makes of the text.
type place struct {
	apart bool   // what stands before the place is not what was written last
	since int    // how many characters were written since it was so
	state uint32 // of the automaton, if apart
}

// leave says that the next run does not follow the last; before is what it follows.
func (a *automaton) leave(before []byte) place {
	p := place{apart: true}
	for _, c := range before[max(0, len(before)-maxKeyword+1):] {
		p.state = a.fast[p.state+uint32(a.class[c])] &^ fastMark
	}
	return p
}

// write takes a run and what stands right of where it is written, and reports whether a keyword goes across an end of it.
// state is what the automaton makes of the text up to the run's end. Behind right stand pad blanks.
func (a *automaton) write(p *place, run string, right []byte, pad int, state uint32) (busy bool) {
	fast := a.fast
	if p.apart {
		x, k := p.state, p.since
		for i := 0; ; i++ {
			if int(a.deep[x]) <= k {
				*p = place{} // what goes on began within what was written
				break
			}
			if i == len(run) {
				p.state, p.since = x, k
				state = x
				break
			}
			if x = fast[x+uint32(a.class[run[i]])]; x >= fastMark {
				return true
			}
			k++
		}
	}
	for i := 0; int(a.deep[state]) > i && i < len(right)+pad; i++ {
		c := byte(' ')
		if i < len(right) {
			c = right[i]
		}
		if state = fast[state+uint32(a.class[c])]; state >= fastMark {
			return true
		}
	}
	return false
}

// quietMoves is quiet for one line without its end, or, with window, for a part of one: it reports whether no rule has
// anything to judge in text, neither as it was written, nor as what is left where the cursor moved back, nor as the rows that
// the cursor's moves make. In a window, the control sequence that text may have ended inside of begins at tail and is not
// looked at; else tail is text's length.
func (r *rules) quietMoves(g *glance, text string, window bool) (tail int, quiet bool) {
	w := r.words
	if len(r.regexes) > 0 || r.thorough || w.wide {
		return 0, false
	}
	for _, row := range g.touched {
		g.rows[row] = g.rows[row][:0]
	}
	g.touched, g.starts, g.over = g.touched[:0], g.starts[:0], g.over[:0]
	fast := w.fast
	state := uint32(0)
	grid := placing{row: maxPlacedRow}
	cur := 0
	placed, over := w.leave(nil), place{}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c >= 0x20 && c < 0x7f:
			from := i
			for ; i < len(text) && text[i] >= 0x20 && text[i] < 0x7f; i++ {
				if state = fast[state+uint32(w.class[text[i]])]; state >= fastMark {
					return 0, false
				}
			}
			if !g.run(w, &grid, &placed, &cur, &over, text[from:i], state) {
				return 0, false
			}
		case c == esc:
			n := w.passes(text, i)
			if window && (n < 0 || i+n == len(text)) {
				g.starts = append(g.starts, i)
				return i, g.ends(w, state)
			}
			if n <= 0 {
				return 0, false
			}
			g.starts = append(g.starts, i)
			if seq := text[i : i+n]; n > 2 && seq[1] == '[' {
				if final := seq[n-1]; cursor[final] {
					grid.move(seq)
					placed = w.leave(g.left(&grid))
				}
				if back, cut := motion(seq); back != 0 || cut {
					if cur = min(max(0, cur-back), len(g.over)); cut {
						g.over = g.over[:cur]
					}
					over = w.leave(g.over[:cur])
				}
			}
			i += n
		case c == '\b':
			grid.col = max(0, grid.col-1)
			placed = w.leave(g.left(&grid))
			cur = max(0, cur-1)
			over = w.leave(g.over[:cur])
			i++
		case c == '\r' && !wraps(text, i):
			state = fast[state+uint32(w.class['\n'])]
			if state >= fastMark {
				return 0, false
			}
			grid.col, cur = 0, 0
			placed, over = w.leave(nil), w.leave(nil)
			i++
		case c >= utf8.RuneSelf:
			if n := invisible(text, i); n > 0 {
				i += n
				continue
			}
			ch, n := utf8.DecodeRuneInString(text[i:])
			cols := width(ch)
			if ch == utf8.RuneError && n < 2 || cols == 0 || cur < len(g.over) {
				return 0, false
			}
			state = 0
			if !g.run(w, &grid, &placed, &cur, &over, veiled[:1], 0) {
				return 0, false
			}
			if cols == 2 { // its second cell is a blank once the first is something else
				x := place{apart: true}
				if !g.put(w, &grid, &x, " ", fast[w.class[' ']]) {
					return 0, false
				}
				placed = w.leave(g.left(&grid))
			}
			i += n
		case c == '\t', c == '\r', c == '\n':
			return 0, false
		default:
			i++
		}
	}
	return len(text), (window || w.deep[state] < leastCut) && g.ends(w, state)
}

const veiled = "\x80"

// ends reports whether text may end here: in no beginning of a literal, which a window would hide.
func (g *glance) ends(w *automaton, state uint32) bool {
	if !w.parts {
		return true
	}
	return w.part[int(state)/w.cols] == 0 && w.part[int(w.leave(g.over).state)/w.cols] == 0
}

// left is what stands left of the cursor.
func (g *glance) left(grid *placing) []byte {
	if len(g.rows) == 0 {
		g.rows = make([][]byte, maxPlacedRow+1)
	}
	g.pad(grid.row, grid.col)
	return g.rows[grid.row][:grid.col]
}

// pad makes a row at least cols wide.
func (g *glance) pad(row, cols int) {
	b := g.rows[row]
	if len(b) == 0 && cols > 0 {
		g.touched = append(g.touched, row)
	}
	for len(b) < cols {
		b = append(b, blanksOf[:min(len(blanksOf), cols-len(b))]...)
	}
	g.rows[row] = b
}

var blanksOf = strings.Repeat(" ", 80)

// run writes a run of text in both ways.
func (g *glance) run(w *automaton, grid *placing, placed *place, cur *int, over *place, run string, state uint32) bool {
	end := *cur + len(run)
	right := g.over[min(end, len(g.over)):]
	if len(right) > 0 || *cur < len(g.over) {
		for _, c := range g.over[*cur:min(end, len(g.over))] {
			if c == veil {
				return false
			}
		}
		copy(g.over[*cur:], run)
	}
	g.over = append(g.over, run[min(len(run), len(g.over)-*cur):]...)
	*cur = end
	return !w.write(over, run, right, 0, state) && g.put(w, grid, placed, run, state)
}

// put writes a run where the cursor is in the rows.
func (g *glance) put(w *automaton, grid *placing, placed *place, run string, state uint32) bool {
	if len(g.rows) == 0 {
		g.left(grid)
	}
	run = run[:min(len(run), maxPlacedCol-grid.col)]
	if run == "" {
		return true
	}
	end := grid.col + len(run)
	g.pad(grid.row, end)
	b := g.rows[grid.row]
	copy(b[grid.col:], run)
	grid.col = end
	return !w.write(placed, run, b[end:], maxKeyword, state)
}
