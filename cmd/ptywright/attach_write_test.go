//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/protocol/client"
)

// Two persons look at one session; one writes, then the other takes over, and both see who it is.
func TestAttachHandsOver(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	s := l.dial().sized(24, 100, "cat")
	a := l.attach(outer, 24, 100, "--write", "--as", "Ada\x1b[31m", s.ID)
	b := l.attach(outer, 24, 100)
	b.wait(client.Regexp(`read-only, Ada.* writes since \d\d:\d\d:\d\d`))
	b.text("x")
	b.wait(client.Regexp(`read-only: Ada.* has the session since \d\d:\d\d:\d\d; Ctrl-\\ t takes it`))
	b.text("\x1c") // which covers that
	b.wait(client.Text("d detach"))
	b.text("w") // without taking it over
	b.wait(client.Regexp(`Ada.* has the session`))
	a.text("by Ada\r")
	b.wait(client.Regexp(`^by Ada\nby Ada\n`))
	b.text("\x1ct")
	b.wait(client.Text("you write"))
	a.wait(client.Regexp(`has taken the session: read-only now`))
	a.text("lost\r")
	a.wait(client.Regexp(`read-only: .* has the session`))
	b.text("by Bea\r")
	a.wait(client.Regexp(`by Bea\nby Bea\n`))
	if got := s.snapshot("none").PlainText; got != "by Ada\nby Ada\nby Bea\nby Bea" {
		t.Errorf("the session shows %q", got)
	}
	c := l.attach(outer, 24, 100, "--take", "--as", "Cid")
	b.wait(client.Text("Cid has taken the session"))
	c.text("\x1cd")
	c.exited()
	if f := s.frame(nil); f.Lease != nil {
		t.Errorf("after the detach %+v has the session", f.Lease)
	}
	a.text("\x1cwagain\r") // what is typed behind the key waits for the answer to it
	b.wait(client.Regexp(`again\nagain`))
	a.server.call("session.kill", map[string]string{"session": a.ID}, nil) // whose terminal goes away
	b.wait(client.Regexp(`read-only  Ctrl`))
}

func TestAttachWhoseServerIsKilled(t *testing.T) {
	t.Parallel()
	outer := start(t)
	l := listenProgram(t, ptywright(t, "serve"), t.TempDir()+"/home")
	s := l.dial().create("cat")
	a := l.attach(outer, 24, 80, "--write", s.ID)
	b := l.attach(outer, 24, 80)
	l.program.Process.Kill()
	l.program.Wait()
	for _, x := range []*session{a, b} {
		if got := x.exited(); got != "exit 1" {
			t.Errorf("attach ended with %s", got)
		}
		if v := x.snapshot("none"); v.AlternateScreen || !strings.Contains(v.PlainText, "the connection to the server is lost") {
			t.Errorf("the terminal shows %q", v.PlainText)
		}
	}
}

// A server that answers nothing keeps nobody: not who asks for the session, nor who has it and has
// typed.
func TestAttachDetachesFromAHungServer(t *testing.T) {
	t.Parallel()
	outer := start(t)
	l := listenProgram(t, ptywright(t, "serve"), t.TempDir()+"/home")
	s := l.dial().create("cat")
	a := l.attach(outer, 24, 100, "--write", s.ID)
	b := l.attach(outer, 24, 100)
	b.wait(client.Text("read-only"))
	process := l.program.Process
	programtest.Stop(t, process.Pid)
	defer func() {
		process.Signal(syscall.SIGCONT)
		l.end()
	}()
	b.text("\x1ctheld back\r")
	b.wait(client.Output("has not answered yet")) // what is typed next may be drawn over it at once
	a.text("not answered\r\x1cw")
	for _, x := range []*session{a, b} {
		x.text("\x1cd")
		if got := x.exited(); got != "exit 0" {
			t.Errorf("attach ended with %s", got)
		}
	}
}

