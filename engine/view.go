package engine

import (
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// A View is one consistent, immutable look at a session. Taking one costs well under a microsecond: rows and
// transcript are shared with the session and copied by it when they change.
type View struct {
	Session    ID
	Sequence   uint64     // batches of output, resizes and released frames so far
	Screen     *vt.Screen // inside a synchronized update: the last whole frame
	Transcript Transcript
	At         time.Time // when this look was taken
	Changed    time.Time // when the screen last changed; the session's start when it never did
	Bell       uint64    // sequence of the last BEL; 0: none yet
	Reports    Reports   // what the program has said of itself, up to what Screen shows
	Exit       *Exit     // nil until the child has ended and its last byte is in Transcript
	Ended      bool      // no more output can come: the terminal is closed
	Secret     bool      // the program reads a secret: echo is off while the terminal edits lines. As of the last look, or 50 ms after output
	Killed     bool      // it is being killed or closed, or was: whatever the program says of its end is none of its own
	Lease      *Lease    // who alone may type into it; nil: everybody may
	Typed      Typed     // what was typed since the program took a line
	Marked     bool      // the program is a shell that was made to mark its commands; marks of others may be anybody's output
	Block      *Block    // the last command that has ended between marks; nil: none yet. It may not be modified
	Since      Since     // what a wait looks at; zero: everything
}

// Exit tells how a session's leader ended.
type Exit struct {
	pty.Exit
	At       time.Time
	Draining bool  // a descendant still holds the terminal: more output may come
	Limit    Limit // that the session went over, which ended it; "": none
}

// Since narrows a look to what came after a sequence.
type Since struct {
	Sequence uint64
	Offset   Offset    // the transcript's end when Sequence was complete
	Began    time.Time // when the wait began
	Set      bool
}

// StableFor is how long the screen has been as it is. With Since it counts from the wait's beginning at the earliest:
// whoever waits for what follows an action gives the program that long to begin with it.
func (v *View) StableFor() time.Duration {
	from := v.Changed
	if v.Since.Set && v.Since.Began.After(from) {
		from = v.Since.Began
	}
	return v.At.Sub(from)
}

// Text is what a text matcher reads: the screen's plain text, or with Since that of the rows written after it. A match
// counts when something of it lies in fresh: with Since what was written after it, else everything.
func (v *View) Text() (text string, fresh []vt.Range) {
	if v.Since.Set {
		return v.Screen.TextSince(v.Since.Sequence)
	}
	text = v.Screen.Text()
	return text, []vt.Range{{Start: 0, End: len(text)}}
}

// Output is what a transcript matcher reads, and where it begins: the retained text, or with Since only what came
// after it. The caller must not modify it.
func (v *View) Output() (text []byte, from Offset) {
	text, end, _ := v.Transcript.Since(v.Since.Offset)
	return text, end - Offset(len(text))
}
