package picture

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// noise are screens of random characters in random colours: of 16, or of all.
func noise(frames int, all bool) []still {
	random := rand.New(rand.NewPCG(1, 2))
	term := vt.New(24, 80, vt.Options{})
	var out []still
	for range frames {
		fmt.Fprint(feeder{term}, "\x1b[H")
		for range 24 * 80 {
			if all {
				n := random.Uint32()
				fmt.Fprintf(feeder{term}, "\x1b[38;2;%d;%d;%d;48;2;%d;%d;%dm%c", n>>24, n>>16&255, n>>8&255, n>>4&255, n>>12&255, n&255, '!'+random.IntN(90))
			} else {
				fmt.Fprintf(feeder{term}, "\x1b[%dm%c", 30+random.IntN(8), '!'+random.IntN(90))
			}
		}
		out = append(out, still{100 * time.Millisecond, term.Snapshot()})
	}
	return out
}

// BenchmarkAnimate draws what programs show, and ten frames of the worst: what a GIF and a WebP of them
// cost.
func BenchmarkAnimate(b *testing.B) {
	for name, frames := range map[string][]still{"sixteen colours": noise(10, false), "all colours": noise(10, true), "programs": reals(b)} {
		for _, format := range []string{"gif", "webp"} {
			b.Run(name+"/"+format, func(b *testing.B) {
				for b.Loop() {
					must(b, Animate(io.Discard, format, film(frames), AnimateOptions{MaxBytes: 1 << 30, Options: Options{Fonts: ownFonts()}}))
				}
				b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*len(frames)), "ms/frame")
			})
		}
	}
}
