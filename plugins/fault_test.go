package plugins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/redact"
)

// A hook is a log that has something done when a plugin prints: in the middle of a call.
type hook struct {
	slog.Handler
	printed func()
}

func (h hook) Enabled(context.Context, slog.Level) bool { return true }

func (h hook) Handle(context.Context, slog.Record) error {
	h.printed()
	return nil
}

// hooked is a catalog with one plugin, over a terminal that the test commands.
func hooked(t *testing.T, source string, printed func(c *Catalog)) (*Catalog, *enginetest.PTY) {
	t.Helper()
	var c *Catalog
	p := enginetest.New()
	c = NewCatalog(enginetest.Engine(p), slog.New(hook{slog.DiscardHandler, func() { printed(c) }}))
	if _, err := c.Load(folder(t, map[string]string{"manifest.toml": testManifest, "main.lua": source})); err != nil {
		t.Fatal(err)
	}
	return c, p
}

// TestAdapterIsWholeWhileItStarts: others find an adapter as soon as it has its session, and so
// before its plugin has looked.
func TestAdapterIsWholeWhileItStarts(t *testing.T) {
	found := 0
	c, _ := hooked(t, `return {classify = function(s) print("x") return {state = "fine"} end}`, func(c *Catalog) {
		for _, a := range c.Adapters() {
			found++
			if s := a.State(); s == nil || found == 1 && s.State != StateUnknown {
				t.Errorf("the state before the first look is %+v", s)
			}
		}
	})
	a, err := c.Start(context.Background(), "test", StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(context.Background()); err != nil || found == 0 {
		t.Errorf("found %d times; %v", found, err)
	}
}

// TestAClientThatGoesBreaksNoPlugin: a client that cancels what a plugin is doing for it gets just
// that, and however often it does, the plugin is not given up for it. A look is not interrupted at
// all: the plugin keeps what it remembers.
func TestAClientThatGoesBreaksNoPlugin(t *testing.T) {
	gone := errors.New("the client is gone")
	var cancel atomic.Pointer[context.CancelCauseFunc] // what a print does; keep prints, too
	c, _ := hooked(t, `local looks = 0
		return {
			classify = function(s)
				looks = looks + 1
				if s.last_intent then print("x") end
				for i = 1, 1000 do end
				return {state = "look " .. looks}
			end,
			long = function() print("x") while true do end end,
			short = function() return {actions = {}, last_intent = "cancel"} end,
		}`, func(*Catalog) {
		if f := cancel.Load(); f != nil {
			(*f)(gone)
		}
	})
	a, err := c.Start(context.Background(), "test", StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.Background())
	for range 2 * maxFailures {
		ctx, stop := context.WithCancelCause(context.Background())
		cancel.Store(&stop)
		if _, _, err := a.Send(ctx, SendOptions{Intent: "long"}); !errors.Is(err, gone) {
			t.Errorf("an intent that was cancelled ended with %v", err)
		}
	}
	cancel.Store(nil)
	if _, _, err := a.Send(context.Background(), SendOptions{Intent: "short"}); err != nil {
		t.Fatal(err)
	}
	before := a.Look(context.Background(), a.Session().View())
	ctx, stop := context.WithCancelCause(context.Background())
	cancel.Store(&stop)
	during := a.Look(ctx, a.Session().View())
	cancel.Store(nil)
	after := a.Look(context.Background(), a.Session().View())
	var n [3]int
	for i, s := range []*State{before, during, after} {
		if _, err := fmt.Sscanf(s.State, "look %d", &n[i]); err != nil {
			t.Errorf("%+v", s)
		}
	}
	if n[1] <= n[0] || n[2] <= n[1] {
		t.Errorf("looks %v: the plugin has forgotten", n)
	}
	if s := a.Look(ctx, a.Session().View()); s == nil || s.State == StateError { // it may or may not have been free
		t.Errorf("the look of one who has gone: %+v", s)
	}
}

// TestWaitEndsWithItsProgram: a predicate that reads how long the screen was still could become
// true for ever; when the program has ended and a while has passed, the wait ends.
func TestWaitEndsWithItsProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, `local m = ptywright.matcher
			return {
				classify = function(s) return {state = "fine"} end,
				quiet = function(s) return s.stable_ms >= 100 and s:contains("never") end,
				late = function(s) return s.stable_ms >= 900 end,
				wait_quiet_matcher = function() return m.predicate("quiet") end,
				wait_late_matcher = function() return m.predicate("late") end,
			}`)
		defer d.close(t)
		d.print("x")
		for name, want := range map[string]error{"wait_quiet_matcher": engine.ErrEnded, "wait_late_matcher": nil} {
			m, err := d.Matcher(context.Background(), name, nil)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				synctest.Wait()
				d.pty.End(0)
			}()
			out, err := d.Session().Wait(context.Background(), m, engine.Within(time.Minute))
			if !errors.Is(err, want) || out.Elapsed > endedRecheck+timedRecheck {
				t.Errorf("%s ended after %v with %v, not %v", name, out.Elapsed, err, want)
			}
		}
	})
}

