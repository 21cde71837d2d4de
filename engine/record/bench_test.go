package record

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// floods are the kinds of output that recording is measured with: lines, coloured lines, lines of
// wide characters, frames drawn by cursor moves, and what real programs wrote.
func floods(t testing.TB) map[string][]byte {
	words := strings.Fields("alpha build cargo delta error fetch green hotel index joule kappa level merge node omega parse query river stack tests")
	wide := strings.Fields("端末 画面 出力 漢字かな 한국어 中文字符 Ünïcödé naïve Привет λόγος 😀 🚀 é → │ █")
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string { return words[r.IntN(len(words))] }
	out := map[string][]byte{}
	for name, unit := range map[string]func(b *strings.Builder, i int){
		"plain": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "%07d", i)
			for range 3 + r.IntN(12) {
				b.WriteString(" " + word())
			}
			b.WriteString("\r\n")
		},
		"sgr": func(b *strings.Builder, i int) {
			for range 6 + r.IntN(6) {
				fmt.Fprintf(b, "\x1b[38;2;%d;%d;%dm%s\x1b[0m ", r.IntN(256), r.IntN(256), i%256, word())
			}
			b.WriteString("\r\n")
		},
		"cjk": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "%06d", i)
			for range 4 + r.IntN(6) {
				b.WriteString(" " + wide[r.IntN(len(wide))])
			}
			b.WriteString("\r\n")
		},
		"redraw": func(b *strings.Builder, i int) {
			b.WriteString("\x1b[?25l\x1b[H")
			for row := 1; row <= 23; row++ {
				fmt.Fprintf(b, "\x1b[%d;1H\x1b[K\x1b[7m %3d \x1b[0m", row, row)
				fmt.Fprintf(b, "\x1b[%d;%dH\x1b[3%dm%s %s\x1b[0m", row, 8+r.IntN(10), r.IntN(8), word(), word())
				fmt.Fprintf(b, "\x1b[%d;60H\x1b[1m%6d\x1b[22m\x1b[2D%%", row, i*23+row)
			}
			fmt.Fprintf(b, "\x1b[24;1H\x1b[44m frame %08d \x1b[0m\x1b[K\x1b[?25h", i)
		},
	} {
		var b strings.Builder
		for i := 0; b.Len() < 2<<20; i++ {
			unit(&b, i)
		}
		out[name] = []byte(b.String())
	}
	var b strings.Builder
	for _, rec := range recordings(t) {
		for e := range rec.Events() {
			if e.Kind == EventOutput {
				b.WriteString(e.Text)
			}
		}
	}
	out["real"] = []byte(b.String())
	return out
}

// What a recording costs a session in a flood, without the disk. The difference between redacted
// and raw is the redactor's.
func BenchmarkFlood(b *testing.B) {
	all := floods(b)
	for _, name := range []string{"plain", "sgr", "cjk", "redraw", "real"} {
		for _, raw := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/raw=%v", name, raw), func(b *testing.B) {
				b.SetBytes(int64(len(all[name])))
				b.ReportAllocs()
				for b.Loop() {
					c, err := newCast(&nowhere{}, "x", CastOptions{Start: t0, Raw: raw, MaxBytes: 1 << 40})
					if err != nil {
						b.Fatal(err)
					}
					const piece = 16 << 10 // what a terminal's reader hands over at most
					for rest := all[name]; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
						if err := c.Output(t0.Add(time.Second), rest[:min(piece, len(rest))]); err != nil {
							b.Fatal(err)
						}
					}
					if err := c.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// nowhere is a sink that keeps nothing.
type nowhere struct{ io.Writer }

func (*nowhere) Write(p []byte) (int, error)            { return len(p), nil }
func (*nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (*nowhere) Truncate(int64) error                   { return nil }
func (*nowhere) finish() error                          { return nil }
func (*nowhere) discard() error                         { return nil }
