//go:build unix

package main

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/protocol/client"
)

func TestBash(t *testing.T) {
	t.Parallel()
	need(t, "bash", "bash")
	b := start(t).with(client.Config{
		Program: "bash", Args: []string{"--norc", "--noprofile"}, Env: map[string]string{"PS1": "$ ", "HISTFILE": ""},
	})
	b.wait(client.Regexp(`^\$$`))
	b.waitSince(b.text("echo a$((6*7))b\n"), client.Regexp(`(?m)^a42b\n\$$`))

	// History, and a line edited before it is sent.
	b.keys("up", "home", "right", "right", "right", "right", "right", "x")
	b.waitSince(b.keys("enter"), client.Regexp(`(?m)^xa42b\n\$$`))

	// Job control: what runs is interrupted, the shell is not.
	b.waitSince(b.text("sh -c 'echo u$((1))p; exec sleep 1000'; echo slept\n"), client.Regexp(`(?m)^u1p$`))
	b.waitSince(b.keys("ctrl+c"), client.Regexp(`\^C\n\$$`))
	b.waitSince(b.text("echo code=$?\n"), client.Regexp(`(?m)^code=130$`))

	// A file descriptor of the terminal, asked and answered by the terminal itself.
	b.waitSince(b.text(`IFS=';' read -rsd R -p $'\e[6n' row col; echo "at ${row#*[},$col"`+"\n"), client.Regexp(`(?m)^at \d+,1$`))

	b.text("exit 7\n")
	if got := b.exited(); got != "exit 7" {
		t.Errorf("bash ended with %s", got)
	}
}

// Each answer is looked for with the same question, so only one that came after its own send can be
// right.
func TestPythonTakes200Turns(t *testing.T) {
	t.Parallel()
	need(t, "python3", "python3")
	p := start(t).with(client.Config{
		Program: "python3", Args: []string{"-q"}, Env: map[string]string{"PYTHON_BASIC_REPL": "1", "PYTHONSTARTUP": "", "PYTHON_HISTORY": "/dev/null"},
	})
	p.wait(client.Regexp(`^>>>$`))
	for i := range 200 {
		since := p.text(fmt.Sprintf("print('is', %d * 3)\n", i))
		m := p.waitSince(since, client.Regexp(`(?m)^is (\d+)\n>>>$`))
		if got := m.Outcome.Capture; got != strconv.Itoa(3*i) {
			t.Fatalf("turn %d: answer %s", i, got)
		}
	}
	p.text("raise SystemExit(9)\n")
	if got := p.exited(); got != "exit 9" {
		t.Errorf("python ended with %s", got)
	}
}

func TestZsh(t *testing.T) {
	t.Parallel()
	need(t, "zsh", "zsh")
	z := start(t).with(client.Config{Program: "zsh", Args: []string{"-f"}, Env: map[string]string{"PS1": "zsh> "}})
	z.wait(client.Regexp(`^zsh>$`))
	z.waitSince(z.text("echo a$((6*7))b\n"), client.Regexp(`(?m)^a42b\nzsh>$`))
	z.waitSince(z.text("false; echo code=$?\n"), client.Regexp(`(?m)^code=1\nzsh>$`))
	z.text("exit 8\n")
	if got := z.exited(); got != "exit 8" {
		t.Errorf("zsh ended with %s", got)
	}
}

func TestFish(t *testing.T) {
	t.Parallel()
	need(t, "fish", "fish")
	home := enginetest.Home(t)
	f := start(t).with(client.Config{
		Program: "fish", Args: []string{"--no-config", "-C", "function fish_prompt; echo 'fish> '; end; set fish_greeting"},
		Env: map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home},
	})
	f.wait(client.Regexp(`(?m)^fish>`))
	f.waitSince(f.text("echo a(math 6 x 7)b\r"), client.Regexp(`(?m)^a42b\nfish>`))
	f.waitSince(f.text("false; echo code=$status\r"), client.Regexp(`(?m)^code=1\nfish>`))
	f.text("exit 9\r")
	if got := f.exited(); got != "exit 9" {
		t.Errorf("fish ended with %s", got)
	}
}
