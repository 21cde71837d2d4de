//go:build unix

package main

import (
	"bufio"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/app"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
)

// TestJSONOfErrorsBeforeTheCommand: what is wrong with the line or the configuration is told as
// JSON by every command that has --json, in the shape of its other errors, with exit code 2.
func TestJSONOfErrorsBeforeTheCommand(t *testing.T) {
	t.Parallel()
	told := func(path string, args []string, reason, file string) {
		t.Helper()
		p, _ := configured(t, file, append(strings.Fields(path), args...)...)
		out, code := p.Run("")
		all := objects(t, out)
		if len(all) == 0 || code != 2 {
			t.Errorf("%s %q: exit %d, %q %s", path, args, code, out, p.Stderr)
			return
		}
		e, _ := all[len(all)-1]["error"].(map[string]any)
		if message, _ := e["message"].(string); e["reason"] != reason || e["exit_code"] != 2. || message == "" || !strings.Contains(p.Stderr.String(), message) {
			t.Errorf("%s %q: %v, %s", path, args, all, p.Stderr)
		}
	}
	n := 0
	for _, c := range app.Command(cli.Stdio{}).Commands() {
		for _, c := range append(c.Commands(), c) {
			if c.HasSubCommands() || c.Flags().Lookup("json") == nil && c.InheritedFlags().Lookup("json") == nil {
				continue
			}
			n++
			path := strings.TrimPrefix(c.CommandPath(), "ptywright ")
			told(path, []string{"--json", "--no-such-flag"}, "usage", "")
			told(path, []string{"--no-such-flag", "--json"}, "usage", "")
			if _, least, most := cli.ArgsOf(c); least > 0 {
				told(path, []string{"--json"}, "usage", "")
			} else if most == 0 {
				told(path, []string{"--json", "x"}, "usage", "")
			}
			if c.Flags().Lookup("socket") != nil || c.Name() == "config" {
				_, least, _ := cli.ArgsOf(c)
				args := append([]string{"--json"}, []string{"s1", "x", "1", "1"}[:least]...)
				told(path, args, "configuration", "[log]\nlevle = 'x'\n")
			}
		}
	}
	if n < 18 {
		t.Errorf("%d commands have --json", n)
	}
	told("wait s1", []string{"--json"}, "usage", "")
	told("spawn", []string{"--json"}, "usage", "")
	told("read s1", []string{"--json", "--lines", "0"}, "usage", "")
	told("lss", []string{"--json"}, "usage", "")

	// What is behind -- is the program's.
	p := ptywright(t, "spawn", "--rows", "0", "--", "ls", "--json")
	if out, code := p.Run(""); code != 2 || out != "" {
		t.Errorf("exit %d, %q", code, out)
	}
}

// TestBoundsOfSettings are those of the flags.
func TestBoundsOfSettings(t *testing.T) {
	t.Parallel()
	for _, s := range config.Settings {
		if s.Kind != config.Number || s.Flag == "port" {
			continue
		}
		for n, want := range map[int64]int{s.Least - 1: 2, s.Least: 0, s.Most: 0, s.Most + 1: 2} {
			value := strconv.FormatInt(n, 10)
			if out, code := ptywright(t, "serve", "--stdio", "--"+s.Flag, value).Run(""); code != want {
				t.Errorf("--%s %s: exit %d, %s", s.Flag, value, code, out)
			}
			p := ptywright(t, "serve", "--stdio")
			p.Env = append(p.Env, s.Env()+"="+value)
			if _, code := p.Run(""); code != want {
				t.Errorf("%s=%s: exit %d, %s", s.Env(), value, code, p.Stderr)
			}
		}
	}
	for _, s := range config.Settings {
		for _, word := range s.Words {
			p := ptywright(t, "serve", "--stdio", "--"+s.Flag, word)
			if _, code := p.Run(""); code != 0 {
				t.Errorf("--%s %s: exit %d, %s", s.Flag, word, code, p.Stderr)
			}
		}
	}
}

// TestInterruptedWait ends as a shell's command that Ctrl-C has ended.
func TestInterruptedWait(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"wait s1 --text never", "wait s1 --text never --json"} {
		path := filepath.Join(t.TempDir(), "socket")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		p := ptywright(t, append(strings.Fields(line), "--socket", path)...)
		in, out := p.StartPiped()
		defer in.Close()
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for asked := bufio.NewScanner(conn); asked.Scan(); {
			if strings.Contains(asked.Text(), "session.wait") {
				break
			}
			io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n") // the greeting, which any answer does for
		}
		p.Process.Signal(os.Interrupt)
		said, _ := io.ReadAll(out)
		if code := exitCodeOf(t, p.Wait()); code != 130 || p.Stderr.String() != "ptywright: interrupted\n" {
			t.Errorf("%s: exit %d, %s", line, code, p.Stderr)
		}
		if want := `{"error":{"message":"interrupted","reason":"interrupted","exit_code":130}}` + "\n"; strings.Contains(line, "json") != (string(said) == want) {
			t.Errorf("%s: %q", line, said)
		}
	}
}

// TestInterruptedLogs have been left as they are meant to be.
func TestInterruptedLogs(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "sh", "-c", "echo ready; exec cat")
	for _, line := range []string{"logs -f s1", "logs -f s1 --json"} {
		p := ptywright(t, strings.Fields(line)...)
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
		in, out := p.StartPiped()
		defer in.Close()
		said := bufio.NewReader(out)
		if first, err := said.ReadString('\n'); err != nil || !strings.Contains(first, "ready") {
			t.Fatalf("%q, %v", first, err)
		}
		p.Process.Signal(os.Interrupt)
		rest, _ := io.ReadAll(said)
		if code := exitCodeOf(t, p.Wait()); code != 0 || p.Stderr.String() != "" || len(rest) > 0 {
			t.Errorf("%s: exit %d, %q %s", line, code, rest, p.Stderr)
		}
	}
}
