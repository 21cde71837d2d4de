//go:build unix

package main

import (
	"bufio"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/ptywright/ptywright/protocol/client"
)

// relayTo is ptywright relay on a server's machine.
func relayTo(l *listener) *program {
	p := ptywright(l.t, "relay")
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(l.path))
	return p
}

// TestRelay: the relay is the server's own wire; the end of its input is passed on, and what was asked
// before it is answered, a wait too.
func TestRelay(t *testing.T) {
	t.Parallel()
	l := listen(t)
	id := l.dial().sh("read -r line; echo got $line").ID
	p := relayTo(l)
	in, out := p.StartPiped()
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"session.list"}`+"\n")
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, `"sessions":["`+id+`"]`) {
		t.Fatalf("%q, %v", line, err)
	}
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":2,"method":"session.wait","params":{"session":%q,"matcher":{"type":"contains_text","value":"got it"}}}`, id)
	in.Close()
	s := l.dial()
	s.call("session.input", obj{"session": id, "action": obj{"type": "text", "value": "it\n"}}, nil)
	rest, err := io.ReadAll(r)
	if err != nil || strings.Count(string(rest), "\n") != 1 || !strings.Contains(string(rest), `"matched":true`) {
		t.Errorf("%q, %v", rest, err)
	}
	if code := exitCodeOf(t, p.Wait()); code != 0 || p.Stderr.String() != "" {
		t.Errorf("exit %d, %q", code, p.Stderr)
	}
}

// TestRelayEnds: with 1 and words when the server goes away, and without a word when nobody reads.
func TestRelayEnds(t *testing.T) {
	t.Parallel()
	l := listen(t)
	p := relayTo(l)
	in, out := p.StartPiped()
	defer in.Close()
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"session.list"}`)
	r := bufio.NewReader(out)
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	l.program.Process.Signal(syscall.SIGTERM)
	io.Copy(io.Discard, r)
	if code := exitCodeOf(t, p.Wait()); code != 1 || !strings.Contains(p.Stderr.String(), "ended the connection") {
		t.Errorf("exit %d, %q", code, p.Stderr)
	}
}

// TestRelayStartsAServer that outlives it.
func TestRelayStartsAServer(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	run := func(input string, args ...string) (string, *program, int) {
		p := ptywright(t, args...)
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+home)
		out, code := p.Run(input)
		return out, p, code
	}
	create := `{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"program":"cat"}}`
	out, _, code := run(create, "relay")
	if code != 0 || !strings.Contains(out, `needs the right \"admin\"`) {
		t.Errorf("by default programs may be started: exit %d, %q", code, out)
	}
	out, p, code := run(create, "relay", "--rights", "admin")
	if code != 0 || !strings.Contains(out, `"session":"s1"`) {
		t.Errorf("exit %d, %q, %q", code, out, p.Stderr)
	}
	if out, _, _ := run("", "ls", "--json"); !strings.Contains(out, `"s1"`) {
		t.Errorf("the session is gone: %q", out)
	}
	run("", "kill", "--server")
	noneLeft(t, p.Mark)
}

// hub starts a server that shows other machines.
func hub(t testing.TB, hosts map[string][]string) *shared {
	t.Helper()
	return newShared(t, "--hosts", hostsFile(t, hosts))
}

