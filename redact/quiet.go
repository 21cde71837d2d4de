package redact

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

// Most text contains no keyword in any way it can be read, and needs no judging. A first look finds
// that out at a fraction of the cost: it makes no reading, and in doubt it answers no. It may
// overlook only what [scan.judge] overlooks, too: TestFirstLook compares the two.

// quiet returns the length of the lines at the head of s, none longer than most with its end, in
// which no rule has anything to judge: no keyword, and nothing that could assemble one. Not
// included are a last line without its end, lines in which the cursor moves, and lines that may end
// inside a keyword.
func (r *compiled) quiet(s string, most int) (lines int) {
	if len(r.regexes) > 0 || r.thorough {
		return 0
	}
	w, x := r.words, r.index
	state, fast, framed := uint32(0), w.fast, false
	sequences, payloads := false, false // in the line
	last := uint64(0)                   // what the index is queried with
	for i := 0; i < len(s); i++ {
		c := s[i]
		if w.stop[c] {
			switch {
			case c == '\n':
				if i >= lines+most || w.cutsLine(state, s[i+1:]) ||
					x.cutsLine(last, s[i+1:], &w.stop) || framed && r.cutsColumn(s[lines:i]) ||
					i-lines >= 64 && mayBeLone(s[lines:i]) ||
					i-lines >= rules.DottedLen &&
						(!sequences && rules.MayBeDotted(s[lines:i]) || sequences &&
							mayReadDotted(s[lines:i], payloads)) {
					return lines
				}
				if i > lines && s[lines] == '|' &&
					r.cutsColumn(strings.TrimSuffix(s[lines:lines+bodyEnd(s[lines:i+1])], "|")) {
					return lines
				}
				lines, state, last, framed = i+1, 0, 0, false
				sequences, payloads = false, false
				continue
			case c == esc:
				n := r.passes(s, i)
				if n <= 0 || n > 2 && s[i+1] == '[' && cursor[s[i+n-1]] {
					return lines
				}
				sequences, payloads = true, payloads || s[i+1] != '['
				i += n - 1
				continue
			case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
				continue
			case c == '\r', c == '\b':
				return lines
			case c < 0x20, c == 0x7f:
				sequences = true
				continue
			case c == 0xe2 && i+2 < len(s) && s[i+1] >= 0x94 && s[i+1] <= 0x96 && rules.IsBorder(s[i:i+3]): // U+2500 to U+25BF
				if framed = true; r.cutsColumn(s[lines:i]) {
					return lines
				}
			default:
				if n := invisible(s, i); n > 0 {
					sequences = true
					i += n - 1
					continue
				}
			}
		}
		if state = fast[state+uint32(w.class[c])]; state >= fastMark {
			return lines
		}
		if x != nil {
			if last = last<<8 | uint64(c); x.gate.lets(last) && x.sure(last) {
				return lines
			}
		}
	}
	return lines
}

// cutsLine reports whether a line whose end leads to state may have to be read together with the
// one below.
func (a *automaton) cutsLine(state uint32, below string) bool {
	if a.deep[state] < leastCut {
		return false
	}
	if a.parts && a.part[int(state)/a.cols] > 0 {
		return true
	}
	for i := 0; int(a.deep[state]) > i; i++ {
		if i == len(below) || a.stop[below[i]] {
			return true // not there yet, or undecidable by a first look
		}
		if state = a.fast[state+uint32(a.class[below[i]])]; state >= fastMark {
			return true
		}
	}
	return false
}

// cutsColumn reports whether the end of a column of a frame cuts off a keyword.
func (r *compiled) cutsColumn(text string) bool {
	text = strings.TrimRight(text, " ")
	a, state := r.words, uint32(0)
	for i := max(0, len(text)-rules.MaxKeyword); i < len(text); i++ {
		state = a.fast[state+uint32(a.class[text[i]])] &^ fastMark
	}
	return a.deep[state] >= leastCut || r.index.cut(pack(text))
}

