package vt

// A Stretch is a run of which every cell is alike: each has one code point and the same width, so
// that whoever draws it knows the column of every character, or it is a single cluster.
type Stretch struct {
	Run
	// Cluster says that Text is one character of several code points: a letter with its combining
	// marks, an emoji with its modifiers.
	Cluster bool
}

// EachStretch calls f for each stretch of a row, from the first column up to the last one that is
// not blank in the default style. A row that continues in the next goes on to its end: a blank there is
// one between two words of its line.
func (s *Screen) EachStretch(y int, f func(Stretch)) {
	if r := s.row(y); r != nil {
		r.eachStretch(f)
	}
}

// EachStretch calls f for each stretch of line i, as [Screen.EachStretch] does for a row.
func (h History) EachStretch(i int, f func(Stretch)) {
	if line := h.find(i); line != nil {
		decodeRow(line).eachStretch(f)
	}
}

func (r *row) eachStretch(f func(Stretch)) {
	n := r.styledWidth()
	if r.wrapped {
		n = max(n, r.joinedWidth())
	}
	r.eachRun(n, func(run Run) {
		if !r.rich {
			f(Stretch{Run: run})
			return
		}
		cells, first := r.cells[run.Col:run.Col+run.Cols], run.Col
		for i := 0; i < len(cells); {
			kind := kindOf(cells[i])
			j := i + kind.cols()
			for !kind.cluster && j < len(cells) && kindOf(cells[j]) == kind {
				j += kind.cols()
			}
			j = min(j, len(cells))
			part := row{cells: cells[i:j], n: j - i, arena: r.arena, rich: true}
			f(Stretch{Cluster: kind.cluster, Run: Run{
				Col: first + i, Cols: j - i, Text: string(part.appendText(nil, j-i)), Style: run.Style,
			}})
			i = j
		}
	})
}

// A kind is what the cells of a stretch have in common.
type kind struct{ wide, cluster bool }

func kindOf(c cell) kind {
	return kind{wide: c.attr()&attrWide != 0, cluster: c.content()&clusterBit != 0}
}

func (k kind) cols() int {
	if k.wide {
		return 2
	}
	return 1
}
