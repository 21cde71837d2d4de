package edit

import (
	"io"
	"strings"
	"unicode"
)

// press handles a key and reports whether the line is entered.
func (e *Editor) press(k key) (done bool, err error) {
	if e.search != nil && e.searching(k) {
		return false, nil
	}
	if e.menu != nil && e.choosing(k) {
		return false, nil
	}
	killing, typing := e.killing, e.typing
	e.killing, e.typing = false, false
	switch k.name {
	case "text":
		if !typing || strings.ContainsFunc(k.text, unicode.IsSpace) {
			e.save()
		}
		e.insert(k.text)
		e.typing = true
	case "paste":
		e.save()
		e.insert(k.text)
	case "enter":
		if e.More != nil && e.More(string(e.text)) {
			e.save()
			e.insert("\n" + e.indent())
			return false, nil
		}
		return true, nil
	case "alt+enter", "shift+enter", "ctrl+j":
		e.save()
		e.insert("\n" + e.indent())
	case "ctrl+c":
		return true, ErrInterrupt
	case "ctrl+d":
		if len(e.text) == 0 {
			return true, io.EOF
		}
		e.remove(e.cursor, e.next(e.cursor))
	case "tab":
		e.complete()
	case "ctrl+r":
		e.search = &search{at: len(e.history), text: string(e.text), cursor: e.cursor}
	case "ctrl+_":
		if n := len(e.undo); n > 0 {
			e.buffer, e.undo = e.undo[n-1], e.undo[:n-1]
		}
	case "ctrl+l":
		e.write("\x1b[H\x1b[2J")
		e.painter = painter{}
	default:
		if !e.move(k.name) && !e.erase(k.name, killing) {
			return false, nil // nothing
		}
	}
	return false, nil
}

// move moves the cursor, and reports whether the key does that.
func (e *Editor) move(name string) bool {
	switch name {
	case "left", "ctrl+b":
		e.cursor = e.prev(e.cursor)
	case "right", "ctrl+f":
		e.cursor = e.next(e.cursor)
	case "home", "ctrl+a":
		e.cursor = e.lineStart(e.cursor)
	case "end", "ctrl+e":
		e.cursor = e.lineEnd(e.cursor)
	case "ctrl+home", "alt+<":
		e.cursor = 0
	case "ctrl+end", "alt+>":
		e.cursor = len(e.text)
	case "alt+b", "ctrl+left", "alt+left":
		e.cursor = e.wordStart(e.cursor)
	case "alt+f", "ctrl+right", "alt+right":
		e.cursor = e.wordEnd(e.cursor)
	case "up":
		if !e.vertical(true) {
			e.recall(e.place - 1)
		}
	case "down":
		if !e.vertical(false) {
			e.recall(e.place + 1)
		}
	case "ctrl+p", "page_up":
		e.recall(e.place - 1)
	case "ctrl+n", "page_down":
		e.recall(e.place + 1)
	default:
		return false
	}
	return true
}

// erase deletes text, and reports whether the key does that.
func (e *Editor) erase(name string, killing bool) bool {
	at := e.cursor
	switch name {
	case "backspace", "shift+backspace":
		e.remove(e.prev(at), at)
	case "delete":
		e.remove(at, e.next(at))
	case "ctrl+k":
		end := e.lineEnd(at)
		if end == at {
			end = e.next(at) // the line's end itself
		}
		e.kill(at, end, killing)
	case "ctrl+u":
		e.kill(e.lineStart(at), at, killing)
	case "ctrl+w":
		e.kill(e.blankStart(at), at, killing)
	case "alt+backspace":
		e.kill(e.wordStart(at), at, killing)
	case "alt+d", "ctrl+delete":
		e.kill(at, e.wordEnd(at), killing)
	case "ctrl+y":
		e.save()
		e.insert(e.killed)
	case "ctrl+t":
		if end := e.next(at); at > 0 && end > at {
			start := e.prev(at)
			e.save()
			e.replace(start, end, string(e.text[at:end])+string(e.text[start:at]))
		}
	default:
		return false
	}
	return true
}

// save saves the text for an undo.
func (e *Editor) save() {
	if len(e.undo) == maxUndo {
		e.undo = e.undo[1:]
	}
	e.undo = append(e.undo, buffer{append([]rune(nil), e.text...), e.cursor})
}

func (e *Editor) remove(from, to int) {
	if from < to {
		e.save()
		e.cut(from, to)
	}
}

