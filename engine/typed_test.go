package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// TestTyped: what keys made of the command line is known at once, whatever the screen shows.
func TestTyped(t *testing.T) {
	const prompt, run, done = "\x1b]133;A\a$ \x1b]133;B\a", "\r\n\x1b]133;C\a", "\r\n\x1b]133;D;0\a"
	type step struct{ print, input string }
	for name, c := range map[string]struct {
		steps []step
		want  engine.Typed
	}{
		"nothing":           {nil, engine.Typed{}},
		"a word":            {[]step{{prompt, "ec"}}, engine.Typed{Bytes: 2, Line: "ec"}},
		"erased":            {[]step{{prompt, "eé"}, {"", "\x7f\x7f\x7f"}}, engine.Typed{Bytes: 6}},
		"killed":            {[]step{{prompt, "echo\x15"}}, engine.Typed{Bytes: 5}},
		"entered":           {[]step{{prompt, "ls\r"}}, engine.Typed{Bytes: 3, Lines: 1, Entered: true}},
		"begun":             {[]step{{prompt, "ls\r"}, {run, ""}}, engine.Typed{Bytes: 3, Lines: 1}},
		"a new prompt":      {[]step{{prompt, "#\r"}, {"\r\n" + prompt, ""}}, engine.Typed{Bytes: 2, Lines: 1}},
		"the prompt anew":   {[]step{{prompt, "if x\r"}, {"\r" + prompt + "if x\r\n> ", ""}}, engine.Typed{Bytes: 5, Lines: 1, Entered: true}},
		"interrupted":       {[]step{{prompt, "ec\x03"}}, engine.Typed{Bytes: 3, Lines: 1, Entered: true, Interrupted: true, Dropped: "ec"}},
		"no more":           {[]step{{prompt, "ec\x03"}, {"^C\r\n" + prompt, "x"}}, engine.Typed{Bytes: 4, Lines: 1, Line: "x"}},
		"other keys":        {[]step{{prompt, "ec\x1b[D\x1bb\x1bOA"}}, engine.Typed{Bytes: 10, Line: "ec", Keys: true}},
		"completed":         {[]step{{prompt, "ec\t"}}, engine.Typed{Bytes: 3, Line: "ec", Keys: true}},
		"a paste":           {[]step{{prompt, "\x1b[200~a\rb\x1b[201~"}}, engine.Typed{Bytes: 15, Line: "a\rb"}},
		"a paste entered":   {[]step{{prompt, "\x1b[200~a\nb\x1b[20"}, {"", "1~\r"}}, engine.Typed{Bytes: 16, Lines: 1, Entered: true}},
		"Ctrl+C as CSI u":   {[]step{{prompt, "ec\x1b[99;5u"}}, engine.Typed{Bytes: 9, Lines: 1, Entered: true, Interrupted: true, Dropped: "ec"}},
		"to a command":      {[]step{{prompt + run, "q"}}, engine.Typed{Bytes: 1, Line: "q", Ahead: true}},
		"to one, entered":   {[]step{{prompt + run, "y\r"}, {done + prompt, ""}}, engine.Typed{Bytes: 2, Lines: 1, Ahead: true}},
		"ahead, then begun": {[]step{{prompt + run, "ls\r"}, {done + prompt + run, ""}}, engine.Typed{Bytes: 3, Lines: 1}},
		"without marks":     {[]step{{"$ ", "ls\rec"}}, engine.Typed{Bytes: 5, Lines: 1, Line: "ec"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := enginetest.New()
				e := enginetest.Engine(p)
				s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range c.steps {
					p.Print(x.print)
					synctest.Wait()
					if _, err := s.Do(t.Context(), engine.Text(x.input)); err != nil {
						t.Fatal(err)
					}
				}
				got := s.View().Typed
				c.want.At = got.At
				if got != c.want {
					t.Errorf("%+v, want %+v", got, c.want)
				}
				p.End(0)
				_ = e.Close(context.Background())
			})
		})
	}
}

// TestNoSecretIsTyped into what is kept.
func TestNoSecretIsTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		p.SetLineMode(pty.LineMode{Canonical: true})
		if _, err := s.Do(t.Context(), engine.Text("hunter2")); err != nil {
			t.Fatal(err)
		}
		if got := s.View().Typed; got.Line != "" || !got.Keys || got.Bytes != 7 {
			t.Errorf("%+v", got)
		}
		p.End(0)
		_ = e.Close(context.Background())
	})
}

// TestOnly: an action is not performed when the session is no longer as it has to be.
func TestOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		no := errors.New("no")
		only := engine.Only(func(v *engine.View) error {
			if v.Typed.Bytes > 0 {
				return no
			}
			return nil
		})
		if _, err := s.Do(t.Context(), engine.Text("a"), only); err != nil {
			t.Error(err)
		}
		if _, err := s.Do(t.Context(), engine.Text("b"), only); !errors.Is(err, no) {
			t.Error(err)
		}
		if got := p.Input(); got != "a" {
			t.Errorf("typed: %q", got)
		}
		p.End(0)
		_ = e.Close(context.Background())
	})
}
