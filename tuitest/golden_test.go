//go:build unix

package tuitest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest"
)

// menu draws a list, waits for a key, and moves its highlight.
const menu = `printf '\033]2;menu\007\033[?25l\033[1mFiles\033[0m 12:34:5'$1'\r\n\033[32;7m one \033[0m\r\n two \r\n'
read -r key
printf '\033]2;moved\007\033[2;1H one \r\n\033[32;7m two \033[0m\r\n'
sleep 60`

// TestExpectScreen: a golden screen is written once, holds while nothing changes, and a change is
// explained; CI writes nothing.
func TestExpectScreen(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PTYWRIGHT_UPDATE", "")
	path := filepath.Join("testdata", t.Name(), "start.screen")
	run := func(second string, test func(u *tuitest.TUI)) *fake {
		f := newFake(t)
		f.run(func(t testing.TB) {
			test(tuitest.Config{Rows: 6, Cols: 20, Timeout: 2 * time.Second}.New(t, "sh", "-c", menu, "menu", second))
		})
		return f
	}
	clock := tuitest.Mask("clock", `\d\d:\d\d:\d\d`)
	start := func(u *tuitest.TUI) { u.ExpectScreen("start", clock) }

	t.Setenv("CI", "true")
	if f := run("1", start); !f.failed || !strings.Contains(f.said.String(), path+" does not exist, and CI writes none") {
		t.Fatalf("in CI: %s", &f.said)
	}
	t.Setenv("CI", "")
	if f := run("1", start); f.failed {
		t.Fatalf("writing it: %s", &f.said)
	}
	written, err := os.ReadFile(path)
	if want := `screen 1
size 6x20
title "menu"
cursor hidden
modes
mask clock /\d\d:\d\d:\d\d/
--
|Files «clock·»
~bbbbb ........
| one
~ggggg
| two
|
*3
--
b bold
g fg=green inverse
`; err != nil || string(written) != want {
		t.Fatalf("%v: written\n%s\nnot\n%s", err, written, want)
	}
	if f := run("2", start); f.failed {
		t.Fatalf("at another second: %s", &f.said)
	}
	moved := func(u *tuitest.TUI) {
		u.Expect(matchers.Text("two"))
		u.Send("\n")
		u.Wait(matchers.Title(regexp.MustCompile("moved")))
		u.ExpectScreen("start", clock)
	}
	pending := path + ".new"
	f := run("3", moved)
	for _, want := range []string{
		"expect screen start: the wait timed out", path + " differs from the nearest frame",
		`title "moved", not "menu"`, "row 1, columns 0 to 4: default style, not fg=green inverse",
		"\n-~ggggg\n", "The last screen is in " + pending,
	} {
		if !f.failed || !strings.Contains(f.said.String(), want) {
			t.Errorf("a highlight that moved: %s\nlacks %q", &f.said, want)
		}
	}
	if _, err := os.Stat(pending); err != nil {
		t.Error(err)
	}
	t.Setenv("PTYWRIGHT_UPDATE", "changed")
	if f := run("4", moved); f.failed {
		t.Fatalf("writing the change: %s", &f.said)
	}
	if _, err := os.Stat(pending); err == nil {
		t.Error("what was to be reviewed is still there")
	}
	t.Setenv("PTYWRIGHT_UPDATE", "")
	if f := run("5", moved); f.failed {
		t.Fatalf("what was written: %s", &f.said)
	}
}

// TestSlowToDraw: what a program shows before it has drawn anything is not written down.
func TestSlowToDraw(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("CI", "")
	t.Setenv("PTYWRIGHT_UPDATE", "")
	f := newFake(t)
	f.run(func(t testing.TB) {
		u := tuitest.New(t, "sh", "-c", `printf '\033[?1049h'; sleep 0.7; printf drawn; read -r _`)
		u.ExpectScreen("first", tuitest.TextOnly())
	})
	written, err := os.ReadFile(filepath.Join("testdata", t.Name(), "first.screen"))
	if f.failed || err != nil || !bytes.Contains(written, []byte("|drawn\n")) {
		t.Errorf("%v %s\n%s", err, &f.said, written)
	}
}

// TestExpectScreenHidesSecrets: no file has them.
func TestExpectScreenHidesSecrets(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("CI", "")
	t.Setenv("PTYWRIGHT_UPDATE", "")
	f := newFake(t)
	f.run(func(t testing.TB) {
		u := tuitest.Config{Env: map[string]string{"API_TOKEN": "hunter2-hunter2"}}.New(t, "sh", "-c",
			`printf 'token %s\r\n' "$API_TOKEN"; sleep 60`)
		u.Expect(matchers.Text("token"))
		u.ExpectScreen("secret", tuitest.TextOnly())
	})
	written, err := os.ReadFile(filepath.Join("testdata", t.Name(), "secret.screen"))
	if f.failed || err != nil || bytes.Contains(written, []byte("hunter2")) || !bytes.Contains(written, []byte("token")) {
		t.Errorf("%v %s\n%s", err, &f.said, written)
	}
}
