package enginetest

import (
	"os"
	"path/filepath"
	"testing"
)

// Home is [NewHome] for one test. The folder is removed when the test ends.
func Home(t testing.TB) string {
	t.Helper()
	home, err := NewHome()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) }) // a shell that was ended may still write there
	return home
}

// NewHome makes a home folder for shells and returns its real path: the one that shells report.
//
// In an empty home folder the first fish starts a job that reads all manual pages, for half a
// minute of a processor: here it finds that done. XDG_DATA_HOME may be the folder itself or unset.
func NewHome() (home string, err error) {
	if home, err = os.MkdirTemp("", "home"); err != nil {
		return "", err
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return "", err
	}
	for _, data := range []string{"", ".local/share"} {
		if err := os.MkdirAll(filepath.Join(home, data, "fish", "generated_completions"),
			0o700); err != nil {
			return "", err
		}
	}
	return home, nil
}
