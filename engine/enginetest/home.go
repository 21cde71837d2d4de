package enginetest

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Home returns a new home folder for shells, by its real path: the one that shells report. It is
// removed when the test ends.
//
// In an empty home folder the first fish starts a job that reads all manual pages, for half a
// minute of a processor: here it finds that done. XDG_DATA_HOME may be the folder itself or unset.
func Home(t testing.TB) string {
	t.Helper()
	home, err := os.MkdirTemp("", "home")
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) }) // a shell that was ended may still write there
	for _, data := range []string{"", ".local/share"} {
		if err := os.MkdirAll(filepath.Join(home, data, "fish", "generated_completions"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// Beside lets n parallel tests run at once, unless -parallel says how many. By itself Go runs as many
// as there are processors, which tests that wait for programs leave idle. Call it in TestMain.
func Beside(n int) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(strconv.Itoa(n)) // a number is what it takes
	}
}
