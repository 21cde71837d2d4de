package picture

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// stripGap is how far the places of a strip are apart, in pixels: an edge that a scaled picture has
// between two pixels is in neither place.
const stripGap = 4

// An svgAnimation shows each row through a window onto a strip of everything that the row ever shows,
// and moves the strip: what is drawn once is there once, and a change costs one keyframe of one row.
// Rows with the same content share it. Each place of a strip is a viewport of its own, which clips
// the parts of characters that reach out of their row.
type svgAnimation struct {
	w io.Writer
	o AnimateOptions
	*layout
	first  *vt.Screen
	last   *vt.Screen
	strips []strip
	known  map[string]int // number of each content
	parts  []string       // the contents
	size   int
}

// A strip is what a row shows.
type strip struct {
	parts []int       // contents, from top to bottom
	at    map[int]int // the place of each in parts
	steps []step
}

// A step is the time from which a place of a strip is shown.
type step struct {
	at    time.Duration
	place int
}

func (a *svgAnimation) begin(s *vt.Screen, rows, cols int) error {
	a.layout = a.o.layoutOf(s, rows, cols, 1)
	a.first, a.strips, a.known = s, make([]strip, rows), map[string]int{}
	w, h := a.layout.size()
	if w*h > MaxPixels {
		return &SizeError{Width: w, Height: h, Most: MaxPixels}
	}
	return nil
}

func (a *svgAnimation) frame(s *vt.Screen, at, _ time.Duration) error {
	for y := range a.strips {
		if a.last == nil || y >= s.Rows != (y >= a.last.Rows) ||
			y < s.Rows && !a.o.sameRow(a.last, s, y) {
			a.show(y, a.content(s, y), at)
		}
	}
	a.last = s
	if a.size > a.o.MaxBytes {
		return errFull
	}
	return nil
}

// content returns the number of what row y shows.
func (a *svgAnimation) content(s *vt.Screen, y int) int {
	var b strings.Builder
	if y < s.Rows {
		rows := svgRows{layout: a.layout, o: a.o.Options, tight: true}
		rows.row(s, y, 0, 0)
		if s.Modes.ReverseVideo != a.first.Modes.ReverseVideo {
			fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="%s"/>`, a.cols*a.face.w, a.face.h,
				css(a.theme.ink(vt.Style{}, s.Modes.ReverseVideo).bg))
		}
		rows.write(&b)
	}
	text := b.String()
	n, ok := a.known[text]
	if !ok {
		n = len(a.parts)
		a.known[text] = n
		a.parts = append(a.parts, text)
		a.size += len(text)
	}
	return n
}

// show makes row y show a content from a time on.
func (a *svgAnimation) show(y, part int, at time.Duration) {
	s := &a.strips[y]
	if s.at == nil {
		s.at = map[int]int{}
	}
	place, ok := s.at[part]
	if !ok {
		place = len(s.parts)
		s.at[part] = place
		s.parts = append(s.parts, part)
		a.size += len(`<use href="#p9999" y="99999"/>`)
	}
	if n := len(s.steps); n > 0 && s.steps[n-1].place == place {
		return
	}
	s.steps = append(s.steps, step{at, place})
	a.size += len(`99.9999%{transform:translateY(-99999px)}`)
}

func (a *svgAnimation) end(long time.Duration) error {
	var b strings.Builder
	a.svgHead(&b, a.first, a.o.Options)
	a.styles(&b, long)
	// A content that is shown at one place is written there, one with several is shared.
	uses := make([]int, len(a.parts))
	for _, s := range a.strips {
		for _, p := range s.parts {
			uses[p]++
		}
	}
	size := fmt.Sprintf(`width="%d" height="%d"`, a.cols*a.face.w, a.face.h)
	b.WriteString("<defs>")
	for i, text := range a.parts {
		if uses[i] > 1 && text != "" {
			fmt.Fprintf(&b, `<svg id="p%d" %s>%s</svg>`, i, size, text)
		}
	}
	b.WriteString("</defs>\n")
	origin := a.origin()
	for y, s := range a.strips {
		fmt.Fprintf(&b, `<svg x="%d" y="%d" %s>`, origin.X, origin.Y+y*a.face.h, size)
		if len(s.steps) > 1 {
			fmt.Fprintf(&b, `<g class="s r%d">`, y)
		} else {
			b.WriteString("<g>")
		}
		for place, p := range s.parts {
			switch top := place * a.pitch(); {
			case a.parts[p] == "":
			case uses[p] > 1:
				fmt.Fprintf(&b, `<use href="#p%d" y="%d"/>`, p, top)
			case len(s.parts) == 1: // the row's window clips it
				b.WriteString(a.parts[p])
			default:
				fmt.Fprintf(&b, `<svg y="%d" %s>%s</svg>`, top, size, a.parts[p])
			}
		}
		b.WriteString("</g></svg>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	if b.Len() > a.o.MaxBytes {
		return errFull
	}
	_, err := io.WriteString(a.w, b.String())
	return err
}

// pitch is how far the places of a strip are from each other, in pixels.
func (a *svgAnimation) pitch() int { return a.face.h + stripGap }

// styles writes the keyframes. Who asked for less motion sees the end, still.
func (a *svgAnimation) styles(b *strings.Builder, long time.Duration) {
	times := "infinite"
	if a.o.Once {
		times = "1 forwards"
	}
	seconds := strconv.FormatFloat(long.Seconds(), 'f', -1, 64)
	fmt.Fprintf(b, "<style>.s{animation:%ss step-end %s}", seconds, times)
	fmt.Fprintf(b, "@media(prefers-reduced-motion:reduce){.s{animation-delay:-%ss;animation-play-state:paused}}",
		strconv.FormatFloat(max(long-time.Millisecond, 0).Seconds(), 'f', -1, 64))
	for y, s := range a.strips {
		if len(s.steps) < 2 {
			continue
		}
		fmt.Fprintf(b, "\n.r%d{animation-name:k%d}@keyframes k%d{", y, y, y)
		for i, st := range s.steps {
			part := float64(st.at) / float64(long) * 100
			if i == 0 {
				part = 0
			}
			fmt.Fprintf(b, "%s%%{transform:translateY(%dpx)}",
				strconv.FormatFloat(part, 'f', percentDigits(long), 64), -st.place*a.pitch())
		}
		// The end repeats the last place: without it the strip would go back to the first one.
		fmt.Fprintf(b, "to{transform:translateY(%dpx)}}", -s.steps[len(s.steps)-1].place*a.pitch())
	}
	b.WriteString("</style>\n")
}

// percentDigits is how many digits tell times apart that differ by 5 ms.
func percentDigits(long time.Duration) int {
	n := 1
	for unit := long / 1000; unit > 5*time.Millisecond; unit /= 10 {
		n++
	}
	return n
}
