package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
	ptw "github.com/ptywright/ptywright/tuitest/script"
)

// TestRunOfScriptsIsEnded: whichever way a run of scripts is ended, nothing that it started is left; a
// signal is told, with what ran.
func TestRunOfScriptsIsEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal syscall.Signal
		code   int
	}{
		"SIGINT":  {syscall.SIGINT, 130},
		"SIGTERM": {syscall.SIGTERM, 130},
		"SIGKILL": {syscall.SIGKILL, 128 + 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fifo, file := filepath.Join(dir, "fifo"), filepath.Join(dir, "long.ptw")
			if err := programtest.Mkfifo(fifo); err != nil {
				t.Fatal(err)
			}
			p := ptywright(t, "test", "--stress", "--jobs", "1", file, filepath.Join(dir, "later.ptw"))
			p.Env = append(p.Env, "HOME="+dir, "XDG_CACHE_HOME="+dir, "CI=")
			for path, text := range map[string]string{
				file: "exec true\nspawn sh -c 'sleep 1000." + p.Mark + " & (trap \"\" HUP TERM; sleep 1001." + p.Mark +
					") & echo up; wait'\nexpect 'up'\nexec sh -c 'echo up > " + fifo + "'\nexpect 'never'\n",
				filepath.Join(dir, "later.ptw"): "exec true\n",
			} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, out := p.StartPiped()
			if _, err := os.ReadFile(fifo); err != nil { // until the program has started all it starts, and the watcher knows
				t.Fatal(err)
			}
			if err := p.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(out)
			if err != nil {
				t.Fatal(err)
			}
			if code := programtest.ExitCode(t, p.Wait()); code != c.code {
				t.Errorf("exit %d: %s", code, p.Stderr)
			}
			if c.signal == syscall.SIGKILL { // the watcher needs a moment
				programtest.Poll(t, func() string {
					return programtest.Unless(len(marked(t, p.Mark)) == 0, "the end of what it started")
				})
			}
			noneLeft(t, p.Mark)
			if c.signal != syscall.SIGKILL && (!strings.Contains(string(said), "STOP  "+file+": interrupted at line ") ||
				!strings.Contains(string(said), "1 interrupted in ")) {
				t.Errorf("%s", said)
			}
		})
	}
}

// TestTestPage: the scripts of docs/test.md pass, the first one as the page shows; the page has every
// verb and every flag.
func TestTestPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "test.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	blocks := regexp.MustCompile("(?ms)^```(ptw|text)\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	if len(blocks) < 5 || blocks[0][1] != "ptw" || blocks[1][1] != "text" || blocks[2][1] != "text" {
		t.Fatalf("%d blocks, and the first is not a script with its output and its golden screen", len(blocks))
	}
	for i, b := range blocks {
		if b[1] != "ptw" {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			run := func() string {
				p := ptywright(t, "test", "greet.ptw")
				p.Dir = dir
				p.Env = append(p.Env, "HOME="+dir, "XDG_CACHE_HOME="+dir, "CI=", "PTYWRIGHT_UPDATE=")
				out, code := p.Run("")
				if code != 0 {
					t.Errorf("exit %d:\n%s%s", code, out, p.Stderr)
				}
				return out
			}
			path := filepath.Join(dir, "greet.ptw")
			if err := os.WriteFile(path, []byte(b[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			out := run() + run()
			if i > 0 {
				return
			}
			if want := strings.TrimSuffix(blocks[1][2], "\n"); !looksLike(out, want) {
				t.Errorf("it prints\n%s, not\n%s", out, want)
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != b[2]+blocks[2][2] {
				t.Errorf("%v: the script is now\n%s", err, now)
			}
		})
	}
	for _, v := range ptw.Verbs() {
		if !strings.Contains(page, "`"+v.Verb) {
			t.Errorf("the page lacks the verb %s", v.Verb)
		}
	}
	help, _ := ptywright(t, "test", "--help").Run("")
	for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`).FindAllStringSubmatch(help, -1) {
		if m[1] != "--help" && !strings.Contains(page, m[1]) {
			t.Errorf("the page lacks the flag %s", m[1])
		}
	}
}
