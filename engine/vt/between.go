package vt

// A Position is a place in everything that the terminal has shown on its main screen: lines count
// from the first ever, as in [Event], columns from zero.
type Position struct {
	Line uint64
	Col  int
}

// Between returns the text between two positions of the main screen and its scrollback: wrapped
// lines are joined, trailing blanks of the others trimmed. Whole is false when some of the text was
// dropped from the scrollback, or when it is longer than most bytes: then its end is returned. The
// text is empty on the alternate screen, and when to is before from. A resize that rewraps lines
// moves what is on the screen away from positions returned earlier.
func (s *Screen) Between(from, to Position, most int) (text string, whole bool) {
	if s.Modes.AltScreen || to.Line < from.Line || to.Line == from.Line && to.Col <= from.Col {
		return "", true
	}
	h := s.history
	oldest, next := h.Dropped(), h.Dropped()+uint64(h.Len())
	whole = true
	if from.Line < oldest {
		from, whole = Position{Line: oldest}, false
	}
	if last := next + uint64(len(s.rows)); to.Line >= last {
		to = Position{Line: last}
	}
	if lines := uint64(most); to.Line-from.Line > lines { // every line except a wrapped one has at least one byte
		from, whole = Position{Line: to.Line - lines}, false
	}
	var out []byte
	for line := from.Line; line <= to.Line; line++ {
		start, end := 0, -1
		if line == from.Line {
			start = from.Col
		}
		if line == to.Line {
			if end = to.Col; end <= start {
				break
			}
		}
		var r *row
		if line < next {
			r = decodeRow(h.find(int(line - oldest)))
		} else if r = s.row(int(line - next)); r == nil {
			break
		}
		width := r.trimmed()
		if r.wrapped && line < to.Line {
			width = max(width, r.joinedWidth())
		}
		if end < 0 || end > width {
			end = width
		}
		if start < end {
			part := row{cells: r.cells[min(start, len(r.cells)):], n: max(min(r.n, end)-start, 0), arena: r.arena, rich: r.rich}
			out = part.appendText(out, end-start)
		}
		if line < to.Line && !r.wrapped {
			out = append(out, '\n')
		}
	}
	if cut := len(out) - most; cut > 0 {
		out, whole = out[cut:], false
		for len(out) > 0 && out[0]&0xc0 == 0x80 { // inside a character
			out = out[1:]
		}
	}
	return string(out), whole
}
