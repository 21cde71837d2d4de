//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// The folder of a plugin may be anybody's: nothing in it keeps the kit waiting, is read from
// outside of it, or written there.
func TestPluginKitStaysInTheFolder(t *testing.T) {
	t.Parallel()
	dir, demo := scaffolded(t)
	cases := filepath.Join(demo, "testdata", "cases")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// Pipes, where each of a case's files is looked for.
	must(syscall.Mkfifo(filepath.Join(cases, "pipe.cast"), 0o600))
	must(syscall.Mkfifo(filepath.Join(cases, "drawn.screen"), 0o600))
	must(os.WriteFile(filepath.Join(cases, "expects.screen"), []byte("$ ▮\n"), 0o600))
	must(syscall.Mkfifo(filepath.Join(cases, "expects.expected.json"), 0o600))
	for _, command := range []string{"test", "check"} {
		out, code := inFolder(t, dir, "plugin", command, "demo")
		wants(t, out, "pipe.cast: it is not a regular file", "drawn.screen: it is not a regular file", "expects.expected.json: it is not a regular file")
		if code != 1 {
			t.Errorf("%s: exit code %d", command, code)
		}
	}
	must(os.Remove(filepath.Join(cases, "pipe.cast")))
	must(os.Remove(filepath.Join(cases, "drawn.screen")))
	must(os.Remove(filepath.Join(cases, "expects.expected.json")))

	// Links out of it, to what is there and to what is not.
	theirs, fresh := filepath.Join(dir, "theirs.json"), filepath.Join(dir, "fresh.json")
	const kept = `{"end": {"state": "mine"}}`
	must(os.WriteFile(theirs, []byte(kept), 0o600))
	must(os.Symlink(theirs, filepath.Join(cases, "expects.expected.json")))
	must(os.WriteFile(filepath.Join(cases, "new.screen"), []byte("$ ▮\n"), 0o600))
	must(os.Symlink(fresh, filepath.Join(cases, "new.expected.json")))
	out, code := inFolder(t, dir, "plugin", "test", "--update", "demo")
	if text, err := os.ReadFile(theirs); err != nil || string(text) != kept {
		t.Errorf("the file outside is %s, %v", text, err)
	}
	if _, err := os.Lstat(fresh); err == nil {
		t.Error("a file was made outside")
	}
	wants(t, out, "expects.expected.json: path escapes from parent")
	if code != 1 {
		t.Errorf("exit code %d: %s", code, out)
	}
	must(os.Remove(filepath.Join(cases, "expects.expected.json")))
	must(os.Remove(filepath.Join(cases, "new.expected.json")))

	// Not even within it: what is written is a file of its own.
	must(os.Symlink("../../manifest.toml", filepath.Join(cases, "new.expected.json")))
	before, _ := os.ReadFile(filepath.Join(demo, "manifest.toml"))
	inFolder(t, dir, "plugin", "test", "--update", "demo")
	if after, _ := os.ReadFile(filepath.Join(demo, "manifest.toml")); string(after) != string(before) {
		t.Errorf("the manifest is\n%s", after)
	}
	must(os.Remove(filepath.Join(cases, "new.expected.json")))
	if out, code := inFolder(t, dir, "plugin", "test", "--update", "demo"); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
	if text, err := os.ReadFile(filepath.Join(cases, "new.expected.json")); err != nil || !strings.Contains(string(text), "end") {
		t.Errorf("written is %s, %v", text, err)
	}

	// The folder of the cases itself.
	must(os.Rename(cases, filepath.Join(dir, "cases")))
	must(os.Symlink(filepath.Join(dir, "cases"), cases))
	out, _ = inFolder(t, dir, "plugin", "test", "demo")
	wants(t, out, "testdata/cases: path escapes from parent")
	out, _ = inFolder(t, dir, "plugin", "run", "--record", "one", "demo")
	wants(t, out, "testdata/cases")
	if _, err := os.Lstat(filepath.Join(dir, "cases", "one.cast")); err == nil {
		t.Error("a recording was made outside")
	}
}

func TestPluginNewTakesNamesThatItsAdviceCanUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"--help", "-x", ".", "..", ".x", "_x", "manifest.toml", "X"} {
		out, code := inFolder(t, dir, "plugin", "new", "--", name)
		if code != cli.ExitUsage || !strings.Contains(out, "name") {
			t.Errorf("%s: exit code %d: %s", name, code, out)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
	for _, parent := range []string{"-a", "it's here"} {
		if err := os.Mkdir(filepath.Join(dir, parent), 0o700); err != nil {
			t.Fatal(err)
		}
		out, code := inFolder(t, dir, "plugin", "new", "--dir="+parent, "demo")
		_, advice, _ := strings.Cut(out, "ptywright ")
		advice, _, _ = strings.Cut(advice, "\n")
		if code != 0 || !strings.HasPrefix(advice, "plugin test ") {
			t.Fatalf("exit code %d: %s", code, out)
		}
		p := ptywright(t) // as a shell runs what it says
		p.Args = []string{"sh", "-c", `self=$0; ptywright() { "$self" "$@"; }; ptywright ` + advice, p.Path}
		p.Path, p.Dir = "/bin/sh", dir
		if out, code := p.Run(""); code != 0 {
			t.Errorf("%s: exit code %d: %s%s", advice, code, out, p.Stderr.String())
		}
	}
}

// A classifier that never ends is told once, and costs its limit once; an intent likewise.
func TestPluginCheckOfWhatNeverEnds(t *testing.T) {
	t.Parallel()
	dir, demo := scaffolded(t)
	main := filepath.Join(demo, "main.lua")
	edit(t, main, "function plugin.classify(s) return", "function plugin.classify(s) while true do end return")
	out, code := inFolder(t, dir, "plugin", "check", "demo")
	if code != 1 || strings.Count(out, "(testdata/cases") != 1 || strings.Contains(out, "given up") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestPluginCheckRefusesAnUnseenProgram(t *testing.T) {
	t.Parallel()
	dir, demo := scaffolded(t)
	edit(t, filepath.Join(demo, "manifest.toml"), `program = "sh"`, `program = "../../../bin/\u001b[31msh"`)
	out, code := inFolder(t, dir, "plugin", "check", "demo")
	if code != 1 || !strings.Contains(out, "default_target.program") || strings.Contains(out, "\x1b") {
		t.Errorf("exit code %d: %q", code, out)
	}
}
