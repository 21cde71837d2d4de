//go:build unix

package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStartIsBounded: a program that comes up and never says so is ended on a timeout, and the
// error has its last words.
func TestStartIsBounded(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	const script = "#!/bin/sh\necho 'ptywright: serving as alpha' >&2\necho 'and a stray line' >&2\nexec cat \"${0%/*}/never\"\n"
	if err := syscall.Mkfifo(filepath.Join(dir, "never"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	f := Fleet{Root: filepath.Join(dir, "root")}
	_, err := f.Start(t.Context(), program, []Launch{{CWD: dir}}, 5*time.Second, func() {})
	if want := "start an instance in " + dir + ": it was not there after 5s; it said last: serving as alpha"; err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
	log, err := os.ReadFile(filepath.Join(f.Root, "logs", failedLog))
	if err != nil || !strings.Contains(string(log), "stray") {
		t.Errorf("%q, %v", log, err)
	}
}
