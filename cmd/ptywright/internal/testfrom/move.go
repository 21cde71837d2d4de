package testfrom

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

const (
	// typingPause is how long a person pauses at most between two characters of a word, whatever
	// the screen does; joinPause between inputs that belong together when the screen stays the same.
	// In between, the screen may change for less than the pause after which it counts as looked at.
	typingPause = 300 * time.Millisecond
	joinPause   = time.Second
	// atOnce is a pause in which a program has not reacted to what came before it.
	atOnce = 50 * time.Millisecond
	// maxShown bounds the screens that are kept of one move.
	maxShown = 256
	// maxMoves bounds the moves of a script: people do some tens.
	maxMoves = 5000
)

// A moveKind says what was done to the program.
type moveKind uint8

const (
	started moveKind = iota
	typedIn
	pressed
	pasted
	moused
	resized
)

// A move is something that was done to the program, and what it showed from then on.
type move struct {
	kind   moveKind
	text   string   // typed or pasted
	enter  bool     // and Enter behind it
	keys   []string // pressed
	words  string   // of the script, for the mouse and a size
	secret bool     // text must not be written down
	notes  []string // what was left out, for comments

	units  []string // what it is made of, to follow it in another recording
	before *vt.Screen
	shown  []*vt.Screen  // those that differ from the one before, in order
	last   time.Duration // of the newest of them, or of the input
	until  time.Duration // when the next move came
	press  *vt.Mouse     // a button that is still down
}

// after is the screen before the next move.
func (m *move) after() *vt.Screen {
	if n := len(m.shown); n > 0 {
		return m.shown[n-1]
	}
	return m.before
}

// A story is what a recording tells: the moves, the first of which is the program's start.
type story struct {
	moves []*move
	exit  *int // the program's exit code; nil: it did not end
}

// A PartError says that two recordings are not of the same input.
type PartError struct {
	At         time.Duration // in the second one
	Want, Have string        // what was done in each; "" for nothing
}

// Error says where.
func (e *PartError) Error() string {
	say := func(s string) string {
		if s == "" {
			return "nothing more"
		}
		return s
	}
	return fmt.Sprintf("the two recordings are of different input: at %v of the second one %s was typed, "+
		"in the first one %s; record the same steps twice", e.At, say(e.Have), say(e.Want))
}

// errTooManyMoves: the recording is not of a person.
var errTooManyMoves = fmt.Errorf("the recording has more than %d inputs", maxMoves)

// tell reads a recording. like, unless it is nil, is the story of another recording of the same
// input, whose moves are made here, too.
func tell(rec *record.Recording, like *story) (*story, error) {
	t := &teller{like: like, replay: record.NewReplay(rec)}
	t.begin(&move{kind: started}, 0)
	for {
		e, ok := t.replay.Step()
		if !ok {
			break
		}
		switch e.Kind {
		case record.EventInput:
			if err := t.input(e.Text, e.At); err != nil {
				return nil, err
			}
		case record.EventOutput:
			t.look(e.At)
		case record.EventResize:
			if s := t.current().after(); s.Rows != e.Rows || s.Cols != e.Cols {
				m := &move{kind: resized, words: fmt.Sprintf("%dx%d", e.Rows, e.Cols)}
				if err := t.add(m, m.words, e.At); err != nil {
					return nil, err
				}
			}
			t.look(e.At)
		case record.EventExit:
			code := e.Exit
			t.exit = &code
		}
		if len(t.moves) > maxMoves {
			return nil, errTooManyMoves
		}
	}
	if err := t.replay.Err(); err != nil {
		return nil, err
	}
	t.current().until = max(rec.Duration(), t.current().last)
	if like != nil {
		if want, more := t.expected(); more {
			return nil, &PartError{rec.Duration(), want, ""}
		}
	}
	return &t.story, nil
}

// A teller makes a story.
type teller struct {
	story
	like     *story
	replay   *record.Replay
	changed  bool // the screen has, since the last input
	inputEnd time.Duration
}

func (t *teller) current() *move { return t.moves[len(t.moves)-1] }

// begin begins a move.
func (t *teller) begin(m *move, at time.Duration) {
	if len(t.moves) > 0 {
		t.current().until = at
	}
	m.before, m.last = t.replay.Screen(), at
	t.moves = append(t.moves, m)
}

