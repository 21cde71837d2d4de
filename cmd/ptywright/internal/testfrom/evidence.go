package testfrom

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
)

const (
	// minWord and maxWord bound the texts that waits look for, in characters: shorter ones are found
	// by chance, longer ones nobody reads.
	minWord, goodWord = 2, 3
	maxWord           = 40
)

// A span is a piece of a text, in bytes.
type span struct{ start, end int }

// wordsIn returns the words of a line: what stands between blanks and the lines of boxes, without
// punctuation at its ends.
func wordsIn(line string) (all []span) {
	inside := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) }
	begin := -1
	end := func(at int) {
		if begin < 0 {
			return
		}
		word := line[begin:at]
		left := strings.IndexFunc(word, inside)
		if left >= 0 {
			right := strings.LastIndexFunc(word, inside)
			_, n := utf8.DecodeRuneInString(word[right:])
			all = append(all, span{begin + left, begin + right + n})
		}
		begin = -1
	}
	for i, c := range line {
		if unicode.IsSpace(c) || c >= 0x2500 && c < 0x2600 { // boxes and blocks
			end(i)
		} else if begin < 0 {
			begin = i
		}
	}
	end(len(line))
	return all
}

// A clue is a text that a screen shows since a move.
type clue struct {
	text    string
	worse   int // how many reasons there are that it may be another text next time
	since   int // the screen from which on it is there
	at      int // where it stands
	letters int
}

// clues returns the texts that are new since a move, stay until the next one and stand on the screen
// once, the best first.
func (m *move) clues(other *move) []clue {
	after := m.after().Text()
	before := m.before.Text()
	later := make([]string, len(m.shown))
	for i, s := range m.shown {
		later[i] = s.Text()
	}
	var all []clue
	seen := map[string]bool{}
	at := 0
	for line := range strings.Lines(after) {
		echo := m.echo(line)
		for _, w := range wordsIn(line) {
			c := clue{text: line[w.start:w.end], at: at + w.start}
			if seen[c.text] || w.start < echo {
				continue
			}
			seen[c.text] = true
			if c.judge() && m.fits(&c, before, after, later) && other.has(c.text) {
				all = append(all, c)
			}
		}
		at += len(line)
	}
	slices.SortFunc(all, func(a, b clue) int {
		return cmp.Or(a.worse-b.worse, b.since-a.since, a.letters-b.letters, a.at-b.at)
	})
	return all
}

// judge counts the reasons why a text may differ next time, and reports whether it can be a clue at all.
func (c *clue) judge() bool {
	c.letters = utf8.RuneCountInString(c.text)
	if c.letters < minWord || c.letters > maxWord || strings.ContainsAny(c.text, "'\\") ||
		!strings.ContainsFunc(c.text, unicode.IsLetter) || strings.Contains(c.text, "REDACTED") {
		return false
	}
	if c.letters < goodWord {
		c.worse++
	}
	if strings.ContainsFunc(c.text, unicode.IsDigit) { // times, sizes, numbers of processes
		c.worse++
	}
	if strings.ContainsAny(c.text, "/@~:") { // folders, names of machines and users
		c.worse++
	}
	return true
}

// fits reports whether a text came with the move, stays and is there once.
func (m *move) fits(c *clue, before, after string, later []string) bool {
	if strings.Contains(before, c.text) || strings.Count(after, c.text) != 1 ||
		m.text != "" && strings.Contains(m.text, c.text) {
		return false
	}
	c.since = len(later) - 1
	for c.since > 0 && strings.Contains(later[c.since-1], c.text) {
		c.since--
	}
	return true
}

// has reports whether a text came with the move of another recording, too; there may be none.
func (m *move) has(text string) bool {
	return m == nil || strings.Contains(m.after().Text(), text) && !strings.Contains(m.before.Text(), text)
}

// echo returns where the echo of what was typed ends in a line, with the prompt before it; 0: the
// line has none.
func (m *move) echo(line string) int {
	prompt := lineOf(m.before, m.before.Cursor.Row)
	rest, ok := strings.CutPrefix(line, prompt)
	if rest = strings.TrimLeft(rest, " "); !ok || m.text == "" || !strings.HasPrefix(rest, m.text) {
		return 0
	}
	return len(line) - len(rest) + len(m.text)
}

// prompt returns the line that the cursor stands behind at the end, if that came with the move and
// is not what was typed: who types before it is there is not read yet, or read by another program.
// "": there is none.
func (m *move) prompt(other *move) string {
	s := m.after()
	line := lineOf(s, s.Cursor.Row)
	if !s.Cursor.Visible || line == "" || s.Wrapped(s.Cursor.Row-1) || m.echo(line) > 0 || strings.Contains(line, "REDACTED") ||
		other != nil && lineOf(other.after(), other.after().Cursor.Row) != line {
		return ""
	}
	for x, cols := s.Cursor.Col, s.Cols; x < cols; x++ {
		if !blank(s.Cell(s.Cursor.Row, x).Text) {
			return ""
		}
	}
	for _, was := range append([]*vt.Screen{m.before}, m.shown[:max(len(m.shown)-1, 0)]...) {
		if lineOf(was, s.Cursor.Row) != line {
			return line
		}
	}
	// All came at once, and the screen scrolled by as many rows.
	if m.enter && !s.Modes.AltScreen && lineOf(m.before, s.Cursor.Row-1) != lineOf(s, s.Cursor.Row-1) {
		return line
	}
	return ""
}

