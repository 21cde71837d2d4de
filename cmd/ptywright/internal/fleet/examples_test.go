//go:build unix

package fleet_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

// clientIn is what tries the client of a language.
func (f *fleetOf) clientIn(language string) *programtest.Program {
	f.t.Helper()
	if language == "node" {
		return f.interpreted("node", filepath.Join("testdata", "unterm_client.mjs"), f.path("client.mjs"), f.root)
	}
	return f.interpreted("python3", filepath.Join("testdata", "unterm_client.py"), f.path("client.py"), f.root)
}

// path is the absolute path of a file of the example.
func (f *fleetOf) path(name string) string {
	f.t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "examples", "unterm", name))
	if err != nil {
		f.t.Fatal(err)
	}
	return path
}

// interpreted is a program that an interpreter runs, in this fleet.
func (f *fleetOf) interpreted(interpreter, file string, args ...string) *programtest.Program {
	f.t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		f.t.Fatal(err)
	}
	p := programtest.Of(f.t, exec.Command(interpreter, append([]string{path}, args...)...))
	p.Env, p.Mark, p.Dir = f.env, f.mark, f.home
	return p
}

// exampleIn is a program of examples/unterm with its interpreter.
func (f *fleetOf) exampleIn(language, name string, args ...string) *programtest.Program {
	f.t.Helper()
	args = append([]string{"--root", f.root}, args...)
	if language == "node" {
		return f.interpreted("node", f.path(name+".mjs"), args...)
	}
	return f.interpreted("python3", f.path(name+".py"), args...)
}

// example runs one to its end, which must be a good one, and returns what it prints.
func (f *fleetOf) example(language, name string, args ...string) string {
	f.t.Helper()
	p := f.exampleIn(language, name, args...)
	out, code := p.Run("")
	if code != 0 || p.Stderr.String() != "" {
		f.t.Fatalf("%s %s: exit code %d\n%s%s", language, name, code, out, p.Stderr)
	}
	return out
}

// inBoth runs a test in Node and in Python.
func inBoth(t *testing.T, test func(t *testing.T, f *fleetOf, language string)) {
	for _, l := range []struct{ language, program, debian string }{{"node", "node", "nodejs"}, {"python", "python3", "python3"}} {
		t.Run(l.language, func(t *testing.T) {
			t.Parallel()
			programtest.Need(t, l.program, l.debian)
			test(t, newFleet(t), l.language)
		})
	}
}

// TestUntermExampleClients: answers by their order, errors with codes, a wrong token, nobody on the
// port, and the end.
func TestUntermExampleClients(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, f *fleetOf, language string) {
		f.start("3")
		p := f.clientIn(language)
		out, code := p.Run("")
		if code != 0 || p.Stderr.String() != "" {
			t.Fatalf("exit code %d\n%s%s", code, out, p.Stderr)
		}
		type failure struct {
			Code    any
			Message string
		}
		var said struct {
			Names                             []string
			Refused, Silent, Unknown, Missing failure
			Slow, Info, Pending, Later        string
		}
		if err := json.Unmarshal([]byte(out), &said); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		if !slices.Equal(said.Names, []string{"alpha", "bravo", "charlie"}) || said.Slow != "slow ä€😀\n" || said.Info != "alpha" {
			t.Errorf("%+v", said)
		}
		for _, c := range []struct {
			got     failure
			code    any
			message string
		}{
			{said.Refused, -32001.0, "auth.login: Invalid auth token (-32001)"},
			{said.Unknown, -32603.0, "no.such.method: Unknown method: no.such.method (-32603)"},
			{said.Missing, -32603.0, "session.get: Session 9 not found (-32603)"},
		} {
			if c.got.Code != c.code || c.got.Message != c.message {
				t.Errorf("%+v, expected %v, %q", c.got, c.code, c.message)
			}
		}
		if said.Later == "" || language == "node" && (said.Pending != "the connection to alpha is closed" || said.Later != said.Pending) {
			t.Errorf("after the end: %q, %q", said.Pending, said.Later)
		}
		if said.Silent.Code != "ECONNREFUSED" && said.Silent.Code != "ConnectionRefusedError" {
			t.Errorf("%+v", said.Silent)
		}
	})
}