// kill removes text and keeps it for Ctrl-Y; consecutive kills accumulate.
func (e *Editor) kill(from, to int, more bool) {
	before := e.cursor
	e.save()
	gone := e.cut(from, to)
	switch {
	case !more:
		e.killed = gone
	case to <= before && from < before:
		e.killed = gone + e.killed
	default:
		e.killed += gone
	}
	e.killing = true
}

// indent is the indentation of the cursor's line, for the next one.
func (e *Editor) indent() string {
	line := string(e.text[e.lineStart(e.cursor):e.cursor])
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// recall shows a history entry, and keeps the changes to the one shown so far.
func (e *Editor) recall(to int) {
	if to < 0 || to > len(e.history) {
		return
	}
	e.edits[e.place] = string(e.text)
	e.place = to
	text, changed := e.edits[to]
	if !changed && to < len(e.history) {
		text = e.history[to]
	}
	e.undo = nil
	e.text = []rune(text)
	e.cursor = len(e.text)
}

// complete asks for candidates and inserts their common prefix.
func (e *Editor) complete() {
	if before := string(e.text[e.lineStart(e.cursor):e.cursor]); strings.TrimSpace(before) == "" &&
		e.lineStart(e.cursor) > 0 {
		e.save()
		e.insert("  ") // on a further line Tab indents
		return
	}
	if e.Complete == nil {
		return
	}
	before := string(e.text[:e.cursor])
	start, items := e.Complete(string(e.text), len(before))
	if len(items) == 0 || start < 0 || start > len(before) {
		return
	}
	m := &menu{items: items, start: len([]rune(before[:start])), selected: -1,
		typed: before[start:]}
	e.save()
	if len(items) == 1 {
		e.replace(m.start, e.cursor, items[0].Text+items[0].Suffix)
		return
	}
	if common := m.common(); len(common) > len(m.typed) {
		e.replace(m.start, e.cursor, common)
		m.typed = common
	}
	e.menu = m
}

// choosing handles the menu's keys. Any other key accepts the selected candidate and then acts as
// usual.
func (e *Editor) choosing(k key) bool {
	m := e.menu
	step := 0
	switch k.name {
	case "tab", "down":
		step = 1
	case "shift+tab":
		step = -1
	case "right", "up", "left": // inside the menu once a candidate is selected
		if m.selected >= 0 {
			step = map[string]int{"right": 1, "up": -1, "left": -1}[k.name]
		}
	case "escape", "ctrl+g":
		e.replace(m.start, e.cursor, m.typed)
		e.menu = nil
		return true
	case "enter":
		e.menu = nil
		if m.selected < 0 {
			return false
		}
		e.insert(m.items[m.selected].Suffix)
		return true
	}
	if step == 0 {
		e.menu = nil
		return false
	}
	n := len(m.items)
	if m.selected < 0 && step < 0 {
		m.selected = 0
	}
	m.selected = (m.selected + step + n) % n
	e.replace(m.start, e.cursor, m.items[m.selected].Text)
	return true
}

// A search looks backwards through the history for what is typed.
type search struct {
	query  string
	at     int // the entry shown; len(history) is none
	text   string
	cursor int // and text: the input before the search
}

// searching handles the search's keys. Any other key ends it with the entry found, and then acts as
// usual.
func (e *Editor) searching(k key) bool {
	s := e.search
	switch k.name {
	case "text":
		s.query += k.text
		e.find(s.at)
	case "ctrl+r":
		e.find(s.at - 1)
	case "ctrl+s":
		for i := s.at + 1; i < len(e.history); i++ {
			if e.found(i) {
				break
			}
		}
	case "backspace":
		if q := []rune(s.query); len(q) > 0 {
			s.query = string(q[:len(q)-1])
			s.at = len(e.history)
			e.find(s.at)
		}
	case "escape", "ctrl+g":
		e.text, e.cursor, e.search = []rune(s.text), s.cursor, nil
	default:
		e.search = nil
		return false
	}
	return true
}

// find searches backwards from an entry for the query.
func (e *Editor) find(from int) {
	for i := min(from, len(e.history)-1); i >= 0; i-- {
		if e.found(i) {
			return
		}
	}
}

// found shows an entry if it contains the query.
func (e *Editor) found(i int) bool {
	at := strings.Index(e.history[i], e.search.query)
	if at < 0 {
		return false
	}
	e.search.at, e.place = i, i
	e.text = []rune(e.history[i])
	e.cursor = len([]rune(e.history[i][:at]))
	return true
}
