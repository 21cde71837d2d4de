package redact

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const prose = "The quick brown fox jumps over the lazy dog, while 42 builders wait at /usr/local/bin.\r\n"

// A screen of 24x80 without a secret: what every snapshot pays.
func BenchmarkScreen(b *testing.B) {
	rows := strings.Split(strings.Repeat(prose[:80]+"\n", 24), "\n")
	b.ReportAllocs()
	for b.Loop() {
		for _, row := range rows {
			if Default.Spans(row) != nil {
				b.Fatal("a hit")
			}
		}
	}
}

// The same with ten secrets on it.
func BenchmarkScreenWithTenSecrets(b *testing.B) {
	rows := strings.Split(strings.Repeat(prose[:80]+"\n", 24), "\n")
	for i := range 10 {
		rows[2*i] = "export DB_PASSWORD=hunter2hunter2 and some more text to the end of the row, okay"
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, row := range rows {
			Default.Spans(row)
		}
	}
}

func benchmarkStream(b *testing.B, text string, chunk int) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s := NewStream(Default)
		for rest := text; rest != ""; rest = rest[min(chunk, len(rest)):] {
			s.Write(rest[:min(chunk, len(rest))])
		}
		s.Flush()
	}
}

func BenchmarkStreamProse(b *testing.B) {
	benchmarkStream(b, strings.Repeat(prose, 1<<20/len(prose)), 32<<10)
}

func BenchmarkStreamProseSmallChunks(b *testing.B) {
	benchmarkStream(b, strings.Repeat(prose, 1<<20/len(prose)), 200)
}

func BenchmarkStreamSGR(b *testing.B) {
	line := "\x1b[32m+\x1b[0m \x1b[1mfunc\x1b[0m main \x1b[38;5;208m(args)\x1b[39m { return \x1b[31mnil\x1b[0m }\r\n"
	benchmarkStream(b, strings.Repeat(line, 1<<20/len(line)), 32<<10)
}

func BenchmarkStreamWithoutLineEnds(b *testing.B) {
	line := strings.ReplaceAll(prose, "\r\n", "\x1b[5;1H")
	benchmarkStream(b, strings.Repeat(line, 1<<20/len(line)), 32<<10)
}

// A value that joins the known ones costs the next text this.
func BenchmarkKnownGrows(b *testing.B) {
	var k Known
	r := Default.With(&k)
	b.ReportAllocs()
	for b.Loop() {
		k.Add("hunter2")
		r.String("x")
	}
}

// Many lines with a name in each that is no secret's: what source code and logs cost.
func BenchmarkStreamOfNames(b *testing.B) {
	line := "internal/auth/session_token_test.go:42: func TestTokenKey_Refresh(t *testing.T) { key := newKey() }\r\n"
	benchmarkStream(b, strings.Repeat(line, 1<<20/len(line)), 32<<10)
}

// What a screen costs does not depend on how many values are known.
func BenchmarkScreenWithKnown(b *testing.B) {
	rows := strings.Split(strings.Repeat(prose[:80]+"\n", 24), "\n")
	for _, n := range []int{0, 1, 1000, 16_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var k Known
			d := newDice(3)
			for range n {
				k.Add(d.of(20, base62))
			}
			r := Default.With(&k)
			b.ReportAllocs()
			for b.Loop() {
				if slices.ContainsFunc(r.Page(rows, nil), func(s []Span) bool { return s != nil }) {
					b.Fatal("a hit")
				}
			}
		})
	}
}

// A value that joins a thousand costs what it costs to join none, and so does the text after it.
func BenchmarkKnownGrowsOfMany(b *testing.B) {
	for _, n := range []int{0, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var k Known
			r := Default.With(&k)
			d := newDice(3)
			for range n {
				k.Add(d.of(20, base62))
			}
			ended := make(chan struct{})
			b.ReportAllocs()
			for b.Loop() {
				k.Typed("s1", ended, d.of(20, base62), Certain)
				r.String("some text")
			}
		})
	}
}
