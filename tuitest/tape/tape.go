// Package tape (no stability promise) reads tapes, the language of VHS: [Parse] makes a [Tape] of a
// file. It runs nothing.
package tape

import (
	"fmt"
	"time"
)

// A Tape is a file of commands, those of the tapes that it names included.
type Tape struct {
	File     string // as given to Parse
	Commands []Command
}

// A Command is one command of a tape. Kind says which of the fields it has.
type Command struct {
	Kind Kind
	File string // that it stands in
	Line int    // from 1
	Col  int    // from 1, in bytes
	Raw  string // as the tape has it

	// Name is the word that it begins with, without what hangs on it; of an Env the variable's, of a
	// Set the setting's.
	Name string
	// Text is what is typed, copied or shown, a file's or a program's name, the value of a variable or
	// of a setting, a comment's line, or all of a line that is unknown.
	Text string
	// At is where Text begins: its column, from 1, in bytes.
	At int

	Key      string         // of a Press, as [github.com/ptywright/ptywright/engine/vt.ParseKey] reads it
	Times    int            // of a Press and a Scroll, from 1
	Pace     *time.Duration // between keys; nil: as is set
	Duration time.Duration  // of a Sleep, a Wait for a still screen (0: its own), and of settings
	Within   time.Duration  // of a Wait; 0: as is set
	Scope    Scope          // of a Wait
	Pattern  string         // of a Wait, and of a Set WaitPattern; "": as is set
	Number   float64        // of settings
	Likely   string         // of an Unknown: the word that was probably meant; "" when none is close
}

// Where is the place of the command: "demo.tape:3:1".
func (c *Command) Where() string { return fmt.Sprintf("%s:%d:%d", c.File, c.Line, c.Col) }

// A Kind is what a command does.
type Kind int

// The kinds of commands.
const (
	Comment    Kind = iota
	Type            // types Text
	Press           // presses Key
	Scroll          // Name is ScrollUp or ScrollDown
	Sleep           // pauses for Duration
	Wait            // for Scope
	Screenshot      // draws Text, a file
	Output          // names Text, a file
	Require         // a program, Text
	Env             // sets Name to Text
	Copy            // keeps Text
	Paste           // what was copied
	Hide            // begins what is not shown
	Show            // ends it
	Source          // another tape, Text, that was not read: see [Parse]
	Set             // Name to Text
	Subtitle        // shows Text
	Unknown         // no command that is known; Text is the rest of its line
)

// A Scope is what a Wait looks at.
type Scope string

// The scopes of a Wait. Still is ours.
const (
	Line   Scope = "Line"   // the line that the cursor is in
	Screen Scope = "Screen" // all rows
	Still  Scope = "Stable" // nothing: until the screen rests
)

// An Error says what is wrong with a tape or a script, and where.
type Error struct {
	File      string
	Line, Col int // from 1; the column in bytes
	Msg       string
	Likely    string // the word that was probably meant; "" when none is close
	// More are the further errors, in the order of their lines; at most 20 are told in all.
	More []*Error
}

// MaxErrors bounds the errors that are told of one tape, or script: more do not help to mend the first.
const MaxErrors = 20

// Error says so, as compilers do: "demo.tape:3:1: …".
func (e *Error) Error() string {
	msg := e.Msg
	if e.Likely != "" {
		msg += ": did you mean " + e.Likely + "?"
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, msg)
}

// Errors returns the error and those that come with it.
func (e *Error) Errors() []*Error {
	return append([]*Error{e}, e.More...)
}

// An ErrorList collects errors in the order of their lines: each once, at most [MaxErrors]. The zero
// value is ready.
type ErrorList struct {
	first *Error
	told  map[string]bool // by their texts
}

// Add adds an error and those that come with it; nil adds nothing.
func (l *ErrorList) Add(e *Error) {
	if e == nil {
		return
	}
	for _, e := range e.Errors() {
		alone := *e
		alone.More = nil
		key := alone.Error()
		switch {
		case l.told[key] || len(l.told) >= MaxErrors:
			continue
		case l.first == nil:
			l.first, l.told = &alone, map[string]bool{}
		default:
			l.first.More = append(l.first.More, &alone)
		}
		l.told[key] = true
	}
}

// Err returns the first error, which has the others; nil when there was none.
func (l *ErrorList) Err() error {
	if l.first == nil {
		return nil
	}
	return l.first
}
