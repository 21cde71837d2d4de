package host_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/redact"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	base    = "marble-otter-lantern-71"
	given   = "basalt-finch-harbor-58"
	needed  = "copper-heron-violet-93"
	all     = base + " " + given + " " + needed + " open-meadow"
	allGone = "[REDACTED] [REDACTED] [REDACTED] open-meadow"
)

func over(t *testing.T, e *engine.Engine) *host.Host {
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return host.Over(e, nil, slog.New(slog.DiscardHandler))
}

// TestSpawnLendsTheWholeEnvironment, and until the session is closed.
func TestSpawnLendsTheWholeEnvironment(t *testing.T) {
	h := over(t, enginetest.Engine(enginetest.New()))
	s, err := h.Spawn(t.Context(), engine.Config{Program: "x", BaseEnv: map[string]string{"DB_PASSWORD": base, "API_TOKEN": "overridden-by-env"},
		Env: map[string]string{"API_TOKEN": given, "MY_SECRET": needed, "PLAIN": "open-meadow"}})
	if err != nil {
		t.Fatal(err)
	}
	hide := h.Redactor()
	if got := hide.String(all); got != allGone {
		t.Errorf("while it lives: %q", got)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := hide.String(all); got != all {
		t.Errorf("once it is closed: %q", got)
	}
}

// TestAdapterLendsItsManifest: what the manifest gives the program counts as what the caller gives
// it, and the manifest itself shows none of it.
func TestAdapterLendsItsManifest(t *testing.T) {
	h := over(t, enginetest.Engine(enginetest.New()))
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.lua": "return {classify = function() return {state = 'ready'} end}",
		"manifest.toml": "name = 'vault'\nkind = 'adapter'\nversion = '1'\nruntime = 'lua'\nentrypoint = 'main.lua'\npermissions = ['session.spawn']\n" +
			"[default_target]\nprogram = 'x'\nargs = ['--password', 'two words']\nenv = { DB_PASSWORD = '" + base + "', PLAIN = 'open meadow' }\n" +
			"required_env = { API_TOKEN = '" + given + "', SHORT_PASSWORD = 'a b' }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := h.Catalog.Load(filepath.Join(dir, "manifest.toml"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "x [--password [REDACTED]] map[DB_PASSWORD:[REDACTED] PLAIN:open meadow] map[API_TOKEN:[REDACTED] SHORT_PASSWORD:[REDACTED]]"
	target := h.Manifest(p).Target
	if got := fmt.Sprint(target.Program, " ", target.Args, " ", target.Env, " ", target.RequiredEnv); got != want {
		t.Errorf("the manifest shows %s", got)
	}
	if p.Manifest.Target.RequiredEnv["API_TOKEN"] != given {
		t.Error("the plugin's own manifest was changed")
	}
	if _, err := h.Catalog.Start(t.Context(), "vault", plugins.StartOptions{Env: map[string]string{"MY_SECRET": needed}}); err != nil {
		t.Fatal(err)
	}
	if got := h.Redactor().String(all); got != allGone {
		t.Errorf("while it lives: %q", got)
	}
}

// closing is a tap that notes its end.
type closing struct{ closed int }

func (*closing) Output(time.Time, []byte) error   { return nil }
func (*closing) Resize(time.Time, int, int) error { return nil }
func (c *closing) Close() error {
	c.closed++
	return nil
}

// TestSpawnThatFails keeps nothing: neither what it lent nor a tap.
func TestSpawnThatFails(t *testing.T) {
	h := over(t, engine.New(engine.Options{Start: func(c pty.Command) (engine.PTY, error) {
		return nil, &pty.StartError{Op: "lookup", Path: c.Path, Err: os.ErrNotExist}
	}}))
	if _, err := h.Spawn(t.Context(), engine.Config{Program: "x", Env: map[string]string{"DB_PASSWORD": base}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if got := h.Redactor().String(base); got != base {
		t.Errorf("%q", got)
	}
	env := map[string]string{}
	for i := range redact.MaxEnv + 1 {
		env[fmt.Sprint("API_TOKEN_", i)] = fmt.Sprintf("%x-token", i*7919+1<<20)
	}
	tap := &closing{}
	if _, err := h.Spawn(t.Context(), engine.Config{Program: "x", Env: env, Taps: []engine.Tap{tap}}); !errors.As(err, new(*redact.EnvLimitError)) || tap.closed != 1 {
		t.Errorf("%v, closed %d times", err, tap.closed)
	}
}

// TestMarksAreOptional: a program that cannot be made to mark its commands is refused, or is
// started as it is.
func TestMarksAreOptional(t *testing.T) {
	h := over(t, enginetest.Engine(enginetest.New()))
	tap := &closing{}
	c := engine.Config{Program: "x", ShellIntegration: true, Taps: []engine.Tap{tap}}
	if _, err := h.Spawn(t.Context(), c); !errors.As(err, new(*engine.ShellError)) || tap.closed != 1 {
		t.Errorf("%v, closed %d times", err, tap.closed)
	}
	c.MarksOptional = true
	s, err := h.Spawn(t.Context(), c)
	if err != nil || s.Config().ShellIntegration || tap.closed != 1 {
		t.Errorf("%v, marked: %+v, closed %d times", err, s, tap.closed)
	}
}
