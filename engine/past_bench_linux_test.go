package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// spent is the processor time of this thread.
func spent(b *testing.B) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ts.Nano())
}

// BenchmarkAt is the processor time of one view of the past, at random, of sessions that print in
// different ways: what a clock on the wall shows beside load says little.
func BenchmarkAt(b *testing.B) {
	keys := make([]string, 0, 40_000)
	for i := range cap(keys) {
		keys = append(keys, fmt.Sprintf("\r\x1b[K$ %.*s", i%60, strings.Repeat("word ", 12)))
	}
	var colours []string
	for i := range 12 {
		var s strings.Builder
		s.WriteString("\x1b[H")
		for j := range 40 * 119 {
			fmt.Fprintf(&s, "\x1b[38;2;%d;%d;%dm\u2580", (i+j)%256, j%256, i%256)
			if j%119 == 118 && j < 40*119-1 {
				s.WriteString("\r\n")
			}
		}
		for p := range slices.Chunk([]byte(s.String()), 4<<10) {
			colours = append(colours, string(p))
		}
	}
	for _, c := range []struct {
		name    string
		batches []string
		size    pty.Size
	}{
		{"redraw", redraw(1 << 20), pty.Size{Rows: 40, Cols: 120}},
		{"keys", keys, pty.Size{Rows: 40, Cols: 120}},
		{"colours", colours, pty.Size{Rows: 40, Cols: 120}},
		{"large", redraw(1 << 20), pty.Size{Rows: 100, Cols: 300}},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := enginetest.New()
			e := enginetest.Engine(p)
			b.Cleanup(func() { e.Close(context.Background()) })
			s, err := e.Spawn(b.Context(), engine.Config{Program: "fake", Size: c.size,
				TranscriptChars: 2 << 20})
			if err != nil {
				b.Fatal(err)
			}
			for i, batch := range c.batches { // a program that takes its time
				s.Feed([]byte(batch), time.Now().Add(time.Duration(i)*time.Millisecond))
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			kept, newest := s.Kept(), s.Sequence()
			var took []time.Duration
			for b.Loop() {
				began := spent(b)
				if _, err := s.At(kept + rand.Uint64N(newest-kept)); err != nil {
					b.Fatal(err)
				}
				took = append(took, spent(b)-began)
			}
			slices.Sort(took)
			for _, q := range []int{50, 99} {
				b.ReportMetric(float64(took[len(took)*q/100].Nanoseconds()), fmt.Sprintf("p%d-ns/op", q))
			}
			b.ReportMetric(float64(s.Keyframes()), "keyframes")
			b.ReportMetric(float64(newest-kept)/float64(newest), "kept")
		})
	}
}