// passes returns the length of the control sequence that begins with the ESC at s[i]; 0 when it has
// to be judged, and a negative number when s ends inside it. It is [ansi.Sequence] for well-formed
// ones.
func (r *compiled) passes(s string, i int) int {
	a, x := r.words, r.index
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
		if isClipboard(s[j:]) {
			return 0
		}
		state, last := uint32(0), uint64(0)
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
			if last = last<<8 | uint64(c); x != nil && x.has(last) {
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

// need is which readings of a text have to be made and judged.
type need uint8

const (
	needText need = 1 << iota // as it was written
	needOver                  // as what is left where the cursor moved back
	needRows                  // as the rows that the cursor's moves produce
	needAll  = needText | needOver | needRows
	needLook = needAll + 1 // a first look has not been taken
)

// glance is a first look at a text in which the cursor moves.
type glance struct {
	by       *compiled
	tail     int                    // beginning of the control sequence that a window may have ended inside; else the text's length
	starts   []int                  // where control sequences begin
	placed   bool                   // the cursor moved across the page
	payloads bool                   // there are control strings
	busy     [maxPlacedRow + 1]bool // rows that contained a keyword

	rows    [][]byte // content of each row, one byte per column: non-ASCII as veil
	touched []int
	over    []byte // the text when the cursor's moves within the line are followed, one byte per character
	cursor  placing
	at      int // the cursor in over
	inRow   place
	inOver  place
	need    need
}

// veil replaces a non-ASCII character written earlier: which one is no longer known.
const veil = "\x80"

// place is where a run of text is written in one of the readings, and the automaton's state there.
// While each run follows the previous one as it does in the text itself, that is its state in the
// text.
type place struct {
	apart bool   // what precedes the place is not what was written last
	moved bool   // and state has not been brought up to date
	since int    // how many characters were written since then
	state uint32 // of the automaton, if apart
}

// after returns the automaton's state at the end of a row or a reading.
func (a *automaton) after(text []byte) (state uint32) {
	for _, c := range text[max(0, len(text)-rules.MaxKeyword+1):] {
		state = a.fast[state+uint32(a.class[c])] &^ fastMark
	}
	return state
}

// write takes a run and its left and right neighbours, and reports whether a keyword spans an end
// of it. state is the automaton's state at the run's end in the text. After right there are pad
// blanks.
func (a *automaton) write(p *place, run string, left, right []byte, pad int,
	state uint32) (busy bool) {
	fast := a.fast
	if n := len(left); n > 0 && p.apart && a.behind[rules.Fold(run[0])] &&
		(left[n-1] == veil[0] || n > 1 && left[n-2] == veil[0]) {
		busy = true // a wide character has two cells
	}
	if p.moved {
		*p = place{}
		if n := len(left); n > 0 && a.pairs[int(a.class[left[n-1]])*a.cols+int(a.class[run[0]])] {
			*p = place{apart: true, state: a.after(left)}
		}
	}
	if p.apart {
		x, k := p.state, p.since
		for i := 0; ; i++ {
			if int(a.deep[x]) <= k {
				*p = place{} // the continuation began within what was written
				break
			}
			if i == len(run) {
				p.state, p.since = x, k
				state = x
				break
			}
			if x = fast[x+uint32(a.class[run[i]])]; x >= fastMark {
				x, busy = x&^fastMark, true
			}
			k++
		}
	}
	for i := 0; int(a.deep[state]) > i && i < len(right)+pad; i++ {
		c := byte(' ')
		if i < len(right) {
			c = right[i]
		}
		if c == veil[0] && a.wide {
			return true
		}
		if state = fast[state+uint32(a.class[c])]; state >= fastMark {
			state, busy = state&^fastMark, true
		}
	}
	return busy
}

// look returns which readings of the line contain a keyword, or may.
func (s *scan) look() need {
	if plain(s.line) {
		return needText
	}
	n, sure := s.sight.look(s.by, s.line, false)
	s.everyRow = !sure
	return n
}

// look returns which readings of text contain a keyword, or may: text is a line without its end,
// or, with window, a part of one. sure: the look reached the end, and says which rows; otherwise
// everything has to be judged.
func (g *glance) look(r *compiled, text string, window bool) (n need, sure bool) {
	g.by = r
	g.busy, g.placed, g.payloads, g.starts = [maxPlacedRow + 1]bool{}, false, false, g.starts[:0]
	w, x := r.words, r.index
	if len(r.regexes) > 0 || r.thorough {
		return needAll, false
	}
	for _, row := range g.touched {
		g.rows[row] = g.rows[row][:0]
	}
	if len(g.rows) == 0 {
		g.rows = make([][]byte, maxPlacedRow+1)
	}
	g.touched, g.over, g.at, g.need, g.tail = g.touched[:0], g.over[:0], 0, 0, len(text)
	g.cursor = placing{row: maxPlacedRow} // wherever that is: a window begins anywhere
	g.inRow, g.inOver = place{}, place{}
	fast := w.fast
	state, last := uint32(0), uint64(0)
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c >= 0x20 && c < 0x7f:
			from, busy := i, false
			for ; i < len(text) && text[i] >= 0x20 && text[i] < 0x7f; i++ {
				if state = fast[state+uint32(w.class[text[i]])]; state >= fastMark {
					state, busy = state&^fastMark, true
				}
				if x != nil {
					last = last<<8 | uint64(text[i])
					busy = busy || x.gate.lets(last) && x.sure(last)
				}
			}
			if busy {
				g.need = needAll
				g.busy[g.cursor.row] = true
			}
			if !g.run(text[from:i], text[from:i], state) {
				return needAll, false
			}
		case c == esc:
			n := r.passes(text, i)
			if n == 0 || n < 0 && !window {
				return needAll, false
			}
			g.starts = append(g.starts, i)
			g.payloads = g.payloads || i+1 < len(text) && text[i+1] != '['
			if window && (n < 0 || i+n == len(text)) {
				g.tail = i
				return g.ends(text[:i], state, last), true
			}
			if text[i+n-1] != 'm' {
				g.moves(text[i : i+n])
			}
			i += n
		case c == '\b':
			g.cursor.col = max(0, g.cursor.col-1)
			g.at = max(0, g.at-1)
			g.leave()
			i++
		case c == '\r' && !wraps(text, i):
			if state = fast[state+uint32(w.class['\n'])]; state >= fastMark {
				return needAll, false
			}
			last = 0 // no value contains a line end
			g.cursor.col, g.at = 0, 0
			g.leave()
			i++
		case c == '\t', c == '\r', c == '\n':
			return needAll, false
		case c >= utf8.RuneSelf:
			if n := invisible(text, i); n > 0 {
				i += n
				continue
			}
			ch, n := utf8.DecodeRuneInString(text[i:])
			cols := width(ch)
			if ch == utf8.RuneError && n < 2 || cols == 0 || g.at < len(g.over) {
				return needAll, false
			}
			if x != nil && x.wide {
				return needAll, false
			}
			busy := false
			for _, c := range []byte(text[i : i+n]) {
				if state = fast[state+uint32(w.class[c])]; state >= fastMark {
					state, busy = state&^fastMark, true
				}
			}
			if cols == 2 && w.deep[state] > 0 {
				return needAll, false // the text right of its second cell may continue the keyword
			}
			if last = 0; busy {
				g.need = needAll
				g.busy[g.cursor.row] = true
			}
			if g.run(text[i:i+n], veil, state); cols == 2 {
				// Its second cell becomes blank once the first is overwritten.
				g.inRow = place{apart: true}
				g.put(" ", " ", fast[w.class[' ']])
				g.inRow = place{apart: true, moved: true}
			}
			i += n
		default:
			i++
		}
	}
	if !window && (w.deep[state] >= leastCut || x.cut(last) || mayBeLone(text)) {
		g.need |= needText
	}
	return g.ends(text, state, last), true
}

