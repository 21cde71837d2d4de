//go:build unix

package cmdline_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/cmdline"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/lanes"
)

func TestMain(m *testing.M) {
	lanes.Beside(24)     // they wait for shells that fall silent
	pty.DefaultSignals() // tests may be run by nohup
	goleak.VerifyTestMain(m)
}

// A kind is a shell and how the end of its commands is told.
type kind struct {
	name    string
	program string
	args    []string
	env     map[string]string
	marks   bool
}

// kinds are all that are driven here. The user's own start-up files are not read.
var kinds = []kind{
	{"bash-marks", "bash", nil, nil, true},
	{"zsh-marks", "zsh", nil, nil, true},
	{"fish-marks", "fish", nil, nil, true},
	{"bash", "bash", []string{"--norc"}, nil, false},
	{"zsh", "zsh", []string{"-f"}, nil, false},
	{"fish", "fish", []string{"--no-config"}, nil, false},
	{"dash", "dash", nil, nil, false},
	{"sh", "sh", nil, nil, false},
	{"bash-posix", "bash", []string{"--norc", "--posix"}, nil, false},
	{"bash-noediting", "bash", []string{"--norc", "--noediting"}, nil, false},
	{"ksh", "ksh", nil, nil, false},
	{"mksh", "mksh", nil, nil, false},
	{"busybox", "busybox", []string{"sh"}, nil, false},
}

// each runs a test in every shell that is installed.
func each(t *testing.T, f func(t *testing.T, k kind, s *engine.Session)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel() // they wait, mostly
			f(t, k, start(t, k))
		})
	}
}

func start(t testing.TB, k kind) *engine.Session {
	t.Helper()
	if _, err := exec.LookPath(k.program); err != nil {
		t.Skipf("%s is not installed (Debian package %s)", k.program, k.program)
	}
	home := enginetest.Home(t)
	env := map[string]string{"HOME": home, "PS1": "$ ", "ZDOTDIR": "", "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "ENV": ""}
	for n, v := range k.env {
		env[n] = v
	}
	e := engine.New(engine.Options{})
	s, err := e.Spawn(t.Context(), engine.Config{Program: k.program, Args: k.args, Env: env, Dir: home, Size: pty.Size{Rows: 24, Cols: 80}, ShellIntegration: k.marks})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// way is how a kind's ends are told.
func (k kind) way() cmdline.Way {
	if k.marks {
		return cmdline.Marks
	}
	return cmdline.Sentinel
}

// hang bounds what must come: a hang, not a time.
const hang = 2 * time.Minute

func run(t testing.TB, s *engine.Session, line string) *cmdline.Result {
	t.Helper()
	r, err := cmdline.Run(t.Context(), s, line, cmdline.Options{Timeout: hang})
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return r
}

// expect runs a line that must finish with this exit code, and print these lines.
func expect(t testing.TB, k kind, s *engine.Session, line string, exit int, lines string) {
	t.Helper()
	if lines != "" {
		lines += "\n"
	}
	exactly(t, k, s, line, exit, lines)
}

// exactly runs a line that must finish with this exit code and output.
func exactly(t testing.TB, k kind, s *engine.Session, line string, exit int, output string) {
	t.Helper()
	r := run(t, s, line)
	if r.Reason != cmdline.Finished || r.ExitCode == nil || *r.ExitCode != exit || r.Output != output || r.Cut || r.By != k.way() {
		t.Errorf("%q: %s %s, exit code %s, cut %v, %q; want %d, %q\n%s", line, r.Reason, r.By, fmt.Sprint(told(r.ExitCode)), r.Cut, r.Output, exit, output, tail(s))
	}
}

func told(code *int) any {
	if code == nil {
		return "unknown"
	}
	return *code
}

// tail is the end of what a session has written.
func tail(s *engine.Session) string { return strings.ToValidUTF8(s.View().Transcript.Tail(1500), "?") }

// TestRun: output and exit code are the command's, whatever that is.
func TestRun(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		expect(t, k, s, "echo hi", 0, "hi")
		expect(t, k, s, "false", 1, "")
		expect(t, k, s, "echo a; echo b", 0, "a\nb")
		expect(t, k, s, "echo a\necho b\n", 0, "a\nb")
		exactly(t, k, s, "printf foo", 0, "foo")
		exactly(t, k, s, "printf '\\n  in\\n\\n  dent  \\n\\n'", 0, "\n  in\n\n  dent  \n\n")
		expect(t, k, s, "sh -c 'exit 77'", 77, "")
		expect(t, k, s, "printf '%s\\n' 'it'\\''s' \"b\\\\c\"", 0, "it's\nb\\c")
		expect(t, k, s, "echo é 漢字", 0, "é 漢字")
		if k.name == "fish-marks" { // it drops a tab from what is pasted
			k.marks = false
		}
		exactly(t, k, s, "printf '%s|' 'a\tb'", 0, "a\tb|")
	})
}

// TestTheCommandBeforeIsKnown: in $? there is its exit code, as if nothing had come between.
func TestTheCommandBeforeIsKnown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		status := "$?"
		if k.program == "fish" {
			status = "$status"
		}
		run(t, s, "sh -c 'exit 77'")
		expect(t, k, s, "echo "+status, 0, "77")
		expect(t, k, s, "echo "+status, 0, "0")
	})
}
