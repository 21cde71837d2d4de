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
	Keys       bool      // the program reads keys itself, as line editors do: the terminal does not edit lines for it. As of the same look
	Killed     bool      // it is being killed or closed, or was: whatever the program says of its end is none of its own
	Lease      *Lease    // who alone may type into it; nil: everybody may
	Typed      Typed     // what was typed since the program took a line
	Marked     bool      // the program is a shell that was made to mark its commands; marks of others may be anybody's output
	Block      *Block    // the last command that has ended between marks; nil: none yet. It may not be modified
	Since      Since     // what a wait looks at; zero: everything
	wait       *waiting  // the wait that this look was taken for; nil: none
}

// Exit tells how a session's leader ended.
type Exit struct {
	pty.Exit
	At       time.Time
	Draining bool  // a descendant still holds the terminal: more output may come
	Limit    Limit // that the session went over, which ended it; "": none
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

// Shown is what a text matcher reads first: the screen's text, or with Since that of the rows written after it.
func (v *View) Shown() vt.Passage { return v.Screen.Passage(v.point()) }

// point returns the moment that text must have been written after; nil: any.
func (v *View) point() *vt.Point {
	if !v.Since.Set {
		return nil
	}
	return &v.Since.Point
}

// Lookback is how many bytes of what it has read already a matcher reads once more with what is new, for expressions that span
// lines: a match longer than that, and not whole in one look, is missed. It is the 16 KiB of transcript that the earlier
// implementation searched at all; more makes every look slower.
const Lookback = 16 << 10

// Left is what a text matcher reads next: the lines that left the main screen upwards since it was last asked, of those that did
// since the wait began or, with Since, were written after it. With context the lines before them are there, too, up to
// [Lookback]. Outside of a wait there are none. The caller must not keep the passage for longer than it has the view.
func (v *View) Left(context bool) *vt.Passage {
	if v.wait == nil {
		return &vt.Passage{}
	}
	return v.wait.left(v, context)
}

// Patience reports whether the wait that v was taken for goes on: a matcher that takes long asks it every few milliseconds, and
// answers [ErrInterrupted] when it is over.
func (v *View) Patience() bool { return v.wait == nil || v.wait.goesOn() }

// Output is what a transcript matcher reads, and where it begins: the retained text, or with Since only what came
// after it. The caller must not modify it.
func (v *View) Output() (text []byte, from Offset) {
	text, end, _ := v.Transcript.Since(v.Since.Offset)
	return text, end - Offset(len(text))
}
