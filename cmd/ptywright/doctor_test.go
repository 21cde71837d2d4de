//go:build unix

package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/app"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/doctor"
)

// findings runs the doctor in a home, with these variables, and returns what it found by check.
func findings(t testing.TB, code int, home string, env ...string) map[string]doctor.Finding {
	t.Helper()
	p := ptywright(t, "doctor", "--json")
	p.Env = append(append(p.Env, "PTYWRIGHT_HOME="+home, "PTYWRIGHT_CONFIG="), env...)
	out, got := p.Run("")
	if got != code || p.Stderr.String() != "" {
		t.Errorf("exit %d, expected %d: %s%s", got, code, out, p.Stderr)
	}
	found := map[string]doctor.Finding{}
	for line := range strings.Lines(out) {
		var f doctor.Finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		found[f.Check] = f
	}
	noneLeft(t, p.Mark)
	return found
}

// TestDoctorOfAHealthyMachine finds nothing broken, and leaves nothing behind.
func TestDoctorOfAHealthyMachine(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	found := findings(t, 0, home)
	for _, check := range []string{"version", "home", "config", "socket", "terminal", "watcher", "limit of files", "terminfo", "locale", "plugins", "agent claude", "agent codex", "agent gemini", "agent opencode"} {
		if f, ok := found[check]; !ok || f.State == doctor.Broken || f.Found == "" {
			t.Errorf("%s: %+v", check, f)
		}
	}
	if _, err := exec.LookPath("bash"); err == nil && found["shell bash"].Check == "" {
		t.Errorf("bash is not looked at: %v", found)
	}
	if _, err := os.Lstat(home); err == nil {
		t.Error("the doctor has made a folder")
	}
}

// TestDoctorTellsWhatIsBroken, and what to do.
func TestDoctorTellsWhatIsBroken(t *testing.T) {
	t.Parallel()
	home, tools := t.TempDir(), t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, "config.toml"), "[log]\nlevell = 'x'\n", 0o600)
	write(filepath.Join(home, "socket"), "no socket", 0o600)
	write(filepath.Join(tools, "claude"), "#!/bin/sh\necho '2.1.200 (Claude Code)'\n", 0o700)
	write(filepath.Join(tools, "codex"), "#!/bin/sh\nprintf 'codex-cli 99.0.0\\033[31m\\n'\n", 0o700)
	write(filepath.Join(tools, "gemini"), "#!/bin/sh\nexit 3\n", 0o700)
	if err := os.Chmod(home, 0o777); err != nil {
		t.Fatal(err)
	}
	found := findings(t, 1, home, "PATH="+tools+":"+os.Getenv("PATH"), "LC_ALL=POSIX", "PTYWRIGHT_PLUGINS=/there/is/none.toml")
	for check, want := range map[string][3]string{
		"home":         {doctor.Broken, "others can put a socket of theirs there", "chmod go-w"},
		"config":       {doctor.Broken, "config.toml, line 2, log.levell: no such setting", "ptywright config"},
		"socket":       {doctor.Broken, "not a socket", "move it away"},
		"plugins":      {doctor.Broken, "/there/is/none.toml", "take it out"},
		"locale":       {doctor.Warning, "LC_ALL=POSIX is not UTF-8", "export LC_ALL=C.UTF-8"},
		"agent claude": {doctor.OK, "2.1.200; plugin claude-code was made against 2.0.60", ""},
		"agent codex":  {doctor.Warning, "99.0.0 is newer or older", "adapter.explain"},
		"agent gemini": {doctor.Warning, "told no version (exit status 3)", "by hand"},
	} {
		if f := found[check]; f.State != want[0] || !strings.Contains(f.Found, want[1]) || !strings.Contains(f.Advice, want[2]) {
			t.Errorf("%s: %+v, expected %q", check, f, want)
		}
	}
}

// TestDoctorJudgesTheEnvironment as config does.
func TestDoctorJudgesTheEnvironment(t *testing.T) {
	t.Parallel()
	found := findings(t, 1, t.TempDir(), "PTYWRIGHT_LOG_LEVEL=loud", "PTYWRIGHT_MAX_SESSIONS=4")
	if f := found["config"]; f.State != doctor.Broken || f.Found != `PTYWRIGHT_LOG_LEVEL in the environment is "loud": give debug, info, warn or error` {
		t.Errorf("%+v", f)
	}
	if f := found["environment"]; f.State != doctor.Warning || !strings.Contains(f.Found, "PTYWRIGHT_MAX_SESSIONS") || !strings.Contains(f.Found, "did you mean PTYWRIGHT_LIMITS_SESSIONS?") {
		t.Errorf("%+v", f)
	}
}

