//go:build unix

package native_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

// shells are two ways in which the end of a command is told.
var shells = map[string]obj{
	"marks":    {"program": "bash", "args": []string{"--norc", "--noprofile"}, "shell_integration": true, "env": obj{"HISTFILE": ""}},
	"sentinel": {"program": "sh", "env": obj{"PS1": "$ "}},
}

// TestRun: output, exactly, and exit code, by marks and without.
func TestRun(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed: apt-get install bash")
	}
	for by, config := range shells {
		t.Run(by, func(t *testing.T) {
			w := newWire(t, engine.New(engine.Options{}))
			id := w.result("session.create", config)["session"].(string)
			run := func(command string) map[string]any {
				t.Helper()
				return w.result("session.run", obj{"session": id, "command": command, "timeout_ms": hang.Milliseconds()})
			}
			r := run(`printf 'x  \ny \n\ta\tb\n'; (exit 7)`)
			if r["output"] != "x  \ny \n\ta\tb\n" || r["exit_code"] != 7.0 || r["by"] != by || r["truncated"] != false || r["exit"] != nil {
				t.Errorf("%v", r)
			}
			if since := r["sequence"]; since == nil {
				t.Errorf("%v", r)
			}
			if number := r["number"]; (number != nil) != (by == "marks") {
				t.Errorf("number %v", number)
			}
			r = w.result("session.run", obj{"session": id, "command": `printf '\033[1mb\033[m a\n'`, "raw": true, "screen_text": true, "timeout_ms": hang.Milliseconds()})
			if r["output"] != "\x1b[1mb\x1b[m a\n" || r["screen_text"] != "b a" {
				t.Errorf("%q", r)
			}
			if r = run("echo token=Kq7Zx9Vb2Nm4Lp8Rt6"); strings.Contains(r["output"].(string), "Kq7") {
				t.Errorf("a secret shows: %v", r)
			}
			// What does not end in time goes on, with what it has written so far.
			m := w.fails("session.run", obj{"session": id, "command": "echo begun; read x; echo got $x", "timeout_ms": 700}, -32001, "timeout")
			if m.Error.Data["output"] != "begun\n" || m.Error.Data["sequence"] == nil || at(m.Error.Data, "snapshot", "lines") == nil || !strings.Contains(m.Error.Message, "goes on in session "+id) {
				t.Errorf("%s", m.line)
			}
			w.fails("session.run", obj{"session": id, "command": "echo no"}, -32603, "not_at_prompt")
			w.result("session.input", obj{"session": id, "action": obj{"type": "text", "value": "it\r"}})
			w.result("session.wait", obj{"session": id, "matcher": obj{"type": "screen_regex", "value": `(?s)got it\n.*[$#]$`}})
			if r = run("exit 3"); r["exit_code"] != 3.0 || at(r["exit"], "exit_code") != 3.0 {
				t.Errorf("%v", r)
			}
			w.fails("session.run", obj{"session": id, "command": "true"}, -32002, "session_ended")
		})
	}
}

// TestRunIsCancelled: the command goes on.
func TestRunIsCancelled(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	id := w.result("session.create", shells["sentinel"])["session"].(string)
	run := w.send("session.run", obj{"session": id, "command": "echo begun; read x; echo got $x"})
	w.result("server.set_ordering", obj{"ordering": "concurrent"})
	w.result("session.wait", obj{"session": id, "matcher": obj{"type": "screen_regex", "value": `(?m)^begun$`}})
	cancel := w.send("$/cancelRequest", obj{"id": run})
	all := w.replies(run, cancel)
	if e := all[run].Error; e == nil || e.Code != -32005 || e.Data["output"] != "begun\n" {
		t.Errorf("%s", all[run].line)
	}
	w.result("session.input", obj{"session": id, "action": obj{"type": "text", "value": "on\r"}})
	w.until(id, "got on")
}

// TestRunUnderALease: who has the session runs commands in it, and nobody else does.
func TestRunUnderALease(t *testing.T) {
	a, b := newWires(t, engine.New(engine.Options{}))
	id := a.result("session.create", shells["sentinel"])["session"].(string)
	a.result("session.lease", obj{"session": id, "holder": "Ada"})
	b.fails("session.run", obj{"session": id, "command": "echo theirs", "timeout_ms": hang.Milliseconds()}, -32004, "session_leased")
	if r := a.result("session.run", obj{"session": id, "command": "echo ours", "timeout_ms": hang.Milliseconds()}); r["output"] != "ours\n" {
		t.Errorf("%v", r)
	}
}

// TestRunRefuses what cannot be run, with nothing typed.
func TestRunRefuses(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	for _, c := range []struct {
		params obj
		code   int
		reason string
	}{
		{obj{}, -32602, "invalid_params"},
		{obj{"command": ""}, -32602, "invalid_params"},
		{obj{"command": " \n"}, -32602, "invalid_params"},
		{obj{"command": "true", "timeout_ms": -1}, -32602, "invalid_params"},
		{obj{"command": "a\x00b"}, -32602, "invalid_params"},
		{obj{"command": "true"}, -32602, "no_shell"},
	} {
		c.params["session"] = id
		w.fails("session.run", c.params, c.code, c.reason)
	}
	w.fails("session.run", obj{"session": "s9", "command": "true"}, -32602, "unknown_session")
	if p.Input() != "" {
		t.Errorf("typed: %q", p.Input())
	}
}
