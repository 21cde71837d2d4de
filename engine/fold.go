package engine

import (
	"iter"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// frameBound is how long a synchronized update (mode 2026) may hide the screen. Whole frames of
// real programs take a few milliseconds; a program that crashes inside one must not freeze its
// screen.
const frameBound = 150 * time.Millisecond

// mostMarks is how many marks of one batch a session follows exactly: a program that writes more in
// 64 KiB is not a shell, and each costs as much as a small batch. Beyond them only marks with the
// shell's own word are followed; without such a word the rest is parsed at once.
const mostMarks = 256

// A fold turns a program's output into what is known of it: the screen, the transcript, the shell's
// blocks and the program's reports. A [Session] feeds it from a terminal, a [Stage] and a
// [BlockReader] from a recording. It has no clock and no lock: the caller passes the time.
type fold struct {
	term    *vt.Terminal
	rec     *recorder   // nil: no transcript is kept
	seqs    sequenceLog // of rec
	past    *past       // nil: none is kept
	blocks  blocks
	shell   *shellStart        // nil: how the shell was started is not known
	own     func(end int) bool // whether the mark that ends there is the shell's; nil: ask shell
	marks   []Mark             // the shell's own, in what was fed last
	reports Reports            // as shown
	latest  Reports            // including those of an update under way
	changed time.Time          // the screen
	bell    uint64             // sequence of the last BEL
	hiding  time.Time          // since when a synchronized update hides the screen; zero: none does
	update  uint64             // the update that does
	moment  func(*vt.Screen)   // is shown the moments within what is fed; nil: nobody is
}

// steps feeds output, and yields after each of the shell's marks and at the end, so that a
// command's output is read where its mark is. An effect is valid for its step only.
func (f *fold) steps(p []byte, now time.Time) iter.Seq[vt.Effect] {
	return func(yield func(vt.Effect) bool) {
		f.marks = nil
		defer f.past.fed(f.past.before(f, now))
		for n, rest := 1, p; len(rest) > 0; n++ {
			var e vt.Effect
			fed := rest
			switch {
			case f.moment != nil:
				e, rest = f.feedMoments(rest)
			case f.shell == nil || n < mostMarks:
				e, rest = f.term.FeedToMark(rest)
			default:
				to := f.shell.nextMark(rest)
				e, rest = f.term.Feed(rest[:to]), rest[to:]
				f.past.note(note{seq: f.term.Sequence(), kind: noteMarks})
			}
			fed = fed[:len(fed)-len(rest)]
			if f.rec != nil {
				f.rec.write(fed)
			}
			f.blocks.write(fed)
			f.apply(e, now, len(p)-len(rest))
			if !yield(e) {
				return
			}
		}
	}
}

// feedMoments feeds one step and shows its moments.
func (f *fold) feedMoments(p []byte) (e vt.Effect, rest []byte) {
	f.term.Seen() // a step has the same moments wherever who looks at them began
	return f.term.FeedMoments(p, f.moment)
}

// momentOf is the view of a moment of the step after the one that led to before.
func momentOf(before *View, s *vt.Screen, at time.Time) *View {
	v := *before
	v.Sequence, v.Screen, v.Moment, v.At = s.Sequence, s, true, at
	if !looksAlike(before.Screen, s) {
		v.Changed = at
	}
	return &v
}

// apply follows the terminal's effect; end is where it ended in the output.
func (f *fold) apply(e vt.Effect, now time.Time, end int) {
	if e.Dirty {
		f.changed = now
	}
	if e.Bell > 0 {
		f.bell = f.term.Sequence()
	}
	for i := range e.Events {
		f.follow(&e.Events[i], now, end)
	}
	switch {
	case !e.Held:
		f.hiding = time.Time{}
		f.report(now)
	case f.hiding.IsZero() || f.update != f.term.Updates(): // each update has its own time
		f.hiding, f.update = now, f.term.Updates()
	}
	f.count(now)
}

// follow takes one event, unless it is a mark of somebody else.
func (f *fold) follow(e *vt.Event, now time.Time, end int) {
	if isMark(e) && (f.own != nil && !f.own(end) || f.shell.forged(e, f.latest.Shell)) {
		return
	}
	f.latest = f.latest.After(e)
	f.blocks.after(e, f.latest.Shell, now, f.term.Snapshot)
	f.latest.Shell = f.blocks.named(f.latest.Shell)
	if m, ok := ownMark(e, f.blocks.trusted); ok {
		m.End = end
		if r := f.blocks.running; r != nil {
			m.Number, m.Command = r.Number, r.Command
			m.Refused = m.Kind == 'C' && f.blocks.printed.message
		}
		f.marks = append(f.marks, m)
	}
	if !e.Held {
		f.report(now)
	}
}

// report publishes the reports: at once, or those from inside a synchronized update together with
// its frame.
func (f *fold) report(now time.Time) {
	f.latest = f.latest.shown(f.reports, f.term.Sequence(), now)
	f.reports = f.latest
}

// count notes where the transcript was at the terminal's new sequence.
func (f *fold) count(now time.Time) {
	if f.rec != nil {
		oldest, end := f.rec.value().Bounds()
		f.seqs.add(f.term.Sequence(), end, oldest)
		f.past.step(f, now)
	}
}

// resize changes the terminal's size. Its result is valid until the next step.
func (f *fold) resize(rows, cols, pixelWidth, pixelHeight int, now time.Time) (reply []byte) {
	f.blocks.cut(cols, f.term.Snapshot())
	e := f.term.Resize(rows, cols, pixelWidth, pixelHeight)
	f.blocks.resume(f.term.Snapshot())
	f.past.note(note{seq: f.term.Sequence(), kind: noteResize})
	f.apply(e, now, 0)
	return e.Reply
}

// setTheme changes the terminal's theme. Its result is valid until the next step.
func (f *fold) setTheme(theme vt.Theme, now time.Time) (reply []byte) {
	e := f.term.SetTheme(theme)
	f.past.note(note{seq: f.term.Sequence(), kind: noteTheme, theme: theme})
	f.apply(e, now, 0)
	return e.Reply
}

// clear makes the cursor's row the first one and drops everything else.
func (f *fold) clear(now time.Time) {
	e := f.term.Clear()
	f.past.note(note{seq: f.term.Sequence(), kind: noteClear})
	f.apply(e, now, 0)
}

// overdue reports whether a synchronized update has hidden the screen for too long.
func (f *fold) overdue(now time.Time) bool {
	return !f.hiding.IsZero() && !now.Before(f.hiding.Add(frameBound))
}

// release ends a synchronized update that hides the screen, if there is one.
func (f *fold) release(now time.Time) {
	if f.hiding.IsZero() {
		return
	}
	f.hiding, f.changed = time.Time{}, now
	f.term.Release()
	f.past.note(note{seq: f.term.Sequence(), kind: noteRelease})
	f.report(now)
	f.count(now)
}

// view is the part of a View that output makes.
func (f *fold) view() View {
	v := View{
		Sequence: f.term.Sequence(), Screen: f.term.Snapshot(),
		Changed: f.changed, Bell: f.bell, Reports: f.reports, Block: f.blocks.newest(),
	}
	if f.rec != nil {
		v.Transcript = f.rec.value()
	}
	return v
}
