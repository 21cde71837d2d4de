//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// The passwords that are typed are of no known shape. The program says them again when it has read
// one.
const (
	password = "correct-horse-battery"
	wrong    = "incorrect-donkey-coal"
)

// asSomebody is a command of a user who has to give a password, where we could do without: run by
// root it is nobody's.
func asSomebody(command string) string {
	if os.Getuid() != 0 {
		return command
	}
	return "setpriv --reuid=65534 --regid=65534 --clear-groups " + command
}

// thenSay is a script that says what was typed once a command has asked for it, whatever became of
// that. Ctrl-C ends the command.
func thenSay(command string) []string {
	return []string{"-c", "trap : INT; " + command + `; echo "you said $SAID, not $NOT"; read y`}
}

// TestTypedSecretIsNowhere types a password where programs ask for one, has it printed, and looks
// for it in every answer, in notifications, recordings with input, a Markdown transcript, errors
// and the log.
func TestTypedSecretIsNowhere(t *testing.T) {
	t.Parallel()
	said := map[string]string{"SAID": password, "NOT": wrong}
	inOne := func(b *session) { b.text(password + "\n") }
	byKey := func(b *session) { // with a mistake
		for _, c := range password[:7] + "x" {
			b.text(string(c))
		}
		b.keys("backspace")
		b.text(password[7:])
		b.keys("enter")
	}
	again := func(prompt string, then func(b *session)) func(b *session) {
		return func(b *session) { // the wrong one first
			since := b.text(wrong + "\r")
			b.waitSince(since, client.Regexp("again.*\n(.*\n)*.*"+prompt))
			awaitSecret(b)
			then(b)
		}
	}
	for name, c := range map[string]struct {
		program, debian string
		config          func(t *testing.T) client.Config
		prompt          string
		typed           func(b *session)
	}{
		"read -s": {"bash", "bash", func(*testing.T) client.Config {
			return client.Config{Program: "bash", Args: []string{"--norc", "--noprofile", "-c", `read -rsp "Secret please? " x; echo; echo "you said $x"; echo "and ${x} it was"; read y`}}
		}, "Secret please\\?", inOne},
		"read -s, without a word for a secret": {"bash", "bash", func(*testing.T) client.Config {
			return client.Config{Program: "bash", Args: []string{"--norc", "--noprofile", "-c", `read -rsp "Speak, friend: " x; echo; echo "you said $x"; read y`}}
		}, "Speak, friend:", inOne},
		"getpass, without a word for a secret": {"python3", "python3", func(*testing.T) client.Config {
			return client.Config{Program: "python3", Args: []string{"-c", `import getpass; x = getpass.getpass("Speak, friend: "); print("you said", x); input()`}}
		}, "Speak, friend:", byKey},
		"read -s, key by key": {"bash", "bash", func(*testing.T) client.Config {
			return client.Config{Program: "bash", Args: []string{"--norc", "--noprofile", "-c", `read -rsp "Secret please? " x; echo; echo "you said $x"; read y`}}
		}, "Secret please\\?", byKey},
		"getpass": {"python3", "python3", func(*testing.T) client.Config {
			return client.Config{Program: "python3", Args: []string{"-c", `import getpass; x = getpass.getpass("Secret please? "); print("you said", x); input()`}}
		}, "Secret please\\?", inOne},
		"ssh": {"ssh", "openssh-client", func(t *testing.T) client.Config {
			return client.Config{Program: "ssh", Args: sshTo(sshServer(t))}
		}, "password:$", again("somebody@.* password:$", byKey)},
		"sudo": {"sudo", "sudo", func(*testing.T) client.Config {
			return client.Config{Program: "sh", Args: thenSay(asSomebody("sudo -k true")), Env: said}
		}, "password for \\S+$", again("password for \\S+$", func(b *session) {
			byKey(b)
			// While sudo checks a password it ignores Ctrl-C; where it asks once more it does not.
			b.wait(client.Regexp(`(.*again.*\n(.*\n)*){2}.*password for \S+$`))
			awaitSecret(b)
			b.keys("ctrl+c")
		})},
		"su": {"su", "util-linux", func(*testing.T) client.Config {
			return client.Config{Program: "sh", Args: thenSay(asSomebody("su root -c true")), Env: map[string]string{"SAID": password}}
		}, "Password:$", inOne},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, c.program, c.debian)
			s := start(t)
			left := everything{asked: make(chan struct{})}
			if err := s.Subscribe(s.ctx, left.event); err != nil {
				t.Fatal(err)
			}
			b := s.with(c.config(t))
			dir := t.TempDir()
			for _, format := range []string{"asciicast-v2", "asciicast-v3", "markdown"} {
				s.call("session.record_start", map[string]any{"session": b.ID, "dir": dir, "format": format, "input": format != "markdown"}, nil)
			}
			b.wait(client.Any(client.Regexp(c.prompt), client.Regexp("you said")))
			if strings.Contains(b.snapshot("none").PlainText, "you said") {
				t.Skipf("%s asks for no password here:\n%s", c.program, b.snapshot("none").PlainText)
			}
			select {
			case <-left.asked:
			case <-s.ctx.Done():
				t.Fatalf("no notification says that a secret is read:\n%s", left.String())
			}
			awaitSecret(b)
			c.typed(b)
			b.wait(client.Regexp("you said \\S+"))
			for method, params := range map[string]map[string]any{
				"session.snapshot": {"cells": "runs"}, "session.transcript": {}, "session.scrollback": {}, "session.blocks": {}, "session.list": {"details": true},
				"session.screenshot": {"format": "svg"}, "session.search": {"text": "said"}, "session.record_list": {},
				"session.wait":   {"timeout_ms": 1, "matcher": map[string]any{"type": "contains_text", "value": "correct-horse-batterie"}},
				"session.create": {"program": "/nothing/" + password}, "session.resize": {"rows": password},
			} {
				if params["session"] = b.ID; method == "session.create" {
					delete(params, "session")
				}
				left.answer(s, method, params)
			}
			b.text("\n")
			b.exited()
			left.answer(s, "session.close", map[string]any{"session": b.ID})
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			if len(files) != 3 {
				t.Errorf("recordings: %q", files)
			}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				left.add(string(text))
			}
			left.add(s.program.Stderr.String())
			got := left.String()
			for _, secret := range []string{password, wrong} {
				if strings.Contains(got, secret) {
					t.Errorf("%s is in:\n%s", secret, got)
				}
			}
			if n := strings.Count(got, "you said [REDACTED]"); n < 8 {
				t.Errorf("the answer is in %d places, want it in all:\n%s", n, got)
			}
		})
	}
}

