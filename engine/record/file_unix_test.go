//go:build unix

package record

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestModeWhateverTheUmask(t *testing.T) {
	dir := t.TempDir()
	old := syscall.Umask(0o277)
	err := WriteFile(filepath.Join(dir, "a"), nil)
	syscall.Umask(old)
	must(t, err)
	info, err := os.Lstat(filepath.Join(dir, "a"))
	must(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// TestSharedModeIsTheUmasks, and a file that is replaced keeps its own.
func TestSharedModeIsTheUmasks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.svg")
	mode := func() os.FileMode {
		t.Helper()
		old := syscall.Umask(0o027)
		err := WriteShared(path, []byte("picture"))
		syscall.Umask(old)
		must(t, err)
		info, err := os.Lstat(path)
		must(t, err)
		return info.Mode()
	}
	if m := mode(); m != 0o640 {
		t.Errorf("a new one has %v", m)
	}
	for _, want := range []os.FileMode{0o644, 0o600, 0o664} {
		must(t, os.Chmod(path, want))
		if m := mode(); m != want {
			t.Errorf("one with %v has %v", want, m)
		}
	}
	must(t, os.Chmod(path, 0o644))
	must(t, WriteFile(path, nil)) // it has secrets
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
