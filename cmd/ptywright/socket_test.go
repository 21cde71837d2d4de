//go:build unix

package main

import (
	"bufio"
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// A listener is a server on a socket.
type listener struct {
	program *program
	path    string
	t       testing.TB
}

// listen starts a server on the default socket of a fresh home and returns when it listens. At the
// test's end it gets SIGTERM, must exit with 0 and leave neither socket nor process.
func listen(t testing.TB, flags ...string) *listener {
	t.Helper()
	return listenWith(t, "", flags...)
}

// listenWith is listen with a variable in the server's environment.
func listenWith(t testing.TB, env string, flags ...string) *listener {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	p := ptywright(t, append([]string{"serve"}, flags...)...)
	if env != "" {
		p.Env = append(p.Env, env)
	}
	l := listenProgram(t, p, home)
	t.Cleanup(func() { l.end() })
	return l
}

// dial connects.
func (l *listener) dial() *server {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	c, err := client.Dial(ctx, l.path)
	if err != nil {
		cancel()
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		c.Close()
		cancel()
	})
	return &server{Client: c, program: l.program, t: l.t, ctx: ctx}
}

// launchListener starts p with home for its default socket, and returns what it says first on
// standard error.
func launchListener(t testing.TB, p *program, home string) (l *listener, first string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+home)
	p.Cmd.Stderr = w
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(r)
	first, _ = in.ReadString('\n') // at the end of the file there is no line
	go func() {
		defer r.Close()
		in.WriteTo(p.Stderr)
	}()
	return &listener{program: p, path: filepath.Join(home, "socket"), t: t}, first
}

func listenProgram(t testing.TB, p *program, home string) *listener {
	t.Helper()
	l, first := launchListener(t, p, home)
	if want := "ptywright: serving on " + l.path + " (override with --socket)\n"; first != want {
		t.Fatalf("the server says %q", first)
	}
	return l
}

// end ends the server.
func (l *listener) end() {
	l.t.Helper()
	l.program.Process.Signal(syscall.SIGTERM)
	defer time.AfterFunc(hang, func() { l.program.Process.Kill() }).Stop()
	if code := exitCodeOf(l.t, l.program.Wait()); code != 0 {
		l.t.Errorf("exit %d: %s", code, l.program.Stderr)
	}
	for _, path := range []string{l.path, l.path + ".lock"} {
		if _, err := os.Lstat(path); err == nil {
			l.t.Errorf("%s is left", path)
		}
	}
	noneLeft(l.t, l.program.Mark)
}

func TestSocketIsShared(t *testing.T) {
	t.Parallel()
	l := listen(t)
	one := l.dial()
	c := one.create("cat")
	c.text("from one\n")
	one.Close()
	two := l.dial()
	if all := two.list(); len(all) != 1 || all[0].Session != c.ID {
		t.Fatalf("sessions %+v", all)
	}
	seen := &session{two.Session(c.ID), two, t}
	seen.wait(client.Text("from one"))
	for path, want := range map[string]fs.FileMode{l.path: fs.ModeSocket | 0o600, filepath.Dir(l.path): fs.ModeDir | 0o700} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
	}
	// A terminal's hang-up is not the end of a server of many.
	l.program.Process.Signal(syscall.SIGHUP)
	seen.waitSince(seen.text("still\n"), client.Text("still"))
}

// A server says when it listens, so that whoever started it need not try.
func TestSocketOfOnesChoice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "mine") // its folder is made
	l, first := launchListener(t, ptywright(t, "serve", "--socket", path), t.TempDir())
	if first != "ptywright: serving on "+path+"\n" {
		t.Fatalf("the server says %q", first)
	}
	l.path = path
	l.dial().create("true").exited()
	l.end()
}

// Of servers that start at once for one socket, one gets it; the others say so and exit with 1.
func TestServersRacingForOneSocket(t *testing.T) {
	t.Parallel()
	for range times(3, 50) {
		home := filepath.Join(t.TempDir(), "home")
		var mu sync.Mutex
		var winners []*listener
		var wg sync.WaitGroup
		for range 6 {
			p := ptywright(t, "serve")
			wg.Go(func() {
				l, first := launchListener(t, p, home)
				if strings.Contains(first, "serving on") {
					mu.Lock()
					defer mu.Unlock()
					winners = append(winners, l)
					return
				}
				if code := exitCodeOf(t, p.Wait()); code != 1 || !strings.Contains(first, "a server is already listening there") {
					t.Errorf("exit %d: %q", code, first)
				}
			})
		}
		wg.Wait()
		if len(winners) != 1 {
			t.Fatalf("%d servers serve", len(winners))
		}
		winners[0].dial().create("true").exited()
		winners[0].end()
	}
}

func TestSocketOfAKilledServerIsTakenOver(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	first := listenProgram(t, ptywright(t, "serve"), home)
	first.program.Process.Kill()
	first.program.Wait()
	if _, err := os.Lstat(first.path); err != nil {
		t.Fatalf("a killed server has removed its socket: %v", err)
	}
	second := listenProgram(t, ptywright(t, "serve"), home)
	second.dial().create("true").exited()

	// A live one is not replaced.
	third, says := launchListener(t, ptywright(t, "serve"), home)
	if code := exitCodeOf(t, third.program.Wait()); code != 1 || !strings.Contains(says, "already listening") {
		t.Errorf("exit %d: %q", code, says)
	}
	second.dial().create("true").exited()
	second.end()
}

func TestPathsThatNoSocketIsMadeAt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open")
	os.Mkdir(open, 0o700)
	if err := os.Chmod(open, 0o770); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, says string }{
		{file, "not a socket"},
		{dir, "not a socket"},
		{filepath.Join(open, "socket"), "not safe"},
		{filepath.Join(link, "socket"), "symbolic link"},
		{filepath.Join(file, "socket"), "not a folder"},
		{filepath.Join(dir, strings.Repeat("x", 120)), "at most"},
		{"/tmp/ptywright-test-socket", "not safe"},
	} {
		p := ptywright(t, "serve", "--socket", test.path)
		if _, code := p.Run(""); code != 1 || !strings.Contains(p.Stderr.String(), test.says) {
			t.Errorf("%s: exit %d: %s", test.path, code, p.Stderr)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "precious" {
		t.Errorf("the file has %q: %v", got, err)
	}
}

// Clients that come and go, some in the middle of a message, cost nothing.
func TestClientsThatVanish(t *testing.T) {
	t.Parallel()
	l := listen(t)
	one := l.dial()
	c := one.create("cat")
	for _, text := range []string{
		"", "{", `{"jsonrpc":"2.0","id":1,"method":"session.wait","params":{"session":"s1","matcher":{"type":"process_exited"}}}` + "\n",
		`{"jsonrpc":"2.0","id":1,"method":"server.set_notifications","params":{"enabled":true}}` + "\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		conn, err := net.Dial("unix", l.path)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write([]byte(text))
		conn.Close()
		c.waitSince(c.text("line\n"), client.Text("line"))
	}
}
