package plugins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testManifest = `
name = "test"
kind = "adapter"
version = "1"
runtime = "lua"
entrypoint = "main.lua"
permissions = ["session.spawn", "session.kill", "screen.read", "transcript.read", "input.write", "matcher.wait"]
[default_target]
program = "fake"
`

// driven is an adapter over a terminal that the test commands.
type driven struct {
	*Adapter
	pty     *enginetest.PTY
	catalog *Catalog
}

// drive starts a plugin of one file. Call it inside a bubble, and close at its end.
func drive(t *testing.T, source string) *driven {
	t.Helper()
	return driveWith(t, testManifest, source)
}

// driveWith is drive of a plugin with this manifest.
func driveWith(t *testing.T, manifest, source string) *driven {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"manifest.toml": manifest, "main.lua": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := enginetest.New()
	c := NewCatalog(enginetest.Engine(p), slog.New(slog.NewTextHandler(t.Output(), nil)))
	if _, err := c.Load(filepath.Join(dir, "manifest.toml")); err != nil {
		t.Fatal(err)
	}
	a, err := c.Start(context.Background(), "test", StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &driven{Adapter: a, pty: p, catalog: c}
}

func (d *driven) close(t *testing.T) {
	t.Helper()
	if err := d.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// print writes and lets everything that follows at once happen.
func (d *driven) print(s string) {
	d.pty.Print(s)
	synctest.Wait()
}

func TestKeepLooksWithoutBeingAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, `local looks = 0
			return {classify = function(s)
				looks = looks + 1
				return {state = s:match("(\\w+)$") and s.screen:match("(%w+)$") or "blank", metadata = {looks = looks},
					events = s:contains("boom") and {{kind = "error", category = "api", message = "boom"}} or nil}
			end}`)
		defer d.close(t)
		synctest.Wait()
		if s := d.State(); s.State != "blank" {
			t.Errorf("at the start: %v", s)
		}
		time.Sleep(keepFloor)
		changed := d.catalog.Changed()
		d.print("one")
		<-changed // at once, after a quiet spell
		if s := d.State(); s.State != "one" {
			t.Errorf("after a change: %+v", s)
		}
		before := d.State().Metadata["looks"].(int64)
		const batches = 200
		for i := range batches { // a flood in which each millisecond changes the screen
			d.print(fmt.Sprintf(" w%d", i))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(keepFloor)
		synctest.Wait()
		looks := d.State().Metadata["looks"].(int64) - before
		if most := int64(batches*time.Millisecond/keepFloor) + 3; looks > most || looks < 3 {
			t.Errorf("%d looks in %d changes of a millisecond, at most %d are wanted", looks, batches, most)
		}
		if s := d.State(); s.State != fmt.Sprintf("w%d", batches-1) {
			t.Errorf("after the flood: %+v", s)
		}
		d.print(" boom")
		time.Sleep(keepFloor)
		events, next, dropped := d.Events(0)
		var kinds []string
		for i, e := range events {
			kinds = append(kinds, e.Kind)
			if e.Seq != uint64(i+1) {
				t.Errorf("event %d has the number %d", i, e.Seq)
			}
		}
		if dropped || next != uint64(len(events)) || !strings.HasPrefix(strings.Join(kinds, " "), "state state") || kinds[len(kinds)-2] != "error" && kinds[len(kinds)-1] != "error" {
			t.Errorf("events %v, next %d, dropped %v", kinds, next, dropped)
		}
	})
}

func TestEventsAreBounded(t *testing.T) {
	var j journal
	for i := range 5 * maxLog {
		j.add(Event{Kind: "state"})
		if len(j.events) > maxLog {
			t.Fatalf("%d events are kept after %d", len(j.events), i+1)
		}
	}
	events, dropped := j.since(0)
	if !dropped || len(events) < maxLog*3/4 || events[len(events)-1].Seq != 5*maxLog {
		t.Errorf("%d events, the last is %d, dropped %v", len(events), events[len(events)-1].Seq, dropped)
	}
	if events, dropped = j.since(5*maxLog - 2); dropped || len(events) != 2 || events[0].Seq != 5*maxLog-1 {
		t.Errorf("the newest two: %v, dropped %v", events, dropped)
	}
	if events, dropped = j.since(1 << 40); dropped || events != nil {
		t.Errorf("of the future: %v", events)
	}
}

func TestPluginThatBreaksIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, `return {classify = function(s) if s:contains("break") then local x = ("x"):rep(2^31) end return {state = "fine"} end}`)
		defer d.close(t)
		ctx := context.Background()
		d.print("break")
		for i := range maxFailures {
			if s := d.Look(ctx, d.Session().View()); s.State != StateError || s.Metadata["error"].(map[string]any)["line"] != int64(1) {
				t.Fatalf("look %d: %+v", i, s)
			}
		}
		d.print("\x1b[2J")
		s := d.Look(ctx, d.Session().View())
		if e, _ := s.Metadata["error"].(map[string]any); s.State != StateError || e["kind"] != "dead" {
			t.Errorf("after %d breaks: %+v", maxFailures, s)
		}
	})
}

func TestPluginThatBreaksOnceGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, `return {
			classify = function(s) return {state = "fine"} end,
			breaks = function() return ("x"):rep(2^31) end,
			refuses = function() error({code = "no", message = "not now"}) end,
		}`)
		defer d.close(t)
		ctx := context.Background()
		for range 2 * maxFailures {
			_, _, err := d.Send(ctx, SendOptions{Intent: "breaks"})
			var p *PluginError
			if !errors.As(err, &p) || p.Kind != "memory" || p.Line != 3 {
				t.Fatal(err)
			}
			if s := d.Look(ctx, d.Session().View()); s.State != "fine" {
				t.Fatalf("%+v", s)
			}
		}
		for range 2 * maxFailures { // a refusal breaks nothing
			_, _, err := d.Send(ctx, SendOptions{Intent: "refuses"})
			var p *PluginError
			if !errors.As(err, &p) || p.Code != "no" {
				t.Fatal(err)
			}
		}
		if s := d.Look(ctx, d.Session().View()); s.State != "fine" {
			t.Errorf("%+v", s)
		}
	})
}

// TestStillnessIsSeen: nothing changes any more, and only time makes the predicate and the
// classifier say something else.
func TestStillnessIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, `local m = ptywright.matcher
			return {
				classify = function(s) return {state = s.stable_ms >= 700 and "still" or "moving"} end,
				quiet = function(s) return s.stable_ms >= 400 end,
				later = function(s) return {matched = s.stable_ms >= 5000, recheck_ms = 5000 - math.min(s.stable_ms, 4999)} end,
				wait_quiet_matcher = function() return m.predicate("quiet") end,
				wait_later_matcher = function() return m.predicate("later") end,
				describe = function() return {predicates = {{name = "quiet"}, {name = "later"}}} end,
			}`)
		defer d.close(t)
		d.print("x")
		for _, c := range []struct {
			name string
			want time.Duration
		}{{"wait_quiet_matcher", 400 * time.Millisecond}, {"wait_later_matcher", 5 * time.Second}} {
			name, want := c.name, c.want
			d.print("y")
			m, err := d.Matcher(context.Background(), name, nil)
			if err != nil {
				t.Fatal(err)
			}
			out, err := d.Session().Wait(context.Background(), m, engine.Within(time.Minute))
			if err != nil || out.Elapsed < want || out.Elapsed > want+timedRecheck {
				t.Errorf("%s held after %v (%v), %v is right", name, out.Elapsed, err, want)
			}
		}
		if s := d.State(); s.State != "still" {
			t.Errorf("the state after five quiet seconds: %+v", s)
		}
	})
}

// TestSubmission shows every way in which a submission can go.
func TestSubmission(t *testing.T) {
	const source = `local a, m = ptywright.action, ptywright.matcher
		return {
			classify = function(s) return {state = "fine"} end,
			say = function(p)
				return {actions = {a.text(p.text)}, last_intent = "said", submission = {
					echo = m.contains_text(p.text), submit = {a.key("enter")}, done = m.contains_text("taken"),
					retry_when = m.screen_regex("(?m)^> " .. p.text .. "$"), retries = 2, timeout_ms = 1000,
				}}
			end,
		}`
	for _, c := range []struct {
		name    string
		program func(d *driven) // what it does while the intent waits
		receipt string          // echoed submitted retries
		input   string
	}{
		{"at once", func(d *driven) {
			d.print("> hi")
			d.print("\r\ntaken")
		}, "true true 0", "hi\r"},
		{"nothing is echoed", func(d *driven) {}, "false false 0", "hi"},
		{"the first enter is lost", func(d *driven) {
			d.print("> hi")
			time.Sleep(1500 * time.Millisecond)
			d.print("\r\ntaken")
		}, "true true 1", "hi\r\r"},
		{"every enter is lost", func(d *driven) { d.print("> hi") }, "true false 2", "hi\r\r\r"},
		{"it is gone, and taken long after", func(d *driven) {
			d.print("> hi")
			time.Sleep(500 * time.Millisecond)
			d.print("\x1b[2J\x1b[Hone moment")
			time.Sleep(3 * time.Second)
			d.print("\r\ntaken")
		}, "true true 0", "hi\r"},
		{"a dialog comes instead", func(d *driven) {
			d.print("> hi")
			time.Sleep(500 * time.Millisecond)
			d.print("\x1b[2J\x1b[HDelete everything? [enter]")
		}, "true false 0", "hi\r"},
		{"the program ends", func(d *driven) {
			d.print("> hi")
			d.pty.End(1)
		}, "", "hi\r"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := drive(t, source)
				defer d.close(t)
				go func() {
					synctest.Wait()
					c.program(d)
				}()
				s, r, err := d.Send(context.Background(), SendOptions{Intent: "say", Params: map[string]any{"text": "hi"}})
				if c.receipt == "" { // whether the end comes before Enter or after it is open
					if err == nil && *r.Submitted {
						t.Errorf("submitted to a program that has ended: %+v", r)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(*r.Echoed, *r.Submitted, r.Retries); got != c.receipt || r.Evidence == "" || r.Written != len(c.input) {
					t.Errorf("receipt %s, want %s: %+v", got, c.receipt, r)
				}
				if d.pty.Input() != c.input {
					t.Errorf("typed %q, want %q", d.pty.Input(), c.input)
				}
				if kept := s.LastIntent == "said"; kept != *r.Submitted {
					t.Errorf("last_intent is %q", s.LastIntent)
				}
			})
		})
	}
}

