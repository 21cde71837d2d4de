package testcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestPrune: the recordings of the newest runs stay, and runs that go on; nothing else is touched.
func TestPrune(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	put := func(age int, parts ...string) string {
		t.Helper()
		path := filepath.Join(append([]string{temp}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Unix(1e9, 0).Add(-time.Duration(age) * time.Hour)
		if err := os.Chtimes(filepath.Join(temp, parts[0]), when, when); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stays := map[string]bool{}
	for i := range 13 {
		stays[put(i, fmt.Sprintf("%s%d", runFolder, i), failedFolder, "x.cast")] = i < keptRuns
	}
	running := runFolder + "running"
	stays[put(90, running, failedFolder, "x.cast")] = true
	stays[put(90, running, scriptFolder+"1", "x")] = true
	stays[put(90, runFolder+"begun", "x")] = true
	stays[put(90, "another", failedFolder, "x.cast")] = true
	stays[put(90, runFolder+"file")] = true
	prune(temp)
	for path, want := range stays {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, should stay: %v", path, err, want)
		}
	}
}
