//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// quietLoop reads lines with echo off, as a driver has it that leaves it off. It asks for a
// password when it is told to, and says what it was given.
const quietLoop = `stty -echo; echo ready; while read -r l; do case $l in
ask) printf 'Password: '; read -r p; echo; echo "pw-$p" ;;
show) echo "token-$API_TOKEN" ;;
*) echo "got-$l" ;;
esac; done`

// turn types a line and waits for what the program says of it.
func (s *session) turn(line, answer string) {
	s.t.Helper()
	s.waitSince(s.text(line+"\n"), client.Text(answer))
}

func (s *session) plainText() string {
	s.t.Helper()
	return s.snapshot("none").PlainText
}

// TestEchoOffIsAHabit: a driver that leaves echo off gets its lines back, and no other session
// loses a word; what a question asks for is a secret all the same, until the session is closed.
func TestEchoOffIsAHabit(t *testing.T) {
	t.Parallel()
	s := start(t)
	words := []string{"root", "http", "null", "admin", "password", "correct horse battery", "hunter2hunter2", "ordinary words", "a     b", "x"}
	const secret = "incorrect-donkey-coal"
	other := s.sh(`stty -echo; echo "` + strings.Join(words, "; ") + `"; read -r x; echo "here ` + secret + `"; while read -r x; do echo "$x"; done`)
	other.wait(client.Text("; x"))
	before := other.plainText()
	driver := s.sh(quietLoop)
	driver.wait(client.Text("ready"))
	for i, w := range words {
		driver.turn(w, "got-"+w)
		if i == 0 {
			if got := driver.plainText(); got != "ready\ngot-[REDACTED]" {
				t.Errorf("of the first line nothing is known yet: %q", got)
			}
		}
		if got := other.plainText(); got != before {
			t.Fatalf("after %q the other session shows %q, not %q", w, got, before)
		}
	}
	if got, want := driver.plainText(), "ready\ngot-"+strings.Join(words, "\ngot-"); got != want {
		t.Errorf("the driver sees %q, not %q", got, want)
	}
	other.turn("", "here "+secret)
	if got := other.plainText(); !strings.HasSuffix(got, "here "+secret) {
		t.Errorf("before it is typed: %q", got)
	}
	driver.turn("ask", "Password:")
	driver.turn(secret, "pw-"+secret)
	driver.turn("more", "got-more")
	if got := driver.plainText(); !strings.HasSuffix(got, "Password:\npw-[REDACTED]\ngot-more") {
		t.Errorf("what was asked for: %q", got)
	}
	if got := other.plainText(); !strings.HasSuffix(got, "here [REDACTED]") {
		t.Errorf("in another session: %q", got)
	}
	driver.turn("ask", "Password:")
	driver.turn("admin", "pw-admin") // a word: it is hidden in its own session, and in no other
	if got := driver.plainText(); !strings.HasSuffix(got, "pw-[REDACTED]") {
		t.Errorf("a word that was asked for: %q", got)
	}
	if got := other.plainText(); !strings.HasPrefix(got, before) {
		t.Errorf("a word that was asked for elsewhere: %q", got)
	}
	s.call("session.close", map[string]any{"session": driver.ID}, nil)
	if got := other.plainText(); !strings.HasSuffix(got, "here "+secret) {
		t.Errorf("when the session is gone: %q", got)
	}
}