// TestUndo: what a submission says under undo is done when nothing was submitted, also when an
// expect before it failed, and steps under when only while their matcher holds.
func TestUndo(t *testing.T) {
	const source = `local a, m = ptywright.action, ptywright.matcher
		return {
			classify = function(s) return {state = "fine"} end,
			say = function(p)
				return {
					actions = {
						a.text("hi"), a.when(m.contains_text("menu"), {a.key("escape")}), a.when(m.contains_text("late"), {a.text("!")}, 1000),
						p.stop and a.expect(m.contains_text("never"), 500) or nil,
					},
					submission = {
						echo = m.contains_text("hi"), submit = {a.key("enter")}, done = m.contains_text("taken"), timeout_ms = 1000,
						undo = {a.when(m.contains_text("hi"), {a.key("ctrl_u"), a.expect(m.contains_text(">"))})},
					},
				}
			end,
			nested = function() return {actions = {a.when(m.bell(), {a.when(m.bell(), {})})}} end,
		}`
	run := func(t *testing.T, stop bool, program func(d *driven), check func(d *driven, r Receipt, err error)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			d := drive(t, source)
			defer d.close(t)
			go func() {
				synctest.Wait()
				program(d)
			}()
			_, r, err := d.Send(context.Background(), SendOptions{Intent: "say", Params: map[string]any{"stop": stop}})
			check(d, r, err)
		})
	}
	typed := func(d *driven, end string) {
		for !strings.HasSuffix(d.pty.Input(), end) {
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
	}
	cleared := func(d *driven) {
		d.print("hi")
		typed(d, "\x15")
		d.print("\x1b[2J\x1b[H>")
	}
	run(t, false, cleared, func(d *driven, r Receipt, err error) {
		if err != nil || *r.Submitted || !strings.HasSuffix(r.Evidence, "; it was taken back") || d.pty.Input() != "hi\r\x15" {
			t.Errorf("not submitted: %v, %+v, typed %q", err, r, d.pty.Input())
		}
	})
	run(t, true, cleared, func(d *driven, r Receipt, err error) {
		var stopped *ExpectError
		if !errors.As(err, &stopped) || d.pty.Input() != "hi\x15" {
			t.Errorf("stopped on the way: %v, typed %q", err, d.pty.Input())
		}
	})
	run(t, false, func(d *driven) { d.print("hi") }, func(d *driven, r Receipt, err error) {
		if err != nil || !strings.Contains(r.Evidence, "; it could not be taken back: ") {
			t.Errorf("not undone: %v, %+v", err, r)
		}
	})
	run(t, false, func(d *driven) {
		time.Sleep(500 * time.Millisecond) // the first when is past by then
		d.print("menu late ")
		typed(d, "!")
		d.print("hi")
		typed(d, "\r")
		d.print("\r\ntaken")
	}, func(d *driven, r Receipt, err error) {
		if err != nil || !*r.Submitted || d.pty.Input() != "hi!\r" {
			t.Errorf("submitted: %v, %+v, typed %q", err, r, d.pty.Input())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, source)
		defer d.close(t)
		var wrong *PluginError
		if _, _, err := d.Send(context.Background(), SendOptions{Intent: "nested"}); !errors.As(err, &wrong) || wrong.Kind != "result" {
			t.Errorf("a when in a when: %v", err)
		}
	})
}

// TestMarksNeedTheRight: what a classifier marks needs the permission that the action does.
func TestMarksNeedTheRight(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			d := drive(t, `return {classify = function(s) return {state = "fine", marks = {"here"}} end}`)
			defer d.close(t)
			synctest.Wait() // nobody looks now
			if !allowed {
				narrow := *d.Plugin().Manifest
				narrow.Permissions = []Permission{SessionSpawn, SessionKill, ScreenRead}
				source := *d.Plugin().Source
				source.Manifest = &narrow
				d.Plugin().Source = &source
			}
			s := d.Look(context.Background(), d.Session().View())
			_, marked := d.Session().View().Transcript.Mark("here")
			if allowed && (s.State != "fine" || !marked) || !allowed && s.State != StateError {
				t.Errorf("allowed %v: %s, marked %v", allowed, s.State, marked)
			}
		})
	}
}
