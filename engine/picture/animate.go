package picture

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// AnimationMax is the largest animation unless [AnimateOptions].MaxBytes says otherwise, in bytes: code
// hosts show pictures up to about this size.
const AnimationMax = 10 << 20

// AnimateOptions say how an animation is drawn. The zero value repeats it forever.
type AnimateOptions struct {
	Options
	// Rows and Cols are the size of the picture in cells: a larger screen is cut, a smaller one is in
	// the upper left corner. 0: the first screen's.
	Rows, Cols int
	MaxBytes   int  // 0: AnimationMax
	Once       bool // it is played once, and its last screen stays
	// Progress is called after each frame, with the time of the animation at its end; nil: nobody is
	// told.
	Progress func(at time.Duration)
}

// ErrAnimation is about an animation format that [Animate] does not know.
var ErrAnimation = errors.New("is not a format of animations: use svg, gif or webp")

// ErrNoFrame: there is no frame to draw.
var ErrNoFrame = errors.New("no frame to draw")

// A LongError says that an animation would be too large. It is [ErrTooLarge].
type LongError struct {
	Most int           // bytes
	At   time.Duration // where in the animation it passed that
}

func (e *LongError) Error() string {
	return fmt.Sprintf("the animation is larger than %d bytes after %v: draw less of it, shorten its pauses, play it faster, use a smaller font, or allow more",
		e.Most, e.At.Round(10*time.Millisecond))
}
func (e *LongError) Unwrap() error { return ErrTooLarge }

// AnimationFormatFor returns the format of an animation for path: format when it is given, else that of
// path's extension. Errors: [ErrAnimation], *[PathError].
func AnimationFormatFor(format, path string) (string, error) {
	switch format {
	case "", "svg", "gif", "webp":
	default:
		return "", fmt.Errorf("%.32q %w", format, ErrAnimation)
	}
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	switch {
	case ext == "" && format != "":
		return format, nil
	case ext != "svg" && ext != "gif" && ext != "webp":
		return "", fmt.Errorf("%.32q %w", filepath.Ext(path), ErrAnimation)
	case format != "" && format != ext:
		return "", &PathError{path, format}
	}
	return ext, nil
}

// Animate writes screens as one moving picture: "svg" (one file that runs no script and plays wherever
// a browser shows it, an <img> included), "gif" or "webp" (without loss). Each frame is how long a screen
// is shown and the screen; durations are rounded to what the format can say (10 ms in a GIF, 1 ms else),
// without adding up the errors, and a frame that is too short to be seen (under 20 ms) is left out. The
// text of the result does not depend on the machine; which fonts it is drawn with does. Mask the screens
// before.
//
// Memory is bounded by MaxBytes and a few pictures: GIF and WebP are written frame by frame, SVG at the
// end. Frames are taken one at a time. Errors: [ErrAnimation], [ErrNoFrame], *[SizeError], *[LongError],
// and w's; what was written before an error is no picture.
func Animate(w io.Writer, format string, frames iter.Seq2[time.Duration, *vt.Screen],
	o AnimateOptions) error {
	if o.MaxBytes <= 0 {
		o.MaxBytes = AnimationMax
	}
	var to animator
	switch format {
	case "svg":
		to = &svgAnimation{w: w, o: o}
	case "gif":
		to = &pixelAnimation{o: o, format: &gifWriter{}, w: &boundedWriter{w: w, left: o.MaxBytes}}
	case "webp":
		to = &pixelAnimation{o: o, format: &webpWriter{}, w: &boundedWriter{w: w, left: o.MaxBytes}}
	default:
		return fmt.Errorf("%.32q %w", format, ErrAnimation)
	}
	var at time.Duration
	var last *vt.Screen
	err := func() error {
		for f, s := range o.merged(frames) {
			if last == nil {
				if o.Rows <= 0 || o.Cols <= 0 {
					o.Rows, o.Cols = s.Rows, s.Cols
				}
				if err := to.begin(s, o.Rows, o.Cols); err != nil {
					return err
				}
			}
			last = s
			if err := to.frame(s, at, f); err != nil {
				return err
			}
			at += f
			if o.Progress != nil {
				o.Progress(at)
			}
		}
		if last == nil {
			return ErrNoFrame
		}
		return to.end(at)
	}()
	if errors.Is(err, errFull) {
		return &LongError{Most: o.MaxBytes, At: at}
	}
	return err
}

// An animator writes frames in a format.
type animator interface {
	begin(first *vt.Screen, rows, cols int) error
	frame(s *vt.Screen, at, long time.Duration) error
	end(at time.Duration) error
}

// frameMin is the shortest time that a frame is shown: browsers show a GIF's frame of less than 20 ms
// for 100.
const frameMin = 20 * time.Millisecond

// merged joins frames that look the same, and leaves out those that are shown too briefly: their time
// goes to the next one.
func (o Options) merged(
	frames iter.Seq2[time.Duration, *vt.Screen]) iter.Seq2[time.Duration, *vt.Screen] {
	return func(yield func(time.Duration, *vt.Screen) bool) {
		var held *vt.Screen
		var long time.Duration
		for d, s := range frames {
			d = max(d, 0)
			switch {
			case held == nil, !o.same(held, s) && long < frameMin:
				held, long = s, long+d
			case o.same(held, s):
				long += d
			default:
				if !yield(long, held) {
					return
				}
				held, long = s, d
			}
		}
		if held != nil {
			yield(max(long, frameMin), held)
		}
	}
}

// same reports whether two screens look the same.
func (o Options) same(a, b *vt.Screen) bool {
	if a == b {
		return true
	}
	for y := range a.Rows {
		if !o.sameRow(a, b, y) {
			return false
		}
	}
	return a.Rows == b.Rows
}

var errFull = errors.New("the bound is reached")

// A boundedWriter refuses what exceeds its bound.
type boundedWriter struct {
	w    io.Writer
	left int
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errFull
	}
	return b.w.Write(p)
}

// sameRow reports whether row y looks the same on two screens, cursor included.
func (o Options) sameRow(a, b *vt.Screen, y int) bool {
	ca, cb := o.cursorIn(a, y), o.cursorIn(b, y)
	if ca != cb || ca >= 0 && a.Cursor.Shape != b.Cursor.Shape ||
		a.Modes.ReverseVideo != b.Modes.ReverseVideo || a.Cols != b.Cols {
		return false
	}
	if a.SameRow(y, b) {
		return true
	}
	before, after := cellsOf(a, y), cellsOf(b, y)
	if len(before) != len(after) {
		return false
	}
	for i := range before {
		if before[i] != after[i] {
			return false
		}
	}
	return true
}
