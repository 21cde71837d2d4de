//go:build unix

package plugins

import (
	"errors"
	"os"
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
	if _, err := Open(manifest); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

// A file that is a pipe every other moment is either read or refused, and nothing waits.
func TestOpenDuringASwap(t *testing.T) {
	manifest := folder(t, map[string]string{"manifest.toml": full, "lua/main.lua": "return {}"})
	dir := filepath.Join(filepath.Dir(manifest), "lua")
	main, other := filepath.Join(dir, "main.lua"), filepath.Join(dir, "other")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			for _, make := range []func() error{
				func() error { return syscall.Mkfifo(other, 0o600) },
				func() error { return os.WriteFile(other, []byte("return {}"), 0o600) },
			} {
				if err := errors.Join(make(), os.Rename(other, main)); err != nil {
					t.Error(err)
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	read, refused := 0, 0
	for range 5000 {
		_, err := Open(manifest)
		switch {
		case err == nil:
			read++
		case strings.Contains(err.Error(), "not a regular file"):
			refused++
		default:
			t.Errorf("%v", err)
		}
	}
	close(stop)
	<-done
	if read == 0 || refused == 0 {
		t.Errorf("%d times read, %d times refused: nothing was exchanged", read, refused)
	}
}
