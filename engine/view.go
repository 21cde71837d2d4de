package engine

import (
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// A View is a consistent, immutable snapshot of a session. Taking one costs well under a
// microsecond: it shares rows and transcript with the session, which copies them before it changes
// them.
type View struct {
	Session    ID
	Sequence   uint64     // batches of output, resizes and released frames so far
	Screen     *vt.Screen // inside a synchronized update: the last whole frame
	Transcript Transcript
	At         time.Time // when this view was taken
	Changed    time.Time // when the screen last changed; the session's start when it never did
	Bell       uint64    // sequence of the last BEL; 0: none yet
	Reports    Reports   // what the program has reported, up to what Screen shows
	Exit       *Exit     // nil until the child has ended and its last byte is in Transcript
	Ended      bool      // no more output can come: the terminal is closed
	// Secret: the program reads a secret, that is, echo is off while the terminal edits lines. As
	// of this view, or 50 ms after output.
	Secret bool
	// Keys: the program reads keys itself, as line editors do, and the terminal does not edit lines
	// for it. As of the same check as Secret.
	Keys   bool
	Killed bool   // it was or is being ended by us, so its exit status is ours, not its own
	Lease  *Lease // who alone may type into it; nil: anyone
	Typed  Typed  // what was typed since the program last took a line
	// Marked: the program is a shell that was made to mark its commands; any output may hold other
	// marks.
	Marked bool
	// Past: the session is shown as it was, by [Session.At], [Session.Past] or a latched wait.
	Past bool
	// Moment: Screen is what was shown for a moment within the output of Sequence; see
	// [Session.Past].
	Moment bool
	Block  *Block   // the last command that ended between marks; nil: none yet. Read-only
	Since  Since    // what a wait considers; zero: everything
	wait   *waiting // the wait that this view was taken for; nil: none
	// session is set in views of the session as it is.
	session *Session
	// patience is what Patience returns outside of a wait; nil: true.
	patience func() bool
}

// Exit is how a session's leader ended.
type Exit struct {
	pty.Exit
	At       time.Time
	Draining bool  // a descendant still holds the terminal: more output may come
	Limit    Limit // the limit that the session exceeded and was ended for; "": none
	Killed   bool  // it was asked for, by [Session.Kill] or [Session.Close], and no limit ended it
}

// StableFor is how long the screen has been unchanged. With Since it counts no earlier than the
// wait, so that the program has that long to react to an action; in a latched wait a change that
// came after the position is such a reaction, and it counts from there.
func (v *View) StableFor() time.Duration {
	from := v.Changed
	if v.Since.Set && v.Since.Began.After(from) && !v.reacted() {
		from = v.Since.Began
	}
	still := v.At.Sub(from)
	if v.Past && still > -time.Microsecond { // times of the past are kept to the microsecond
		return max(still, 0)
	}
	return still
}

// reacted reports whether the screen has changed since the position of a latched wait. Times of the
// past are kept to the microsecond.
func (v *View) reacted() bool {
	return v.wait != nil && v.wait.follower != nil &&
		v.Changed.Sub(v.wait.follower.still) >= time.Microsecond
}

// Shown is what a text matcher reads first: the screen's text, or with Since the text of the rows
// written after it.
func (v *View) Shown() vt.Passage { return v.Screen.Passage(v.point()) }

// point returns the moment that text must have been written after; nil: any.
func (v *View) point() *vt.Point {
	if !v.Since.Set {
		return nil
	}
	return &v.Since.Point
}

// Lookback is how many bytes of text already read a matcher reads again with what is new, for
// expressions that span lines: a match that is longer and not whole in one view is missed. It is
// the 16 KiB of transcript that the earlier implementation searched in all; more makes every check
// slower.
const Lookback = 16 << 10

// Left is what a text matcher reads next: the lines that scrolled off the main screen since its
// last call, of those that did so since the wait began or, with Since, were written after it. With
// context the lines before them are included, up to [Lookback]. Outside of a wait there are none.
// The caller must not keep the passage longer than the view.
func (v *View) Left(context bool) *vt.Passage {
	if v.wait == nil {
		return &vt.Passage{}
	}
	return v.wait.left(v, context)
}

// Patience reports whether the wait that v was taken for goes on: a matcher that takes long calls
// it every few milliseconds, and answers [ErrInterrupted] when it is false.
func (v *View) Patience() bool {
	if v.wait != nil {
		return v.wait.goesOn()
	}
	return v.patience == nil || v.patience()
}

// With returns a copy of v, which is in no wait, whose Patience is goesOn: whoever asks matchers
// about the past bounds with it how long one may take.
func (v *View) With(goesOn func() bool) *View {
	c := *v
	c.wait, c.patience = nil, goesOn
	return &c
}

// Output is what a transcript matcher reads, and where it begins: the retained text, or with Since
// only what came after it. The caller must not modify it.
func (v *View) Output() (text []byte, from Offset) {
	text, end, _ := v.Transcript.Since(v.Since.Offset)
	return text, end - Offset(len(text))
}
