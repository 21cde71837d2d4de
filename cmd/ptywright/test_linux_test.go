package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
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
