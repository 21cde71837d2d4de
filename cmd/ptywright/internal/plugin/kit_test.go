package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/plugins"
)

var discard = slog.New(slog.DiscardHandler)

// demo makes the plugin demo, and changes it: each edit is a file, a text that it has once, and
// what to put there. An edit without the old text writes a new file.
func demo(t *testing.T, edits ...[3]string) (dir string) {
	t.Helper()
	dir, err := New(t.TempDir(), "demo", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		path := filepath.Join(dir, filepath.FromSlash(e[0]))
		text := e[2]
		if e[1] != "" {
			old, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(old), e[1]); n != 1 {
				t.Fatalf("%s has %q %d times", e[0], e[1], n)
			}
			text = strings.Replace(string(old), e[1], e[2], 1)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(dir, discard)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestNewPassesItsOwnChecks, whatever its program is called.
func TestNewPassesItsOwnChecks(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"", "bash", `my "tool"`, `C:\tool.exe`, "naïve", "{{NAME}}"} {
		dir, err := New(t.TempDir(), "demo-2.x", program)
		if err != nil {
			t.Fatalf("%q: %v", program, err)
		}
		if program == "" {
			program = "sh"
		}
		f := open(t, dir)
		if m := f.Source.Manifest; m.Name != "demo-2.x" || m.Target.Program != program {
			t.Errorf("%q: %+v", program, m)
		}
		found, err := Check(t.Context(), dir, discard)
		if err != nil || len(found.Findings) > 0 || found.HeldBack > 0 || found.Plugin != "demo-2.x" {
			t.Errorf("%q: %+v, %v", program, found, err)
		}
		report, err := f.Test(t.Context(), nil, false)
		if err != nil || report.Passed != 2 || report.Failed != 0 {
			t.Errorf("%q: %+v, %v", program, report, err)
		}
	}
}

// TestNewRefuses names that a folder or a plugin cannot have, and changes nothing that is there.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"", "Demo", "../up", "..", ".x", "-x", "_x", "a/b", manifestName} {
		var fault *plugins.ManifestError
		if _, err := New(dir, name, ""); !errors.As(err, &fault) || fault.Key != "name" {
			t.Errorf("%q: %v", name, err)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	mine := filepath.Join(dir, "mine")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(dir, "mine", ""); !errors.Is(err, ErrExists) {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(mine); string(text) != "mine" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := New(filepath.Join(dir, "no"), "x", ""); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("%v", err)
	}
}

// TestOpen takes the folder or its manifest, and says of another folder what to do.
func TestOpen(t *testing.T) {
	t.Parallel()
	dir := demo(t)
	for _, path := range []string{dir, dir + "/", filepath.Join(dir, manifestName)} {
		if f := open(t, path); f.Dir != dir || f.Source.Manifest.Name != "demo" {
			t.Errorf("%s: %+v", path, f)
		}
	}
	var folder *FolderError
	if _, err := Open(t.TempDir(), discard); !errors.As(err, &folder) || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "ptywright plugin new") {
		t.Errorf("%v", err)
	}
	if _, err := Open(demo(t, [3]string{manifestName, "", "name ="}), discard); !errors.As(err, &folder) {
		t.Errorf("%v", err)
	}
	if _, err := Check(t.Context(), t.TempDir(), discard); !errors.As(err, &folder) {
		t.Errorf("%v", err)
	}
}

// TestCheckFindsEachKind of fault, in its file, with what to do.
func TestCheckFindsEachKind(t *testing.T) {
	t.Parallel()
	for about, c := range map[string]struct {
		edit [3]string
		file string
		says string
	}{
		"manifest":   {[3]string{manifestName, `version = "0.1.0"`, "version = 1"}, manifestName, "it must be text"},
		"load":       {[3]string{"main.lua", "local plugin = {}", "local plugin = {}\nlocal x = nil + 1"}, "main.lua", "add operation"},
		"permission": {[3]string{manifestName, `"matcher.wait"]`, `"matcher.wait", "session.resize"]`}, manifestName, "asks for session.resize"},
		"describe":   {[3]string{"main.lua", `{name = "typed"}`, `{name = "typed"}, {name = "taped"}`}, "main.lua", "taped"},
		"export":     {[3]string{"main.lua", `predicates = {{name = "at_prompt"}, {name = "typed"}}`, `predicates = {{name = "at_prompt"}}`}, "main.lua", "typed"},
		"coverage":   {[3]string{"main.lua", `{name = "ended", description`, `{name = "asleep"}, {name = "ended", description`}, "main.lua", "asleep"},
		"recheck":    {[3]string{"main.lua", `return {metadata = {line =`, `return {recheck_ms = 5, metadata = {line =`}, "main.lua", "recheck_ms is 5"},
		"file":       {[3]string{"spare.lua", "", "return {}"}, "spare.lua", "requires it"},
		"case":       {[3]string{casesDir + "/gone.expected.json", "", "{}"}, "gone.expected.json", "gone.cast"},
	} {
		dir := demo(t, c.edit)
		found, err := Check(t.Context(), dir, discard)
		if err != nil {
			t.Errorf("%s: %v", about, err)
			continue
		}
		hit := false
		for _, f := range found.Findings {
			hit = hit || f.About == about && strings.Contains(f.Message, c.says) && filepath.Base(f.File) == c.file
			if !strings.HasPrefix(f.File, dir) || f.Message == "" || f.Do == "" {
				t.Errorf("%s: %+v", about, f)
			}
		}
		if !hit {
			t.Errorf("%s: %q in %s is not found: %+v", about, c.says, c.file, found.Findings)
		}
		var printed strings.Builder
		found.Print(&printed)
		if n := strings.Count(printed.String(), "\n"); n < len(found.Findings) || n > len(found.Findings)+1 || !strings.Contains(printed.String(), c.says) {
			t.Errorf("%s: %d findings are printed as\n%s", about, len(found.Findings), &printed)
		}
	}
}

