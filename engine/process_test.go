package engine_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// TestForegroundOfASession is the terminal's word, its name made plain text, until the program has
// ended.
func TestForegroundOfASession(t *testing.T) {
	p := enginetest.New()
	s, err := enginetest.Engine(p).Spawn(t.Context(), engine.Config{Program: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	if f, err := s.Foreground(); err != nil || f != (engine.Process{PID: -1, Name: "fake", Leader: true}) {
		t.Errorf("%+v, %v", f, err)
	}
	p.SetForeground(pty.Process{PID: 7, Path: "/bin/\x1bx", Name: "evil\x1b[31m\xff\u202e", Dir: "/\n"})
	if f, err := s.Foreground(); err != nil || f != (engine.Process{PID: 7, Path: "/bin/\x1bx", Name: "evil[31m\uFFFD", Dir: "/\n"}) {
		t.Errorf("%+v, %v", f, err)
	}
	p.Exit(pty.Exit{})
	if f, err := s.Foreground(); !errors.Is(err, engine.ErrEnded) {
		t.Errorf("after the end: %+v, %v", f, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Foreground(); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("after Close: %+v, %v", f, err)
	}
}

// TestEnviron is what the program was given, and nobody can change it.
func TestEnviron(t *testing.T) {
	t.Setenv("PTYWRIGHT_TOKEN", "ours")
	t.Setenv("FROM_SERVER", "1")
	t.Setenv("WINDOWID", "9")
	for name, c := range map[string]struct {
		engine.Config
		want []string
	}{
		"nothing but what was asked for": {engine.Config{ClearEnv: true, Env: map[string]string{"B": "2", "A": "1"}}, []string{"A=1", "B=2", "TERM=xterm-256color"}},
		"the server's":                   {engine.Config{Env: map[string]string{"TERM": "dumb"}}, []string{"COLORTERM=truecolor", "FROM_SERVER=1", "TERM=dumb"}},
	} {
		s, err := enginetest.Engine(enginetest.New()).Spawn(t.Context(), c.Config)
		if err != nil {
			t.Fatal(err)
		}
		got := s.Environ()
		if c.ClearEnv && !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, kv := range c.want {
			if !slices.Contains(got, kv) {
				t.Errorf("%s: no %s in %q", name, kv, got)
			}
		}
		for _, kv := range []string{"PTYWRIGHT_TOKEN=ours", "WINDOWID=9"} {
			if slices.Contains(got, kv) {
				t.Errorf("%s: %s in %q", name, kv, got)
			}
		}
		got[0] = "changed"
		if slices.Contains(s.Environ(), "changed") {
			t.Errorf("%s: it is the session's own", name)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
