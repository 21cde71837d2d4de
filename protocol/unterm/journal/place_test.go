//go:build unix

package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPlaces: beside the project where that is ours alone, else below the root.
func TestPlaces(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("as root every folder can be written")
	}
	base := t.TempDir()
	dir := func(name string, mode os.FileMode) string {
		path := filepath.Join(base, name)
		must(t, os.MkdirAll(path, 0o700))
		must(t, os.Chmod(path, mode))
		return path
	}
	foreign := dir("foreign", 0o700)
	link := func(from, to string) { must(t, os.Symlink(to, from)) }
	plain := dir("plain", 0o700)
	linked := dir("linked", 0o700)
	link(filepath.Join(linked, ".unterm"), foreign)
	deeper := dir("deeper", 0o700)
	dir("deeper/.unterm", 0o700)
	link(filepath.Join(deeper, ".unterm", "sessions"), foreign)
	shared := dir("shared", 0o700)
	dir("shared/.unterm", 0o777)
	occupied := dir("occupied", 0o700)
	must(t, os.WriteFile(filepath.Join(occupied, ".unterm"), nil, 0o600))
	root := filepath.Join(base, "root")
	j := New(Options{Root: root})
	at := time.Date(2026, 11, 20, 1, 2, 3, 0, time.UTC)
	for cwd, want := range map[string]string{
		plain:                              plain + "/.unterm/sessions/2026-11-20",
		linked:                             root + "/sessions/linked/2026-11-20",
		deeper:                             root + "/sessions/deeper/2026-11-20",
		shared:                             root + "/sessions/shared/2026-11-20",
		occupied:                           root + "/sessions/occupied/2026-11-20",
		filepath.Join(base, "gone"):        root + "/sessions/gone/2026-11-20",
		"":                                 root + "/sessions/_orphan/2026-11-20",
		"not/absolute":                     root + "/sessions/_orphan/2026-11-20",
		filepath.Join(base, "a b*é/x&y.z"): root + "/sessions/x-y.z/2026-11-20",
		"/":                                root + "/sessions/-/2026-11-20",
		"/x/index.json":                    root + "/sessions/_index.json/2026-11-20",
		"/x/_orphan":                       root + "/sessions/__orphan/2026-11-20",
		"/x/token=abcdef0123456789":        root + "/sessions/token--redacted-/2026-11-20",
		"/x/..":                            root + "/sessions/-/2026-11-20",
		"/x/" + strings.Repeat("é", 100):   root + "/sessions/" + strings.Repeat("é", 50) + "/2026-11-20",
	} {
		if cwd == "/" && os.Geteuid() == 0 || cwd == "/x/.." && os.Geteuid() == 0 {
			continue // it can be written
		}
		p, err := j.open(cwd, at, "tab-0-010203")
		if err != nil {
			t.Errorf("%s: %v", cwd, err)
			continue
		}
		info, err := os.Lstat(p.path(".log"))
		must(t, err)
		folder, err := os.Lstat(p.dir)
		must(t, err)
		if p.dir != want || info.Mode() != 0o600 || folder.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s: %s with %v in %v, want %s", cwd, p.path(".log"), info.Mode(), folder.Mode(), want)
		}
		p.discard()
		p.close()
	}
	if left, _ := os.ReadDir(foreign); len(left) > 0 {
		t.Errorf("in a foreign folder: %v", left)
	}
	must(t, os.Chmod(filepath.Join(root, "sessions"), 0o777))
	if _, err := j.open("", at, "x"); err == nil || !strings.Contains(err.Error(), "others may write to it") {
		t.Errorf("below a folder that others may write to: %v", err)
	}
}

// TestNeverReplaces: neither a log nor a document, whenever it came.
func TestNeverReplaces(t *testing.T) {
	j := New(Options{Root: t.TempDir()})
	at := time.Date(2026, 11, 20, 1, 2, 3, 0, time.UTC)
	a, err := j.open("", at, "tab-0-010203")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(a.dir, "tab-0-010203-2.md"), []byte("mine"), 0o600))
	b, err := j.open("", at, "tab-0-010203")
	must(t, err)
	if b.name != "tab-0-010203-3" {
		t.Errorf("another got %s", b.name)
	}
	must(t, a.write([]byte("text")))
	if err := a.write([]byte("other")); err == nil || !strings.HasSuffix(err.Error(), "tab-0-010203.md: file exists") {
		t.Errorf("written twice: %v", err)
	}
	if got := read(t, a.path(".md")); got != "text" {
		t.Errorf("it holds %q", got)
	}
	left, err := os.ReadDir(a.dir)
	must(t, err)
	if len(left) != 4 {
		t.Errorf("in the folder: %v", left)
	}
	must(t, os.RemoveAll(b.dir))
	if err := b.write([]byte("text")); err == nil {
		t.Error("a document was written into a folder that is gone")
	}
}