// TestCheckHoldsBack what may only come of another fault.
func TestCheckHoldsBack(t *testing.T) {
	t.Parallel()
	found, err := Check(t.Context(), demo(t, [3]string{"main.lua", `name = "prompt", state = "ready"`, `name = "prompt", state = "raedy"`}), discard)
	if err != nil || found.HeldBack == 0 || len(found.Findings) == 0 || !strings.Contains(found.Findings[0].Do, "did you mean ready") {
		t.Fatalf("%+v, %v", found, err)
	}
	var printed strings.Builder
	found.Print(&printed)
	if !strings.Contains(printed.String(), "mend that first") {
		t.Error(printed.String())
	}
}

// TestTestShowsADifference: the place, what was expected and seen, and which rule decided instead;
// an update writes what the plugin says, and then it passes.
func TestTestShowsADifference(t *testing.T) {
	t.Parallel()
	dir := demo(t, [3]string{"main.lua", `{"nothing typed behind it", function(s) return select(2, prompt(s)) == "" end}`, `{"nothing typed behind it", function() return false end}`})
	f := open(t, dir)
	report, err := f.Test(t.Context(), nil, false)
	if err != nil || report.Passed != 1 || report.Failed != 1 || report.Plugin != "demo" || report.Folder != dir {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, c := range report.Cases {
		if c.OK != (c.Case == "output") {
			t.Errorf("%+v", c)
		}
		if c.OK {
			continue
		}
		if len(c.Failures) == 0 || len(c.Failures) > maxFailures {
			t.Fatalf("%d failures", len(c.Failures))
		}
		seen := false
		for _, d := range c.Failures {
			if d.What == "state" && d.AtMS == 2000 {
				seen = true
				if d.Expected != "ready" || d.Got != "typing" || d.Rule != "line" || d.Rows != 24 || d.Cols != 80 || len(d.Screen) == 0 || len(d.Nearly) == 0 || d.Nearly[0].Rule != "prompt" {
					t.Errorf("%+v", d)
				}
			}
		}
		if !seen {
			t.Errorf("%+v", c.Failures)
		}
	}
	var printed strings.Builder
	report.Print(&printed)
	for _, want := range []string{"ok    output", "FAIL  session", "at 2s: state", "plugin test --update " + dir} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("%q is not in\n%s", want, &printed)
		}
	}
	if report, err := f.Test(t.Context(), regexp.MustCompile("^out"), false); err != nil || len(report.Cases) != 1 || report.Failed > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := f.Test(t.Context(), regexp.MustCompile("^no"), false); err == nil || !strings.Contains(err.Error(), `matches "^no"`) {
		t.Errorf("%v", err)
	}
	written, err := f.Test(t.Context(), nil, true)
	if err != nil || written.Failed > 0 || filepath.Base(written.Cases[1].Updated) != "session.expected.json" {
		t.Errorf("%+v, %v", written, err)
	}
	if again, err := f.Test(t.Context(), nil, false); err != nil || again.Failed > 0 {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestUpdateOfWhatHoldsWritesNothing: expected results that hold stay byte for byte.
func TestUpdateOfWhatHoldsWritesNothing(t *testing.T) {
	t.Parallel()
	dir := demo(t)
	cases, err := filepath.Glob(filepath.Join(dir, casesDir, "*"+expectedExt))
	if err != nil || len(cases) != 2 {
		t.Fatalf("%v, %v", cases, err)
	}
	before := map[string]string{}
	for _, path := range cases {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before[path] = string(text)
		e := new(Expected)
		if err := json.Unmarshal(text, e); err != nil {
			t.Fatal(err)
		}
		if again, err := e.encode(); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%s is written as\n%s, %v", path, again, err)
		}
	}
	if report, err := open(t, dir).Test(t.Context(), nil, true); err != nil || report.Failed > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	for path, text := range before {
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("%s is now\n%s, %v", path, after, err)
		}
	}
}

