//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol/client"
)

// inFolder runs the program in a folder, and returns all that it printed and its exit code.
func inFolder(t *testing.T, dir string, args ...string) (out string, code int) {
	t.Helper()
	p := ptywright(t, args...)
	p.Dir = dir
	out, code = p.Run("")
	return out + p.Stderr.String(), code
}

// scaffolded makes the plugin demo in a folder of the test's, and returns its folder.
func scaffolded(t *testing.T) (dir, demo string) {
	t.Helper()
	dir = t.TempDir()
	if out, code := inFolder(t, dir, "plugin", "new", "demo"); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	return dir, filepath.Join(dir, "demo")
}

// edit replaces a text that must be there once.
func edit(t *testing.T, path, old, with string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%s holds %q %d times", path, old, strings.Count(string(text), old))
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, with, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("%q is missing in:\n%s", text, out)
		}
	}
}

func TestPluginNewIsGreenAtOnce(t *testing.T) {
	t.Parallel()
	dir, _ := scaffolded(t)
	for _, sub := range []string{"check", "test"} {
		if out, code := inFolder(t, dir, "plugin", sub, "demo"); code != 0 {
			t.Errorf("plugin %s: exit code %d:\n%s", sub, code, out)
		}
		if out, code := inFolder(t, filepath.Join(dir, "demo"), "plugin", sub); code != 0 {
			t.Errorf("plugin %s, in the folder: exit code %d:\n%s", sub, code, out)
		}
	}
	if out, code := inFolder(t, dir, "plugin", "new", "--program", `my "tool"`, "--dir", ".", "other"); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := inFolder(t, dir, "plugin", "check", "other/manifest.toml"); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"demo"}, "is there already"},
		{[]string{"Demo"}, "use lower-case letters"},
		{[]string{"../up"}, "use lower-case letters"},
		{[]string{".."}, "does not work as a directory name"},
		{[]string{}, "give NAME: "},
		{[]string{"--program", " ", "x"}, "default_target.program: it is missing"},
	} {
		if out, code := inFolder(t, dir, append([]string{"plugin", "new"}, c.args...)...); code != cli.ExitUsage || !strings.Contains(out, c.says) {
			t.Errorf("%q: exit code %d: %s", c.args, code, out)
		}
	}
	if out, code := inFolder(t, dir, "plugin", "new", "--dir", "nowhere", "x"); code != cli.ExitError || !strings.Contains(out, "make nowhere first") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestPluginTestShowsWhatABrokenRuleDid: with a rule that does not hold any more the test fails,
