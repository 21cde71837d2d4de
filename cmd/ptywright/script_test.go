//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script/*.txtar, which show the command line as a user would type it.
// Each script has a home of its own, and so a server; at its end the server is ended, and no
// process may be left. Besides testscript's own commands there are:
//
//	fails CODE PROGRAM [ARG]...  runs a program that must end with this exit code
//	let NAME                     sets a variable to what the last command printed
//	like stdout|stderr FILE      compares with FILE, in which … stands for anything
//	[root]                       whether it is run by root, for whom permissions do not hold
//
// Run it with UPDATE=1 to write the files of cmp anew, and read the difference.
func TestScripts(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "ptywright")); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:   filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error { return setUp(e, bin) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails": fails, "let": let, "like": like,
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, errors.New("not a condition")
			}
			return os.Geteuid() == 0, nil
		},
		UpdateScripts: os.Getenv("UPDATE") == "1",
	})
}

// setUp gives a script an environment with nothing of its user's, and ends what it leaves running.
func setUp(e *testscript.Env, bin string) error {
	home, run := filepath.Join(e.WorkDir, "home"), filepath.Join(e.WorkDir, "run")
	for _, dir := range []string{filepath.Join(home, ".ptywright"), run} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	// What others could have written is refused, and under some umasks they could.
	err := filepath.WalkDir(e.WorkDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()&^0o022)
	})
	if err != nil {
		return err
	}
	p := ptywright(e.T().(testing.TB), "kill", "--server")
	for name, value := range map[string]string{
		"HOME": home, "XDG_RUNTIME_DIR": run, "PATH": bin + ":" + os.Getenv("PATH"), asProgram: p.Mark,
		"GORACE": "atexit_sleep_ms=10", "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh", "PS1": "$ ", "ENV": "",
		"HISTFILE": "",
	} {
		e.Setenv(name, value)
	}
	p.Env = append(e.Vars, "PTYWRIGHT_CONFIG=off")
	e.Defer(func() {
		p.Run("") // it fails when the script has ended the server
		noneLeft(p.T, p.Mark)
	})
	return nil
}

func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails CODE PROGRAM [ARG]...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		ts.Fatalf("%v, want exit code %d", err, want)
	}
	if got := exit.ExitCode(); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func let(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: let NAME")
	}
	ts.Setenv(args[0], strings.TrimSuffix(ts.ReadFile("stdout"), "\n"))
}

func like(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: like stdout|stderr FILE")
	}
	got, want := ts.ReadFile(args[0]), strings.TrimSuffix(ts.ReadFile(args[1]), "\n")
	if !looksLike(got, want) {
		ts.Fatalf("%s is\n%s, not like\n%s", args[0], got, want)
	}
}
