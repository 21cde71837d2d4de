package tapecmd

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
	"github.com/ptywright/ptywright/tuitest/script"
)

// A film is what a tape shows: its recording, in the time of its pieces.
type film struct {
	scratch string // a folder for a while; "": the system's
	rec     *record.Recording
	pieces  []script.Piece
	speed   float64 // of the playback; the whole film is so much faster
}

// A moment is an event of the recording, or the end of a piece of the film.
type moment struct {
	at     time.Duration // in the film
	hidden bool
	event  record.Event  // not of the end of a piece
	piece  *script.Piece // that ends; nil: an event
	opens  bool          // it was hidden, and what comes next is not
	screen func() *vt.Screen
}

// moments yields what happens, in order. What comes behind the last piece, such as the end of the
// shell, is none of it. The error is that of [record.Replay.Err].
func (f *film) moments(yield func(moment) bool) error {
	replay := record.NewReplay(f.rec)
	var now time.Duration        // in the film
	var from, last time.Duration // in the recording: where the piece began, and wrote last
	for n := 0; n < len(f.pieces); {
		e, ok := replay.Step()
		if !ok {
			break
		}
		p := &f.pieces[n]
		scaled := func(d time.Duration) time.Duration {
			if p.Hidden {
				return now
			}
			return now + time.Duration(float64(d)/f.speed)
		}
		if e.Kind == record.EventMarker {
			if i, ok := script.PieceOf(e.Text); !ok || i != n {
				continue
			}
			lasts := e.At - from
			if p.Lasts >= 0 {
				lasts = max(p.Lasts, last-from)
			}
			now = scaled(lasts)
			from, last = e.At, e.At
			n++
			opens := p.Hidden && n < len(f.pieces) && !f.pieces[n].Hidden
			end := moment{at: now, hidden: p.Hidden, opens: opens, piece: p, screen: replay.Screen}
			if !yield(end) {
				return nil
			}
			continue
		}
		last = e.At
		if !yield(moment{at: scaled(e.At - from), hidden: p.Hidden, event: e, screen: replay.Screen}) {
			return nil
		}
	}
	return replay.Err()
}

// looped is a film that begins at a part of its length, 0 to 1, and ends with what comes before it.
func looped(frames iter.Seq2[time.Duration, *vt.Screen],
	part float64) iter.Seq2[time.Duration, *vt.Screen] {
	return func(yield func(time.Duration, *vt.Screen) bool) {
		type frame struct {
			lasts  time.Duration
			screen *vt.Screen
		}
		var all, before []frame
		var long time.Duration
		for lasts, s := range frames {
			all = append(all, frame{lasts, s})
			long += lasts
		}
		cut := time.Duration(part * float64(long))
		for len(all) > 0 && cut > 0 {
			f := all[0]
			if f.lasts > cut { // it is cut in two
				before = append(before, frame{cut, f.screen})
				all[0].lasts -= cut
				break
			}
			before, all, cut = append(before, f), all[1:], cut-f.lasts
		}
		for _, f := range append(all, before...) {
			if !yield(f.lasts, f.screen) {
				return
			}
		}
	}
}

// blink is how long a blinking cursor is shown, and then not: as long as in VHS's terminal.
const blink = 600 * time.Millisecond

// blinking are frames with a cursor that blinks. It is shown at first whenever something changes, so
// that it does not seem to lag behind the keys.
func blinking(frames iter.Seq2[time.Duration, *vt.Screen]) iter.Seq2[time.Duration, *vt.Screen] {
	return func(yield func(time.Duration, *vt.Screen) bool) {
		for lasts, s := range frames {
			on, off := s, s
			if s.Cursor.Visible {
				without := *s
				without.Cursor.Visible = false
				off = &without
			}
			for on != off && lasts > blink {
				if !yield(blink, on) {
					return
				}
				lasts -= blink
				on, off = off, on
			}
			if !yield(lasts, on) {
				return
			}
		}
	}
}

// rule is the line between two screens of a text, as VHS draws it.
const rule = "────────────────────────────────────────" +
	"────────────────────────────────────────"

// texts returns the screens that were waited for, as text, each that differs from the one before it.
func (f *film) texts(hide *redact.Redactor) (string, error) {
	var b strings.Builder
	before := ""
	err := f.moments(func(m moment) bool {
		if m.piece == nil || m.hidden || !m.piece.Still {
			return true
		}
		text := strings.TrimRight(record.Mask(m.screen(), hide).Text(), "\n") + "\n"
		if text != before {
			b.WriteString(text + rule + "\n")
		}
		before = text
		return true
	})
	return b.String(), err
}

// cast writes the film as an asciicast: what was hidden is not in it, only the screen that it left.
// nil: it shows nothing.
func (f *film) cast() (data []byte, err error) {
	dir, err := os.MkdirTemp(f.scratch, "film-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var out *record.Cast
	defer func() {
		if out != nil && err != nil {
			_ = out.Discard()
		}
	}()
	path := filepath.Join(dir, "film.cast")
	began := time.Unix(0, 0)
	var end time.Time
	var rows, cols int
	curtain := true
	var failed error
	if err = f.moments(func(m moment) bool {
		if m.hidden && !m.opens {
			curtain = true
			return true
		}
		at := began.Add(m.at)
		end = at
		switch s := (*vt.Screen)(nil); {
		case out == nil:
			s = m.screen()
			rows, cols = s.Rows, s.Cols
			// It is redacted already.
			out, failed = record.NewCast(path, record.CastOptions{Rows: rows, Cols: cols, Start: began,
				Screen: s, Raw: true})
		case curtain:
			s = m.screen()
			if rows != s.Rows || cols != s.Cols {
				rows, cols = s.Rows, s.Cols
				failed = out.Resize(at, rows, cols)
			}
			if failed == nil {
				failed = out.Output(at, []byte("\x1bc\x1b[3J"+picture.Restore(s, nil)))
			}
		case m.piece != nil:
		case m.event.Kind == record.EventOutput:
			failed = out.Output(at, []byte(m.event.Text))
		case m.event.Kind == record.EventResize:
			rows, cols = m.event.Rows, m.event.Cols
			failed = out.Resize(at, rows, cols)
		}
		curtain = false
		return failed == nil
	}); err != nil || failed != nil || out == nil {
		if err == nil {
			err = failed
		}
		return nil, err
	}
	// Players end with the last event: a size that does not change anything keeps the last screen.
	if err = out.Resize(end, rows, cols); err != nil {
		return nil, err
	}
	if err = out.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
