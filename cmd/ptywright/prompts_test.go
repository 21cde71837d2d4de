//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// TestPluginsThatComeWithCases holds every plugin of this repository that has cases to them, as its
// author would.
func TestPluginsThatComeWithCases(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"plugins/shell", "plugins/repl", "examples/plugins/less"} {
		for _, sub := range []string{"check", "test"} {
			if out, code := inFolder(t, root, "plugin", sub, dir); code != 0 {
				t.Errorf("plugin %s %s: exit code %d:\n%s", sub, dir, code, out)
			}
		}
	}
}

// A prompter is an adapter of shell or repl over a real program.
type prompter struct {
	*server
	id, session string
}

func (s *server) prompter(plugin, program string, args []string, env obj) *prompter {
	s.t.Helper()
	var a struct{ Adapter, Session string }
	s.call("adapter.start", obj{"plugin": plugin, "program": program, "args": args, "env": env, "rows": 24, "cols": 80}, &a)
	p := &prompter{s, a.Adapter, a.Session}
	p.wait()
	return p
}

// said is what the wait for a turn tells.
type said struct {
	Output, Dialect, Source, Cwd string
	Command                      string
	ExitCode                     *int `json:"exit_code"`
	Complete, Continuation       bool
	Error                        *struct{ Kind, Message string }
}

func (p *prompter) wait() (got said) {
	p.t.Helper()
	var r struct {
		Matched struct{ Matched struct{ Capture said } }
	}
	if err := p.Call(p.ctx, "adapter.wait", obj{"adapter": p.id}, &r); err != nil {
		var why json.RawMessage
		_ = p.Call(p.ctx, "adapter.explain", obj{"adapter": p.id}, &why)
		s := session{p.Session(p.session), p.server, p.t}
		p.t.Fatalf("%v\n%s\n%s", err, s.snapshot("none").PlainText, why)
	}
	return r.Matched.Matched.Capture
}

// do sends an intent, which must be submitted, and waits for the end of its turn.
func (p *prompter) do(intent string, params obj) said {
	p.t.Helper()
	p.send(intent, params)
	return p.wait()
}

func (p *prompter) send(intent string, params obj) (state string) {
	p.t.Helper()
	var r struct {
		Receipt struct {
			Submitted *bool
			Evidence  string
		}
		State struct{ State string }
	}
	p.call("adapter.send", obj{"adapter": p.id, "intent": intent, "params": params}, &r)
	if r.Receipt.Submitted != nil && !*r.Receipt.Submitted {
		p.t.Errorf("%s %v: not submitted: %s", intent, params, r.Receipt.Evidence)
	}
	return r.State.State
}

func (p *prompter) exits() {
	p.t.Helper()
	if state := p.send("exit", nil); state != "ended" {
		p.t.Errorf("after exit the state is %s", state)
	}
	p.call("adapter.close", obj{"adapter": p.id}, nil)
}

func TestShellAdapter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program, debian, source string
		args                    []string
	}{
		{"bash", "bash", "marks", []string{"--norc"}},
		{"zsh", "zsh", "marks", []string{}},
		{"fish", "fish", "marks", []string{"--no-config"}},
		{"dash", "dash", "screen", []string{}},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			need(t, c.program, c.debian)
			home := enginetest.Home(t)
			folder := filepath.Join(home, "it's a folder")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, ".zshrc"), []byte("PS1='%1~ %# '\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			env := obj{"HOME": home, "ZDOTDIR": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "HISTFILE": "/dev/null", "LANG": "C.UTF-8"}
			if c.program != "fish" && c.program != "zsh" {
				env["PS1"] = "here$ "
			}
			s := start(t)
			p := s.prompter("shell", c.program, c.args, env)
			got := p.do("run", obj{"command": "echo one; echo two", "exit_code": true})
			if got.Output != "one\ntwo" || got.ExitCode == nil || *got.ExitCode != 0 || got.Source != c.source || !got.Complete {
				t.Errorf("%+v", got)
			}
			if got := p.do("run", obj{"command": "sh -c 'exit 3'", "exit_code": true}); got.ExitCode == nil || *got.ExitCode != 3 {
				t.Errorf("%+v", got)
			}
			got = p.do("cd", obj{"path": folder})
			if c.source == "marks" && got.Cwd != folder {
				t.Errorf("%+v", got)
			}
			if got := p.do("run", obj{"command": "pwd"}); got.Output != folder {
				t.Errorf("%+v", got)
			}
			long := strings.Repeat("a", 150)
			if got := p.do("run", obj{"command": "echo " + long}); got.Output != long {
				t.Errorf("a line that wraps: %+v", got)
			}
			// What is typed fills its row to the last column; the prompt below it may be another.
			fill := func(before string) string {
				var now struct {
					State struct{ Metadata struct{ Prompt string } }
				}
				p.call("adapter.state", obj{"adapter": p.id}, &now)
				return strings.Repeat("f", 80-len(now.State.Metadata.Prompt+" "+before))
			}
			full := fill("echo ")
			if got := p.do("run", obj{"command": "echo " + full}); got.Output != full {
				t.Errorf("a line that fills its row: %+v", got)
			}
			full = filepath.Join(home, fill("cd -- '"+home+"/'"))
			if err := os.Mkdir(full, 0o700); err != nil {
				t.Fatal(err)
			}
			p.do("cd", obj{"path": full})
			if got := p.do("run", obj{"command": "pwd"}); got.Output != full {
				t.Errorf("a folder whose name fills the row: %+v", got)
			}
			if got := p.do("run", obj{"command": "echo 'a"}); !got.Continuation {
				t.Errorf("%+v", got)
			}
			if got := p.do("run", obj{"command": "b'", "rest": true}); !strings.HasSuffix(got.Output, "a\nb") {
				t.Errorf("%+v", got)
			}
			if state := p.send("run", obj{"command": "cat"}); state != "running" {
				t.Errorf("state %s", state)
			}
			p.refused(-32602, "intent_refused", "adapter.send", obj{"adapter": p.id, "intent": "run", "params": obj{"command": "ls"}})
			p.send("interrupt", nil)
			p.wait()
			p.exits()
		})
	}
}

