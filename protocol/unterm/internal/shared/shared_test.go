package shared

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestLock: one at a time, of this process and between two that lock the same file.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	a, b := NewLock(), NewLock() // b is as another process's
	release, err := a.Take(path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []*Lock{a, b} {
		if _, err := k.Take(path, time.Millisecond); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
			t.Errorf("it is taken twice: %v", err)
		}
	}
	taken := make(chan func())
	go func() {
		release, err := b.Take(path, time.Minute)
		if err != nil {
			t.Error(err)
		}
		taken <- release
	}()
	release()
	(<-taken)()
	if release, err = a.Take(path, time.Minute); err != nil { // who gave up has it no more
		t.Fatal(err)
	}
	release()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := a.Take(filepath.Join(path, "below"), time.Minute); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("below a file: %v", err)
	}
}

// TestSetAside keeps so many, and the last.
func TestSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	last := ""
	for n := range AsideMost + 3 {
		if err := os.WriteFile(path, []byte{byte(n)}, 0o600); err != nil {
			t.Fatal(err)
		}
		aside, err := SetAside(path)
		if b, readErr := os.ReadFile(aside); err != nil || readErr != nil || b[0] != byte(n) {
			t.Errorf("%d: %s, %v, %v", n, aside, err, readErr)
		}
		last = aside
	}
	if all, _ := filepath.Glob(path + ".bad*"); len(all) != AsideMost || filepath.Base(last) != "x.json.bad10" {
		t.Errorf("%d are kept, the last %s", len(all), last)
	}
	if _, err := SetAside(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
}
