//go:build unix

package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/doctor"
)

// A homely runs commands in a home where no server runs yet.
type homely struct {
	t    *testing.T
	home string
}

func newHome(t *testing.T, config string) homely {
	t.Helper()
	h := homely{t, filepath.Join(t.TempDir(), "home")}
	if err := os.Mkdir(h.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// run runs a command with more variables. What it starts in the background carries its mark.
func (h homely) run(env []string, args ...string) (p *program, out string, code int) {
	h.t.Helper()
	p = ptywright(h.t, args...)
	p.Env = append(append(p.Env, "PTYWRIGHT_HOME="+h.home, "PTYWRIGHT_CONFIG="), env...)
	out, code = p.Run("")
	return p, out, code
}

// TestServerThatCannotOpenADoorIsNotStarted: who starts it learns that, and why, and nothing is
// left.
func TestServerThatCannotOpenADoorIsNotStarted(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	addr := busy.Addr().String()
	for config, says := range map[string]string{
		"[mcp]\nhttp = '" + addr + "'\n":                               "serve MCP over HTTP: listen tcp " + addr + ": bind: address already in use; choose another address",
		"unterm.enabled = true\nunterm.root = '/proc/there/is/none'\n": "serve Unterm's methods: ",
	} {
		h := newHome(t, config)
		for range 3 { // it was a race
			p, out, code := h.run(nil, "spawn", "--", "sleep", "1000")
			if said := p.Stderr.String(); code != 1 || out != "" || !strings.Contains(said, "it ended at once") || !strings.Contains(said, says) {
				t.Errorf("%s: exit %d, %q, %q", config, code, out, said)
			}
			noneLeft(t, p.Mark)
		}
		if strings.Contains(config, addr) {
			if f := findings(t, 1, h.home)["mcp http"]; f.State != doctor.Broken || !strings.Contains(f.Found, "address already in use") || !strings.Contains(f.Advice, "no server starts") {
				t.Errorf("%+v", f)
			}
		}
		left, err := os.ReadDir(h.home)
		if err != nil || len(left) != 1 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// TestAddressThatIsNotOurs is refused where it is set, before anything is started.
func TestAddressThatIsNotOurs(t *testing.T) {
	t.Parallel()
	const says = "config.toml, line 2, mcp.http: give an address of this machine's own with a port, such as 127.0.0.1:8123"
	for _, addr := range []string{"0.0.0.0:8123", "127.0.0.1", "example.org:80", "127.0.0.1:99999", ":8123"} {
		h := newHome(t, "[mcp]\nhttp = '"+addr+"'\n")
		for _, args := range [][]string{{"config"}, {"spawn", "--", "true"}} {
			if p, _, code := h.run(nil, args...); code != 2 || !strings.Contains(p.Stderr.String(), says) {
				t.Errorf("%s, %q: exit %d, %s", addr, args, code, p.Stderr)
			}
		}
		if addr != "0.0.0.0:8123" {
			continue
		}
		if f := findings(t, 1, h.home)["config"]; f.State != doctor.Broken || !strings.Contains(f.Found, says) {
			t.Errorf("%+v", f)
		}
	}
}

// TestTokenThatIsMadeIsInNoLog: a server in the background keeps it in a file as long as it runs.
func TestTokenThatIsMadeIsInNoLog(t *testing.T) {
	t.Parallel()
	h := newHome(t, "[mcp]\nhttp = '127.0.0.1:0'\n")
	p, out, code := h.run([]string{"PTYWRIGHT_MCP_TOKEN="}, "spawn", "--", "cat")
	if code != 0 || out != "s1\n" {
		t.Fatalf("exit %d, %q, %s", code, out, p.Stderr)
	}
	defer noneLeft(t, p.Mark)
	path := filepath.Join(h.home, "socket.mcp-token")
	token, err := os.ReadFile(path)
	if err != nil || !regexp.MustCompile(`^[A-Z2-7]{26}\n$`).Match(token) {
		t.Errorf("%q, %v", token, err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	log, err := os.ReadFile(filepath.Join(h.home, "socket.log"))
	said := regexp.MustCompile(`(?m)^ptywright: serving MCP on (http://127\.0\.0\.1:\d+)/mcp with the bearer token in (.+)$`).FindSubmatch(log)
	if err != nil || said == nil || string(said[2]) != path || strings.Contains(string(log), strings.TrimSpace(string(token))) {
		t.Fatalf("the log: %q, %v", log, err)
	}
	for given, want := range map[string]int{strings.TrimSpace(string(token)): 200, "another": 401} {
		q, err := http.NewRequest("GET", string(said[1])+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := bearer(given).RoundTrip(q)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("status %d, expected %d", r.StatusCode, want)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", strings.TrimPrefix(string(said[1]), "http://")} {
		if f := findings(t, 0, h.home, "PTYWRIGHT_MCP_HTTP="+addr)["mcp http"]; f.State != doctor.OK || !strings.HasPrefix(f.Found, addr+" is ") || !strings.HasSuffix(f.Found, "; the token is in "+path) {
			t.Errorf("%+v", f)
		}
	}
	if p, out, code := h.run(nil, "kill", "--server"); code != 0 || out != "" {
		t.Errorf("exit %d, %s%s", code, out, p.Stderr)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the token is left")
	}
}

// TestWhyNoServerCanListen: advice to start one would be of no use.
func TestWhyNoServerCanListen(t *testing.T) {
	t.Parallel()
	open := newHome(t, "")
	if err := os.Chmod(open.home, 0o777); err != nil {
		t.Fatal(err)
	}
	taken := newHome(t, "")
	if err := os.Mkdir(filepath.Join(taken.home, "socket"), 0o700); err != nil {
		t.Fatal(err)
	}
	missing := homely{t, filepath.Join(t.TempDir(), "there", "is", "none")}
	for _, c := range []struct {
		homely
		says string
	}{
		{open, "no server listens there, and none can: the folder is not safe for a socket: " + open.home + " has mode 0777; use a folder of your own"},
		{taken, "no server listens there, and none can: not a socket: its mode is drwx"},
		{missing, "no server listens there; start one with ptywright spawn -- PROGRAM"},
	} {
		for _, args := range [][]string{{"ls", "--json"}, {"read", "s1"}, {"kill", "--server"}, {"repl", "--socket", filepath.Join(c.home, "socket"), "-e", "print(1)"}} {
			p, out, code := c.run(nil, args...)
			if code != 1 || !strings.Contains(p.Stderr.String(), "ptywright: connect to "+c.home+"/socket: "+c.says) || args[0] == "ls" && !strings.Contains(out, `"reason":"no_server"`) {
				t.Errorf("%q: exit %d, %s%s", args, code, out, p.Stderr)
			}
		}
	}
	if _, err := os.Lstat(filepath.Dir(missing.home)); err == nil {
		t.Error("a folder was made")
	}
}

// TestHeldSession says how to take it over.
func TestHeldSession(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	ada := s.dial()
	held := ada.create("cat")
	if err := ada.Call(ada.ctx, "session.lease", obj{"session": held.ID, "holder": "Ada"}, nil); err != nil {
		t.Fatal(err)
	}
	s.fails(5, "or take it over, with ptywright attach --take "+held.ID+"; reading and waiting need no lease\n", "send", held.ID, "x")
}