// ends returns what is needed when text ends here: a window hides the beginning of a literal cut
// off by its end.
func (g *glance) ends(text string, state uint32, last uint64) need {
	if mayReadDotted(text, g.payloads) {
		g.need |= needText
	}
	w, x := g.by.words, g.by.index
	if w.parts && (w.part[int(state)/w.cols] > 0 || w.part[int(w.after(g.over))/w.cols] > 0) {
		g.need = needAll
	}
	if x.cut(last) || x.cut(pack(g.over)) {
		g.need = needAll
	}
	return g.need
}

// moves follows a control sequence.
func (g *glance) moves(seq string) {
	final, n, more := csi(seq)
	if cursor[final] {
		g.placed = true
		if more < 2 {
			g.cursor.step(final, n[0], n[1])
			g.inRow = place{apart: true, moved: true}
		}
	}
	if more > 0 {
		return
	}
	switch final {
	case 'D':
		g.at = max(0, g.at-max(1, n[0]))
	case 'C':
		g.at = min(g.at+max(1, n[0]), len(g.over))
	case 'K':
		if n[0] > 0 {
			return
		}
		g.over = g.over[:g.at]
	default:
		return
	}
	g.inOver = place{apart: true, moved: true}
}

// leave records that the next run is not adjacent in either reading.
func (g *glance) leave() {
	g.inRow = place{apart: true, moved: true}
	g.inOver = g.inRow
}