// awaitSecret waits until the session says that a secret is read, and does so itself with a timer:
// the terminal tells of no change.
func awaitSecret(b *session) {
	b.t.Helper()
	for range 100 {
		var shot struct {
			SecretInput bool `json:"secret_input"`
		}
		b.server.call("session.snapshot", map[string]any{"session": b.ID, "cells": "none"}, &shot)
		if shot.SecretInput {
			return
		}
		b.server.call("session.wait", map[string]any{"session": b.ID, "matcher": map[string]any{"type": "screen_stable", "value": map[string]any{"min_ms": 200}}}, nil)
	}
	b.t.Fatal("no snapshot says that a secret is read")
}

// everything is what has left a server.
type everything struct {
	asked chan struct{} // closed when a notification says that a secret is read
	once  sync.Once

	mu   sync.Mutex
	text strings.Builder
}

func (e *everything) add(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text.WriteString(text + "\n")
}

func (e *everything) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.String()
}

func (e *everything) event(n client.Event) {
	e.add(n.Method + " " + string(n.Params))
	if strings.Contains(string(n.Params), `"secret_input":true`) {
		e.once.Do(func() { close(e.asked) })
	}
}

// answer calls a method and keeps the result, or the error with its data.
func (e *everything) answer(s *server, method string, params map[string]any) {
	var raw json.RawMessage
	if err := s.Call(s.ctx, method, params, &raw); err != nil {
		text, _ := json.Marshal(err)
		e.add(err.Error() + string(text))
	}
	e.add(string(raw))
}

// TestRecordKeepsNoTypedSecret: neither does the command that records, which is typed to on a
// terminal.
func TestRecordKeepsNoTypedSecret(t *testing.T) {
	t.Parallel()
	need(t, "bash", "bash")
	s := start(t)
	path := filepath.Join(t.TempDir(), "a.cast")
	self, err := exec.LookPath(ptywright(t).Path)
	if err != nil {
		t.Fatal(err)
	}
	b := s.with(client.Config{
		Program: self, Args: []string{"record", "-o", path, "--input", "--", "bash", "--norc", "--noprofile", "-c",
			`read -rp "Name? " n; read -rsp "Secret please? " x; echo; echo "$n said $x and $GATE_PASSWORD"; read y`},
		Env: map[string]string{asProgram: "1", "GATE_PASSWORD": wrong},
	})
	b.wait(client.Regexp("Name\\?"))
	b.text("alice\r")
	b.wait(client.Regexp("Secret please\\?"))
	// The outer terminal is raw and shows nothing of the inner one's modes: this is when those
	// settle.
	s.call("session.wait", map[string]any{"session": b.ID, "matcher": map[string]any{"type": "screen_stable", "value": map[string]any{"min_ms": 300}}}, nil)
	b.text(password + "\r")
	b.wait(client.Regexp("alice said"))
	b.text("\r")
	if how := b.exited(); how != "exit 0" {
		t.Errorf("%s", how)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if strings.Contains(got, password) || strings.Contains(got, wrong) || strings.Count(got, "alice") < 3 || !strings.Contains(got, "alice said [REDACTED] and [REDACTED]") {
		t.Errorf("the recording has %s", got)
	}
}