// TestCasesThatCannotBeRead say where, and do not keep the others from being read.
func TestCasesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files [][3]string
		line  int
		says  string
	}{
		"b.expected.json":       {[][3]string{{"b.screen", "", "$ ▮"}, {"b.expected.json", "", "{\n \"end\": {\n  \"role\": \"x\"}}"}}, 3, `"role" means nothing here`},
		"c.expected.json":       {[][3]string{{"c.screen", "", "$ ▮"}, {"c.expected.json", "", "{\n\"end\": 5}"}}, 2, "end cannot be a number"},
		"d.expected.json":       {[][3]string{{"d.screen", "", "$ ▮"}, {"d.expected.json", "", "{\n\n,"}}, 3, "not JSON"},
		"e.expected.json":       {[][3]string{{"e.screen", "", "$ ▮"}, {"e.expected.json", "", `{"states": ["ready"]}`}}, 0, "a .screen has only an end"},
		"f.expected.json":       {[][3]string{{"f.screen", "", "$ ▮"}, {"f.expected.json", "", `{"given": {"rows": 1001}}`}}, 0, "1 to 1000"},
		"session.expected.json": {[][3]string{{"session.expected.json", "", `{"given": {"rows": 3}}`}}, 0, "given is for a .screen"},
		"session.cast":          {[][3]string{{"session.cast", `[0.12, "o", "$ "]`, `[0.12, "o"]`}}, 2, ""},
		"g.screen":              {[][3]string{{"g.screen", "", "\x1b[1m$"}}, 0, "escape sequence"},
		"h.screen":              {[][3]string{{"h.screen", "", "\xff"}}, 0, "not valid UTF-8"},
		"i.screen":              {[][3]string{{"i.screen", "", "screen 1\nsize 1x4\n--\nabc\n"}}, 4, "is not a row"},
		"j.expected.json":       {[][3]string{{"j.screen", "", "screen 1\nsize 1x4\n--\n|$\n"}, {"j.expected.json", "", `{"given": {"title": "x"}}`}}, 0, "a golden screen says them itself"},
		"output.screen":         {[][3]string{{"output.cast", "", `{"version":2,"width":80,"height":24}` + "\n"}}, 0, "another recording of this name"},
	} {
		var edits [][3]string
		for _, e := range c.files {
			e[0] = casesDir + "/" + e[0]
			edits = append(edits, e)
		}
		cases, faults := open(t, demo(t, edits...)).Cases(nil)
		if len(faults) != 1 || len(cases) == 0 {
			t.Errorf("%s: %d cases, %v", name, len(cases), faults)
			continue
		}
		if f := faults[0]; filepath.Base(f.Path) != name || f.Line != c.line || !strings.Contains(f.Error(), c.says) {
			t.Errorf("%s: %+v, %v", name, f, f)
		}
	}
}

// FuzzExpected: what can be read is written so that it reads the same, and what cannot has a line.
func FuzzExpected(f *testing.F) {
	for _, name := range []string{"output", "session"} {
		text, err := scaffold.ReadFile("scaffold/testdata/cases/" + name + expectedExt)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("{\"end\": {\n\"role\": 1}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var e, again Expected
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			if fault := expectedError("x", text, d.InputOffset(), err); fault.Line < 1 || fault.Line > 1+bytes.Count(text, []byte("\n")) {
				t.Errorf("%q: %v", text, fault)
			}
			return
		}
		one, err := e.encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(one, &again); err != nil {
			t.Fatal(err)
		}
		if two, err := again.encode(); err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s\n%s\n%v", one, two, err)
		}
	})
}

// TestGoldenScreenCase: a .screen that is a golden screen is drawn as it says: size, title, cursor,
// modes and colours; one that is text alone as it stands, with the cursor at its mark.
func TestGoldenScreenCase(t *testing.T) {
	t.Parallel()
	want := "screen 1\nsize 3x12\ntitle \"make\"\ncursor 1,2 bar\nmodes alt paste\n--\n|$ make\n~r\n|cc\n|\n--\nr fg=red\n"
	dir := demo(t, [3]string{casesDir + "/drawn.screen", "", want}, [3]string{casesDir + "/text.screen", "", "$ ls\n$ ▮\n"})
	cases, faults := open(t, dir).Cases(regexp.MustCompile("^(drawn|text)$"))
	if len(faults) != 0 || len(cases) != 2 {
		t.Fatal(cases, faults)
	}
	for i, want := range []string{want, "screen 1\nsize 24x80\ncursor 1,2\n--\n|$ ls\n|$\n|\n*22\n"} {
		rows, cols := cases[i].size()
		term := vt.New(rows, cols, vt.Options{})
		for e := range cases[i].events() {
			term.Feed([]byte(e.Text))
		}
		f, err := golden.Parse([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		if d, err := f.Compare(term.Snapshot()); err != nil || !d.Equal() {
			t.Errorf("%s: %v\n%s", cases[i].Name, err, d)
		}
	}
}