// TestParamsAreBounded: what a client sends is refused before a machine is made to hold it, and
// costs the plugin nothing.
func TestParamsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, `return {classify = function(s) return {state = "fine"} end, act = function(p) return {actions = {}} end,
			wait_x_matcher = function() return ptywright.matcher.screen_stable(0) end}`)
		defer d.close(t)
		deep, wide := map[string]any{}, map[string]any{"l": make([]any, maxParams)}
		for inner, i := deep, 0; i < maxParamDepth; i++ {
			next := map[string]any{}
			inner["x"], inner = next, next
		}
		ctx := context.Background()
		for range 2 * maxFailures {
			if _, _, err := d.Send(ctx, SendOptions{Intent: "act", Params: deep}); err != nil {
				t.Fatalf("as deep as is allowed: %v", err)
			}
			for name, params := range map[string]map[string]any{"deep": {"x": deep}, "wide": wide} {
				if _, _, err := d.Send(ctx, SendOptions{Intent: "act", Params: params}); !errors.Is(err, ErrParams) {
					t.Errorf("%s params of an intent: %v", name, err)
				}
				if _, err := d.Matcher(ctx, "wait_x_matcher", params); !errors.Is(err, ErrParams) {
					t.Errorf("%s params of a matcher: %v", name, err)
				}
				if _, err := d.catalog.Predicate(ctx, "test", "act", params); !errors.Is(err, ErrParams) {
					t.Errorf("%s params of a predicate: %v", name, err)
				}
			}
		}
	})
}

// TestCancelledWaitIsNotHeldUp: a wait whose plugin is busy with others ends at once when it is
// cancelled.
func TestCancelledWaitIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, `return {classify = function(s) return {state = "fine"} end, no = function(s) return false end,
			wait_no_matcher = function() return ptywright.matcher.predicate("no") end}`)
		defer d.close(t)
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(context.Background())
		m, err := d.Matcher(ctx, "wait_no_matcher", nil)
		if err != nil {
			t.Fatal(err)
		}
		d.lua.inside <- struct{}{} // a call that takes its time
		done := make(chan error)
		began := time.Now()
		go func() {
			out, err := d.Session().Wait(ctx, m, engine.Within(time.Minute))
			m.Explain(out.View, matchers.Shown{})
			done <- err
		}()
		synctest.Wait()
		gone := errors.New("gone")
		cancel(gone)
		if err := <-done; !errors.Is(err, gone) || time.Since(began) > Brief {
			t.Errorf("it ended after %v with %v", time.Since(began), err)
		}
		<-d.lua.inside
	})
}

// TestEventsAreBoundedInBytes: a plugin that tells as much as it may in each look does not fill the
// memory.
func TestEventsAreBoundedInBytes(t *testing.T) {
	var j journal
	for i := range 500 {
		j.add(Event{Kind: "tool_started", Text: strings.Repeat("x", 60<<10), Input: map[string]any{"a": []any{strings.Repeat("y", 4<<10)}}})
		size := 0
		for _, e := range j.events {
			size += e.size()
		}
		if size != j.bytes || size > maxLogBytes+70<<10 || len(j.events) == 0 {
			t.Fatalf("%d events of %d bytes (%d are counted) after %d", len(j.events), size, j.bytes, i+1)
		}
	}
	events, dropped := j.since(0)
	if !dropped || len(events) < 20 || events[len(events)-1].Seq != 500 {
		t.Errorf("%d events, dropped %v", len(events), dropped)
	}
}

// TestSecretsAreFoundInPieces takes secrets apart as plugins do.
func TestSecretsAreFoundInPieces(t *testing.T) {
	var s secrets
	s.learn("x\r\npassword: hunterZebra42Xyzzy99\r\ntoken=ab12cd and more")
	f := redact.NewFinder(s.known())
	for said, want := range map[string]string{
		"on hunterZebra42Xyzzy99, twice hunterZebra42Xyzzy99": "on [REDACTED], twice [REDACTED]",
		"hunterZe...": "[REDACTED]...", "Zebra42Xyzzy99 it ends": "[REDACTED] it ends", "é bra42Xyz é": "é [REDACTED] é",
		"hunterZ is too short": "hunterZ is too short", "ab12cd": "[REDACTED]", "": "", "nothing": "nothing",
	} {
		if got := f.Hide(said); got != want {
			t.Errorf("%q became %q, not %q", said, got, want)
		}
	}
	for i := range 3 * maxSecrets {
		s.learn(fmt.Sprintf("password: secret%dsecret", i))
	}
	if known := s.known(); len(known) != maxSecrets || known[len(known)-1] != fmt.Sprintf("secret%dsecret", 3*maxSecrets-1) {
		t.Errorf("%d secrets are kept", len(known))
	}
}