// look notes what is shown.
func (t *teller) look(at time.Duration) {
	m, s := t.current(), t.replay.Screen()
	if alike(m.after(), s) {
		return
	}
	t.changed = true
	if m.last = at; len(m.shown) == maxShown { // the newest and every other one
		kept := m.shown[:0]
		for i := 1; i < len(m.shown); i += 2 {
			kept = append(kept, m.shown[i])
		}
		m.shown = kept
	}
	m.shown = append(m.shown, s)
}

// alike reports whether two screens of a terminal show the same.
func alike(a, b *vt.Screen) bool {
	if a.Rows != b.Rows || a.Cols != b.Cols || a.Cursor != b.Cursor || a.Title != b.Title || a.Modes != b.Modes {
		return false
	}
	for y := range a.Rows {
		if !a.SameRow(y, b) {
			return false
		}
	}
	return true
}

// expected returns the next unit of the story that is followed.
func (t *teller) expected() (unit string, ok bool) {
	n := len(t.moves) - 1
	if n >= len(t.like.moves) {
		return "", false
	}
	if m := t.like.moves[n]; len(t.current().units) < len(m.units) {
		return m.units[len(t.current().units)], true
	}
	if n++; n < len(t.like.moves) {
		return t.like.moves[n].units[0], true
	}
	return "", false
}

// joins reports whether a unit belongs to the current move. own says so where no other story does.
func (t *teller) joins(unit string, at time.Duration, own bool) (bool, error) {
	if t.like == nil {
		return own, nil
	}
	want, ok := t.expected()
	if !ok || want != unit {
		return false, &PartError{at, want, unit}
	}
	return len(t.current().units) < len(t.like.moves[len(t.moves)-1].units), nil
}

// add adds a move that is not joined to the one before.
func (t *teller) add(m *move, unit string, at time.Duration) error {
	if t.like != nil {
		if want, ok := t.expected(); !ok || want != unit {
			return &PartError{at, want, unit}
		}
	}
	m.units = []string{unit}
	t.begin(m, at)
	return nil
}

// input takes recorded input.
func (t *teller) input(text string, at time.Duration) error {
	for _, tok := range tokens(text) {
		if tok.kind == tokenReply { // the terminal answers by itself
			continue
		}
		if err := t.token(tok, at); err != nil {
			return err
		}
		t.inputEnd, t.changed = at, false
	}
	return nil
}

// soon reports whether an input may belong to the one before it: it came before anybody could look
// at what that one has changed, or that has changed nothing yet.
func (t *teller) soon(at time.Duration) bool {
	since := at - t.inputEnd
	return since < pause || since < joinPause && !t.changed
}

func (t *teller) token(tok token, at time.Duration) error {
	m := t.current()
	pause := at - t.inputEnd
	switch tok.kind {
	case tokenText:
		for _, c := range tok.text {
			m, pause = t.current(), at-t.inputEnd
			unit := string(c)
			own := m.kind == typedIn && !m.enter && (pause < typingPause || t.soon(at) && m.echoed())
			join, err := t.joins(unit, at, own)
			switch {
			case err != nil:
				return err
			case !join:
				next := &move{kind: typedIn}
				if err := t.add(next, unit, at); err != nil {
					return err
				}
				next.text, next.secret = unit, asks(next.before)
			default:
				m.text, m.units, m.last = m.text+unit, append(m.units, unit), at
			}
			t.inputEnd, t.changed = at, false
		}
	case tokenKey:
		unit := "<" + tok.text + ">"
		same := m.kind == pressed && m.keys[0] == tok.text && t.soon(at)
		enter := tok.text == "enter" && m.kind == typedIn && !m.enter &&
			(pause < atOnce || t.soon(at) && !m.news())
		join, err := t.joins(unit, at, same || enter)
		switch {
		case err != nil:
			return err
		case !join:
			return t.add(&move{kind: pressed, keys: []string{tok.text}}, unit, at)
		case m.kind == typedIn:
			m.enter = true
		default:
			m.keys = append(m.keys, tok.text)
		}
		m.units, m.last = append(m.units, unit), at
	case tokenPaste:
		return t.add(&move{kind: pasted, text: tok.text}, "<paste>"+tok.text, at)
	case tokenMouse:
		return t.mouse(tok.mouse, at)
	case tokenUnknown:
		m.notes = append(m.notes, "left out: "+comment(tok.text)+", which no key sends")
	}
	return nil
}

