//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol/client"
)

// TestPluginRunRecordsACase runs a plugin's program with lines from a pipe, and has a case of it
// that tests as it was.
func TestPluginRunRecordsACase(t *testing.T) {
	t.Parallel()
	dir, demo := scaffolded(t)
	p := ptywright(t, "plugin", "run", "--record", "two", "demo")
	p.Dir = dir
	out, code := p.Run("echo $((6*7))\nsleep 0.3\n")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, p.Stderr)
	}
	wants(t, out, "42\r\n")
	wants(t, p.Stderr.String(), "> busy (rule output)", "> ended (rule exited)", "recorded "+filepath.Join("demo", "testdata", "cases", "two.cast"))
	for _, sub := range []string{"test", "check"} {
		if out, code := inFolder(t, dir, "plugin", sub, "demo"); code != 0 {
			t.Errorf("plugin %s: exit code %d: %s", sub, code, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(demo, "testdata", "cases", "two.expected.json"))
	if err != nil || !strings.Contains(string(text), `"busy"`) || !strings.Contains(string(text), `"ended"`) {
		t.Errorf("%s, %v", text, err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--record", "two", "demo"}, cli.ExitError, "there is a case two already"},
		{[]string{"--record", "a/b", "demo"}, cli.ExitError, "is not a name for a case"},
		{[]string{"demo", "other"}, cli.ExitUsage, "name one plugin's folder"},
		{[]string{"nowhere"}, cli.ExitError, "is not a plugin"},
		{[]string{"demo", "--", "-c", "exit 7"}, 7, ""},
	} {
		if out, code := inFolder(t, dir, append([]string{"plugin", "run"}, c.args...)...); code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%q: exit code %d: %s", c.args, code, out)
		}
	}
}

// TestPluginRunThatIsNeverReady types nothing of a pipe at a program whose prompt the plugin does
// not know, and says what it lacked.
func TestPluginRunThatIsNeverReady(t *testing.T) {
	t.Parallel()
	dir, demo := scaffolded(t)
	p := ptywright(t, "plugin", "run", "--timeout", "200ms", "--record", "stuck", "demo", "--", "-c", "printf 'really? '; cat")
	p.Dir = dir
	out, code := p.Run("yes-it-is\n")
	if code != cli.ExitTimeout || strings.Contains(out, "yes-it-is") {
		t.Errorf("exit code %d, output %q: %s", code, out, p.Stderr)
	}
	cast := filepath.Join("demo", "testdata", "cases", "stuck.cast")
	wants(t, p.Stderr.String(), "line 1 was not typed: wait_ready_matcher did not hold within 200ms; the state was ", `the state was busy (rule output); the cursor's row is "really?"`, cast)
	if text, err := os.ReadFile(filepath.Join(dir, cast)); err != nil || strings.Contains(string(text), "yes-it-is") {
		t.Errorf("%v: %s", err, text)
	}
	if _, err := os.Stat(filepath.Join(demo, "testdata", "cases", "stuck.expected.json")); !os.IsNotExist(err) {
		t.Errorf("nobody knows what is expected: %v", err)
	}
	if out, code := inFolder(t, dir, "plugin", "run", "--timeout", "-1s", "demo"); code != cli.ExitUsage {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestPluginRunOnATerminal has a person at it: what is typed reaches the program, and the states
// are told when it has ended.
func TestPluginRunOnATerminal(t *testing.T) {
	t.Parallel()
	dir, _ := scaffolded(t)
	_, shell := bridged(t)
	shell.waitSince(shell.text("cd "+dir+"; $PTYWRIGHT plugin run demo; echo code=$?\n"), client.Regexp(`(?m)^\$$`))
	shell.waitSince(shell.text("stty size; echo heard$((1))\n"), client.Regexp(`(?m)^24 80\nheard1\n\$$`))
	shell.waitSince(shell.text("exit 5\n"), client.Regexp(`(?s)> ended \(rule exited\)\ncode=5\nout>$`))
	shell.waitSince(shell.text("$PTYWRIGHT plugin run --states log demo -- -c 'echo x$((1))'; echo code=$?\n"), client.Regexp(`(?m)^x1\ncode=0\nout>$`))
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || !strings.Contains(string(log), "> ended (rule exited)") {
		t.Errorf("%s, %v", log, err)
	}
}

func TestPluginExplain(t *testing.T) {
	t.Parallel()
	_, demo := scaffolded(t)
	l := listen(t, "--plugin", filepath.Join(demo, "manifest.toml"))
	s := l.dial()
	var a struct{ Adapter, Session string }
	s.call("adapter.start", obj{"plugin": "demo"}, &a)
	s.call("adapter.wait", obj{"adapter": a.Adapter}, nil)
	explain := func(args ...string) (string, int) {
		p := ptywright(t, append([]string{"plugin", "explain", "--socket", l.path}, args...)...)
		out, code := p.Run("")
		return out + p.Stderr.String(), code
	}
	for _, name := range []string{a.Adapter, a.Session} {
		out, code := explain(name)
		if code != 0 {
			t.Errorf("exit code %d: %s", code, out)
		}
		wants(t, out, "e1 (demo, session s1) is ready: rule \"prompt\" decided", `nearly      rule "line" (typing) lacks: an earlier rule held`, "|$")
	}
	if out, code := explain("e9"); code != 4 || !strings.Contains(out, "no live adapter has this id") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := inFolder(t, t.TempDir(), "plugin", "explain", "--socket", filepath.Join(t.TempDir(), "none"), "e1"); code != cli.ExitError || !strings.Contains(out, "no server listens there") {
		t.Errorf("exit code %d: %s", code, out)
	}

	// Followed, each change is told, until the program has ended.
	p := ptywright(t, "plugin", "explain", "--socket", l.path, "--follow", "--json", a.Adapter)
	in, out := p.StartPiped()
	in.Close()
	lines := bufio.NewScanner(out)
	until := func(state string) {
		t.Helper()
		for lines.Scan() {
			var e struct {
				Adapter string
				Rule    string
				State   struct{ State string }
			}
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Adapter != a.Adapter || e.Rule == "" {
				t.Fatalf("%s: %v", lines.Bytes(), err)
			}
			if e.State.State == state {
				return
			}
		}
		t.Fatalf("it was never %s: %s", state, p.Stderr)
	}
	until("ready")
	s.call("adapter.send", obj{"adapter": a.Adapter, "intent": "send", "params": obj{"text": "cat"}}, nil)
	until("busy")
	s.call("adapter.send", obj{"adapter": a.Adapter, "intent": "interrupt"}, nil)
	until("ready")
	s.call("adapter.send", obj{"adapter": a.Adapter, "intent": "quit"}, nil)
	until("ended")
	for lines.Scan() {
	}
	if code := exitCodeOf(t, p.Wait()); code != 0 {
		t.Errorf("exit code %d: %s", code, p.Stderr)
	}
	s.call("adapter.close", obj{"adapter": a.Adapter}, nil)
}
