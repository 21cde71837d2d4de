//go:build unix

package plugins

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Opening a pipe blocks until somebody writes, so it must not come to that.
func TestOpenRefusesAPipe(t *testing.T) {
	manifest := folder(t, map[string]string{"manifest.toml": full, "lua/a.lua": ""})
	if err := syscall.Mkfifo(filepath.Join(filepath.Dir(manifest), "lua", "main.lua"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(manifest); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
}