// hostsFile writes a hosts.toml.
func hostsFile(t testing.TB, hosts map[string][]string) string {
	t.Helper()
	var b strings.Builder
	for name, command := range hosts {
		fmt.Fprintf(&b, "[hosts.%s]\ncommand = [", name)
		for _, word := range command {
			fmt.Fprintf(&b, "%q, ", word)
		}
		b.WriteString("]\n")
	}
	path := filepath.Join(t.TempDir(), "hosts.toml")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// relayAt is the command for the relay on a server's machine, in the words of a hub's.
func relayAt(l *listener) []string {
	self, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	return []string{"env", "PTYWRIGHT_HOME=" + filepath.Dir(l.path), self, "relay", "--rights", "admin"}
}

// TestHostsOverSSH: a machine is reached by ssh, with the real client and a server on the loopback.
// What cannot log in is told in its own words, and asks nobody for a password.
func TestHostsOverSSH(t *testing.T) {
	t.Parallel()
	need(t, "ssh", "openssh-client")
	there := listen(t)
	address, key := sshExec(t)
	options := []string{"ssh", "-F", "/dev/null", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
		"-o", "LogLevel=ERROR", "-p", fmt.Sprint(address.Port)}
	relay := append(append([]string{}, "somebody@127.0.0.1"), relayAt(there)...)
	good := append(append(append([]string{}, options...), "-i", key, "-o", "IdentitiesOnly=yes"), relay...)
	asks := append(append(append([]string{}, options...), "-o", "PubkeyAuthentication=no"), relay...)
	s := hub(t, map[string][]string{"web-3": good, "asks": asks})
	if id := s.ok("spawn", "--host", "web-3", "--", "sh", "-c", "read -r line; echo got $line"); id != "web-3/s1" {
		t.Fatalf("the id is %q", id)
	}
	s.ok("send", "web-3/s1", "through ssh", "--enter")
	s.ok("wait", "web-3/s1", "--text", "got through ssh")
	if got := there.dial().list(); len(got) != 1 {
		t.Errorf("the machine itself has %v", got)
	}
	s.fails(1, "use a key and an agent", "read", "asks/s1")
}

// TestAttachAtAnotherHost: a person watches, types and gives back, as in a session of this machine.
func TestAttachAtAnotherHost(t *testing.T) {
	t.Parallel()
	there, outer := listen(t), start(t)
	s := hub(t, map[string][]string{"web-3": relayAt(there)})
	inner := there.dial().create("cat")
	a := s.attach(outer, 24, 80, "web-3/"+inner.ID)
	inner.text("by another\n")
	a.wait(client.Regexp(`^by another\nby another\n`))
	a.text("\x1cw")
	a.wait(client.Text("you write"))
	a.text("typed\r")
	a.wait(client.Regexp(`(?m)^typed\ntyped$`))
	inner.server.refused(-32004, "session_leased", "session.input", obj{"session": inner.ID, "action": obj{"type": "text", "value": "x"}})
	a.text("\x1cw")
	a.wait(client.Text("given back"))
	a.text("\x1c\x1c")
	a.exited()
}

// TestWatchAtAnotherHost: the page shows the sessions of two machines, live, and types into them.
func TestWatchAtAnotherHost(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	one, two := listen(t), listen(t)
	w := watchedWith(t, []string{"--hosts", hostsFile(t, map[string][]string{"web-3": relayAt(one), "db-1": relayAt(two)})})
	first, second := one.dial().create("cat"), two.dial().create("cat")
	p := b.open(w.address)
	p.until(`document.querySelectorAll('.tile').length === 2`)
	first.text("of the first\n")
	p.until(`[...document.querySelectorAll('.tile .screen')].some((s) => s.textContent.includes('of the first'))`)
	p.click(`.tile[href="#/session/db-1%2F` + second.ID + `"]`)
	p.until(`document.querySelector('#term-take').textContent === 'Take over' && !document.querySelector('#term-take').disabled`)
	p.click("#term-take")
	p.until(`document.querySelector('#term-take').textContent === 'Release'`)
	p.until(`document.activeElement.id === 'term-input'`)
	p.write("typed on the page")
	p.key("Enter", "Enter", 0, "\r")
	p.until(screenText + ` === 'typed on the page\ntyped on the page'`)
	if got := second.snapshot("none").PlainText; got != "typed on the page\ntyped on the page" {
		t.Errorf("the session shows %q", got)
	}
	p.shot("another-host")
}

// sshExec serves commands on the loopback to who has the key, until the test ends.
func sshExec(t *testing.T) (address *net.TCPAddr, keyFile string) {
	t.Helper()
	newKey := func() ssh.Signer {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := ssh.NewSignerFromKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if keyFile == "" {
			block, err := ssh.MarshalPrivateKey(key, "")
			if err != nil {
				t.Fatal(err)
			}
			keyFile = filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(keyFile, pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return signer
	}
	known := newKey().PublicKey()
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			if string(k.Marshal()) != string(known.Marshal()) {
				return nil, fmt.Errorf("another key")
			}
			return nil, nil
		},
		PasswordCallback: func(_ ssh.ConnMetadata, p []byte) (*ssh.Permissions, error) {
			if len(p) > 0 { // without a terminal to ask on, ssh gives the empty one
				t.Error("somebody was asked for a password")
			}
			return nil, fmt.Errorf("wrong")
		},
	}
	config.AddHostKey(newKey())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			serving.Go(func() { runCommands(c, config) })
		}
	})
	return l.Addr().(*net.TCPAddr), keyFile
}

