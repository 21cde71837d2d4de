package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
)

// tree is what a folder has: the names of files and what is in them.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	all, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range all {
		out[e.Name()] = "folder"
		if !e.IsDir() {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			must(t, err)
			out[e.Name()] = string(data)
		}
	}
	return out
}

func sameTree(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: %s is %q, not %q", what, name, got[name], text)
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			t.Errorf("%s: %s is left", what, name)
		}
	}
}

// TestWriteTogether: several files are written, or none, and nothing else is left.
func TestWriteTogether(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	files := []Named{{in("a.svg"), []byte("new a")}, {in("b.gif"), []byte("new b")}, {in("c.txt"), []byte("new c")}}
	must(t, os.WriteFile(in("b.gif"), []byte("old b"), 0o600))
	must(t, os.Mkdir(in("c.txt"), 0o700))
	before := tree(t, dir)
	err := WriteTogether(files)
	var fe *engine.FileError
	if !errors.Is(err, ErrNotFile) || !errors.As(err, &fe) || fe.Path != in("c.txt") {
		t.Errorf("a folder has the name: %v", err)
	}
	sameTree(t, "a folder has the name", tree(t, dir), before)
	if err := WriteTogether(append(files[:2:2], Named{in("none/d.svg"), nil})); !errors.Is(err, ErrNoFolder) {
		t.Errorf("no folder: %v", err)
	}
	sameTree(t, "no folder", tree(t, dir), before)

	must(t, os.Remove(in("c.txt")))
	must(t, WriteTogether(files))
	sameTree(t, "all", tree(t, dir), map[string]string{"a.svg": "new a", "b.gif": "new b", "c.txt": "new c"})
	if info, err := os.Stat(in("b.gif")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("one that was replaced does not keep its mode: %v, %v", info.Mode(), err)
	}
	must(t, WriteTogether(nil))
}

// TestNamesAreTakenBack: when the last of several files cannot have its name, those before it are as
// they were; what cannot be taken back is told.
func TestNamesAreTakenBack(t *testing.T) {
	begin := func(t *testing.T) (dir string, files []Named, all []*part) {
		t.Helper()
		dir = t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "b.gif"), []byte("old b"), 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "c.txt"), []byte("old c"), 0o600))
		for _, name := range []string{"a.svg", "b.gif", "c.txt"} {
			files = append(files, Named{filepath.Join(dir, name), []byte("new")})
			p, err := createPart(files[len(files)-1].Path, true, true)
			must(t, err)
			t.Cleanup(func() { p.root.Close() })
			must(t, p.seal())
			all = append(all, p)
		}
		must(t, all[2].root.Remove(all[2].temp)) // so that it cannot be renamed
		return dir, files, all
	}
	dir, files, all := begin(t)
	err := nameAll(all, files)
	var fe *engine.FileError
	if !errors.Is(err, os.ErrNotExist) || !errors.As(err, &fe) || fe.Path != files[2].Path ||
		strings.Contains(err.Error(), "stays") {
		t.Errorf("%v", err)
	}
	sameTree(t, "after the rename that failed", tree(t, dir), map[string]string{"b.gif": "old b", "c.txt": "old c"})

	dir, files, all = begin(t)
	first, err := all[0].renameBack()
	must(t, err)
	must(t, os.Remove(filepath.Join(dir, "a.svg")))
	if err := first.undo(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("one that is gone is taken back: %v", err)
	}
	removeTemps(all[1:])
	sameTree(t, "without temporary files", tree(t, dir), map[string]string{"b.gif": "old b", "c.txt": "old c"})
}

// TestCheckShared finds what keeps a file from being written, and leaves nothing.
func TestCheckShared(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "folder.gif"), 0o700))
	for name, want := range map[string]error{"a.gif": nil, "file/a.gif": ErrNotFolder, "none/a.gif": ErrNoFolder,
		"folder.gif": ErrNotFile, "file": ErrExists} {
		if err := CheckShared(filepath.Join(dir, name)); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	sameTree(t, "after looking", tree(t, dir), map[string]string{"file": "", "folder.gif": "folder"})
}
