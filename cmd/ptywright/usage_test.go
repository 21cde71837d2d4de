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

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
)

// TestWrongUseIsToldInOurWords, with the way to the command's own help, and to programs as JSON.
func TestWrongUseIsToldInOurWords(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for line, want := range map[string][2]string{
		"wait":                                 {"give ID: ptywright wait [flags] ID...", "ptywright wait"},
		"wait s1":                              {"say what to wait for", "ptywright wait"},
		"wait s1 --tiemout 3s":                 {"wait has no flag --tiemout: did you mean --timeout?", "ptywright wait"},
		"wait s1 --wobble":                     {"wait has no flag --wobble", "ptywright wait"},
		"wait s1 --text x --since abc":         {`--since is "abc": give a whole number, such as 42`, "ptywright wait"},
		"wait s1 --text x --since -1":          {`--since is "-1": give a whole number`, "ptywright wait"},
		"wait s1 --text x --timeout 1":         {`--timeout is "1": give its unit, too, as 1s or 1ms`, "ptywright wait"},
		"wait s1 --text x --timeout soon":      {`--timeout is "soon": give a time with its unit, such as 500ms`, "ptywright wait"},
		"wait s1 --text x --timeout":           {"--timeout TIME stands without a value: give a time with its unit", "ptywright wait"},
		"wait s1 --stable soon":                {`--stable is "soon": give milliseconds, such as 500`, "ptywright wait"},
		"wait s1 --exit=maybe":                 {`--exit is "maybe": give true or false, or --exit alone`, "ptywright wait"},
		"read a b":                             {`unexpected argument "b": ptywright read [flags] ID`, "ptywright read"},
		"read s1 --lines 99999999999999999999": {`--lines is "99999999999999999999": give a whole number`, "ptywright read"},
		"ls s1":                                {`ls takes no arguments, and "s1" is one`, "ptywright ls"},
		"spawn ls -la":                         {"-la is not a flag of spawn; -- goes before a program that has flags of its own: ptywright spawn -- ls -la", "ptywright spawn"},
		"spawn --rows 5 ls --color=auto":       {"--color is not a flag of spawn; -- goes before a program that has flags of its own: ptywright spawn --rows 5 -- ls --color=auto", "ptywright spawn"},
		"spawn --rwos 5 -- ls":                 {"spawn has no flag --rwos: did you mean --rows?", "ptywright spawn"},
		"send s1 -la":                          {"send has no flag -la; -- goes before a text that begins so, as in ptywright send ... -- -la", "ptywright send"},
		"send s1 --key":                        {"-k KEY stands without a value: give KEY", "ptywright send"},
		"watch --port 70000":                   {`--port is "70000": give a whole number up to 65535`, "ptywright watch"},
		"shot x.cast":                          {"give -o FILE", "ptywright shot"},
		"completions tcsh":                     {`"tcsh" is none of bash, zsh, fish and powershell`, "ptywright completions"},
		"fleet strat":                          {`unknown command "strat": did you mean ptywright fleet start?`, "ptywright fleet"},
		"fleet start":                          {"give N: ptywright fleet start [flags] N", "ptywright fleet start"},
		"plugin chek":                          {`unknown command "chek": did you mean ptywright plugin check?`, "ptywright plugin"},
		"lss":                                  {`unknown command "lss": did you mean ptywright ls?`, "ptywright"},
		"screenshot":                           {`unknown command "screenshot": did you mean ptywright shot?`, "ptywright"},
		"help wiat":                            {`unknown command "wiat": did you mean ptywright wait?`, "ptywright"},
		"--wobble lss s1":                      {`unknown command "lss": did you mean ptywright ls?`, "ptywright"},
		"--json ls":                            {"--json stands before the command: flags go behind it, as in ptywright ls --json", "ptywright"},
	} {
		p := ptywright(t, strings.Fields(line)...)
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+home)
		out, code := p.run("")
		if got := p.stderr.String(); code != 2 || out != "" && !strings.HasPrefix(line, "--json") || !strings.HasPrefix(got, "ptywright: "+want[0]) || !strings.HasSuffix(got, "\nTry '"+want[1]+" --help'.\n") {
			t.Errorf("%q: exit %d, %q %q, expected %q", line, code, out, got, want)
		}
	}
	if left, _ := os.ReadDir(home); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestJSONOfErrorsBeforeTheCommand: what is wrong with the line or the configuration is told as JSON by every command that has
