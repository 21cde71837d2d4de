//go:build unix

package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
)

// TestForegroundOfAShell is the shell at its prompt, then what it runs, then the shell again; and
// what makes it mark its commands is not told as its environment.
func TestForegroundOfAShell(t *testing.T) {
	for _, program := range []string{"bash", "zsh", "fish"} {
		t.Run(program, func(t *testing.T) {
			s := startShell(t, start{program: program})
			of := func() engine.Process {
				f, err := s.Foreground()
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			s.await("the prompt", s.atPrompt)
			if f := of(); !f.Leader || f.PID != s.PID() || f.Name != program {
				t.Errorf("at the prompt: %+v", f)
			}
			s.keys("sh -c 'echo u''p; read x; :'\r")
			s.await("the command", func() bool { return strings.HasSuffix(s.View().Screen.Text(), "\nup") })
			if f := of(); f.Leader || f.PID == s.PID() || f.Name != "sh" {
				t.Errorf("while a command runs: %+v", f)
			}
			s.keys("\r")
			s.next()
			s.await("the prompt", s.atPrompt)
			if f := of(); !f.Leader {
				t.Errorf("afterwards: %+v", f)
			}
			env := s.Environ()
			if !slices.Contains(env, "HOME="+s.home) || slices.ContainsFunc(env, func(kv string) bool {
				return strings.HasPrefix(kv, "PTYWRIGHT_") || strings.Contains(kv, "ptywright-shell-")
			}) {
				t.Errorf("environment %q", env)
			}
		})
	}
}