// ended reports whether a move is one after which a program asks for more: its start, Enter, or a
// key such as Ctrl-C.
func (m *move) ended() bool {
	return m.kind == started || m.enter || m.kind == pressed &&
		(m.keys[0] == "enter" || strings.HasPrefix(m.keys[0], "ctrl+"))
}

// lineOf returns a row's text without the blanks at its end; "" for a row that is not there.
func lineOf(s *vt.Screen, row int) string { return string(s.AppendLine(nil, row)) }

// news reports whether a move has shown more than its own echo.
func (m *move) news() bool { return len(m.clues(nil)) > 0 }

// proof returns the steps that show that a move has had its effect: of several that would do, the one
// that says least and still cannot hold before, and the prompt that comes back. The echo of what was
// typed is none: the terminal echoes what no program has read. strong is false when only the look of
// the screen has changed, or nothing.
func (m *move) proof(other *move) (steps []string, strong bool) {
	prompt := ""
	if m.ended() {
		prompt = m.prompt(other)
	}
	if clues := m.clues(other); len(clues) > 0 {
		steps = append(steps, "wait text "+textWords(clues[0].text))
		if strings.Contains(prompt, clues[0].text) {
			return steps, true
		}
	} else if line := m.line(other); line != "" && line != prompt {
		steps = append(steps, "wait "+lineWords(line, ""))
	}
	if prompt != "" {
		steps = append(steps, "wait "+lineWords(prompt, " *"))
	}
	if len(steps) > 0 {
		return steps, true
	}
	if gone := m.gone(other); gone != "" {
		return []string{"! expect text " + textWords(gone)}, true
	}
	after, before := m.after(), m.before
	if a, b := after.Cursor, before.Cursor; a.Visible && (a.Row != b.Row || a.Col != b.Col) &&
		(other == nil || other.after().Cursor == a) {
		return []string{fmt.Sprintf("expect cursor %d,%d", a.Row, a.Col)}, true
	}
	shown := after.Text()
	switch {
	case shown == before.Text():
		return nil, false
	case m.kind == typedIn && !m.enter && !m.secret && m.text != "" && m.text == strings.TrimSpace(m.text) &&
		strings.Contains(shown, m.text) && !strings.Contains(before.Text(), m.text) &&
		!strings.ContainsAny(m.text, "\\") && other.has(m.text):
		return []string{"wait text " + textWords(m.text)}, true // nothing but its echo can come
	case m.enter:
		return []string{"wait stable 250ms"}, false
	}
	return nil, false
}

// lineWords is a whole line as a step has it, and an expression of what may stand behind it.
func lineWords(line, behind string) string {
	return "regex /^" + strings.ReplaceAll(regexp.QuoteMeta(line), "/", `\/`) + behind + "$/"
}

// line returns a whole line that is new and there once; "" when there is none.
func (m *move) line(other *move) string {
	before := map[string]bool{}
	for _, l := range strings.Split(m.before.Text(), "\n") {
		before[l] = true
	}
	count := map[string]int{}
	lines := strings.Split(m.after().Text(), "\n")
	for _, l := range lines {
		count[l]++
	}
	best := ""
	for _, l := range lines {
		c := clue{text: l}
		if l == "" || before[l] || count[l] != 1 || !c.judge() || m.text != "" && strings.HasSuffix(l, m.text) {
			continue
		}
		if other != nil && !slices.Contains(strings.Split(other.after().Text(), "\n"), l) {
			continue
		}
		if best == "" || c.worse == 0 && len(l) < len(best) {
			best = l
		}
	}
	return best
}

// gone returns a text that was there once before the move and no longer is; "" when there is none.
func (m *move) gone(other *move) string {
	before, after := m.before.Text(), m.after().Text()
	var best clue
	for line := range strings.Lines(before) {
		for _, w := range wordsIn(line) {
			c := clue{text: line[w.start:w.end]}
			if !c.judge() || strings.Count(before, c.text) != 1 || strings.Contains(after, c.text) ||
				other != nil && strings.Contains(other.after().Text(), c.text) {
				continue
			}
			if best.text == "" || cmp.Or(c.worse-best.worse, c.letters-best.letters) < 0 {
				best = c
			}
		}
	}
	return best.text
}

// textWords is a text as a locator has it.
func textWords(s string) string {
	if strings.Contains(s, "'") {
		return strconv.Quote(s)
	}
	return "'" + s + "'"
}