// and shows the screen, the rule that decided in its place, and what the broken one lacked.
func TestPluginTestShowsWhatABrokenRuleDid(t *testing.T) {
	t.Parallel()
	dir, demo := scaffolded(t)
	edit(t, filepath.Join(demo, "main.lua"), `{"nothing typed behind it", function(s) return select(2, prompt(s)) == "" end}`, `{"nothing typed behind it", function(s) return false end}`)
	out, code := inFolder(t, dir, "plugin", "test", "demo")
	if code != cli.ExitError {
		t.Errorf("exit code %d", code)
	}
	wants(t, out, "ok    output", "FAIL  session", `at 2s: state`, `expected  "ready"`, `got       "typing"`, `rule "line" decided`,
		`nearly    rule "prompt" (ready) lacks: nothing typed behind it`, "screen    24x80, the cursor in row 3, column 3", "1 |$ echo one\n", "2 |one\n", "plugin test --update demo")

	out, code = inFolder(t, dir, "plugin", "test", "--json", "demo")
	var report struct {
		Passed, Failed int
		Cases          []struct {
			Case     string
			OK       bool
			Failures []struct {
				What, Rule string
				Screen     []string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != cli.ExitError {
		t.Fatalf("exit code %d, %v: %s", code, err, out)
	}
	if report.Passed != 1 || report.Failed != 1 || len(report.Cases[1].Failures) == 0 || report.Cases[1].Failures[0].Rule != "line" || report.Cases[1].Failures[0].Screen[0] != "$" {
		t.Errorf("%+v", report)
	}
	if out, code := inFolder(t, dir, "plugin", "test", "--run", "out", "demo"); code != 0 || strings.Contains(out, "session") {
		t.Errorf("exit code %d: %s", code, out)
	}
	// What the plugin says can be written down, which is to be reviewed, and holds from then on.
	if out, code := inFolder(t, dir, "plugin", "test", "--update", "demo"); code != 0 || !strings.Contains(out, "written: "+filepath.Join("demo", "testdata", "cases", "session.expected.json")) {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := inFolder(t, dir, "plugin", "test", "demo"); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestPluginCheckFindsWhatIsWrong makes one fault of each sort, and wants it found where it is.
func TestPluginCheckFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, old, with string
		says            []string
	}{
		{"manifest.toml", `version = "0.1.0"`, "version = 1\ncolour = \"red\"", []string{
			"manifest.toml:3: version: it must be text in quotes", "manifest.toml:4: colour: unknown key"}},
		{"manifest.toml", `"input.write", `, "", []string{"main.lua:", "the action text needs the permission input.write", `add "input.write" to permissions`}},
		{"manifest.toml", `"matcher.wait"]`, `"matcher.wait", "session.resize"]`, []string{"manifest.toml:6: permissions: the manifest asks for session.resize, and nothing of the plugin needs it"}},
		{"manifest.toml", `"session.kill", `, "", []string{"an adapter without session.kill is of no use"}},
		{"main.lua", "local plugin = {}", "local plugin = {", []string{"main.lua:", "syntax"}},
		{"main.lua", "local plugin = {}", "local plugin = {}\nlocal x = nil + 1", []string{"main.lua:36", "runtime"}},
		{"main.lua", `{name = "typed"}`, `{name = "taped"}`, []string{"describe lists the predicate taped, which is not a function", "the function typed is exported, and describe does not list it"}},
		{"main.lua", `predicates = {{name = "at_prompt"}`, `predicates = {{name = "quit"}, {name = "at_prompt"}`, []string{"no matcher of the plugin asks the predicate quit"}},
		{"main.lua", `local rules = {`, "local rules = {\n\t{name = \"never\", state = \"lost\", needs = {{\"a sign\", function(s) return s:contains(\"no such text\") end}}},", []string{
			"main.lua:23: rule never gives the state lost, which describe does not list", "main.lua:23: rule never decides in no case"}},
		{"main.lua", `{name = "ended", description`, `{name = "asleep"}, {name = "ended", description`, []string{"main.lua:", "describe lists the state asleep, which no case reaches"}},
		{"main.lua", `return {metadata = {line =`, `return {recheck_ms = 5, metadata = {line =`, []string{"main.lua:", "recheck_ms is 5", "the host looks at most every 25ms"}},
		{"main.lua", `only(s, "busy")`, `only(s, "asleep")`, []string{"the intent interrupt does nothing in any state that the cases reach, and refuses first with: the state is"}},
		{"main.lua", `local plugin = {}`, "local plugin = {}\nlocal other = pcall(require, \"other\") and require(\"other\")", []string{"no file other.lua to require"}},
		{"main.lua", `"The program is at work."`, `nil .. "x"`, []string{"main.lua:"}},
		{"testdata/cases/output.expected.json", `"rule"`, `"role"`, []string{"output.expected.json:5", `"role" means nothing here`}},
		{"testdata/cases/session.cast", `[0.12, "o", "$ "]`, `[0.12, "o"]`, []string{"session.cast:2"}},
	} {
		dir, demo := scaffolded(t)
		edit(t, filepath.Join(demo, c.file), c.old, c.with)
		out, code := inFolder(t, dir, "plugin", "check", "demo")
		if code != cli.ExitError {
			t.Errorf("%s with %q: exit code %d", c.file, c.with, code)
		}
		wants(t, out, c.says...)
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "demo"+string(filepath.Separator)) {
				t.Errorf("a finding without a place: %s", line)
			}
		}
	}
}

func TestPluginCheckLooksAtTheFolder(t *testing.T) {
	t.Parallel()
	dir, demo := scaffolded(t)
	if err := os.WriteFile(filepath.Join(demo, "spare.lua"), []byte("return {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(demo, "testdata/cases/gone.expected.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code := inFolder(t, dir, "plugin", "check", "--json", "demo")
	var found struct {
		Plugin   string
		Findings []struct {
			File, About, Message, Do string
			Line                     int
		}
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != cli.ExitError || len(found.Findings) != 2 {
		t.Fatalf("exit code %d, %v: %s", code, err, out)
	}
	for _, f := range found.Findings {
		if f.File == "" || f.Message == "" || f.Do == "" {
			t.Errorf("%+v", f)
		}
	}
	wants(t, out, "no file of the plugin requires it", "there is no gone.cast or gone.screen")
	if err := os.Symlink("/etc/hostname", filepath.Join(demo, "link.lua")); err != nil {
		t.Fatal(err)
	}
	out, code = inFolder(t, dir, "plugin", "check", "demo")
	if code != cli.ExitError {
		t.Errorf("exit code %d", code)
	}
	wants(t, out, "link.lua")
	out, code = inFolder(t, dir, "plugin", "check", "nothing")
	if code != cli.ExitError {
		t.Errorf("exit code %d", code)
	}
	wants(t, out, "nothing is not a plugin", "ptywright plugin new NAME")
}

// TestPluginReload edits a plugin under a server that watches its files: a live adapter says what
// the new rules say, a broken edit changes nothing and is told, and mending it counts again.
func TestPluginReload(t *testing.T) {
	t.Parallel()
	_, demo := scaffolded(t)
	main := filepath.Join(demo, "main.lua")
	s := launch(t, ptywright(t, "serve", "--stdio", "--plugin", filepath.Join(demo, "manifest.toml"), "--plugin-reload", "--allow-plugin-load"))
	defer s.end(0, "do not load")
	var a struct{ Adapter string }
	s.call("adapter.start", obj{"plugin": "demo"}, &a)
	s.call("adapter.wait", obj{"adapter": a.Adapter}, nil)
	states := make(chan string, 64)
	err := s.Subscribe(s.ctx, func(e client.Event) {
		var p struct{ State string }
		if e.Method == "adapter.changed" && json.Unmarshal(e.Params, &p) == nil {
			states <- p.State
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	becomes := func(want string) {
		t.Helper()
		for {
			select {
			case got := <-states:
				if got == want {
					return
				}
			case <-s.ctx.Done():
				t.Fatalf("the state %s did not come: %s", want, s.program.Stderr)
			}
		}
	}
	type described struct {
		Hash   string                    `json:"sha256"`
		Broken *struct{ Message string } `json:"reload_error"`
		Stale  []obj                     `json:"stale_adapters"`
	}
	describe := func() (d described) {
		t.Helper()
		s.call("plugin.describe", obj{"plugin": "demo"}, &d)
		return d
	}
	first := describe()
	edit(t, main, `{name = "prompt", state = "ready"`, `{name = "prompt", state = "waiting"`)
	becomes("waiting")
	if d := describe(); d.Hash == first.Hash || d.Broken != nil || len(d.Stale) != 0 {
		t.Errorf("%+v", d)
	}
	edit(t, main, `local plugin = {}`, `local plugin = {`)
	if err := s.Call(s.ctx, "plugin.reload", obj{"plugin": "demo"}, nil); err == nil || !strings.Contains(err.Error(), "main.lua:") {
		t.Errorf("a broken edit: %v", err)
	}
	if d := describe(); d.Broken == nil || !strings.Contains(d.Broken.Message, "main.lua:") {
		t.Errorf("a broken edit: %+v", d)
	}
	var r struct{ State struct{ State string } }
	if s.call("adapter.state", obj{"adapter": a.Adapter}, &r); r.State.State != "waiting" {
		t.Errorf("a broken edit: state %s", r.State.State)
	}
	edit(t, main, `{name = "prompt", state = "waiting"`, `{name = "prompt", state = "mended"`)
	edit(t, main, "local plugin = {\n", "local plugin = {}\n")
	becomes("mended")
	if d := describe(); d.Broken != nil {
		t.Errorf("mended: %+v", d.Broken)
	}
	// A folder that is moved away or removed, and made anew, is watched as the one before was.
	for i, leave := range []func() error{
		func() error { return os.Rename(demo, demo+".away") }, func() error { return os.RemoveAll(demo) },
	} {
		if err := leave(); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(demo, os.DirFS(demo+".away")); err != nil {
			t.Fatal(err)
		}
		now := fmt.Sprintf("anew%d", i)
		edit(t, main, `{name = "prompt", state = "mended"`, `{name = "prompt", state = "`+now+`"`)
		becomes(now)
		later := now + "_later"
		edit(t, main, `{name = "prompt", state = "`+now+`"`, `{name = "prompt", state = "`+later+`"`)
		becomes(later)
	}
	var live struct {
		Adapters []struct{ Stale, SHA256 string }
	}
	if s.call("adapter.live", nil, &live); len(live.Adapters) != 1 || live.Adapters[0].Stale != "" || live.Adapters[0].SHA256 == "" {
		t.Errorf("%+v", live)
	}
	s.call("adapter.close", obj{"adapter": a.Adapter}, nil)
}

// TestPluginCheckTellsACauseOnce: what comes of one typing error is not told as so many faults of
// its own, and the error names what was meant; a test of the plugin says so, too.
func TestPluginCheckTellsACauseOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, old, with string
		check           string // all that it says, but for what is held back
		test            []string
	}{
		{"a state's name", `state = "ready"`, `state = "redy"`,
			"main.lua:25: rule prompt gives the state redy, which describe does not list: did you mean ready, which it lists? else list it under states",
			[]string{"describe lists no state redy: did you mean ready?", "intent send (the state is redy (prompt), not ready)"}},
		{"its name in describe", `{name = "ready"`, `{name = "raedy"`,
			"main.lua:25: rule prompt gives the state ready, which describe does not list: did you mean raedy, which it lists? else list it under states", nil},
		{"a function's name", `return select(2, prompt(s)) == ""`, `return selct(2, prompt(s)) == ""`,
			"main.lua:27: attempt to call a non-function object (12 times: testdata/cases/session.cast, at 120ms; testdata/cases/session.cast, at 900ms",
			[]string{"the classifier fails: plugin demo, function classify at main.lua:27"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, demo := scaffolded(t)
			edit(t, filepath.Join(demo, "main.lua"), c.old, c.with)
			out, code := inFolder(t, dir, "plugin", "check", "demo")
			told, held, _ := strings.Cut(out, "demo: mend that first: ")
			if code != cli.ExitError || strings.Count(told, "\n") != 1 || !strings.Contains(told, filepath.Join("demo", c.check)) || !strings.Contains(held, "held back that may come of it") {
				t.Errorf("exit code %d:\n%s", code, out)
			}
			var found struct {
				Findings []struct {
					Times  int
					Places []string
				}
				HeldBack int `json:"held_back"`
			}
			out, _ = inFolder(t, dir, "plugin", "check", "--json", "demo")
			if err := json.Unmarshal([]byte(out), &found); err != nil || len(found.Findings) != 1 || len(found.Findings[0].Places) > 5 || found.HeldBack == 0 {
				t.Errorf("%v: %s", err, out)
			}
			out, _ = inFolder(t, dir, "plugin", "test", "demo")
			wants(t, out, c.test...)
		})
	}
	// A state that was renamed everywhere is no fault, and the cases that do not know say what it
	// is.
	dir, demo := scaffolded(t)
	text, err := os.ReadFile(filepath.Join(demo, "main.lua"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(demo, "main.lua"), []byte(strings.ReplaceAll(string(text), `"ready"`, `"idle"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := inFolder(t, dir, "plugin", "check", "demo"); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
	out, _ := inFolder(t, dir, "plugin", "test", "demo")
	wants(t, out, "describe lists no state ready (when it was renamed, --update writes that down)")
	// An intent that wants a state which there is not says where it was refused.
	dir, demo = scaffolded(t)
	edit(t, filepath.Join(demo, "main.lua"), "\tonly(s, \"ready\")\n\tif type", "\tonly(s, \"redy\")\n\tif type")
	out, code := inFolder(t, dir, "plugin", "check", "demo")
	if code != cli.ExitError {
		t.Errorf("exit code %d", code)
	}
	wants(t, out, "the intent send does nothing in any state that the cases reach, and refuses first with: the state is ", "not redy")
}
