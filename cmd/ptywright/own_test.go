//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest"
)

// onTerminal runs ptywright on a terminal of its own, with a server's home.
func (s *shared) onTerminal(t *testing.T, rows, cols int, env map[string]string, args ...string) *tuitest.TUI {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{asProgram: "1", "PTYWRIGHT_HOME": filepath.Dir(s.path), "PTYWRIGHT_CONFIG": "off"}
	maps.Copy(all, env)
	return tuitest.Config{Rows: rows, Cols: cols, Env: all, Timeout: hang}.New(t, self, args...)
}

// widths are those at which what commands print is looked at, and colours with what turns them off.
var (
	ownWidths  = []int{40, 80, 120}
	ownColours = map[string]map[string]string{"colour": {}, "plain": {"NO_COLOR": "1"}}
)

// looks runs a command on a terminal of each width, with and without colour, and compares each
// screen with a golden one.
func (s *shared) looks(t *testing.T, name string, rows int, env map[string]string, options []tuitest.ScreenOption, args ...string) {
	t.Helper()
	for _, cols := range ownWidths {
		for colour, off := range ownColours {
			t.Run(fmt.Sprintf("%s-%d-%s", name, cols, colour), func(t *testing.T) {
				with := maps.Clone(env)
				maps.Copy(with, off)
				u := s.onTerminal(t, rows, cols, with, args...)
				u.Wait(matchers.Exited())
				u.ExpectScreen("screen", options...)
			})
		}
	}
}

// TestListFits: ls on terminals that are narrow and wide: no row is folded, columns go by their
// use, and colour is for terminals that want it.
func TestListFits(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	home := t.TempDir()
	folder := filepath.Join(home, "code", "a-rather-long-name", "website")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	s.ok("spawn", "--name", "site", "--cwd", folder, "--", "sh", "-c", `printf '\033]2;building\007ready\n'; cat`)
	s.ok("spawn", "--cwd", home, "--", "sh", "-c", "exit 3")
	s.ok("spawn", "--cwd", "/", "--", "true")
	s.ok("spawn", "--cwd", home, "--", "cat", "-u", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "日本語")
	s.ok("wait", "site", "--text", "ready")
	s.ok("wait", "s2", "s3", "--all", "--exit")
	env := map[string]string{"HOME": home}
	ages := []tuitest.ScreenOption{tuitest.MaskText(`age /(now|\d+[sm] ago) *(\d+[sm])?/ to end`)}
	s.looks(t, "ls", 8, env, ages, "ls")
}
