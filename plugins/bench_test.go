//go:build unix

package plugins

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

// percentiles reports the median and the 99th of some times, in microseconds.
func percentiles(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	at := func(q float64) float64 { return float64(times[int(q*float64(len(times)-1))].Nanoseconds()) / 1e3 }
	b.ReportMetric(at(0.5), "p50-us")
	b.ReportMetric(at(0.99), "p99-us")
}

// BenchmarkClassify looks at the last screen of every recording of an agent, one after the other.
func BenchmarkClassify(b *testing.B) {
	for _, agent := range []string{"claude-code", "codex", "gemini-cli", "opencode"} {
		b.Run(agent, func(b *testing.B) {
			m := classifier(b, agent)
			var views []*engine.View
			for _, t := range tapesOf(b, agent) {
				t.play(func(v *engine.View, last bool) {
					if last {
						views = append(views, v)
					}
				})
			}
			for _, v := range views { // compiles the plugin's expressions
				if _, err := classify(m, agent, &look{view: v}); err != nil {
					b.Fatal(err)
				}
			}
			var times []time.Duration
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if _, err := classify(m, agent, &look{view: views[i%len(views)]}); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			percentiles(b, times)
		})
	}
}

// agents starts adapters of the claude-code plugin on terminals that a benchmark commands.
func agents(b *testing.B, n int) (*Catalog, []*Adapter, []*enginetest.PTY) {
	b.Helper()
	ptys := make([]*enginetest.PTY, n)
	for i := range ptys {
		ptys[i] = enginetest.New()
	}
	c := NewCatalog(enginetest.Engine(ptys...), slog.New(slog.DiscardHandler))
	all := make([]*Adapter, n)
	for i := range all {
		a, err := c.Start(context.Background(), "claude-code", StartOptions{Program: "fake"})
		if err != nil {
			b.Fatal(err)
		}
		all[i] = a
	}
	b.Cleanup(func() {
		for _, a := range all {
			a.Close(context.Background())
		}
	})
	return c, all, ptys
}

// The two frames between which the benchmarks switch: an idle prompt, and a busy one.
const (
	idleFrame = "\x1b[?2004h\x1b]0;✳ Claude Code\a\x1b[2J\x1b[20;1H────────\r\n❯\u00a0\r\n────────\r\n  ? for shortcuts"
	busyFrame = "\x1b[?2004h\x1b]0;◐ Claude Code\a\x1b[2J\x1b[18;1H✻ Brewing… (3s · ↓ 36 tokens)\x1b[20;1H────────\r\n❯\u00a0\r\n────────\r\n  esc to interrupt"
)

// BenchmarkWakeToState is the time from a byte written by the program to its new state being told,
// after a quiet spell.
func BenchmarkWakeToState(b *testing.B) {
	c, all, ptys := agents(b, 1)
	var times []time.Duration
	want := ""
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		time.Sleep(2 * keepFloor) // the quiet spell
		frame := busyFrame
		if want = "thinking"; i%2 == 1 {
			frame, want = idleFrame, "ready"
		}
		b.StartTimer()
		began := time.Now()
		ptys[0].Print(frame)
		for deadline := time.After(10 * time.Second); ; {
			changed := c.Changed()
			if all[0].State().State == want {
				break
			}
			select {
			case <-changed:
			case <-deadline:
				b.Fatalf("the state is %+v, not %s", all[0].State(), want)
			}
		}
		times = append(times, time.Since(began))
	}
	percentiles(b, times)
}

// BenchmarkBusyAdapters draws a frame in each of fifty sessions every 10 ms, with and without
// adapters that look, and reports the processor time of a second.
func BenchmarkBusyAdapters(b *testing.B) {
	const sessions, every = 50, 10 * time.Millisecond
	for _, adapters := range []int{0, sessions} {
		b.Run(fmt.Sprintf("adapters=%d", adapters), func(b *testing.B) {
			ptys := make([]*enginetest.PTY, sessions)
			if adapters > 0 {
				_, _, ptys = agents(b, sessions)
			} else {
				for i := range ptys {
					ptys[i] = enginetest.New()
				}
				e := enginetest.Engine(ptys...)
				for range ptys {
					if _, err := e.Spawn(b.Context(), engine.Config{Program: "fake"}); err != nil {
						b.Fatal(err)
					}
				}
				b.Cleanup(func() { e.Close(context.Background()) })
			}
			ticks := time.NewTicker(every)
			defer ticks.Stop()
			before := processorTime(b)
			began := time.Now()
			for i := 0; b.Loop(); i++ {
				frame := idleFrame
				if i%2 == 0 {
					frame = busyFrame
				}
				for _, p := range ptys {
					p.Print(frame)
				}
				<-ticks.C
			}
			b.ReportMetric(float64((processorTime(b)-before).Milliseconds())/time.Since(began).Seconds(), "cpu-ms/s")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
