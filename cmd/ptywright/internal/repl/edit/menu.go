package edit

import (
	"fmt"
	"strings"
)

// A Candidate is one completion. Text replaces the completed part; Suffix follows it if it is the
// only candidate, as "(" after a function; About describes it in a word.
type Candidate struct {
	Text, Suffix, About string
}

// A menu lists candidates below the input.
type menu struct {
	items    []Candidate
	start    int // where the completed part begins in the buffer, in runes
	selected int // -1: none yet
	typed    string
}

// common is the common prefix of all candidates.
func (m *menu) common() string {
	all := []rune(m.items[0].Text)
	for _, c := range m.items[1:] {
		text := []rune(c.Text)
		n := 0
		for n < len(all) && n < len(text) && all[n] == text[n] {
			n++
		}
		all = all[:n]
	}
	return string(all)
}

// rows draws the menu: one candidate per row with its description when there are few, else in
// columns.
func (m *menu) rows(cols, most int) []string {
	widest, told := 0, false
	for _, c := range m.items {
		widest = max(widest, Width(c.Text))
		told = told || c.About != ""
	}
	across := max(cols/(widest+2), 1)
	if told && len(m.items) <= most {
		across = 1
	}
	lines := (len(m.items) + across - 1) / across
	first := 0
	if most = max(most, 2); lines > most {
		most-- // for the count
		first = min(max(max(m.selected, 0)/across-most/2, 0), lines-most)
	}
	var rows []string
	for line := first; line < min(lines, first+most); line++ {
		var b strings.Builder
		for i := line * across; i < min((line+1)*across, len(m.items)); i++ {
			c := m.items[i]
			name := Cut(c.Text, max(cols-1, 1))
			pad := strings.Repeat(" ", max(widest-Width(name), 0)+2)
			if i == m.selected {
				name = "\x1b[7m" + name + "\x1b[m"
			}
			b.WriteString(name)
			if across > 1 {
				b.WriteString(pad)
			} else if room := cols - widest - 3; c.About != "" && room > 8 {
				b.WriteString(pad + "\x1b[2m" + Cut(c.About, room) + "\x1b[m")
			}
		}
		rows = append(rows, b.String())
	}
	if lines > len(rows) {
		rows = append(rows,
			"\x1b[2m"+Cut(fmt.Sprintf("%d of %d", max(m.selected+1, 1), len(m.items)), cols-1)+
				"\x1b[m")
	}
	return rows
}