// TestUntermExampleReadme runs the commands of the README, word by word.
func TestUntermExampleReadme(t *testing.T) {
	t.Parallel()
	programtest.Need(t, "node", "nodejs")
	programtest.Need(t, "python3", "python3")
	f := newFleet(t)
	readme, err := os.ReadFile(f.path("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(readme), "\n```sh\n")
	script, _, there := strings.Cut(script, "```\n")
	if !there || strings.Count(script, "node ") != 4 || strings.Count(script, "python3 ") != 4 {
		t.Fatalf("the commands are not where they were:\n%s", readme)
	}
	for _, name := range []string{"app", "docs", "site"} {
		f.folder("code/" + name)
	}
	f.write("", "code", "site", "index.html")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(f.folder("bin"), "ptywright")); err != nil {
		t.Fatal(err)
	}
	p := programtest.Of(t, exec.Command("sh", "-ec", script))
	p.Env, p.Mark, p.Dir = append(f.env, "PATH="+filepath.Join(f.home, "bin")+":"+os.Getenv("PATH")), f.mark, filepath.Dir(f.path("README.md"))
	out, code := p.Run("") // standard input has ended: claim gives back what it has
	if code != 0 || p.Stderr.String() != "" {
		t.Fatalf("exit code %d\n%s%s", code, out, p.Stderr)
	}
	for _, want := range []string{`Linux|Darwin|BSD`, ` in \S+/code/site: completed, exit code 0\n.*\n.*index\.html`, `agent-7 has \w+, its command ended with 0: .*UTC`, `\n2 of 2 succeeded\n`} {
		if n := len(regexp.MustCompile(want).FindAllString(out, -1)); n < 2 {
			t.Errorf("%d of %s, expected one of each language\n%s", n, want, out)
		}
	}
}

// TestUntermExampleComplaints: what is wrong is told in one line, with 2 for a wrong command line,
// and --help is no mistake.
func TestUntermExampleComplaints(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, f *fleetOf, language string) {
		f.start("1")
		f.ok("broadcast", "--", "exit")
		f.fails(1, "session 0 has ended", "wait", "--pattern", "nothing says this")
		nowhere := filepath.Join(f.home, "nowhere")
		for _, c := range []struct {
			code      int
			complaint string
			program   string
			args      []string
		}{
			// First: an ended session is forgotten after a minute.
			{1, "the session has ended", "by_cwd", []string{"--", f.home, "--", "ls", "-l"}},
			{0, "", "one", []string{"--help"}},
			{0, "", "router", []string{"-h"}},
			{2, "--colour", "one", []string{"--colour", "red"}},
			{2, "usage: ", "by_cwd", []string{f.home}},
			{2, "usage: ", "claim", nil},
			{2, "usage: ", "router", []string{f.home}},
			{1, "no instance is running under " + nowhere, "one", []string{"--root", nowhere, "uname", "-a"}},
			{1, "no such file or directory", "by_cwd", []string{nowhere, "ls", "-l"}},
			{1, "no such file or directory", "router", []string{"--task", "true", nowhere}},
			{1, "nowhere", "router", []string{"--ptywright", nowhere, "--task", "true", f.home}},
		} {
			p := f.exampleIn(language, c.program, c.args...)
			out, code := p.Run("")
			said := strings.ToLower(p.Stderr.String())
			// Python's command lines are complained of below their usage.
			if code != c.code || !strings.Contains(said, strings.ToLower(c.complaint)) || code == 1 && strings.Count(said, "\n") != 1 || code != 0 && out != "" {
				t.Errorf("%s %q: exit code %d\n%s%s", c.program, c.args, code, out, said)
			}
			if code == 0 && (!strings.HasPrefix(out, "usage: ") || said != "") {
				t.Errorf("%s %q: %s%s", c.program, c.args, out, said)
			}
		}
	})
}

// TestUntermExampleOne is pattern 1: whatever server.json says.
func TestUntermExampleOne(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, f *fleetOf, language string) {
		p := f.exampleIn(language, "one")
		if out, code := p.Run(""); code == 0 || !strings.Contains(p.Stderr.String(), "no instance is running") {
			t.Errorf("without an instance: exit code %d\n%s%s", code, out, p.Stderr)
		}
		f.start("2")
		out := f.example(language, "one", "echo ä€; echo b")
		if !strings.HasPrefix(out, "alpha: 1 session(s), the first runs /") || !strings.HasSuffix(out, "\nä€\nb\ncompleted, exit code 0\n") {
			t.Errorf("%s", out)
		}
		p = f.exampleIn(language, "one", "exit-with() { return 9; }; exit-with || (exit 9)")
		if _, code := p.Run(""); code != 1 {
			t.Errorf("exit code %d for a command that failed", code)
		}
		// The pointer moves to the one that is left.
		f.ok("stop", "alpha")
		if out := f.example(language, "one", "true"); !strings.HasPrefix(out, "bravo: ") {
			t.Errorf("%s", out)
		}
	})
}

