package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// environOf returns what a program gets that is started so, and its mark.
func environOf(t *testing.T, c engine.Config) (env []string, mark string) {
	t.Helper()
	p := enginetest.New()
	e := engine.New(engine.Options{Start: func(c pty.Command) (engine.PTY, error) {
		env, mark = c.Env, c.Mark
		return p, nil
	}})
	defer e.Close(context.Background())
	c.Program = "fake"
	if _, err := e.Spawn(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return env, mark
}

// TestEnvironment: whoever's environment it is that a program begins with, it has nothing of
// another terminal nor of ptywright's own.
func TestEnvironment(t *testing.T) {
	left := map[string]string{"PATH": "/venv/bin:/bin", "LANG": "C.UTF-8", "SSH_CONNECTION": "a b", "EMPTY": "", "A B": "1"}
	out := map[string]string{
		"PTYWRIGHT_HOME": "h", "PTYWRIGHT_MCP_TOKEN": "t", "TERM": "dumb", "TERM_PROGRAM": "x", "TERMCAP": "x", "COLORTERM": "no", "COLUMNS": "3",
		"LINES": "3", "TMUX": "x", "TMUX_PANE": "x", "STY": "x", "KITTY_PID": "1", "VTE_VERSION": "1", "WT_SESSION": "x", "ITERM_SESSION_ID": "x",
		"SSH_TTY": "/dev/pts/1", "WINDOWID": "1", "GHOSTTY_BIN_DIR": "x", "WEZTERM_PANE": "1", "KONSOLE_VERSION": "1", "ALACRITTY_LOG": "x",
	}
	all := map[string]string{}
	want := []string{"COLORTERM=truecolor", "PWD=/", "TERM=xterm-256color", "MORE=2"}
	for name, value := range left {
		all[name] = value
		want = append(want, name+"="+value)
	}
	for name, value := range out {
		all[name] = value
	}
	slices.Sort(want)
	env, mark := environOf(t, engine.Config{Dir: "/", BaseEnv: all, Env: map[string]string{"MORE": "2"}})
	if !slices.Equal(env, want) || !strings.HasPrefix(mark, "PTYWRIGHT_SESSION=") {
		t.Errorf("of its own: %q, marked %q; want %q", env, mark, want)
	}
	for name, value := range all {
		if name != "A B" {
			t.Setenv(name, value)
		}
	}
	env, _ = environOf(t, engine.Config{})
	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); out[name] != "" && name != "TERM" && name != "COLORTERM" {
			t.Errorf("of the server: %s=%s", name, value)
		}
	}
	if !slices.Contains(env, "SSH_CONNECTION=a b") || !slices.Contains(env, "COLORTERM=truecolor") {
		t.Errorf("of the server: %q", env)
	}
	if env, mark := environOf(t, engine.Config{ClearEnv: true, BaseEnv: all, Env: map[string]string{"TERM": "vt100"}}); !slices.Equal(env, []string{"TERM=vt100"}) || mark != "" {
		t.Errorf("of nothing: %q, %q", env, mark)
	}
	e := enginetest.Engine(enginetest.New())
	defer e.Close(context.Background())
	for _, bad := range []map[string]string{{"": "x"}, {"A=B": "x"}, {"A": "\x00"}} {
		if _, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Env: bad}); !errors.As(err, new(*engine.EnvError)) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := e.Spawn(t.Context(), engine.Config{Program: "fake", BaseEnv: map[string]string{"A": "\x00"}}); !errors.As(err, new(*engine.EnvError)) {
		t.Error(err)
	}
}
