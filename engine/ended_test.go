package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// A barn is an engine whose sessions run on terminals without a kernel.
type barn struct {
	t *testing.T
	*engine.Engine
	mu   sync.Mutex        // for sessions that are spawned by timers
	made []*enginetest.PTY // by the number of the session
}

// inBarn runs f in virtual time and sees to it that nothing is left.
func inBarn(t *testing.T, o engine.Options, f func(t *testing.T, x *barn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x := &barn{t: t}
		o.Start = func(pty.Command) (engine.PTY, error) {
			p := enginetest.New()
			x.mu.Lock()
			defer x.mu.Unlock()
			x.made = append(x.made, p)
			return p, nil
		}
		x.Engine = engine.New(o)
		f(t, x)
		if err := x.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func (x *barn) spawn(c engine.Config) (*engine.Session, *enginetest.PTY) {
	x.t.Helper()
	c.Program = "fake"
	s, err := x.Spawn(x.t.Context(), c)
	if err != nil {
		x.t.Fatal(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return s, x.made[len(x.made)-1]
}

// short starts n programs, one after the other, each of which prints and ends at once with its
// number's last digit.
func (x *barn) short(n int, print string) (all []*engine.Session) {
	x.t.Helper()
	for i := range n {
		s, p := x.spawn(engine.Config{})
		p.Print(print)
		p.End(i % 10)
		synctest.Wait()
		all = append(all, s)
	}
	return all
}

func (x *barn) ids() string {
	var ids []string
	for _, s := range x.List() {
		ids = append(ids, string(s.ID()))
	}
	return strings.Join(ids, " ")
}

func TestTheOldestThatHaveEndedAreForgotten(t *testing.T) {
	inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
		lives, _ := x.spawn(engine.Config{})
		all := x.short(300, "hello\r\n")
		if n := len(x.List()); n != 1+engine.DefaultEnded {
			t.Errorf("%d sessions are listed", n)
		}
		if _, err := x.Session(lives.ID()); err != nil {
			t.Errorf("one that runs: %v", err)
		}
		for i, s := range all {
			_, err := x.Session(s.ID())
			var gone *engine.ForgottenError
			if kept := i >= 300-engine.DefaultEnded; kept {
				if err != nil || isClosed(s.Closed()) {
					t.Fatalf("%s, of the newest: %v", s.ID(), err)
				}
				continue
			} else if !errors.As(err, &gone) || !errors.Is(err, engine.ErrNoSession) {
				t.Fatalf("%s, of the oldest: %v", s.ID(), err)
			}
			if gone.Session != s.ID() || gone.Exit.Code != i%10 || gone.Asked || gone.Sequence == 0 {
				t.Fatalf("of %s is kept %+v", s.ID(), gone)
			}
			if !isClosed(s.Closed()) {
				t.Fatalf("whoever waits for the end of %s is not told", s.ID())
			}
		}
	})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestShortProgramsAreNeverRefused: the bound is one on what runs.
func TestShortProgramsAreNeverRefused(t *testing.T) {
	inBarn(t, engine.Options{Sessions: 3}, func(t *testing.T, x *barn) {
		x.short(1000, "")
		for range 3 {
			x.spawn(engine.Config{})
		}
		var limit *engine.LimitError
		if _, err := x.Spawn(t.Context(), engine.Config{Program: "fake"}); !errors.As(err, &limit) || limit.Limit != 3 {
			t.Errorf("a fourth that runs: %v", err)
		}
		x.made[len(x.made)-1].End(0)
		synctest.Wait()
		x.spawn(engine.Config{})
	})
}

// TestWhatIsLeftOfASessionRuns: a terminal that is closed is not the end while a process is left.
func TestWhatIsLeftOfASessionRuns(t *testing.T) {
	inBarn(t, engine.Options{Sessions: 2, Ended: 1}, func(t *testing.T, x *barn) {
		daemon, p := x.spawn(engine.Config{})
		p.SetLeft(true)
		p.End(0)
		synctest.Wait()
		if !daemon.View().Ended {
			t.Error("its terminal is not closed")
		}
		x.short(10, "")
		if got := x.ids(); got != "s1 s11" {
			t.Errorf("there are %s", got)
		}
		x.spawn(engine.Config{})
		if _, err := x.Spawn(t.Context(), engine.Config{Program: "fake"}); err == nil {
			t.Error("what is left of a session does not count")
		}
		p.SetLeft(false) // the daemon ends by itself
		x.short(2, "")
		if got := x.ids(); got != "s12 s14" {
			t.Errorf("then there are %s", got)
		}
	})
}

// TestWhatIsHeldIsNotForgotten: a wait, a lease, a session that is somebody's to close.
func TestWhatIsHeldIsNotForgotten(t *testing.T) {
	inBarn(t, engine.Options{Ended: 1}, func(t *testing.T, x *barn) {
		kept, p := x.spawn(engine.Config{Kept: true})
		p.End(0)
		leased, p := x.spawn(engine.Config{})
		if _, err := leased.Lease("somebody", false); err != nil {
			t.Fatal(err)
		}
		lease, err := leased.Lease("another", true)
		if err != nil { // a lease that is taken away holds as one does
			t.Fatal(err)
		}
		p.End(0)
		waited, p := x.spawn(engine.Config{})
		p.Print("still")
		p.End(0)
		synctest.Wait()
		over := make(chan error, 1)
		go func() { // it can match for a while yet
			_, err := waited.Wait(t.Context(), matcher(t, stable(60_000)), engine.Within(time.Hour))
			over <- err
		}()
		synctest.Wait()
		x.short(5, "")
		if got := x.ids(); got != "s1 s2 s3 s8" { // and the newest of those that nothing holds
			t.Errorf("there are %s", got)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if err := <-over; err != nil {
			t.Errorf("the wait: %v", err)
		}
		if got := x.ids(); got != "s1 s2 s8" { // s3 is older
			t.Errorf("when the wait is over there are %s", got)
		}
		lease.Release()
		synctest.Wait()
		if got := x.ids(); got != "s1 s8" {
			t.Errorf("when the lease is given back there are %s", got)
		}
		if gone, err := x.ForgetEnded(); err != nil || fmt.Sprint(gone) != "[s8]" {
			t.Errorf("forgotten: %v, %v", gone, err)
		}
		if err := kept.Close(t.Context()); err != nil || x.ids() != "" {
			t.Errorf("closed: %v, and there are %q", err, x.ids())
		}
		if _, err := x.Session(kept.ID()); !errors.Is(err, engine.ErrNoSession) || errors.As(err, new(*engine.ForgottenError)) {
			t.Errorf("what was closed is not there, and was not forgotten: %v", err)
		}
	})
}

// TestWhatCannotBeForgottenIsBounded: sessions of others to close count past what is kept.
func TestWhatCannotBeForgottenIsBounded(t *testing.T) {
	inBarn(t, engine.Options{Sessions: 3, Ended: 2}, func(t *testing.T, x *barn) {
		for range 5 {
			_, p := x.spawn(engine.Config{Kept: true})
			p.End(0)
			synctest.Wait()
		}
		var limit *engine.LimitError
		if _, err := x.Spawn(t.Context(), engine.Config{Program: "fake"}); !errors.As(err, &limit) {
			t.Errorf("a sixth: %v", err)
		}
	})
}

func TestForgottenByMemory(t *testing.T) {
	inBarn(t, engine.Options{EndedBytes: 4 << 20}, func(t *testing.T, x *barn) {
		line := "a line of a program that prints much of the same\r\n"
		x.short(20, strings.Repeat(line, 10_000)) // some 600 KB each, with the transcript
		n := len(x.List())
		if n < 4 || n > 12 {
			t.Errorf("%d sessions are kept in 4 MiB", n)
		}
		x.short(100, "")
		if n := len(x.List()); n < 50 {
			t.Errorf("of small ones %d are kept", n)
		}
	})
}

// TestOneThatIsLargerThanTheBound: it can be read until the next one ends.
func TestOneThatIsLargerThanTheBound(t *testing.T) {
	inBarn(t, engine.Options{EndedBytes: 1 << 10}, func(t *testing.T, x *barn) {
		for _, want := range []string{"s1", "s2", "s3"} {
			x.short(1, "hello")
			if got := x.ids(); got != want {
				t.Errorf("there are %s, want %s", got, want)
			}
		}
	})
}

func TestForgetEnded(t *testing.T) {
	inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
		lives, _ := x.spawn(engine.Config{})
		x.short(3, "")
		gone, err := x.ForgetEnded()
		if err != nil || fmt.Sprint(gone) != "[s2 s3 s4]" {
			t.Errorf("forgotten: %v, %v", gone, err)
		}
		_, err = x.Session("s3")
		var told *engine.ForgottenError
		if !errors.As(err, &told) || !told.Asked || told.Exit.Code != 1 || !strings.Contains(err.Error(), "exit code 1") {
			t.Errorf("%v", err)
		}
		if x.ids() != string(lives.ID()) {
			t.Errorf("there are %s", x.ids())
		}
	})
}

// TestWhatIsKeptOfTheForgotten: the exit, and no more.
func TestWhatIsKeptOfTheForgotten(t *testing.T) {
	inBarn(t, engine.Options{Ended: 1}, func(t *testing.T, x *barn) {
		x.short(5, "hello")
		_, err := x.Session("s3")
		var gone *engine.ForgottenError
		if !errors.As(err, &gone) {
			t.Fatal(err)
		}
		exited := map[string]any{"type": "process_exited"}
		for name, c := range map[string]struct {
			tree   any
			answer bool
		}{
			"the exit":             {exited, true},
			"the exit or a text":   {group("any", contains("hello"), exited), true},
			"twice the exit":       {group("all", exited, exited), true},
			"the exit and a text":  {group("all", contains("hello"), exited), false},
			"a text":               {contains("hello"), false},
			"no such text":         {map[string]any{"type": "not", "value": contains("hello")}, false},
			"no text, or the exit": {group("any", map[string]any{"type": "not", "value": contains("hello")}, exited), false},
			"still":                {stable(0), false},
		} {
			out := gone.Answer(matcher(t, c.tree))
			if (out != nil) != c.answer {
				t.Errorf("%s: %+v", name, out)
			}
			if out != nil && (out.View.Exit.Code != 2 || out.View.Sequence != gone.Sequence || out.View.Screen.Text() != "") {
				t.Errorf("%s: %+v", name, out.View)
			}
		}
	})
}

// TestForgottenOnesAreBounded: of the oldest even the exit is not known any more.
func TestForgottenOnesAreBounded(t *testing.T) {
	inBarn(t, engine.Options{Ended: 1}, func(t *testing.T, x *barn) {
		const most = 10_000
		x.short(most+100, "")
		for id, known := range map[engine.ID]bool{"s1": false, "s99": false, "s100": true, "s10099": true} {
			_, err := x.Session(id)
			if got := errors.As(err, new(*engine.ForgottenError)); got != known || !errors.Is(err, engine.ErrNoSession) {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}

// TestAWaitOnTheForgotten: one that found the session before it was forgotten is told why it cannot
// match.
func TestAWaitOnTheForgotten(t *testing.T) {
	inBarn(t, engine.Options{Ended: 1}, func(t *testing.T, x *barn) {
		all := x.short(3, "hello")
		if _, err := all[0].Wait(t.Context(), matcher(t, contains("hello")), engine.Within(0)); err != nil {
			t.Errorf("what it shows still: %v", err)
		}
		_, err := all[0].Wait(t.Context(), matcher(t, contains("other")), engine.Within(time.Hour))
		if !errors.As(err, new(*engine.ForgottenError)) {
			t.Errorf("what it does not show: %v", err)
		}
		if err := all[0].Close(t.Context()); err != nil {
			t.Errorf("closing it: %v", err)
		}
	})
}

// TestAFollowerHoldsNothing: one that does not ask does not keep what is forgotten.
func TestAFollowerHoldsNothing(t *testing.T) {
	inBarn(t, engine.Options{Ended: 2}, func(t *testing.T, x *barn) {
		f := x.Follow()
		defer f.Stop()
		x.short(20, "")
		if fresh := f.New(); len(fresh) != 2 {
			t.Errorf("it holds %d sessions", len(fresh))
		}
	})
}
