package plugins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

const full = `name = "echo"
kind = "adapter"
version = "1.2"
runtime = "lua"
entrypoint = "lua/main.lua"
permissions = ["session.spawn", "input.write"]
program_status = true

[default_target]
program = "cat"
args = ["-u"]
rows = 30
cols = 100

[default_target.env]
NO_COLOR = "1"

[default_target.required_env]
LANG = "C"
`

func TestParseManifest(t *testing.T) {
	m, err := ParseManifest([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	want := &Manifest{
		Name: "echo", Kind: KindAdapter, Version: "1.2", Runtime: "lua", Entrypoint: "lua/main.lua",
		Permissions: []Permission{SessionSpawn, InputWrite}, ProgramStatus: true,
		Target: &Target{Program: "cat", Args: []string{"-u"}, Rows: 30, Cols: 100,
			Env: map[string]string{"NO_COLOR": "1"}, RequiredEnv: map[string]string{"LANG": "C"}},
	}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
	if !m.Allows(InputWrite) || m.Allows(SessionKill) {
		t.Errorf("it allows %v", m.Permissions)
	}
	// Clients are told the same keys.
	var told Manifest
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &told); err != nil || cmp.Diff(*m, told) != "" {
		t.Errorf("as JSON it is %s: %v", b, err)
	}
}

func TestParseManifestSaysWhatIsWrongAndWhere(t *testing.T) {
	head := "name = \"a\"\nkind = \"adapter\"\nversion = \"1\"\n"
	for _, c := range []struct {
		text, key string
		line      int
		says      string
	}{
		{"", "name", 0, "missing"},
		{"name = \"a\"\nversion = \"1\"\nkind = \"robot\"", "kind", 3, `"robot": use adapter, macro or matcher`},
		{"name = \"a\"\nkind = \"adapter\"", "version", 0, "missing"},
		{"name = \"A b\"\n", "name", 1, "use lower-case letters"},
		{"name = \"" + strings.Repeat("a", 65) + "\"", "name", 1, "at most 64"},
		{head + "runtime = \"wasm\"", "runtime", 4, "use lua"},
		{head + "runtime = \"perl\"", "runtime", 4, "use lua"},
		{head + "runtime = \"lua\"", "entrypoint", 0, "needs one"},
		{head + "entrypoint = \"main.lua\"", "runtime", 0, "needs one"},
		{head + "permissions = [\"root\"]", "permissions", 4, `unknown permission "root": use some of session.spawn,`},
		{head + "permissions = [\"input.write\", \"input.write\"]", "permissions", 4, "twice"},
		{head + "colour = \"red\"", "colour", 4, "unknown key"},
		{head + "[default_target]\nprogram = \"x\"\nshell = true", "default_target.shell", 6, "unknown key"},
		{head + "[default_target]\nargs = []", "default_target.program", 4, "missing"},
		{head + "[default_target]\nprogram = \"x\"\nrows = 70000", "default_target.rows", 6, "use 1 to 1000"},
		{head + "[default_target]\nprogram = \"x\"\ncols = -1", "default_target.cols", 6, "use 1 to 1000"},
		{head + "[default_target]\nprogram = \"x\"\n[default_target.env]\n\"A=B\" = \"1\"", "default_target.env", 6, "not a valid environment variable"},
		{head + "name = \"b\"", "name", 4, "already"},
		{head + "permissions = \"all\"", "permissions", 4, `it must be a list of texts, as ["a", "b"], and is text`},
		{"name = 7\nkind = \"adapter\"\nversion = \"1\"", "name", 1, `it must be text in quotes, as "1.0.0", and is a whole number`},
		{"name = \"a\"\nkind = \"adapter\"\nversion = 1.5", "version", 3, "and is a number with a fraction"},
		{head + "[default_target]\nprogram = \"x\"\nrows = \"40\"", "default_target.rows", 6, "it must be a whole number, as 40, and is text"},
		{head + "[default_target]\nprogram = \"x\"\nenv = { A = 1 }", "default_target.env", 6, "and is a table whose A is a whole number"},
		{head + "permissions = [\"input.write\", 3]", "permissions", 4, "and is a list with a whole number in it"},
		{head + "program_status = 1979-05-27", "program_status", 4, "it must be true or false, as true, and is a date"},
		{head + "default_target = 1", "default_target", 4, "it must be a table, as [default_target], and is a whole number"},
		{head + "rows = [", "rows", 4, ""},
		{head + "\x00", "", 4, ""},
		{strings.Repeat("#", maxManifest+1), "", 0, "at most 65536"},
	} {
		_, err := ParseManifest([]byte(c.text))
		var fault *ManifestError
		switch {
		case !errors.As(err, &fault):
			t.Errorf("%q: %v", clip(c.text), err)
		case fault.Key != c.key || fault.Line != c.line || !strings.Contains(err.Error(), c.says):
			t.Errorf("%q: key %q, line %d: %v", clip(c.text), fault.Key, fault.Line, err)
		}
	}
	for path, says := range map[string]string{
		"/etc/passwd.lua": "absolute", "../a.lua": "leaves", "a/../../b.lua": "leaves", `a\b.lua`: "slashes", "c:a.lua": "slashes",
	} {
		if _, err := ParseManifest(fmt.Appendf(nil, "%sruntime = \"lua\"\nentrypoint = %q", head, path)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("entrypoint %s: %v", path, err)
		}
	}
}

// TestLintManifestFindsEverything: one look shows all that is wrong, by line, and none of it in
// words of the program's own language.
func TestLintManifestFindsEverything(t *testing.T) {
	var got []string
	for _, f := range LintManifest([]byte("name = \"A\"\nkind = \"robot\"\npermissions = [\"root\"]\n[default_target]\nrows = 0\ncols = 2000\n")) {
		got = append(got, fmt.Sprintf("%d %s", f.Line, f.Key))
	}
	want := []string{"1 name", "2 kind", "3 permissions", "4 default_target.program", "6 default_target.cols", "0 version"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if faults := LintManifest([]byte(full)); faults != nil {
		t.Errorf("a good one has %v", faults)
	}
}

// FuzzParseManifest: whatever the text, it is refused with a short typed error, or it is valid and
// stays so when it is written and read again.
func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("name = 1"))
	f.Add([]byte("[[default_target]]\nprogram=\"x\""))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseManifest(text)
		if err != nil {
			var fault *ManifestError
			if !errors.As(err, &fault) || len(err.Error()) > 600 {
				t.Errorf("%d bytes of %T: %v", len(err.Error()), err, err)
			}
			return
		}
		var b bytes.Buffer
		if err := toml.NewEncoder(&b).Encode(m); err != nil {
			t.Fatal(err)
		}
		again, err := ParseManifest(b.Bytes())
		if err != nil {
			t.Fatalf("written and read again: %v\n%s", err, b.String())
		}
		one, _ := json.Marshal(m)
		two, _ := json.Marshal(again)
		if !bytes.Equal(one, two) {
			t.Errorf("%s became %s", one, two)
		}
	})
}
