package plugins

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// rewrite changes a driven adapter's Lua on disk.
func (d *driven) rewrite(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(d.Plugin().Path), file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func says(state string) string {
	return `return {classify = function(s) return {state = "` + state + `"} end, again = function() return {matched = false} end,
		press = function() return {actions = {}} end}`
}

func TestReloadSwitchesNewAndLiveAdapters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, says("old"))
		defer d.close(t)
		ctx := t.Context()
		if r, err := d.catalog.Reload(ctx, "test"); err != nil || r.Changed || len(r.Live) != 0 {
			t.Errorf("unchanged files: %+v, %v", r, err)
		}
		hash := d.Plugin().Hash
		d.rewrite(t, "main.lua", says("new"))
		r, err := d.catalog.Reload(ctx, "test")
		if err != nil || !r.Changed || r.Plugin.Hash == hash || len(r.Live) != 1 || !r.Live[0].Switched {
			t.Fatalf("%+v, %v", r, err)
		}
		if s := d.State(); s.State != "new" || d.Stale() != "" || d.Plugin() != r.Plugin {
			t.Errorf("state %s, stale %q", s.State, d.Stale())
		}
		if p, err := d.catalog.Plugin("test"); err != nil || p != r.Plugin {
			t.Errorf("%v, %v", p, err)
		}
		if err := d.catalog.Unload("test"); !errors.Is(err, ErrInUse) {
			t.Errorf("unloaded under an adapter: %v", err)
		}
	})
}

func TestReloadKeepsWhatWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, says("old"))
		defer d.close(t)
		ctx := t.Context()
		for _, c := range []struct{ file, text, says string }{
			{"main.lua", "return {", "syntax"},
			{"main.lua", "return {}", "no function classify"},
			{"main.lua", "error('no')", "no"},
			{"manifest.toml", "name = 7", "text in quotes"},
			{"manifest.toml", strings.Replace(testManifest, `"test"`, `"other"`, 1), "load it as another plugin"},
		} {
			d.rewrite(t, c.file, c.text)
			_, err := d.catalog.Reload(ctx, "test")
			var broken *ReloadError
			if !errors.As(err, &broken) || !strings.Contains(err.Error(), c.says) || d.catalog.Broken("test") != broken {
				t.Errorf("%s %q: %v", c.file, c.text, err)
			}
			if s := d.Look(ctx, d.Session().View()); s.State != "old" {
				t.Errorf("%s %q: state %s", c.file, c.text, s.State)
			}
		}
		d.rewrite(t, "manifest.toml", testManifest)
		d.rewrite(t, "main.lua", says("old"))
		if _, err := d.catalog.Reload(ctx, "test"); err != nil || d.catalog.Broken("test") != nil {
			t.Errorf("mended: %v, %v", err, d.catalog.Broken("test"))
		}
		for name, want := range map[string]error{"codex": ErrBuiltin, "nothing": ErrNoPlugin} {
			if _, err := d.catalog.Reload(ctx, name); !errors.Is(err, want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestReloadWaitsForTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, says("old"))
		defer d.close(t)
		ctx := t.Context()
		err := d.Turn(ctx, SendOptions{Intent: "press"}, func(func() (*State, Receipt, error)) error {
			d.rewrite(t, "main.lua", says("new"))
			r, err := d.catalog.Reload(ctx, "test")
			if err != nil || len(r.Live) != 1 || r.Live[0].Switched || !strings.Contains(r.Live[0].Stale, "a turn is under way") {
				t.Errorf("%+v, %v", r, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := d.Look(ctx, d.Session().View()); s.State != "new" || d.Stale() != "" {
			t.Errorf("state %s, stale %q", s.State, d.Stale())
		}
		s, _, err := d.Send(ctx, SendOptions{Intent: "press"})
		if err != nil || s.State != "new" || d.Stale() != "" {
			t.Errorf("%+v, %v, stale %q", s, err, d.Stale())
		}
	})
}

func TestReloadSaysWhyAnAdapterRunsTheOldCode(t *testing.T) {
	for _, c := range []struct{ file, text, says string }{
		{"main.lua", strings.Replace(says("new"), "again =", "another =", 1), "no function again"},
		{"manifest.toml", testManifest + "required_env = { A = \"1\" }\n", "started otherwise"},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := drive(t, says("old"))
			defer d.close(t)
			d.rewrite(t, c.file, c.text)
			r, err := d.catalog.Reload(context.Background(), "test")
			if err != nil || !r.Changed || r.Live[0].Switched || !strings.Contains(d.Stale(), c.says) {
				t.Errorf("%+v, %v", r, err)
			}
			if s := d.Look(t.Context(), d.Session().View()); s.State != "old" {
				t.Errorf("state %s", s.State)
			}
		})
	}
}
