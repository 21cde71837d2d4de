package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/matchers"
)

// BenchmarkWaitMany is what it takes to wait for 1,000 sessions of which the last shows what is
// waited for: with one wait, and with a wait for each in a goroutine, of which the first ends the
// others.
func BenchmarkWaitMany(b *testing.B) {
	const sessions = 1000
	var all []*engine.Session
	var ptys []*enginetest.PTY
	for range sessions {
		ptys = append(ptys, enginetest.New())
	}
	e := enginetest.Engine(ptys...)
	defer e.Close(context.Background())
	for range sessions {
		s, err := e.Spawn(b.Context(), engine.Config{Program: "fake", HistoryBytes: -1})
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, s)
	}
	last := ptys[sessions-1]
	for _, how := range []string{"one wait", "a wait each"} {
		b.Run(how, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n++
				text := fmt.Sprintf("%s <%d>", how, n)
				var parked sync.WaitGroup
				parked.Add(sessions)
				go func() {
					parked.Wait()
					last.Print("\x1b[H" + text)
				}()
				options := []engine.WaitOption{engine.Within(time.Minute), engine.Parked(parked.Done)}
				if how == "one wait" {
					if _, err := e.WaitMany(b.Context(), engine.Many{Sessions: all, Ask: wants(text)}, options...); err != nil {
						b.Fatal(err)
					}
					continue
				}
				ctx, cancel := context.WithCancel(b.Context())
				var waits sync.WaitGroup
				for _, s := range all {
					waits.Go(func() {
						if _, err := s.Wait(ctx, matchers.Text(text), options...); err == nil {
							cancel()
						}
					})
				}
				waits.Wait()
				cancel()
			}
			b.ReportMetric(float64(runtime.NumGoroutine()), "goroutines-left")
		})
	}
}