// runCommands serves one connection, as sshd does: each command is run by a shell.
func runCommands(c net.Conn, config *ssh.ServerConfig) {
	defer c.Close()
	conn, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	defer conn.Close()
	go ssh.DiscardRequests(requests) // ends with the connection
	var running sync.WaitGroup
	defer running.Wait()
	for n := range channels {
		ch, asked, err := n.Accept()
		if err != nil {
			return
		}
		running.Go(func() {
			defer ch.Close()
			for r := range asked {
				if r.Type != "exec" {
					r.Reply(false, nil)
					continue
				}
				r.Reply(true, nil)
				cmd := exec.Command("sh", "-c", string(r.Payload[4:])) // a length goes before it
				cmd.Env = append(os.Environ(), asProgram+"=ssh")       // this test binary is ptywright there
				cmd.Stdout, cmd.Stderr = ch, ch.Stderr()
				in, err := cmd.StdinPipe()
				if err != nil || cmd.Start() != nil {
					return
				}
				go func() { // ends with the channel
					io.Copy(in, ch)
					in.Close()
				}()
				cmd.Wait()
				ch.SendRequest("exit-status", false, []byte{0, 0, 0, byte(cmd.ProcessState.ExitCode())})
				return
			}
		})
	}
}

// TestHostsOutliveTheHub: a hub that is killed leaves the sessions of its hosts as they are, and the
// next hub has them again.
func TestHostsOutliveTheHub(t *testing.T) {
	t.Parallel()
	there := listen(t)
	hosts := map[string][]string{"web-3": relayAt(there)}
	first := hub(t, hosts)
	id := first.ok("spawn", "--host", "web-3", "--", "cat")
	first.ok("send", id, "kept", "--enter")
	first.ok("wait", id, "--text", "kept")
	second := hub(t, hosts)
	if got := second.ok("read", id); !strings.Contains(got, "kept") {
		t.Errorf("it shows %q", got)
	}
}

// TestAServerOfAHostThatIsKilled: what waits there is told that the session has ended, and the server
// that is started in its place serves.
func TestAServerOfAHostThatIsKilled(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	there := &listener{path: filepath.Join(home, "socket"), t: t}
	s := hub(t, map[string][]string{"web-3": relayAt(there)})
	kill := func() {
		p := ptywright(t, "kill", "--server")
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+home)
		if out, code := p.Run(""); code != 0 {
			t.Errorf("kill --server: %d, %s%s", code, out, p.Stderr)
		}
	}
	c := s.dial()
	var made struct{ Session string }
	c.call("session.create", obj{"program": "cat", "host": "web-3"}, &made)
	answers := make(chan error, 1)
	go func() {
		answers <- c.Call(c.ctx, "session.wait", obj{"session": made.Session, "matcher": obj{"type": "contains_text", "value": "never"}, "since": 0}, nil)
	}()
	c.call("session.list", obj{"host": "web-3"}, nil)
	kill()
	err := <-answers
	var e *client.Error
	if !errors.As(err, &e) || e.Reason != "server_lost" && e.Reason != "cancelled" && e.Reason != "shutting_down" && e.Reason != "session_closed" {
		t.Errorf("the wait ends with %v", err)
	}
	other := s.dial()
	other.call("session.create", obj{"program": "cat", "host": "web-3"}, &made)
	if made.Session != "web-3/s1" {
		t.Errorf("the new session is %s", made.Session)
	}
	kill()
}
