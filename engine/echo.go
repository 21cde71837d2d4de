package engine

import (
	"fmt"
	"slices"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// EchoOff says how to treat a line that is typed while the terminal does not echo.
type EchoOff string

const (
	// EchoAsk treats it as a secret if the screen asked for one, or if echo came back on after it,
	// as with sudo, ssh, getpass and read -s. Echo that stays off from line to line is a habit
	// of whatever drives the terminal, and means nothing. "" means the same.
	EchoAsk EchoOff = "ask"
	// EchoSecret treats every such line as a secret.
	EchoSecret EchoOff = "secret"
	// EchoPlain treats none as a secret.
	EchoPlain EchoOff = "plain"
)

// ParseEchoOff returns the value of that name. The error for any other name lists the names.
func ParseEchoOff(name string) (EchoOff, error) {
	switch e := EchoOff(name); e {
	case EchoAsk, EchoSecret, EchoPlain:
		return e, nil
	}
	return "", fmt.Errorf("%s: give ask, secret or plain", Quote(name))
}

// A Standing says what is known of a line that was typed while the terminal did not echo.
type Standing uint8

const (
	// Suspected: it may be a secret; the program has not reacted yet.
	Suspected Standing = iota
	// Certain: it is a secret.
	Certain
	// Cleared: it was suspected, and is not a secret.
	Cleared
)

// maxSuspected bounds the suspected lines: more than anybody types before a program answers. The
// oldest stays suspected.
const maxSuspected = 64

// SecretInput finds out which lines of what is typed into a terminal are secrets. Echo that is off
// is a hint, not proof: sudo switches it off for one line, a script that drives a shell for all.
// The zero value treats every line as [EchoAsk] does and reports nothing. It is not safe for
// concurrent use.
type SecretInput struct {
	EchoOff EchoOff
	// Asks reports whether the screen's line with the cursor, or the one above it, asks for a
	// secret. typed is the line that was entered before, which the program may have repeated. nil:
	// no.
	Asks func(line, above, typed string) bool
	// Tell is called with what is known of a line: before its end is typed, and again when more is
	// known. It is called with two readings of a line whose beginning is uncertain. nil: no
	// reports.
	Tell func(line string, is Standing)

	line    secretLine
	reading bool // echo is off while the terminal edits lines
	times   int  // how often that began
	asked   bool // for the line that is being typed
	// done is the sequence of the screen that last asked: what it still shows has been answered.
	done      uint64
	last      string   // the last line entered
	suspected []string // since echo was last on
	entered   int      // how many of those
	answered  bool     // the program wrote something after the first of them, with echo off
	habit     bool     // echo is off whatever is typed
}

// Look takes the terminal's current mode. output says that the program has just written something,
// and so has had time to switch echo on.
func (i *SecretInput) Look(mode pty.LineMode, output bool) {
	if was := i.reading; mode.Secret() != was {
		if i.reading = !was; i.reading {
			i.times++
		}
	}
	switch {
	case mode.Echo:
		i.settle(Certain)
		i.habit = false
	case !mode.Canonical: // keys are read raw: by an editor, or the shell after read -s
		if !i.habit {
			i.settle(Certain)
		}
	case output && i.entered > 0:
		i.answered = true
		i.judge()
	}
}

// judge finds a habit when the program has answered between two lines and left echo off.
func (i *SecretInput) judge() {
	if i.answered && i.entered > 1 {
		i.habit = true
		i.settle(Cleared)
	}
}

// settle reports the suspected lines.
func (i *SecretInput) settle(is Standing) {
	for _, line := range i.suspected {
		i.Tell(line, is)
	}
	i.suspected, i.entered, i.answered = nil, 0, false
}

// Type takes what is about to be typed, after a [SecretInput.Look] at the same mode. screen returns
// the terminal's screen; it is called only while echo is off. hidden reports whether p is, or may
// be, part of a secret.
func (i *SecretInput) Type(p []byte, mode pty.LineMode, screen func() *vt.Screen) (hidden bool) {
	switch {
	case i.Tell == nil || i.EchoOff == EchoPlain:
		return i.reading && i.EchoOff != EchoPlain
	case !i.reading:
		i.line.Note(p)
		return false
	}
	if i.EchoOff == EchoSecret {
		i.asked = true
	} else if i.Asks != nil && !i.asked {
		s := screen()
		line, above := question(s, i.done)
		if i.asked = i.Asks(line, above, i.last); i.asked {
			i.done = s.Sequence
		}
	}
	asked := i.asked
	i.line.Type(p, mode, i.times, i.enter)
	if i.line.Empty() {
		i.asked = false // abandoned, or the next line answers a later question
	}
	return asked || !i.habit
}

// enter takes a line whose end is about to be typed.
func (i *SecretInput) enter(lines ...string) {
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	if len(lines) == 0 {
		return
	}
	asked := i.asked
	i.asked, i.last = i.EchoOff == EchoSecret, lines[0]
	is := Certain
	if !asked {
		is = Suspected
		i.entered++
		if i.judge(); i.habit {
			return
		}
		i.suspected = append(i.suspected, lines...)
		i.suspected = i.suspected[max(0, len(i.suspected)-maxSuspected):]
	}
	for _, line := range lines {
		i.Tell(line, is)
	}
}

// lookAtEcho notes whether the program reads keys itself, or reads with echo off while the terminal
// edits lines, and what the latter means for the lines that were typed.
func (s *Session) lookAtEcho(output bool) (mode pty.LineMode, reading bool) {
	mode, err := s.pty.LineMode()
	if reading = err == nil && mode.Secret(); err == nil {
		s.secrets.Look(mode, output)
	}
	raw := err == nil && !mode.Canonical
	s.mu.Lock()
	changed := reading != s.secret || raw != s.raw
	if changed {
		s.secret, s.raw, s.view = reading, raw, nil
	}
	s.mu.Unlock()
	if changed {
		s.beat()
	}
	return mode, reading
}

// lookAfter is lookAtEcho after output, or a while later.
func (s *Session) lookAfter(output bool) {
	s.echo.Lock()
	defer s.echo.Unlock()
	s.lookAtEcho(output)
}

// beforeTyping takes what is about to be typed, and reports whether it is, or may be, part of a
// secret.
func (s *Session) beforeTyping(p []byte) (hidden bool) {
	s.echo.Lock()
	defer s.echo.Unlock()
	mode, reading := s.lookAtEcho(false)
	hidden = s.secrets.Type(p, mode, func() *vt.Screen { return s.View().Screen })
	return hidden && reading
}

// maxQuestionRows bounds the rows that are joined to the line of a question: no question is longer.
const maxQuestionRows = 8

// question returns the screen's line with the cursor and the one above it, up to the cursor's row.
// Wrapped rows are joined, including those that have scrolled off a small screen. Text above that
// was written up to sequence done is left out: it has been answered.
func question(s *vt.Screen, done uint64) (line, above string) {
	left := s.History()
	n := left.Len() // rows count from the oldest of these
	if s.Modes.AltScreen {
		n = 0
	}
	row := func(y int) (text string, changed uint64) {
		if y < n {
			return left.Line(y), s.WrittenAt(left.Dropped() + uint64(y))
		}
		s.EachRun(y-n, func(r vt.Run) { text += r.Text })
		return text, s.Changed(y - n)
	}
	goesOn := func(y int) bool {
		if y < n {
			return left.Wrapped(y)
		}
		return s.Wrapped(y - n)
	}
	logical := func(y int) (text string, first int, changed uint64) {
		for first = y; ; first-- {
			part, at := row(first)
			changed = max(changed, at)
			if text = part + text; first == 0 || !goesOn(first-1) || y-first >= maxQuestionRows {
				return text, first, changed
			}
		}
	}
	line, first, _ := logical(n + s.Cursor.Row)
	if first > 0 {
		text, _, changed := logical(first - 1)
		if changed > done {
			above = text
		}
	}
	return line, above
}