// What a terminal sends reaches the program as the terminal of the session would send it.
func TestAttachPassesInputThrough(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	inner := l.dial()
	s := inner.sized(10, 40, "sh", "-c", `stty raw -echo; printf '\033[?1002;1006h\033[?1004h\033[?2004hready\r\n'; cat -v`)
	s.wait(client.Text("ready"))
	a := l.attach(outer, 20, 60, "--write", s.ID)
	for f := a.frame(nil); f.Modes["mouse"] != "drag"; f = a.frame(f) {
	}
	want := "ready\n"
	expect := func(more string) {
		t.Helper()
		want += more
		flat := strings.ReplaceAll(want[len("ready\n"):], "\n", "")
		s.wait(client.Output(regexp.QuoteMeta(flat) + `$`))
	}
	mouse := func(row, col int, button, action string, mods ...string) {
		t.Helper()
		value := map[string]any{"row": row, "col": col, "button": button, "action": action}
		if mods != nil {
			value["mods"] = mods
		}
		if _, err := a.Do(outer.ctx, client.Action{Type: "mouse", Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	mouse(2, 4, "left", "press")
	expect("^[[<0;5;3M")
	mouse(2, 5, "left", "move", "shift")
	expect("^[[<36;6;3M")
	mouse(19, 59, "left", "release") // beyond the session: at its edge
	expect("^[[<0;40;10m")
	mouse(19, 59, "left", "press") // and no press there
	mouse(0, 0, "wheel_down", "press", "ctrl")
	expect("^[[<81;1;1M")
	a.keys("up", "alt+x", "escape")
	expect("^[[A^[x^[")
	a.text("\x1b[I")
	expect("^[[I")
	if _, err := a.Do(outer.ctx, client.Action{Type: "bracketed_paste", Value: "one, two ü 日"}); err != nil {
		t.Fatal(err)
	}
	expect("^[[200~one, two M-CM-< M-fM-^WM-%^[[201~")
	a.text("\x1b[200~\x1cd\x1b[201~") // the detach key in a paste is text
	expect(`^[[200~^\d^[[201~`)
	a.text("\x1cs")
	expect(`^\`)
}

// A large paste arrives whole and in order, whatever size it is cut into.
func TestAttachTakesALargePaste(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	s := l.dial().sh(`stty raw -echo; echo ready; head -c 600000 | cksum; sleep 1000`)
	s.wait(client.Text("ready"))
	a := l.attach(outer, 24, 80, "--write", s.ID)
	var b strings.Builder
	for b.Len() < 600000 {
		fmt.Fprintf(&b, "line %d of the paste\r", b.Len())
	}
	text := b.String()[:600000]
	for i := 0; i < len(text); i += 50_000 {
		a.text(text[i : i+50_000])
	}
	p := programOf(t, exec.Command("cksum"))
	sum, _ := p.Run(text)
	s.wait(client.Text(strings.TrimSpace(sum)))
}

// A writer that resizes gives the session its terminal's size, follows it, and puts it back; one
// that does not resize, does not.
func TestAttachResizes(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	inner := l.dial()
	s := inner.sized(24, 80, "sh", "-c", `trap 'stty size' WINCH; echo ready; while :; do sleep 1000 & wait $!; kill $!; done`)
	s.wait(client.Text("ready"))
	size := func(rows, cols int) {
		t.Helper()
		if got := s.snapshot("none").Size; got.Rows != rows || got.Cols != cols {
			t.Fatalf("the session has %d rows and %d columns, want %d and %d", got.Rows, got.Cols, rows, cols)
		}
	}
	plain := l.attach(outer, 30, 100, "--write", s.ID)
	plain.resize(40, 120)
	plain.shows(s, 0, 0)
	size(24, 80)
	plain.text("\x1cd")
	plain.exited()

	a := l.attach(outer, 30, 100, "--write", "--resize", s.ID)
	s.wait(client.Text("30 100"))
	a.shows(s, 0, 0)
	a.resize(21, 60)
	s.wait(client.Text("20 60"))
	a.shows(s, 0, 0)
	size(20, 60)
	for i := range 5 { // there and back, faster than the session is told
		a.resize(31+i, 90)
		a.resize(21, 60)
	}
	a.text("x")
	s.wait(client.Text("x"))
	for f := s.frame(nil); f.Size.Rows != 20 || f.Size.Cols != 60; f = s.frame(f) {
	}
	a.shows(s, 0, 0)
	a.text("\x1cd")
	a.exited()
	size(24, 80)
	s.wait(client.Text("24 80"))

	// One that is killed outright can put nothing back: the server does.
	b := l.attach(outer, 28, 90, "--write", "--resize", s.ID)
	s.wait(client.Text("28 90"))
	if _, err := b.Do(outer.ctx, client.Action{Type: "signal", Value: "kill"}); err != nil {
		t.Fatal(err)
	}
	for f := s.frame(nil); f.Size.Rows != 24 || f.Size.Cols != 80 || f.Lease != nil; f = s.frame(f) {
	}
}

// A narrow terminal still shows what matters: the name of the client that types, and how to take
// the session over.
func TestAttachFitsANarrowTerminal(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	s := l.dial().sized(5, 30, "cat")
	a := l.attach(outer, 9, 40, s.ID)
	if got := a.snapshot("none").Lines[9]; !strings.Contains(got, "read-only") || !strings.Contains(got, `Ctrl-\ for keys`) {
		t.Errorf("looking on: %q", got)
	}
	a.text("\x1cw")
	a.wait(client.Text(`you write, Ctrl-\ for keys`))
	b := l.attach(outer, 9, 40, s.ID)
	b.wait(client.Regexp(`(?m)^ s1  .*cat  \S+ writes  Ctrl-\\ keys`))
	holder := func() string { return s.frame(nil).Lease.Holder }
	first := holder()
	b.text("x")
	b.wait(client.Regexp(`(?m)^ .*\S+ has it: Ctrl-\\ t takes it$`))
	b.text("\x1c")
	b.wait(client.Regexp(`(?m)^ d detach  w write  t take  z suspend\n arrows move  l redraw$`)) // all of them
	b.text("t")
	a.wait(client.Regexp(`(?m)^ .*\S+ took it: Ctrl-\\ t takes it back$`))
	if second := holder(); second == first || !strings.Contains(second, "@") {
		t.Errorf("two terminals are %q and %q", first, second)
	}
	b.text("\x04") // the end of cat
	a.wait(client.Regexp(`(?m)^ ended with exit code 0: any key leaves$`))
	a.text("x")
	b.text("x")
	a.exited()
}

// A shell's job is suspended and goes on.
func TestAttachIsSuspended(t *testing.T) {
	t.Parallel()
	need(t, "bash", "bash")
	l, outer := listen(t), start(t)
	s := l.dial().create("cat")
	s.text("something\n")
	self, _ := os.Executable()
	sh := outer.with(client.Config{Program: "bash", Args: []string{"--norc", "--noprofile", "-i"}, Env: map[string]string{"PS1": "$ ", "HISTFILE": ""}})
	sh.wait(client.Regexp(`^\$$`))
	sh.waitSince(sh.text(self+" attach --write --socket "+l.path+" "+s.ID+"\n"), client.Text("Ctrl-\\ for keys"))
	for range 2 {
		m := sh.waitSince(sh.text("\x1cz"), client.Regexp(`(?s)s1 is given back until attach goes on.*Stopped.*\n\$$`))
		if m.Screen.AlternateScreen {
			t.Error("a suspended attach has left the alternate screen on")
		}
		if f := s.frame(nil); f.Lease != nil { // nobody waits for who is away
			t.Errorf("a suspended attach has the session: %+v", f.Lease)
		}
		sh.waitSince(sh.text("echo a$((6*7))b\n"), client.Regexp(`(?m)^a42b\n\$$`))
		sh.waitSince(sh.text("fg\n"), client.Regexp(`^something\nsomething\n(?s:.*)Ctrl-\\ for keys`))
	}
	sh.text("typed\r")
	s.wait(client.Text("typed"))
	sh.waitSince(sh.text("\x1cz"), client.Regexp(`(?s)Stopped.*\n\$$`))
	s.server.call("session.lease", map[string]any{"session": s.ID, "holder": "Bea"}, nil) // who came meanwhile keeps it
	sh.waitSince(sh.text("fg\n"), client.Regexp(`read-only: Bea has the session since \S+; Ctrl-\\ t takes it`))
	sh.waitSince(sh.text("\x1cd"), client.Regexp(`detached from s1\]\n\$$`))
}

// While a program floods its session, attach shows what there is, and the keys still work.
func TestAttachToAFlood(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	s := l.dial().sh(`i=0; trap 'echo "the end"; exec sleep 1000' INT; while :; do echo "line $i of a flood that goes on"; i=$((i+1)); done`)
	a := l.attach(outer, 24, 80, "--write", s.ID)
	a.wait(client.Regexp(`line \d{4,} of`))
	first := a.frame(nil)
	for range 20 { // it goes on
		first = a.frame(first)
	}
	a.text("\x03")
	a.wait(client.Text("the end"))
	a.shows(s, 0, 0)
	a.text("\x1cd")
	if got := a.exited(); got != "exit 0" {
		t.Errorf("attach ended with %s", got)
	}
}

// A password typed through attach is hidden from then on, as one typed by any client; the bell is
// heard.
func TestAttachHidesWhatASecretIs(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	inner := l.dial()
	s := inner.sh(`stty -echo; printf 'Password: '; read -r x; stty echo; printf '\ngot %s\a\n' "$x"; sleep 1000`)
	s.wait(client.Text("Password:"))
	a := l.attached(outer, 24, 80, "--write", "--detach-key", "ctrl+a", s.ID)
	a.wait(client.Text("a secret is asked for"))
	for _, key := range []string{"h", "u", "n", "t", "e", "r", "-", "2", "2"} {
		a.keys(key)
	}
	a.waitSince(a.keys("enter"), client.All(client.Regexp(`(?m)^got \[REDACTED\]`), client.Matcher{Type: "bell"}))
	raw := l.attach(outer, 24, 80, "--no-redact", s.ID)
	raw.wait(client.Text("got hunter-22"))
	raw.text("\x1cd")
	raw.exited()
	a.keys("ctrl+a", "d")
	if got := a.exited(); got != "exit 0" {
		t.Errorf("attach ended with %s", got)
	}
}

// A terminal that takes nothing does not keep attach from ending when it is told to, nor is it left
// raw.
func TestAttachEndsWhenItsTerminalIsStuck(t *testing.T) {
	t.Parallel()
	l := listen(t)
	s := l.dial().sized(200, 500, "sh", "-c", `yes 0123456789 | tr -d '\n' | head -c 99999; sleep 1000`)
	s.wait(cursorAt(199, 499))
	p := ptywright(t, "attach", "--socket", l.path, s.ID)
	term, err := pty.Start(pty.Command{Path: p.Path, Args: p.Args[1:], Env: p.Env, Size: pty.Size{Rows: 201, Cols: 500}})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if _, err := term.Next(); err != nil { // it has begun, and goes on with 100 KB that nobody reads
		t.Fatal(err)
	}
	if err := term.Signal(pty.SignalTerm); err != nil {
		t.Fatal(err)
	}
	if e := term.Wait(); e.Code != 143 {
		t.Errorf("attach ended with %+v", e)
	}
	if mode, err := term.LineMode(); err != nil || !mode.Canonical {
		t.Errorf("the terminal is left as %+v: %v", mode, err)
	}
}
