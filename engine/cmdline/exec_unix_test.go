//go:build unix

package cmdline_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/cmdline"
)

// onLinux skips where the system does not tell that a program has executed another.
func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells of an execve")
	}
}

// TestAShellThatMakesWayForAnother: the new one's lines run, by a sentinel when it has no marks.
func TestAShellThatMakesWayForAnother(t *testing.T) {
	onLinux(t)
	t.Parallel()
	for _, k := range kinds[:3] {
		for _, next := range []string{"bash --norc", "zsh -f", "dash"} {
			t.Run(k.name+" to "+next, func(t *testing.T) {
				t.Parallel()
				program, _, _ := strings.Cut(next, " ")
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("%s is not installed (Debian package %s)", program, program)
				}
				s := start(t, k)
				if program == "dash" { // no editor says that it reads a line
					brief(t, s, "exec "+next)
				} else if r := run(t, s, "exec "+next); r.Reason != cmdline.Finished || r.ExitCode != nil {
					t.Errorf("exec: %s %v %q\n%s", r.Reason, told(r.ExitCode), r.Output, tail(s))
				}
				for range 2 {
					r := run(t, s, "sh -c 'echo there; exit 7'")
					if r.Reason != cmdline.Finished || told(r.ExitCode) != 7 || r.Output != "there\n" || r.By != cmdline.Sentinel {
						t.Errorf("%s %s %v %q\n%s", r.Reason, r.By, told(r.ExitCode), r.Output, tail(s))
					}
				}
				send(t, s, engine.Text("exec sleep 1000\r"))
				if _, err := s.Wait(t.Context(), runs{s, "sleep"}, engine.Within(hang)); err != nil {
					t.Fatal(err)
				}
				var none *cmdline.NoShellError
				if _, err := cmdline.Run(t.Context(), s, "echo no", cmdline.Options{Timeout: hang}); !errors.As(err, &none) {
					t.Errorf("a shell that has made way for sleep: %v", err)
				}
			})
		}
	}
}

// runs is a matcher of a program that has the terminal.
type runs struct {
	session *engine.Session
	name    string
}

func (m runs) Check(*engine.View) engine.Result {
	if who, err := m.session.Foreground(); err == nil && who.Name == m.name {
		return engine.Result{Match: &engine.Match{}}
	}
	return engine.Result{Recheck: 20 * time.Millisecond}
}

// TestAStartFileThatMakesWay for another shell: that one's lines run.
func TestAStartFileThatMakesWay(t *testing.T) {
	onLinux(t)
	t.Parallel()
	for _, k := range kinds[:2] {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for _, name := range []string{".bashrc", ".zshrc"} {
				if err := os.WriteFile(filepath.Join(home, name), []byte("exec dash\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			k.env = map[string]string{"HOME": home, "ZDOTDIR": home}
			s := start(t, k)
			for range 2 {
				r := run(t, s, "sh -c 'echo there; exit 7'")
				if r.Reason != cmdline.Finished || told(r.ExitCode) != 7 || r.Output != "there\n" || r.By != cmdline.Sentinel {
					t.Errorf("%s %s %v %q\n%s", r.Reason, r.By, told(r.ExitCode), r.Output, tail(s))
				}
			}
		})
	}
}

// TestNothingIsEchoed: a shell whose terminal echoes nothing asks for no secret when it is known to
// be at its prompt.
func TestNothingIsEchoed(t *testing.T) {
	t.Parallel()
	posix(t, func(t *testing.T, k kind, s *engine.Session) {
		expect(t, k, s, "stty -echo; echo noecho", 0, "noecho")
		expect(t, k, s, "echo next", 0, "next")
		send(t, s, engine.Text("true\r"))
		stands(t, s)
		cleared(t, s)
		expect(t, k, s, "stty echo", 0, "")
		expect(t, k, s, "echo back", 0, "back")
	})
}

// TestTheSessionIsKilled: however the shell puts its end, the command has none.
func TestTheSessionIsKilled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kind, s *engine.Session) {
		run(t, s, "true")
		since := s.Sequence()
		killed := make(chan error, 1)
		go func() {
			_, err := s.Wait(t.Context(), wrote("begun\r\n"), engine.After(since), engine.Within(hang))
			killed <- errors.Join(err, s.Kill(t.Context()))
		}()
		r := run(t, s, hanging)
		if r.Reason != cmdline.Ended || r.ExitCode != nil || r.Block != nil && r.Block.Exited || !strings.HasPrefix(r.Output, "begun") || strings.Contains(r.Output, "not reached") {
			t.Errorf("%s %v %q %+v", r.Reason, told(r.ExitCode), r.Output, r.Block)
		}
		if err := <-killed; err != nil {
			t.Error(err)
		}
	})
}
