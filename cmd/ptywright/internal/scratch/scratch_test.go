package scratch

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// names are the names in the folder for what is temporary.
func names(t *testing.T, temp string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestStaleFoldersGo: a new folder takes those with it whose processes are gone, and no other.
func TestStaleFoldersGo(t *testing.T) {
	temp := t.TempDir()
	variable := "TMPDIR"
	if runtime.GOOS == "windows" {
		variable = "TMP"
	}
	t.Setenv(variable, temp)
	living, err := New("mine-")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(living.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// What processes leave that were killed: after the folder, after the lock, and while they swept.
	for _, name := range []string{"mine-bare", "mine-locked", "mine-swept.gone", "other-1"} {
		if err := os.MkdirAll(filepath.Join(temp, name, "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"mine-locked/lock": "", "mine-locked/deep/film.cast": "x", "mine-file": ""} {
		if err := os.WriteFile(filepath.Join(temp, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	next, err := New("mine-")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(names(t, temp), " ")
	for _, want := range []string{filepath.Base(living.Path), filepath.Base(next.Path), "mine-file", "other-1"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is gone: %s", want, got)
		}
	}
	if n := len(names(t, temp)); n != 4 {
		t.Errorf("left: %s", got)
	}
	for _, f := range []*Folder{living, next, next} {
		if err := f.Remove(); err != nil {
			t.Error(err)
		}
	}
	if got := names(t, temp); len(got) != 2 {
		t.Errorf("left: %v", got)
	}
}

// TestManyAtOnce: processes that begin at the same time do not take each other's folders for stale
// ones.
func TestManyAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Setenv("TMP", t.TempDir())
	} else {
		t.Setenv("TMPDIR", t.TempDir())
	}
	const many = 40
	made := make(chan *Folder, many)
	for range many {
		go func() {
			f, err := New("mine-")
			if err != nil {
				t.Error(err)
			}
			made <- f
		}()
	}
	all := map[string]*Folder{}
	for range many {
		if f := <-made; f != nil {
			all[f.Path] = f
		}
	}
	for path, f := range all {
		if err := os.WriteFile(filepath.Join(path, "mine"), nil, 0o600); err != nil {
			t.Error(err)
		}
		if err := f.Remove(); err != nil {
			t.Error(err)
		}
	}
	if len(all) != many {
		t.Errorf("%d folders of %d", len(all), many)
	}
}