func TestReplAdapter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program, debian, dialect string
		args                     []string
		value, block             string
		wantBlock                string
		fault, kind              string
		open, rest               string
	}{
		{"python3", "python3", "python", []string{"-q"}, "6*7", "def f(x):\n\n    if x:\n        return x + 1\n    else:\n        return 0\nprint(f(41))", "42", "1/0", "ZeroDivisionError", "(6*", "7)"},
		{"node", "nodejs", "node", []string{}, "6*7", "function f(x) {\n  return x + 1\n}\nf(41)", "42", "nope()", "ReferenceError", "(6*", "7)"},
		{"sqlite3", "sqlite3", "sqlite", []string{}, "select 6*7;", "select\n40\n+2;", "42", "selec;", "Parse error", "select 6*", "7;"},
	} {
		t.Run(c.dialect, func(t *testing.T) {
			t.Parallel()
			need(t, c.program, c.debian)
			s := start(t)
			home := t.TempDir()
			p := s.prompter("repl", c.program, c.args, obj{"HOME": home, "NODE_REPL_HISTORY": "", "SQLITE_HISTORY": "/dev/null", "PYTHONHISTFILE": "/dev/null", "PYTHON_BASIC_REPL": "1", "PYTHON_HISTORY": "/dev/null"})
			if got := p.do("eval", obj{"code": c.value}); got.Output != "42" || got.Dialect != c.dialect || !got.Complete || got.Error != nil {
				t.Errorf("%+v", got)
			}
			if got := p.do("eval", obj{"code": c.block}); got.Output != c.wantBlock || got.Error != nil {
				t.Errorf("%+v", got)
			}
			if got := p.do("eval", obj{"code": c.fault}); got.Error == nil || got.Error.Kind != c.kind {
				t.Errorf("%+v, %+v", got, got.Error)
			}
			if got := p.do("eval", obj{"code": c.open}); !got.Continuation {
				t.Errorf("%+v", got)
			}
			p.refused(-32602, "intent_refused", "adapter.send", obj{"adapter": p.id, "intent": "eval", "params": obj{"code": c.value}})
			if got := p.do("eval", obj{"code": c.rest, "rest": true}); got.Output != "42" {
				t.Errorf("%+v", got)
			}
			p.exits()
		})
	}
}

// TestPluginKitOfTheDocs runs the commands with which docs/plugins.md begins.
func TestPluginKitOfTheDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "plugins.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```sh\nptywright plugin new demo")
	script, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("docs/plugins.md shows no commands of the kit")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := limited(t, `ptywright() { "$PTYWRIGHT_SELF" "$@"; }; set -e; `+"ptywright plugin new demo"+script+"true")
	p.Env = append(p.Env, "PTYWRIGHT_SELF="+self)
	p.Dir = t.TempDir()
	out, code := p.Run("")
	if code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, p.Stderr)
	}
	wants(t, out, "nothing is wrong with it", "demo: 2 cases as expected", "demo: 3 cases as expected", "FAIL  session", `got       "idle"`, `rule "prompt" decided`, "written: ")
	if got := strings.Count(out, "not as expected"); got != 1 {
		t.Errorf("%d failures told:\n%s", got, out)
	}
}