// mouse takes a report of the mouse.
func (t *teller) mouse(e vt.Mouse, at time.Duration) error {
	m := t.current()
	switch {
	case e.Action == vt.MouseMotion:
		return nil
	case e.Button == vt.MouseWheelUp || e.Button == vt.MouseWheelDown:
		way := "up"
		if e.Button == vt.MouseWheelDown {
			way = "down"
		}
		unit := fmt.Sprintf("<scroll %s at %d,%d>", way, e.Row, e.Col)
		join, err := t.joins(unit, at, m.kind == moused && len(m.units) > 0 && m.units[0] == unit && t.soon(at))
		if err != nil {
			return err
		}
		if !join {
			m = &move{kind: moused}
			if err := t.add(m, unit, at); err != nil {
				return err
			}
		} else {
			m.units, m.last = append(m.units, unit), at
		}
		m.words = fmt.Sprintf("scroll %s %d at %s", way, len(m.units), cellWords(e.Row, e.Col))
		return nil
	case e.Action == vt.MousePress:
		unit := fmt.Sprintf("<press %d at %d,%d>", e.Button, e.Row, e.Col)
		next := &move{kind: moused, press: &e}
		if err := t.add(next, unit, at); err != nil {
			return err
		}
		next.words = "click " + placeAt(next.before, e.Row, e.Col) + buttonWords(e.Button)
		return nil
	}
	if m.press != nil && (m.press.Row != e.Row || m.press.Col != e.Col) {
		m.words = "drag " + cellWords(m.press.Row, m.press.Col) + " to " + cellWords(e.Row, e.Col)
	}
	m.press = nil
	return nil
}

func buttonWords(b vt.MouseButtonCode) string {
	switch b {
	case vt.MouseMiddle:
		return " button middle"
	case vt.MouseRight:
		return " button right"
	}
	return ""
}

// cellWords is a cell as a locator.
func cellWords(row, col int) string { return fmt.Sprintf("rect %d,%d 1x1", row, col) }

// placeAt names a cell by the word that stands there, if no other place has that; else by where it
// is.
func placeAt(s *vt.Screen, row, col int) string {
	for _, l := range s.LinesIn(vt.Rect{Row: row, Rows: 1, Cols: s.Cols}) {
		text := l.Text()
		for _, w := range wordsIn(text) {
			spans := l.Spans(w.start, w.end)
			if len(spans) != 1 || col < spans[0].Col || col >= spans[0].End {
				continue
			}
			if name := text[w.start:w.end]; strings.Count(s.Text(), name) == 1 && !strings.Contains(name, "'") {
				return "'" + name + "'"
			}
		}
	}
	return cellWords(row, col)
}

// asks reports whether the program asks for a secret where the cursor is.
func asks(s *vt.Screen) bool {
	lines := s.Lines()
	above := ""
	if s.Cursor.Row > 0 && s.Cursor.Row <= len(lines) {
		above = lines[s.Cursor.Row-1]
	}
	if s.Cursor.Row >= len(lines) {
		return false
	}
	return redact.Asks(lines[s.Cursor.Row], above, "")
}

// echoed reports whether nothing shows since a move but what was typed.
func (m *move) echoed() bool {
	flat := func(s string) string { return strings.Join(strings.Fields(s), "") }
	before, after, text := flat(m.before.Text()), flat(m.after().Text()), flat(m.text)
	if before == after {
		return alike(m.before, m.after())
	}
	for i := 0; ; {
		n := strings.Index(after[i:], text)
		if n < 0 || text == "" {
			return false
		}
		if i += n; after[:i]+after[i+len(text):] == before {
			return true
		}
		i++
	}
}

// isSecret reports whether what was typed must not be written down: it was asked for as a secret and
// is not shown, or it looks like one.
func (m *move) isSecret() bool {
	if m.kind != typedIn && m.kind != pasted {
		return false
	}
	shown := strings.Contains(m.after().Text(), m.text)
	return m.secret && !shown || redact.Default.String(m.text) != m.text || strings.Contains(m.text, "[REDACTED")
}

// errShellLine: recordings of asciinema may have such a line, and older ones of ptywright have lost its
// quotes.
var errShellLine = errors.New("the recording's command is a line for a shell: name the program with its arguments behind --, as in ptywright test from FILE -- sh -c 'ls | less'")

var errNoProgram = errors.New("the recording does not say which program it is of: name it behind --, as in ptywright test from FILE -- PROGRAM")
