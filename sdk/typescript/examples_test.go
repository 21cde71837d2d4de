package typescript

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptywright/ptywright/internal/npm"
)

// TestInkExample runs the golden test of the program in Ink, with the golden screens that stand beside
// it. UPDATE=1 writes those that differ.
func TestInkExample(t *testing.T) {
	t.Parallel()
	p := newProject(t, "")
	installed, err := npm.Modules(root, "ink")
	if err != nil {
		t.Skip(err)
	}
	entries, err := os.ReadDir(installed)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		to := filepath.Join(p.dir, "node_modules", e.Name())
		if _, err := os.Lstat(to); os.IsNotExist(err) {
			p.link(t, filepath.Join(installed, e.Name()), to)
		}
	}
	example := filepath.Join(root, "examples", "testing", "ink")
	for _, name := range []string{"picker.mjs", "picker.test.mjs"} {
		if err := copyFile(filepath.Join(example, name), filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"CI=true", "NODE_NO_WARNINGS=1"} // NO_COLOR and FORCE_COLOR at once
	if os.Getenv("UPDATE") != "" {
		env = []string{"CI=", "PTYWRIGHT_UPDATE=changed", "NODE_NO_WARNINGS=1"}
	} else if err := copyTree(filepath.Join(example, "__screens__"), filepath.Join(p.dir, "__screens__")); err != nil {
		t.Fatal(err)
	}
	p.test(t, env, "picker.test.mjs")
	if os.Getenv("UPDATE") != "" {
		if err := copyTree(filepath.Join(p.dir, "__screens__"), filepath.Join(example, "__screens__")); err != nil {
			t.Fatal(err)
		}
	}
}
