package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// redraw is a program that draws its 40x120 screen again and again, in batches of 4 KiB.
func redraw(size int) (batches []string) {
	var b strings.Builder
	for frame := 0; b.Len() < size; frame++ {
		b.WriteString("\x1b[H")
		for y := range 40 {
			fmt.Fprintf(&b, "\x1b[%dm%-100s\x1b[0m %08d\r\n", 31+y%7, strings.Repeat("word ", y%20), frame+y)
		}
	}
	for p := range slices.Chunk([]byte(b.String()[:size]), 4<<10) {
		batches = append(batches, string(p))
	}
	return batches
}

// redrawn is a session that has printed them.
func redrawn(b *testing.B, batches []string, chars, history int) *engine.Session {
	p := enginetest.New()
	e := enginetest.Engine(p)
	b.Cleanup(func() { e.Close(context.Background()) })
	s, err := e.Spawn(b.Context(), engine.Config{Program: "fake", Size: pty.Size{Rows: 40, Cols: 120},
		TranscriptChars: chars, HistoryBytes: history})
	if err != nil {
		b.Fatal(err)
	}
	for i, batch := range batches {
		changed := s.Changed()
		for p.Print(batch); s.Sequence() <= uint64(i); changed = s.Changed() {
			<-changed
		}
	}
	return s
}

// BenchmarkPast shows a session as it was: one view at random, and a search of the text of every
// view of 1 MiB, beside parsing the same for it.
func BenchmarkPast(b *testing.B) {
	batches := redraw(1 << 20)
	s := redrawn(b, batches, 2<<20, 0)
	b.Run("at", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			if _, err := s.At(rand.Uint64N(s.Sequence())); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns/op")
	})
	b.Run("search", func(b *testing.B) {
		b.SetBytes(1 << 20)
		for b.Loop() {
			for v := range s.Past(0, s.Sequence()) {
				if text := v.Shown(); bytes.Contains(text.Text, []byte("nowhere")) {
					b.Fatal("found")
				}
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		b.SetBytes(1 << 20)
		for b.Loop() {
			t := vt.New(40, 120, vt.Options{})
			for _, batch := range batches {
				t.Feed([]byte(batch))
				if text := t.Snapshot().Passage(nil); bytes.Contains(text.Text, []byte("nowhere")) {
					b.Fatal("found")
				}
			}
		}
	})
}

// BenchmarkPump is what output costs a session that keeps its past, beside one that does not: both in
// turns, and the median of the ratios of their speeds.
func BenchmarkPump(b *testing.B) {
	lines := slices.Repeat([]string{strings.Repeat("the quick brown fox jumps over the lazy dog\r\n", 90)}, 1024)
	for _, c := range []struct {
		name    string
		batches []string
	}{{"redraw", redraw(4 << 20)}, {"lines", lines}} {
		b.Run(c.name, func(b *testing.B) {
			sessions := [2]*engine.Session{redrawn(b, nil, 0, 0), redrawn(b, nil, 0, -1)}
			var took [2][]time.Duration
			var ratios []float64
			b.SetBytes(8 << 20)
			for b.Loop() {
				var now [2]time.Duration
				for i, s := range sessions {
					began := time.Now()
					for _, batch := range c.batches {
						s.Feed([]byte(batch), time.Now())
					}
					now[i] = time.Since(began)
					took[i] = append(took[i], now[i])
				}
				ratios = append(ratios, now[1].Seconds()/now[0].Seconds())
			}
			for i, name := range [2]string{"past-ms", "none-ms"} {
				slices.Sort(took[i])
				b.ReportMetric(took[i][len(took[i])/2].Seconds()*1e3, name)
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
		})
	}
}
