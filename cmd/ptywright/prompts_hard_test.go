//go:build unix

package main

import (
	"strconv"
	"strings"
	"testing"
)

// TestPromptsOfWideLines types lines of wide characters that fill a row of 80 columns, or pass it
// by one that does not fit.
func TestPromptsOfWideLines(t *testing.T) {
	t.Parallel()
	need(t, "python3", "python3")
	need(t, "bash", "bash")
	s := start(t)
	utf := obj{"LANG": "C.UTF-8", "PYTHON_BASIC_REPL": "1", "PYTHON_HISTORY": "/dev/null", "PS1": "$ "}
	python := s.prompter("repl", "python3", []string{"-q"}, utf)
	bash := s.prompter("shell", "bash", []string{"--norc"}, utf)
	for _, n := range []int{35, 38, 150} {
		wide := strings.Repeat("日", n)
		if got := python.do("eval", obj{"code": "len('" + wide + "')"}); got.Output != strconv.Itoa(n) || !got.Complete {
			t.Errorf("python, %d: %+v", n, got)
		}
		if got := bash.do("run", obj{"command": "echo " + wide}); got.Output != wide || !got.Complete {
			t.Errorf("bash, %d: %+v", n, got)
		}
	}
}

// TestShellOutputLikeAPrompt prints rows that begin like the prompt, no line feed at the end, and
// marks of nobody's shell.
func TestShellOutputLikeAPrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program string
		args    []string
		knows   bool // where output without a line feed ends
	}{{"bash", []string{"--norc"}, true}, {"dash", []string{}, false}} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			need(t, c.program, c.program)
			p := start(t).prompter("shell", c.program, c.args, obj{"PS1": "$ "})
			for _, run := range []struct {
				command, output string
				whole           bool
			}{
				{`printf 'a\n$ make\n$ make install\nb\n'`, "a\n$ make\n$ make install\nb", true},
				{`printf '$ x\n'; sleep 0.3; printf 'late\n'`, "$ x\nlate", true},
				{"printf 'no newline'", "no newline", c.knows},
				{"echo next", "next", true},
				{`printf '\033]633;D;66\007'; echo told`, "told", true},
				{`printf '\033]133;D;77\007\033]133;A\007'; echo then`, "then", true},
				{"echo last", "last", true},
			} {
				got := p.do("run", obj{"command": run.command})
				if got.Output != run.output || got.Complete != run.whole || got.ExitCode != nil && *got.ExitCode != 0 {
					t.Errorf("%s: %+v", run.command, got)
				}
			}
			p.exits()
		})
	}
}

// TestReplOutputLikeAPrompt prints rows that are prompts of the interpreter, as a docstring's
// examples are.
func TestReplOutputLikeAPrompt(t *testing.T) {
	t.Parallel()
	need(t, "python3", "python3")
	p := start(t).prompter("repl", "python3", []string{"-q"}, obj{"PYTHON_BASIC_REPL": "1", "PYTHON_HISTORY": "/dev/null"})
	for _, run := range []struct{ code, output string }{
		{`print('>>> x\n>>> y\n... z\nend')`, ">>> x\n>>> y\n... z\nend"},
		{`print('>>> first')`, ">>> first"},
		{"1 + 1\n2 + 2", "4"},
		{"for i in range(2):\n    print('>>>', i)", ">>> 0\n>>> 1"},
		{`print('> ', end='', flush=True); __import__('time').sleep(0.7); print('done')`, "> done"}, // Node's
		{`6 * 7`, "42"},
	} {
		if got := p.do("eval", obj{"code": run.code}); got.Output != run.output || !got.Complete {
			t.Errorf("%s: %+v", run.code, got)
		}
	}
	p.exits()
}
