package engine

import (
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// A Stage is a session without a program: it is shown what one has written, and gives the views that its session gave. It knows
// no clock: whoever shows it something says when that was, in order, so a recording is judged the same on every machine. It is
// not safe for concurrent use.
type Stage struct {
	term    *vt.Terminal
	rec     recorder
	blocks  blocks
	reports Reports // as shown
	latest  Reports // with those of an update under way
	changed time.Time
	bell    uint64
	exit    *Exit
	held    time.Time // when the synchronized update under way began; zero: there is none
	update  uint64    // which one
}

// NewStage returns one with a blank screen, of 1 to 1000 rows and columns, at a time.
func NewStage(rows, cols int, at time.Time) *Stage {
	return &Stage{term: vt.New(rows, cols, vt.Options{}), rec: recorder{limit: DefaultTranscriptChars}, changed: at}
}

// Output shows what the program has written.
func (g *Stage) Output(at time.Time, p []byte) {
	g.due(at)
	for len(p) > 0 {
		e, rest := g.term.FeedToMark(p)
		g.rec.write(p[:len(p)-len(rest)])
		g.blocks.write(p[:len(p)-len(rest)])
		g.apply(e, at)
		p = rest
	}
}

// Resize gives the terminal another size.
func (g *Stage) Resize(at time.Time, rows, cols int) {
	g.due(at)
	g.blocks.cut(cols, g.term.Snapshot())
	e := g.term.Resize(rows, cols, 0, 0)
	g.blocks.resume(g.term.Snapshot())
	g.apply(e, at)
}

// Exit ends the program with a code: no output comes behind it.
func (g *Stage) Exit(at time.Time, code int) {
	g.due(at)
	g.rec.finish()
	if !g.held.IsZero() { // nobody ends the update any more
		g.release(at)
	}
	g.exit = &Exit{Exit: pty.Exit{Code: code}, At: at}
}

// Mark sets a label to the transcript's end. It reports false when there are too many others.
func (g *Stage) Mark(label string) bool { return g.rec.mark(label) }

// View returns the look that the session gave at a time.
func (g *Stage) View(at time.Time) *View {
	g.due(at)
	return &View{
		Sequence: g.term.Sequence(), Screen: g.term.Snapshot(), Transcript: g.rec.value(), At: at, Changed: g.changed, Bell: g.bell,
		Reports: g.reports, Exit: g.exit, Ended: g.exit != nil,
		Marked: true, Block: g.blocks.newest(), // a recording does not tell how its shell was started
	}
}

func (g *Stage) apply(e vt.Effect, at time.Time) {
	if e.Dirty {
		g.changed = at
	}
	if e.Bell > 0 {
		g.bell = g.term.Sequence()
	}
	for i := range e.Events {
		g.latest = g.latest.After(&e.Events[i])
		g.blocks.after(&e.Events[i], g.latest.Shell, at, g.term.Snapshot)
		g.latest.Shell = g.blocks.named(g.latest.Shell)
		if !e.Events[i].Held {
			g.report(at)
		}
	}
	switch {
	case !e.Held:
		g.held = time.Time{}
		g.report(at)
	case g.held.IsZero() || g.update != g.term.Updates(): // each update has its own time
		g.held, g.update = at, g.term.Updates()
	}
}

// due shows what a synchronized update has hidden for too long.
func (g *Stage) due(at time.Time) {
	if end := g.held.Add(frameBound); !g.held.IsZero() && !at.Before(end) {
		g.release(end)
	}
}

func (g *Stage) release(at time.Time) {
	g.held, g.changed = time.Time{}, at
	g.term.Release()
	g.report(at)
}

// report shows what was reported.
func (g *Stage) report(at time.Time) {
	g.latest = g.latest.shown(g.reports, g.term.Sequence(), at)
	g.reports = g.latest
}