// TestDoctorLeavesHomesAlone: the shells that it tries neither read their user's files nor write
// any.
func TestDoctorLeavesHomesAlone(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	touch := "touch " + filepath.Join(home, "read") + "\n"
	for _, name := range []string{".bashrc", ".bash_profile", ".profile", ".zshenv", ".zshrc", "config/fish/config.fish"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(touch), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := func() (all []string) {
		filepath.WalkDir(home, func(path string, _ os.DirEntry, err error) error {
			all = append(all, path)
			return err
		})
		return all
	}
	before := list()
	found := findings(t, 0, filepath.Join(t.TempDir(), "root"), "HOME="+home, "ZDOTDIR="+home, "XDG_CONFIG_HOME="+home+"/config", "XDG_DATA_HOME="+home+"/data", "XDG_STATE_HOME="+home+"/state", "XDG_CACHE_HOME="+home+"/cache", "ENV="+home+"/.profile", "BASH_ENV="+home+"/.bashrc")
	for _, name := range []string{"bash", "zsh", "fish"} {
		if _, err := exec.LookPath(name); err == nil && found["shell "+name].State != doctor.OK {
			t.Errorf("%+v", found["shell "+name])
		}
	}
	if after := list(); !slices.Equal(before, after) {
		t.Errorf("there was %q, and is %q", before, after)
	}
}

// TestDoctorSeesWhoListens, and what is left of who did.
func TestDoctorSeesWhoListens(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	if f := findings(t, 0, filepath.Dir(s.path))["socket"]; f.State != doctor.OK || !strings.Contains(f.Found, "listens on "+s.path+", process ") {
		t.Errorf("%+v", f)
	}
	home := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(home, "socket")})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if f := findings(t, 0, home)["socket"]; f.State != doctor.Warning || !strings.Contains(f.Found, "stale") || !strings.Contains(f.Advice, "takes it over") {
		t.Errorf("%+v", f)
	}
}

// TestDoctorKnowsTheAgentsOfTheDocs holds its versions to docs/agents.md.
func TestDoctorKnowsTheAgentsOfTheDocs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range doctor.Versions() {
		if !strings.Contains(string(page), v) {
			t.Errorf("docs/agents.md does not name %s", v)
		}
	}
}

// TestSchema has every method and every command, and says of each what it takes.
func TestSchema(t *testing.T) {
	t.Parallel()
	type schema struct {
		Type                 string
		Properties           map[string]schema
		MinItems, MaxItems   *int
		AdditionalProperties *bool
		Default              any
		ExitCodes            map[string]string `json:"exit_codes"`
	}
	var all struct {
		Methods  map[string]struct{ About string }
		Commands map[string]schema
		Reasons  []string
		Version  string
	}
	own, code := ptywright(t, "schema").Run("")
	if err := json.Unmarshal([]byte(own), &all); err != nil || code != 0 {
		t.Fatalf("exit %d, %v", code, err)
	}
	if all.Methods["session.wait"].About == "" || !slices.Contains(all.Reasons, "timeout") || all.Version == "" {
		t.Errorf("%v", all.Methods["session.wait"])
	}
	for _, c := range app.Command(cli.Stdio{}).Commands() {
		if _, ok := all.Commands[c.Name()]; !ok && c.IsAvailableCommand() && !c.HasSubCommands() {
			t.Errorf("%s is in the help and not in the schema", c.Name())
		}
	}
	wait := all.Commands["wait"]
	for name, least := range map[string]int{"wait": 0, "shot": 0, "spawn": 0, "exec": 2, "adapter approve": 2} {
		if args := all.Commands[name].Properties["args"]; *args.MinItems != least {
			t.Errorf("%s: %d arguments at least", name, *args.MinItems)
		}
	}
	if args := all.Commands["read"].Properties["args"]; *args.MinItems != 1 || *args.MaxItems != 1 {
		t.Errorf("%+v", args)
	}
	if args := all.Commands["send"].Properties["args"]; *args.MinItems != 1 || args.MaxItems != nil {
		t.Errorf("%+v", args)
	}
	if flags := wait.Properties["flags"]; flags.Properties["since"].Type != "string" || flags.Properties["text"].Type != "array" || flags.Properties["exit"].Default != false || *flags.AdditionalProperties {
		t.Errorf("%+v", flags)
	}
	if c := all.Commands["exec"].ExitCodes; len(c) != 7 || c["0-255"] == "" || c["124"] == "" || c["125"] == "" || c["130"] == "" {
		t.Errorf("%v", c)
	}
	if c := wait.ExitCodes; len(c) != 10 || !strings.Contains(c["3"], "timed out") || !strings.Contains(c["130"], "Ctrl-C") {
		t.Errorf("%v", c)
	}
	if c := all.Commands["ls"].ExitCodes; c["3"] != "" || c["5"] == "" {
		t.Errorf("%v", c)
	}

	s := newShared(t)
	theirs := s.ok("schema", "--socket", s.path)
	var other map[string]json.RawMessage
	if err := json.Unmarshal([]byte(theirs), &other); err != nil || len(other["methods"]) < 1000 {
		t.Errorf("%v, %.100s", err, theirs)
	}
}
