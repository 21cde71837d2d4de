package engine

import (
	"bytes"
	"slices"
	"time"
	"unsafe"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// A Stage is a session without a program: it gets what a program has written, and gives the views
// that its session gave. It has no clock: the caller passes the times, in order, so a recording
// gives the same result on every machine. It is not safe for concurrent use.
type Stage struct {
	fold
	exit *Exit
}

// NewStage returns a Stage with a blank screen of 1 to 1000 rows and columns, at a time.
func NewStage(rows, cols int, at time.Time) *Stage {
	return &Stage{fold: fold{
		term: vt.New(rows, cols, vt.Options{}), rec: &recorder{limit: DefaultTranscriptChars},
		changed: at,
	}}
}

// Fork returns a stage in the same state: shown the same, both go on alike, and neither sees what is
// shown to the other. They share most of their memory until it changes: microseconds.
func (g *Stage) Fork() *Stage {
	f := *g
	f.term, f.marks = g.term.Fork(), nil
	// What is added to the one must not be written where the other adds, too.
	rec := *g.rec
	rec.buf = slices.Clip(rec.buf)
	f.rec, f.seqs.ends = &rec, slices.Clip(g.seqs.ends)
	b := &f.blocks
	b.done, b.printed.Printed = slices.Clip(b.done), b.printed.Clone()
	b.printed.said = bytes.Clone(b.printed.said)
	if b.running != nil {
		running := *b.running
		b.running = &running
	}
	return &f
}

// Bytes returns roughly how much memory the stage uses.
func (g *Stage) Bytes() int {
	n := g.term.Bytes() + cap(g.rec.buf) + cap(g.seqs.ends)*int(unsafe.Sizeof(Offset(0)))
	return n + g.blocks.bytes + len(g.blocks.done)*int(unsafe.Sizeof(Block{})) + len(g.blocks.printed.Bytes())
}

// Output shows what the program has written.
func (g *Stage) Output(at time.Time, p []byte) {
	g.due(at)
	for range g.steps(p, at) {
	}
}

// Moments is Output that shows what the program has shown meanwhile: the views at the moments within
// p, as [Session.Past] has them, and the ones after each of a shell's marks and after p. It returns
// false when show did; p is shown to its end all the same.
func (g *Stage) Moments(at time.Time, p []byte, show func(*View) bool) (goesOn bool) {
	before := g.View(at)
	goesOn = true
	g.moment = func(s *vt.Screen) { goesOn = goesOn && show(momentOf(before, s, at)) }
	for range g.steps(p, at) {
		before = g.View(at)
		goesOn = goesOn && show(before)
	}
	g.moment = nil
	return goesOn
}

// Resize gives the terminal another size.
func (g *Stage) Resize(at time.Time, rows, cols int) {
	g.due(at)
	g.resize(rows, cols, 0, 0, at)
}

// Exit ends the program with a code: no output comes after it.
func (g *Stage) Exit(at time.Time, code int) {
	g.due(at)
	g.rec.finish()
	g.release(at) // no output can end an update any more
	g.blocks.close(at, g.term.Snapshot(), true)
	g.exit = &Exit{Exit: pty.Exit{Code: code}, At: at}
}

// Mark sets a label to the transcript's end. It returns false when there are too many others.
func (g *Stage) Mark(label string) bool { return g.rec.mark(label) }

// Due is when an update that hides the screen is shown though it has not ended; the zero time when
// none hides it.
func (g *Stage) Due() time.Time {
	if g.hiding.IsZero() {
		return time.Time{}
	}
	return g.hiding.Add(frameBound)
}

// View returns the view that the session gave at a time.
func (g *Stage) View(at time.Time) *View {
	g.due(at)
	v := g.view()
	v.At, v.Exit, v.Ended = at, g.exit, g.exit != nil
	v.Marked = true // a recording does not say how its shell was started
	return &v
}

// due shows what a synchronized update has hidden for too long.
func (g *Stage) due(at time.Time) {
	if g.overdue(at) {
		g.release(g.hiding.Add(frameBound))
	}
}
