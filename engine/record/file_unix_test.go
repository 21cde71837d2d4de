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
