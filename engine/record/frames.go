package record

import (
	"io"
	"iter"
	"time"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

// FrameRate is how many frames a second an animation has at most, unless it is told otherwise: typing
// looks smooth, and a flood costs no more than a film.
const FrameRate = 25

// FrameOptions say what [Recording.Frames] shows. The zero value is all of a recording, in its own time.
type FrameOptions struct {
	From, To time.Duration // of the recording; To 0: its end
	Speed    float64       // 2 is twice as fast; 0: 1
	Rate     float64       // frames a second at most; 0: FrameRate
	Hold     time.Duration // how long the last screen stays
	// Hide covers secrets; nil covers none. What it finds in any frame is covered in all of them,
	// also where a program has written only its beginning yet.
	Hide *redact.Redactor
}

// Frames are the screens of a recording for [picture.Animate].
type Frames struct {
	rec        *Recording
	o          FrameOptions
	hide       *redact.Redactor
	rows, cols int
	long       time.Duration
	err        error
}

// foundMax and foundLeast bound what is searched for in all frames: how many secrets, and of how many
// characters. A shorter one may be a common word.
const (
	foundMax   = 4096
	foundLeast = 6
)

// Frames looks through the recording for secrets, and returns its frames: it costs what drawing them
// without a picture does, up to some seconds for an hour. The error is that of [Replay.Err].
func (r *Recording) Frames(o FrameOptions) (*Frames, error) {
	if !(o.Speed > 0) {
		o.Speed = 1
	}
	if !(o.Rate > 0) {
		o.Rate = FrameRate
	}
	if end := r.Duration(); o.To <= 0 || o.To > end {
		o.To = end
	}
	o.From = min(max(o.From, 0), o.To)
	f := &Frames{rec: r, o: o, hide: o.Hide}
	known := new(redact.Known)
	if o.Hide != nil {
		f.hide = o.Hide.With(known).Begun()
	}
	found := map[string]bool{}
	for long, s := range f.raw() {
		f.rows, f.cols = max(f.rows, s.Rows), max(f.cols, s.Cols)
		f.long += long
		if o.Hide != nil && len(found) < foundMax {
			for _, secret := range secretsOf(s, o.Hide) {
				if !found[secret] {
					found[secret] = true
					known.Add(secret)
				}
			}
		}
	}
	return f, f.err
}

// secretsOf are the texts that a redactor covers on a screen.
func secretsOf(s *vt.Screen, hide *redact.Redactor) (found []string) {
	s.MaskPage(func(lines []string, above func(int) (string, bool)) [][]vt.Mask {
		for i, spans := range hide.Page(lines, above) {
			for _, sp := range spans {
				if text := lines[i][sp.Start:sp.End]; len(text) >= foundLeast {
					found = append(found, text)
				}
			}
		}
		return make([][]vt.Mask, len(lines))
	})
	return found
}

// Size returns the rows and columns of the largest screen.
func (f *Frames) Size() (rows, cols int) { return f.rows, f.cols }

// Duration is how long all frames are shown.
func (f *Frames) Duration() time.Duration { return f.long }

// Err is why the frames ended early: see [Replay.Err].
func (f *Frames) Err() error { return f.err }

// All yields how long each screen is shown, and the screen with its secrets covered.
func (f *Frames) All() iter.Seq2[time.Duration, *vt.Screen] {
	return func(yield func(time.Duration, *vt.Screen) bool) {
		for long, s := range f.raw() {
			if f.hide != nil {
				s = Mask(s, f.hide)
			}
			if !yield(long, s) {
				return
			}
		}
	}
}

// Animate draws all frames as [picture.Animate] does, in a picture of the largest screen's size unless o
// has another.
func (f *Frames) Animate(w io.Writer, format string, o picture.AnimateOptions) error {
	if o.Rows <= 0 || o.Cols <= 0 {
		o.Rows, o.Cols = f.rows, f.cols
	}
	if f.hide != nil {
		o.Clean = f.hide.String
	}
	if err := picture.Animate(w, format, f.All(), o); err != nil {
		return err
	}
	return f.err
}

// raw is All before anything is covered.
func (f *Frames) raw() iter.Seq2[time.Duration, *vt.Screen] {
	return func(yield func(time.Duration, *vt.Screen) bool) {
		p := newReplay(f.rec)
		least := time.Duration(f.o.Speed / f.o.Rate * float64(time.Second))
		played := func(d time.Duration) time.Duration {
			return time.Duration(float64(d) / f.o.Speed)
		}
		for at := f.o.From; ; {
			p.Seek(at)
			if f.err = p.Err(); f.err != nil {
				return
			}
			next := p.following()
			if next > f.o.To || next < 0 {
				yield(max(played(f.o.To-at), 0)+f.o.Hold, p.Screen())
				return
			}
			next = min(max(next, at+least), f.o.To)
			if next <= at { // the end
				yield(f.o.Hold, p.Screen())
				return
			}
			if !yield(played(next-at), p.Screen()) {
				return
			}
			at = next
		}
	}
}

// following is when the screen may change next; negative: it will not.
func (p *Replay) following() time.Duration {
	next := time.Duration(-1)
	if p.next < p.rec.Len() {
		next = p.rec.Event(p.next).At
	}
	if due := p.stage.Due(); !due.IsZero() {
		if at := due.Sub(began); at > p.now && (next < 0 || at < next) {
			next = at
		}
	}
	return next
}
