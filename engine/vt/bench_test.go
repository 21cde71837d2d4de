package vt

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	xvt "github.com/charmbracelet/x/vt"
)

// streams are the four kinds of output that throughput is measured with, 1 MiB each.
var streams = func() map[string][]byte {
	forms := map[string]func(b *strings.Builder, i int){
		"plain": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "%06d the quick brown fox jumps over the lazy dog and runs away from it\r\n", i)
		},
		"sgr": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "\x1b[1;%dmword\x1b[0m \x1b[38;5;%dmcolour\x1b[39m \x1b[48;2;%d;20;30mtrue\x1b[0m", 31+i%7, i%256, i%256)
			if i%3 == 2 {
				b.WriteString("\r\n")
			}
		},
		"redraw": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "\x1b[%d;%dH\x1b[3%dmitem %d\x1b[m value\x1b[K", i%24+1, (i*7)%60+1, i%8, i)
		},
		"cjk": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "日本語 한국어 中文字 %d 😀🚀 e\u0301a\u0308 привет\r\n", i)
		},
	}
	out := map[string][]byte{}
	for name, form := range forms {
		var b strings.Builder
		for i := 0; b.Len() < 1<<20; i++ {
			form(&b, i)
		}
		out[name] = []byte(b.String())
	}
	return out
}()

var sink int

// BenchmarkThroughput holds this terminal against the parser of x/ansi alone, which keeps no
// screen, against x/vt, and against looking at each byte once.
func BenchmarkThroughput(b *testing.B) {
	const piece = 32 << 10 // what a PTY hands over at most
	for _, name := range []string{"plain", "sgr", "redraw", "cjk"} {
		data := streams[name]
		run := func(who string, feed func(p []byte)) {
			b.Run(name+"/"+who, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					for p := data; len(p) > 0; {
						n := min(piece, len(p))
						feed(p[:n])
						p = p[n:]
					}
				}
			})
		}
		term := New(24, 80, Options{})
		run("vt", func(p []byte) { term.Feed(p) })
		parser := ansi.NewParser()
		parser.SetHandler(ansi.Handler{Print: func(rune) {}, Execute: func(byte) {}, HandleCsi: func(ansi.Cmd, ansi.Params) {}})
		run("x-ansi-parser-alone", func(p []byte) {
			for _, c := range p {
				parser.Advance(c)
			}
		})
		if !testing.Short() {
			other := xvt.NewEmulator(80, 24)
			run("x-vt", func(p []byte) { _, _ = other.Write(p) })
		}
		run("scan", func(p []byte) { sink += bytes.Count(p, []byte{0x1b}) })
	}
}

// BenchmarkRatio prints how many times as fast as the parser of x/ansi alone this terminal is:
// pieces of both in turn, and the best time of each, so that a busy machine disturbs both alike.
func BenchmarkRatio(b *testing.B) {
	for _, name := range []string{"plain", "sgr", "redraw", "cjk"} {
		b.Run(name, func(b *testing.B) {
			data := streams[name]
			term := New(24, 80, Options{})
			parser := ansi.NewParser()
			parser.SetHandler(ansi.Handler{Print: func(rune) {}, Execute: func(byte) {}, HandleCsi: func(ansi.Cmd, ansi.Params) {}})
			const piece = 64 << 10
			best := func(feed func()) (d time.Duration) {
				for range 25 {
					start := time.Now()
					feed()
					if took := time.Since(start); d == 0 || took < d {
						d = took
					}
				}
				return d
			}
			var ours, theirs time.Duration
			n := 0
			for b.Loop() {
				for p := data; len(p) >= piece; p = p[piece:] {
					ours += best(func() { term.Feed(p[:piece]) })
					theirs += best(func() {
						for _, c := range p[:piece] {
							parser.Advance(c)
						}
					})
					n += piece
				}
			}
			b.ReportMetric(float64(n)/ours.Seconds()/1e6, "vt-MB/s")
			b.ReportMetric(float64(n)/theirs.Seconds()/1e6, "x-ansi-MB/s")
			b.ReportMetric(float64(theirs)/float64(ours), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkWatched: output while somebody looks after every piece, as a wait does; pieces as a
// program that prints lines makes them.
func BenchmarkWatched(b *testing.B) {
	for _, piece := range []int{128, 4 << 10, 32 << 10} {
		for _, name := range []string{"plain", "redraw"} {
			b.Run(fmt.Sprintf("%s/%d", name, piece), func(b *testing.B) {
				data := streams[name]
				term := New(24, 80, Options{})
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					for p := data; len(p) > 0; {
						n := min(piece, len(p))
						term.Feed(p[:n])
						sink += int(term.Snapshot().Sequence)
						p = p[n:]
					}
				}
			})
		}
	}
}

// BenchmarkFeedSmall: one key echoed, the usual piece of an interactive session.
func BenchmarkFeedSmall(b *testing.B) {
	term := New(24, 80, Options{})
	in := []byte("\x1b[5;10Hx")
	b.ReportAllocs()
	for b.Loop() {
		in[len(in)-1] ^= 1
		term.Feed(in)
	}
}

// filled returns a terminal full of text.
func filled(rows, cols int) *Terminal {
	term := New(rows, cols, Options{})
	for y := range rows {
		term.Feed(fmt.Appendf(nil, "\x1b[%d;1H%.*s", y+1, cols-1, strings.Repeat(fmt.Sprintf("row %d of text ", y), cols/10)))
	}
	return term
}

// BenchmarkSnapshot: a new screen each time, as after every piece of output.
func BenchmarkSnapshot(b *testing.B) {
	for _, size := range [][2]int{{24, 80}, {50, 200}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			term := filled(size[0], size[1])
			b.ReportAllocs()
			for b.Loop() {
				term.fresh = false
				term.Snapshot()
			}
		})
	}
}

// BenchmarkText: the plain text of a screen, rendered anew.
func BenchmarkText(b *testing.B) {
	for _, size := range [][2]int{{24, 80}, {50, 200}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			s := filled(size[0], size[1]).Snapshot()
			b.ReportAllocs()
			for b.Loop() {
				sink += len(joinRows(s.rows))
			}
		})
	}
}

