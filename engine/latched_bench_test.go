package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/matchers"
)

// slowly is a terminal that gives no more at once than a real one does.
type slowly struct {
	*enginetest.PTY
	rest []byte
}

func (p *slowly) Next() (out []byte, err error) {
	if len(p.rest) == 0 {
		p.rest, err = p.PTY.Next()
	}
	n := min(len(p.rest), 4<<10)
	out, p.rest = p.rest[:n], p.rest[n:]
	return out, err
}

// BenchmarkWaitInAFlood is how fast 4 MiB of output is taken while a wait is pending that finds
// nothing in it. A latched one says how much of it the matcher could be asked about.
func BenchmarkWaitInAFlood(b *testing.B) {
	lines := slices.Repeat([]string{strings.Repeat("the quick brown fox jumps over the lazy dog\r\n", 90)}, 1024)
	for _, flood := range []struct {
		name    string
		batches []string
	}{{"redraw", redraw(4 << 20)}, {"lines", lines}} {
		for _, how := range []string{"none", "wait", "latched"} {
			b.Run(flood.name+"/"+how, func(b *testing.B) {
				p := &slowly{PTY: enginetest.New()}
				e := engine.New(engine.Options{Start: func(pty.Command) (engine.PTY, error) { return p, nil }})
				b.Cleanup(func() { e.Close(context.Background()) })
				s, err := e.Spawn(b.Context(), engine.Config{Program: "fake", Size: pty.Size{Rows: 40, Cols: 120}})
				if err != nil {
					b.Fatal(err)
				}
				ctx, cancel := context.WithCancel(b.Context())
				asked, done := map[uint64]bool{}, make(chan bool)
				m := matchers.Text("nowhere")
				go func() {
					defer close(done)
					if how != "none" {
						s.Wait(ctx, engine.Func(func(v *engine.View) bool {
							asked[v.Sequence] = true
							return m.Check(v).Match != nil
						}), engine.Latched(how == "latched"), engine.Within(time.Hour))
					}
				}()
				b.SetBytes(4 << 20)
				end := engine.Offset(0)
				for b.Loop() {
					for _, batch := range flood.batches {
						p.Print(batch)
						end += engine.Offset(len(batch))
					}
					for changed := s.Changed(); ; changed = s.Changed() {
						if _, now := s.View().Transcript.Bounds(); now >= end {
							break
						}
						<-changed
					}
				}
				cancel()
				<-done
				b.ReportMetric(float64(len(asked))/float64(s.Sequence()), "asked/step")
			})
		}
	}
}

// BenchmarkWaitWithAPosition is what a wait costs that matches at once: for what came in the newest
// batch, and in the newest twenty, of a session that redraws its screen.
func BenchmarkWaitWithAPosition(b *testing.B) {
	s := redrawn(b, redraw(1<<20), 0, 0)
	for _, back := range []uint64{1, 20} {
		for _, latched := range []bool{false, true} {
			b.Run(fmt.Sprintf("back=%d/latched=%t", back, latched), func(b *testing.B) {
				for b.Loop() {
					_, err := s.Wait(b.Context(), matchers.Text("word"), engine.After(s.Sequence()-back),
						engine.Latched(latched), engine.Within(0))
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