// TestUntermExampleByCwd is pattern 2: the instance whose folder is nearest.
func TestUntermExampleByCwd(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, f *fleetOf, language string) {
		app, site, deep := f.folder("app"), f.folder("site"), f.folder("app/src/deep")
		f.folder("application")
		all := f.start("2", "--cwd", app, "--cwd", site)
		for _, c := range []struct{ folder, name, cwd string }{{app, all[0].ID, app}, {site, all[1].ID, site}, {deep, all[0].ID, app}} {
			if out, want := f.example(language, "by_cwd", c.folder, "pwd -P"), c.name+" in "+c.cwd+": completed, exit code 0\n"+c.cwd+"\n"; out != want {
				t.Errorf("%q, expected %q", out, want)
			}
		}
		p := f.exampleIn(language, "by_cwd", "application", "pwd")
		out, code := p.Run("")
		for _, want := range []string{"no instance works on " + f.home + "/application; there are: ", all[0].ID + " (" + app + ")", all[1].ID + " (" + site + ")"} {
			if code != 1 || !strings.Contains(p.Stderr.String(), want) {
				t.Errorf("no %q: exit code %d\n%s%s", want, code, out, p.Stderr)
			}
		}
	})
}

// TestUntermExampleClaim is pattern 3: twelve agents at once want one of four instances each. Every
// instance has one agent, the others are told that all are taken, and what was taken is given back.
func TestUntermExampleClaim(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, f *fleetOf, language string) {
		const instances, agents = 4, 12
		f.start("4")
		type agent struct {
			p    *programtest.Program
			hold io.WriteCloser
			out  *bufio.Reader
			line string
		}
		all := make([]agent, agents)
		for i := range all {
			p := f.exampleIn(language, "claim", string(rune('a'+i)), "echo hello from $PPID")
			in, out := p.StartPiped()
			all[i] = agent{p: p, hold: in, out: bufio.NewReader(out)}
		}
		var have []string
		for i := range all {
			all[i].line, _ = all[i].out.ReadString('\n') // an agent without an instance says nothing and ends
			if words := strings.Fields(all[i].line); len(words) > 2 {
				have = append(have, strings.TrimSuffix(words[2], ","))
				if want := "agent-" + string(rune('a'+i)) + " has "; !strings.HasPrefix(all[i].line, want) || !strings.Contains(all[i].line, "ended with 0: hello from ") {
					t.Errorf("%q", all[i].line)
				}
			}
		}
		slices.Sort(have)
		if !slices.Equal(have, []string{"alpha", "bravo", "charlie", "delta"}) {
			t.Errorf("taken: %q", have)
		}
		for _, i := range f.each(f.ok("list", "--json")) {
			if i.Title == nil || !strings.HasPrefix(*i.Title, "[agent-") {
				t.Errorf("%s has no title of an agent", i.ID)
			}
		}
		for _, a := range all {
			a.hold.Close()
			rest, _ := io.ReadAll(a.out)
			switch code := programtest.ExitCode(t, a.p.Wait()); {
			case a.line != "" && (code != 0 || len(rest) > 0 || a.p.Stderr.String() != ""):
				t.Errorf("exit code %d after %q\n%s%s", code, a.line, rest, a.p.Stderr)
			case a.line == "" && (code != 1 || !strings.Contains(a.p.Stderr.String(), "all instances are taken")):
				t.Errorf("exit code %d of an agent without an instance\n%s", code, a.p.Stderr)
			}
		}
		for _, i := range f.each(f.ok("list", "--json")) {
			if i.Title != nil {
				t.Errorf("%s is still %s", i.ID, *i.Title)
			}
		}
		if out := f.example(language, "claim", "late", "true"); !strings.HasPrefix(out, "agent-late has alpha") {
			t.Errorf("what was given back is not taken again: %s", out)
		}
	})
}

// TestUntermExampleRouter is pattern 4: a fleet of its own, a task for each, one of which fails,
// and nothing left.
func TestUntermExampleRouter(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, f *fleetOf, language string) {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"one", "two", "three"} {
			f.folder(name)
		}
		f.start("1") // that is not the router's
		p := f.exampleIn(language, "router", "--ptywright", self, "--task", `test "${PWD##*/}" != two && echo "made ${PWD##*/}"`, "one", "two", "three")
		out, code := p.Run("")
		for _, want := range []string{`^\[worker-\w+\] \(\w+\) is done first\n`, `\[worker-one\] \(\w+\): exit code 0\nmade one\n`, `\[worker-two\] \(\w+\): exit code 1\n`, `\[worker-three\] \(\w+\): exit code 0\nmade three\n`, `\n2 of 3 succeeded\n$`} {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("no %s", want)
			}
		}
		if code != 1 || p.Stderr.String() != "" || t.Failed() {
			t.Errorf("exit code %d\n%s%s", code, out, p.Stderr)
		}
		if names := f.names(); !slices.Equal(names, []string{"alpha"}) {
			t.Errorf("left: %q", names)
		}
	})
}