// TestEchoOffSecretAndPlain: all that is typed with echo off is a secret, or nothing is.
func TestEchoOffSecretAndPlain(t *testing.T) {
	t.Parallel()
	s := start(t)
	for kind, want := range map[string]string{
		"secret": "ready\ngot-[REDACTED]\ngot-[REDACTED]\ngot-[REDACTED]",
		"plain":  "ready\ngot-one plain\ngot-two plain\ngot-three plain",
		"ask":    "ready\ngot-one ask\ngot-two ask\ngot-three ask",
	} {
		b := s.with(client.Config{Program: "sh", Args: []string{"-c", quietLoop}, EchoOff: kind})
		b.wait(client.Text("ready"))
		for _, n := range []string{"one ", "two ", "three "} {
			b.turn(n+kind, "got-"+n+kind)
		}
		if got := b.plainText(); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	s.refused(-32602, "invalid_params", "session.create", map[string]any{"program": "sh", "echo_off": "maybe"})
}

// TestQuestionOnASmallScreen: a question of which the beginning has left the screen is a question
// still.
func TestQuestionOnASmallScreen(t *testing.T) {
	t.Parallel()
	s := start(t)
	const script = `stty -echo; printf 'Password: '; read -r p; printf '\nOnce more: '; read -r q; printf '\nit was %s\n' "$p"; exec cat`
	for _, size := range [][2]int{{24, 80}, {1, 11}, {2, 4}} {
		word := fmt.Sprintf("lavender hill %d", size[0]) // no secret by its shape, and each time another
		b := s.with(client.Config{Program: "sh", Args: []string{"-c", script}, Rows: size[0], Cols: size[1]})
		for _, prompt := range []string{"Password: ", "more: "} { // echo is off all the time, which alone would be a habit
			b.wait(client.Output(prompt))
			awaitSecret(b)
			b.text(word + "\n")
		}
		b.wait(client.Output("it was "))
		b.wait(client.Output(word))
		text, err := b.Transcript(s.ctx)
		if err != nil || strings.Contains(text, word) || !strings.Contains(text, "it was ") {
			t.Errorf("%d rows of %d: %q, %v", size[0], size[1], text, err)
		}
	}
}

// TestEchoOffFromTheShell: the command line says it, too.
func TestEchoOffFromTheShell(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	for kind, want := range map[string]string{"secret": "ready\ngot-[REDACTED]", "plain": "ready\ngot-one plain"} {
		id := s.ok("spawn", "--echo-off", kind, "--", "sh", "-c", quietLoop)
		s.ok("wait", id, "--text", "ready")
		s.ok("wait", id, "--since", s.ok("send", id, "one "+kind, "--enter"), "--text", "got-one "+kind)
		if got := s.ok("read", id); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	s.fails(2, `--echo-off: "maybe": give ask, secret or plain`, "spawn", "--echo-off", "maybe", "--", "sh")
}

// TestTypedLinesPushOutNoKey: however many lines are typed, what a session was given in its
// environment stays hidden, there and elsewhere; so do the newest lines, and what was typed in
// another session where that asked for it.
func TestTypedLinesPushOutNoKey(t *testing.T) {
	t.Parallel()
	s := start(t)
	const key, typed = "tok-3f9a77b1c2-zz", "incorrect-donkey-coal"
	var lines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&lines, "line-%04d\n", i)
	}
	for _, kind := range []string{"ask", "secret"} {
		b := s.with(client.Config{Program: "sh", Args: []string{"-c", quietLoop}, EchoOff: kind, Env: map[string]string{"API_TOKEN": key}})
		other := s.sh("echo here " + key + "; stty -echo; printf 'Password: '; read -r p; stty echo; " +
			"echo; echo \"pw-$p\"; cat")
		other.wait(client.Text("Password:"))
		awaitSecret(other)
		other.text(typed + "\n")
		other.wait(client.Text("pw-" + typed))
		b.wait(client.Text("ready"))
		b.waitSince(b.text(lines.String()), client.Text("got-line-1999"))
		b.turn("show", "token-"+key)
		b.turn("end", "got-end")
		var past struct {
			Lines []string `json:"lines"`
		}
		s.call("session.scrollback", map[string]any{"session": b.ID, "count": 3000}, &past)
		text := strings.Join(past.Lines, "\n")
		if strings.Contains(text, key) || !strings.Contains(text, "token-[REDACTED]") {
			t.Errorf("%s: the key shows: %q", kind, text[max(0, len(text)-200):])
		}
		if hidden := !strings.Contains(text, "got-line-1999"); hidden != (kind == "secret") || !strings.Contains(text, "got-line-0000") {
			t.Errorf("%s: the newest line is hidden: %v; the oldest is not: %v", kind, hidden, strings.Contains(text, "got-line-0000"))
		}
		if got := other.plainText(); got != "here [REDACTED]\nPassword:\npw-[REDACTED]" {
			t.Errorf("%s: in another session: %q", kind, got)
		}
	}
}