// BenchmarkMask: a redactor that looks at each line and finds nothing.
func BenchmarkMask(b *testing.B) {
	s := filled(50, 200).Snapshot()
	b.ReportAllocs()
	for b.Loop() {
		s.Mask(func(line string) []Mask {
			sink += strings.Index(line, "secret")
			return nil
		})
	}
}

// BenchmarkMemory reports the bytes held by a terminal that nobody has used, one with a prompt, and
// one with its scrollback full.
func BenchmarkMemory(b *testing.B) {
	for name, fill := range map[string]func(*Terminal){
		"untouched": func(*Terminal) {},
		"prompt":    func(t *Terminal) { t.Feed([]byte("\x1b[?2004h$ ls\r\na b c\r\n$ ")); t.Snapshot() },
		"scrollback-10000x80": func(t *Terminal) {
			line := []byte(strings.Repeat("x", 79) + "\r\n")
			for range 10_100 {
				t.Feed(line)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(float64(heldBytes(fill)), "held-B")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// heldBytes measures what a terminal keeps alive, by making several.
func heldBytes(fill func(*Terminal)) int {
	const n = 8
	var before, after runtime.MemStats
	terms := make([]*Terminal, n)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range terms {
		terms[i] = New(24, 80, Options{})
		fill(terms[i])
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(terms)
	return int(after.HeapAlloc-before.HeapAlloc) / n
}

// BenchmarkMoments: 1 MiB of redraw at 40x120, fed in batches of 4 KiB, with the text read at each
// moment and after each batch, beside feeding it alone.
func BenchmarkMoments(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		text.WriteString("\x1b[H")
		for y := range 39 {
			fmt.Fprintf(&text, "\x1b[3%dm%5d\x1b[m a line of a frame that is drawn again and again, all of it: row %d\x1b[K\r\n", y%8, i, y)
		}
	}
	data := []byte(text.String())[:1<<20]
	feed := func(b *testing.B, one func(term *Terminal, p []byte)) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			term := New(40, 120, Options{})
			for p := range slices.Chunk(data, 4<<10) {
				one(term, p)
			}
		}
	}
	b.Run("feed", func(b *testing.B) {
		feed(b, func(term *Terminal, p []byte) { term.FeedToMark(p) })
	})
	b.Run("read", func(b *testing.B) {
		feed(b, func(term *Terminal, p []byte) { term.FeedToMark(p); sink += len(term.Snapshot().Text()) })
	})
	b.Run("moments", func(b *testing.B) {
		n := 0
		feed(b, func(term *Terminal, p []byte) {
			term.FeedMoments(p, func(s *Screen) { n++; sink += len(s.Text()) })
			sink += len(term.Snapshot().Text())
		})
		b.ReportMetric(float64(n)/float64(b.N), "moments/op")
	})
	b.Run("every-other-byte", func(b *testing.B) { // what a hostile program costs on the largest screen
		term := New(MaxSide, MaxSide, Options{})
		in := bytes.Repeat([]byte("\rX"), 4<<10)
		term.FeedMoments([]byte(strings.Repeat(strings.Repeat("x", MaxSide)+"\r\n", MaxSide-1)), func(*Screen) {})
		b.SetBytes(int64(len(in)))
		for b.Loop() {
			term.FeedMoments(in, func(*Screen) {})
		}
	})
}
