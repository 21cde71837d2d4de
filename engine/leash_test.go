package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// awaitEnd waits for a session's end, and returns how long after its start that was.
func awaitEnd(t *testing.T, s *engine.Session) (*engine.View, time.Duration) {
	t.Helper()
	out, err := s.Wait(t.Context(), matcher(t, map[string]any{"type": "process_exited"}), engine.Within(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return out.View, time.Since(s.Started())
}

func TestLeashes(t *testing.T) {
	for name, c := range map[string]struct {
		config engine.Config
		during func(p *enginetest.PTY, s *engine.Session)
		limit  engine.Limit
		signal string
		after  time.Duration
	}{
		"time":                   {config: engine.Config{MaxTime: 5 * time.Second}, limit: engine.LimitTime, signal: "SIGKILL", after: 5 * time.Second},
		"time, whatever it does": {config: engine.Config{MaxTime: 5 * time.Second}, limit: engine.LimitTime, signal: "SIGKILL", after: 5 * time.Second, during: func(p *enginetest.PTY, _ *engine.Session) { every(time.Second, 10, func() { p.Print("busy") }) }},
		"idle":                   {config: engine.Config{MaxIdle: 5 * time.Second}, limit: engine.LimitIdle, signal: "SIGKILL", after: 5 * time.Second},
		"idle, after output": {config: engine.Config{MaxIdle: 5 * time.Second}, limit: engine.LimitIdle, signal: "SIGKILL", after: 24 * time.Second, during: func(p *enginetest.PTY, _ *engine.Session) {
			every(1900*time.Millisecond, 10, func() { p.Print("busy") })
		}},
		"idle, after input": {config: engine.Config{MaxIdle: 5 * time.Second}, limit: engine.LimitIdle, signal: "SIGKILL", after: 24 * time.Second, during: func(_ *enginetest.PTY, s *engine.Session) {
			every(1900*time.Millisecond, 10, func() { _, _ = s.Do(context.Background(), engine.Text("x")) })
		}},
		"idle, though it is looked at and resized": {config: engine.Config{MaxIdle: 5 * time.Second}, limit: engine.LimitIdle, signal: "SIGKILL", after: 5 * time.Second, during: func(_ *enginetest.PTY, s *engine.Session) {
			every(time.Second, 10, func() { _ = s.Resize(pty.Size{Rows: 10, Cols: uint16(10 + time.Now().Second())}) })
		}},
		"the first of two": {config: engine.Config{MaxTime: 9 * time.Second, MaxIdle: 5 * time.Second}, limit: engine.LimitIdle, signal: "SIGKILL", after: 5 * time.Second},
		"the other of two": {config: engine.Config{MaxTime: 9 * time.Second, MaxIdle: 5 * time.Second}, limit: engine.LimitTime, signal: "SIGKILL", after: 9 * time.Second, during: func(p *enginetest.PTY, _ *engine.Session) {
			every(time.Second, 20, func() { p.Print("busy") })
		}},
		"memory": {config: engine.Config{MaxMemory: 1 << 20}, limit: engine.LimitMemory, signal: "SIGKILL", after: 3 * time.Second, during: func(p *enginetest.PTY, _ *engine.Session) {
			later(3*time.Second, p.ExceedMemory)
		}},
		"the client": {limit: engine.LimitOwner, signal: "SIGKILL", after: 3 * time.Second, during: func(_ *enginetest.PTY, s *engine.Session) {
			later(3*time.Second, func() { _ = s.End(context.Background(), engine.LimitOwner) })
		}},
		"by itself before": {config: engine.Config{MaxTime: 5 * time.Second, MaxIdle: 5 * time.Second, MaxMemory: 1 << 20}, after: time.Second, during: func(p *enginetest.PTY, _ *engine.Session) {
			later(time.Second, func() { p.End(0) })
		}},
		"killed before": {config: engine.Config{MaxTime: 5 * time.Second}, signal: "SIGKILL", after: time.Second, during: func(_ *enginetest.PTY, s *engine.Session) {
			later(time.Second, func() { _ = s.Kill(context.Background()) })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
				s, p := x.spawn(c.config)
				if c.during != nil {
					c.during(p, s)
				}
				v, took := awaitEnd(t, s)
				if v.Exit.Limit != c.limit || v.Exit.Signal != c.signal || took != c.after {
					t.Errorf("after %v it ended by limit %q, signal %q; want %v, %q, %q", took, v.Exit.Limit, v.Exit.Signal, c.after, c.limit, c.signal)
				}
				time.Sleep(time.Minute) // no timer does anything more
				if now := s.View().Exit; now.Limit != c.limit {
					t.Errorf("a minute later its limit is %q", now.Limit)
				}
			})
		})
	}
}

// every runs f n times, in the bubble.
func every(d time.Duration, n int, f func()) {
	if n > 0 {
		later(d, func() {
			f()
			every(d, n-1, f)
		})
	}
}

// TestLeashOfWhatIsLeft: when the program has ended by itself, the limit is one on what it has left
// behind.
func TestLeashOfWhatIsLeft(t *testing.T) {
	t.Run("on the terminal", func(t *testing.T) {
		inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
			s, p := x.spawn(engine.Config{MaxTime: 5 * time.Second})
			p.Exit(pty.Exit{Code: 3})
			synctest.Wait()
			if v, _ := awaitEnd(t, s); !v.Exit.Draining || v.Exit.Limit != "" {
				t.Errorf("the program's end: %+v", v.Exit)
			}
			time.Sleep(6 * time.Second)
			if v := s.View(); !v.Ended || v.Exit.Code != 3 || v.Exit.Draining || v.Exit.Limit != engine.LimitTime {
				t.Errorf("the end of the rest: %+v", v.Exit)
			}
		})
	})
	t.Run("elsewhere", func(t *testing.T) {
		inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
			s, p := x.spawn(engine.Config{MaxTime: 5 * time.Second})
			p.SetLeft(true)
			p.End(3)
			synctest.Wait()
			time.Sleep(6 * time.Second)
			if p.Left() {
				t.Error("what was left is there still")
			}
			if v := s.View(); v.Exit.Limit != "" || v.Killed {
				t.Errorf("the program ended by itself: %+v", v.Exit)
			}
		})
	})
}

// TestClosedBeforeTheLeash: nothing waits for a limit of what is gone.
func TestClosedBeforeTheLeash(t *testing.T) {
	inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
		s, _ := x.spawn(engine.Config{MaxTime: time.Hour, MaxIdle: time.Hour})
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}) // the bubble would hang on a goroutine, and is over before the hour
}