// TestTooManySecrets: an environment with more secrets than are hidden is refused, by name and
// number.
func TestTooManySecrets(t *testing.T) {
	t.Parallel()
	s := start(t)
	env := map[string]string{}
	for i := range 1025 {
		env[fmt.Sprintf("API_TOKEN_%d", i)] = fmt.Sprintf("tok-%x-%x", i*7919, i)
	}
	e := s.refused(-32602, "too_many_secrets", "session.create", map[string]any{"program": "sh", "env": env})
	if !strings.Contains(e.Message, "1025 secrets") || !strings.Contains(e.Message, "1024") || !strings.Contains(string(e.Data), `"limit":1024`) {
		t.Errorf("%s %s", e.Message, e.Data)
	}
	if n := len(s.list()); n != 0 {
		t.Errorf("%d sessions", n)
	}
	delete(env, "API_TOKEN_0")
	b := s.with(client.Config{Program: "sh", Args: []string{"-c", `echo "$API_TOKEN_1 $API_TOKEN_1024"; read x`}, Env: env})
	b.wait(client.Text("-"))
	if got := b.plainText(); got != "[REDACTED] [REDACTED]" {
		t.Errorf("%q", got)
	}
}

// TestSecretsOutlastTheirSession: a recording of a session that is closed while it is written hides
// what was typed there.
func TestSecretsOutlastTheirSession(t *testing.T) {
	t.Parallel()
	s := start(t)
	dir := t.TempDir()
	b := s.sh(quietLoop)
	var rec struct{ Path string }
	s.call("session.record_start", map[string]any{"session": b.ID, "path": filepath.Join(dir, "a.cast")}, &rec)
	b.wait(client.Text("ready"))
	b.turn("ask", "Password:")
	b.text("incorrect-donkey-coal\n")
	s.call("session.close", map[string]any{"session": b.ID}, nil)
	text, err := os.ReadFile(rec.Path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "donkey") || !strings.Contains(string(text), "Password: ") {
		t.Errorf("the recording has %s", text)
	}
}

// TestShortSecretIsNowhere: what is too short to be hidden everywhere is hidden from whoever reads
// its session, in every way that there is, and from nobody else.
func TestShortSecretIsNowhere(t *testing.T) {
	t.Parallel()
	const short = "4z!7q"
	s := start(t)
	other := s.sh("echo " + short + "; cat")
	other.wait(client.Text(short))
	left := everything{asked: make(chan struct{})}
	b := s.sh(`stty -echo; printf 'PIN: '; read -r p; stty echo; echo; printf '\033]2;title %s\007' "$p"; echo "it is $p"; read -r x; echo "still $p"`)
	if err := s.Subscribe(s.ctx, left.event, b.ID); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, format := range []string{"asciicast-v2", "asciicast-v3", "markdown"} {
		s.call("session.record_start", map[string]any{"session": b.ID, "dir": dir, "format": format, "input": format != "markdown"}, nil)
	}
	b.wait(client.Text("PIN:"))
	b.text(short + "\n")
	b.wait(client.Text("it is"))
	for _, call := range []struct {
		method string
		params map[string]any
	}{
		{"session.snapshot", map[string]any{"cells": "full"}}, {"session.snapshot", map[string]any{"cells": "runs"}}, {"session.transcript", nil},
		{"session.scrollback", nil}, {"session.screenshot", map[string]any{"format": "svg"}},
		{"session.screenshot", map[string]any{"format": "ansi"}}, {"session.search", map[string]any{"text": "it is"}}, {"session.frame", nil},
		{"session.wait", map[string]any{"timeout_ms": 1, "matcher": map[string]any{"type": "contains_text", "value": "it is 4z!7r"}}},
		{"session.wait", map[string]any{"matcher": map[string]any{"type": "screen_regex", "value": "it is (.*)"}}},
		{"session.wait", map[string]any{"matcher": map[string]any{"type": "title_regex", "value": "title (.*)"}}},
	} {
		if call.params == nil {
			call.params = map[string]any{}
		}
		call.params["session"] = b.ID
		left.answer(s, call.method, call.params)
	}
	b.text("\n")
	b.exited()
	s.call("session.close", map[string]any{"session": b.ID}, nil)
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
	got := left.String()
	if i := strings.Index(got, short); i >= 0 {
		t.Errorf("it is in …%s…", got[max(0, i-200):i+20])
	}
	if n := strings.Count(got, "it is [REDACTED]"); n < 8 {
		t.Errorf("the answer is in %d places, want it in all:\n%s", n, got)
	}
	if got := other.plainText(); got != short {
		t.Errorf("another session shows %q", got)
	}
}