// --json, in the shape of its other errors, with exit code 2.
func TestJSONOfErrorsBeforeTheCommand(t *testing.T) {
	t.Parallel()
	var told func(path string, args []string, reason, file string)
	told = func(path string, args []string, reason, file string) {
		t.Helper()
		p, _ := configured(t, file, append(strings.Fields(path), args...)...)
		out, code := p.run("")
		all := objects(t, out)
		if len(all) == 0 || code != 2 {
			t.Errorf("%s %q: exit %d, %q %s", path, args, code, out, p.stderr)
			return
		}
		e, _ := all[len(all)-1]["error"].(map[string]any)
		if message, _ := e["message"].(string); e["reason"] != reason || e["exit_code"] != 2. || message == "" || !strings.Contains(p.stderr.String(), message) {
			t.Errorf("%s %q: %v, %s", path, args, all, p.stderr)
		}
	}
	n := 0
	for _, c := range command(cli.Stdio{}).Commands() {
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
	if out, code := p.run(""); code != 2 || out != "" {
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
			if out, code := ptywright(t, "serve", "--stdio", "--"+s.Flag, value).run(""); code != want {
				t.Errorf("--%s %s: exit %d, %s", s.Flag, value, code, out)
			}
			p := ptywright(t, "serve", "--stdio")
			p.Env = append(p.Env, s.Env()+"="+value)
			if _, code := p.run(""); code != want {
				t.Errorf("%s=%s: exit %d, %s", s.Env(), value, code, p.stderr)
			}
		}
	}
	for _, s := range config.Settings {
		for _, word := range s.Words {
			p := ptywright(t, "serve", "--stdio", "--"+s.Flag, word)
			if _, code := p.run(""); code != 0 {
				t.Errorf("--%s %s: exit %d, %s", s.Flag, word, code, p.stderr)
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
		in, out := p.startPiped()
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
		if code := exitCodeOf(t, p.Wait()); code != 130 || p.stderr.String() != "ptywright: interrupted\n" {
			t.Errorf("%s: exit %d, %s", line, code, p.stderr)
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
		in, out := p.startPiped()
		defer in.Close()
		said := bufio.NewReader(out)
		if first, err := said.ReadString('\n'); err != nil || !strings.Contains(first, "ready") {
			t.Fatalf("%q, %v", first, err)
		}
		p.Process.Signal(os.Interrupt)
		rest, _ := io.ReadAll(said)
		if code := exitCodeOf(t, p.Wait()); code != 0 || p.stderr.String() != "" || len(rest) > 0 {
			t.Errorf("%s: exit %d, %q %s", line, code, rest, p.stderr)
		}
	}
}

// TestKillTellsPeople what went wrong with each session, in JSON, too.
func TestKillTellsPeople(t *testing.T) {
	t.Parallel()
	s := newShared(t, "--max-sessions", "1")
	s.ok("spawn", "--", "true")
	s.ok("wait", "s1", "--exit")
	s.ok("spawn", "--", "cat") // what has ended does not count
	s.fails(1, "the limit of 1 sessions is reached: end or close some first, with ptywright kill ID", "spawn", "--", "true")
	all := objects(t, s.fails(4, "unknown session", "kill", "--json", "s9"))
	if all[0]["error"] != `unknown session "s9"; ptywright ls lists those that there are` || all[0]["reason"] != "unknown_session" {
		t.Errorf("%v", all)
	}
}
