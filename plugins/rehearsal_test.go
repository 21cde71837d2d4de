package plugins

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptywright/ptywright/engine"
)

// sourceOf is a plugin of one file.
func sourceOf(t testing.TB, text string) *Source {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"manifest.toml": testManifest, "main.lua": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(filepath.Join(dir, "manifest.toml"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rehearse shows a plugin a blank screen, and notes when it was asked and what it said.
func rehearse(t *testing.T, text string) (r *Rehearsal, looks *[]string) {
	t.Helper()
	looks = new([]string)
	r, err := Rehearse(t.Context(), sourceOf(t, text), 4, 20, slog.New(slog.NewTextHandler(t.Output(), nil)), func(at time.Duration, s *State, _ *engine.View) {
		*looks = append(*looks, at.String()+" "+s.State)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, looks
}

// TestRehearsalAsksWhenTheHostWould: at once after a quiet spell, not more often than every 25 ms,
// and when the plugin wants it.
func TestRehearsalAsksWhenTheHostWould(t *testing.T) {
	r, looks := rehearse(t, `return {classify = function(s)
		if s:contains("soon") then return {state = "soon", recheck_ms = 100} end
		if s:contains("still") then return {state = s.stable_ms >= 120 and "quiet" or "moving"} end
		return {state = s.exit and "exit " .. s.exit.code or s:row(1) == "" and "blank" or s:row(1)}
	end}`)
	ctx := t.Context()
	const ms = time.Millisecond
	r.Output(ctx, 100*ms, []byte("a"))
	r.Output(ctx, 101*ms, []byte("b")) // seen with what comes before the host looks again
	r.Output(ctx, 110*ms, []byte("c"))
	r.Output(ctx, 300*ms, []byte("\rsoon"))
	r.Output(ctx, 520*ms, []byte("\x1b[2K\rstill"))
	r.Advance(ctx, 700*ms)
	r.Exit(ctx, 800*ms, 3)
	r.Advance(ctx, time.Minute)
	want := []string{
		"0s blank", "100ms a", "125ms abc", "300ms soon", "400ms soon", "500ms soon", "525ms moving", "575ms moving", "625ms moving", "675ms quiet", "725ms quiet",
		"775ms quiet", "800ms quiet",
	}
	if d := cmp.Diff(want, *looks); d != "" {
		t.Error(d)
	}
	var states []string
	for _, e := range r.Events() {
		states = append(states, e.State)
	}
	if want := []string{"blank", "a", "abc", "soon", "moving", "quiet"}; !slices.Equal(states, want) {
		t.Errorf("events tell the states %q, want %q", states, want)
	}
}

func TestRehearsalPlansAndWaits(t *testing.T) {
	r, _ := rehearse(t, `local a, m = ptywright.action, ptywright.matcher
	return {
		classify = function(s) return {state = "x", marks = {"here"}} end,
		press = function(p) return {actions = {a.text(p.text), a.expect(m.contains_text("b"))}, submission = {submit = {a.key("enter")}, done = m.predicate("sees")}} end,
		resize = function() return {actions = {a.resize(2, 2)}} end,
		no = function() error({code = "wrong_state", message = "no"}) end,
		sees = function(s) return s:contains("b") and s.markers.here == 0 end,
		wait_b_matcher = function(p) return m.any({m.predicate("sees"), m.contains_text(p.other or "c")}) end,
		describe = function() return {intents = {{name = "press"}}, predicates = {{name = "sees"}}} end,
	}`)
	ctx := t.Context()
	p, err := r.Plan(ctx, "press", map[string]any{"text": "b"})
	if err != nil || !slices.Equal(p.Actions, []string{"text", "expect"}) || !slices.Equal(p.Submit, []string{"key"}) || !p.Submitted {
		t.Errorf("%+v, %v", p, err)
	}
	var denied *PermissionError
	if _, err := r.Plan(ctx, "resize", nil); !errors.As(err, &denied) || denied.Permission != SessionResize {
		t.Errorf("%v", err)
	}
	var refused *PluginError
	if _, err := r.Plan(ctx, "no", nil); !errors.As(err, &refused) || refused.Code != "wrong_state" {
		t.Errorf("%v", err)
	}
	if _, err := r.Plan(ctx, "sees", nil); !errors.As(err, &refused) || refused.Kind != "missing" {
		t.Errorf("a predicate is no intent: %v", err)
	}
	if held, why, err := r.Holds(ctx, "wait_b_matcher", nil); held || err != nil || why == "" {
		t.Errorf("%v, %q, %v", held, why, err)
	}
	r.Output(ctx, time.Second, []byte("b"))
	if held, _, err := r.Holds(ctx, "wait_b_matcher", nil); !held || err != nil {
		t.Errorf("%v, %v", held, err)
	}
	r.Advance(ctx, 2*time.Second)
	if held, _, err := r.Holds(ctx, "wait_b_matcher", nil); held || err != nil { // the mark is at the end of each look's output
		t.Errorf("%v, %v", held, err)
	}
	if held, _, err := r.Holds(ctx, "wait_b_matcher", map[string]any{"other": "b"}); !held || err != nil {
		t.Errorf("%v, %v", held, err)
	}
	if _, _, err := r.Holds(ctx, "wait_nothing_matcher", nil); err == nil {
		t.Error("a wait that there is not")
	}
}

func TestRehearseRefusesWhatDoesNotLoad(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for text, says := range map[string]string{"return {": "syntax", "return {}": "no function classify", "return {classify = function() end, describe = function() return 1 end}": "the description must be a table"} {
		if _, err := Rehearse(t.Context(), sourceOf(t, text), 4, 20, log, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestOutline(t *testing.T) {
	o := sourceOf(t, `local a, m = ptywright.action, ptywright.matcher
local other = require("other")
local rules = {
	{name = "one", state = "first", needs = {}},
	{
		name = "two", state = "second", needs = {},
		make = function() return {recheck_ms = 5} end,
	},
}
local plugin = {helper = function() end}
function plugin.send() return {actions = {a.text("x"), ptywright.action.key("enter"), {type = "kill"}}} end
plugin.again = plugin.send
function plugin.wait_x_matcher() return m.any({m.predicate("seen"), m.bell()}) end
function plugin.describe() return {states = {{name = "first"}}} end
return plugin`).Outline()
	names := func(list []Mention) (out []string) {
		for _, m := range list {
			out = append(out, m.Name)
		}
		return out
	}
	for _, c := range []struct {
		what string
		got  []string
		want string
	}{
		{"actions", names(o.Actions), "text key kill"}, {"rules", names(o.Rules), "one two"}, {"predicates", names(o.Predicates), "seen"},
		{"waits", names(o.Waits), "any bell"}, {"requires", names(o.Requires), "other"}, {"entries", names(o.Entries), "first"},
	} {
		if got := strings.Join(c.got, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	if o.Rules[0].Line != 4 || o.Rules[1].Line != 6 || o.Rules[1].State != "second" || len(o.Rechecks) != 1 || o.Rechecks[0].MS != "5" || o.Rechecks[0].Line != 7 {
		t.Errorf("%+v, %+v", o.Rules, o.Rechecks)
	}
	for _, name := range []string{"helper", "send", "again", "wait_x_matcher", "describe"} {
		if !slices.Contains(names(o.Defined), name) {
			t.Errorf("%s is not defined: %v", name, o.Defined)
		}
	}
}

// FuzzOutline: whatever a file holds, it is read or not, and the lines are in it.
func FuzzOutline(f *testing.F) {
	f.Add("local a = ptywright.action\nreturn {x = a.text('y'), {name = 'r', state = 's', needs = {}}}")
	f.Add("return {" + strings.Repeat("{", 200))
	f.Add("f{type='key', recheck_ms = 1}\n--[[")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxSource {
			return
		}
		o := (&Source{Files: map[string]string{"main": text}}).Outline()
		for _, list := range [][]Mention{o.Actions, o.Rules, o.States, o.Entries, o.Defined, o.Predicates, o.Waits, o.Requires} {
			for _, m := range list {
				if m.Module == "main" && (m.Line < 0 || m.Line > strings.Count(text, "\n")+1) {
					t.Errorf("%+v is outside of %d lines", m, strings.Count(text, "\n")+1)
				}
			}
		}
	})
}