// pad makes the cursor's row at least cols wide.
func (g *glance) pad(cols int) {
	b := g.rows[g.cursor.row]
	if len(b) >= cols {
		return
	}
	if len(b) == 0 {
		g.touched = append(g.touched, g.cursor.row)
	}
	if cap(b) == 0 {
		b = make([]byte, 0, maxPlacedCol) // few rows get longer
	}
	for len(b) < cols {
		b = append(b, blanksOf[:min(len(blanksOf), cols-len(b))]...)
	}
	g.rows[g.cursor.row] = b
}

var blanksOf = strings.Repeat(" ", 80)

// run writes a run of text in both readings, as it is shown there; false: it overwrites what it
// cannot.
func (g *glance) run(run, shown string, state uint32) bool {
	if g.at == len(g.over) && !g.inOver.apart { // as in the text itself
		g.over = append(g.over, shown...)
		g.at = len(g.over)
		g.put(run, shown, state)
		return true
	}
	end := g.at + len(shown)
	under := g.over[g.at:min(end, len(g.over))]
	if bytes.IndexByte(under, veil[0]) >= 0 {
		return false
	}
	left, right := g.over[:g.at], g.over[min(end, len(g.over)):]
	n := copy(under, shown)
	g.over = append(g.over, shown[n:]...)
	g.at = end
	if g.by.words.write(&g.inOver, run, left, right, 0, state) ||
		g.by.index.seams(left, run, right, 0) {
		g.need |= needOver
	}
	g.put(run, shown, state)
	return true
}

// put writes a run where the cursor is in the rows.
func (g *glance) put(run, shown string, state uint32) {
	shown = shown[:min(len(shown), maxWrittenCol-g.cursor.col)]
	if shown == "" {
		return
	}
	if shown != veil {
		run = shown
	}
	end := g.cursor.col + len(shown)
	g.pad(end)
	b, from := g.rows[g.cursor.row], g.cursor.col
	copy(b[from:], shown)
	g.cursor.col = end
	w := g.by.words
	if (g.inRow.apart || w.deep[state] > 0) &&
		w.write(&g.inRow, run, b[:from], b[end:], rules.MaxKeyword, state) ||
		g.by.index.seams(b[:from], run, b[end:], rules.MaxKeyword) {
		g.need |= needRows
		g.busy[g.cursor.row] = true
	}
}
