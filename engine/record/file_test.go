package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// At every moment the file under its temporary name is a cast.
func TestFileOfACast(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.cast")
	c, err := NewCast(path, CastOptions{Start: t0})
	must(t, err)
	for i := range 20 {
		must(t, c.Output(after(i), []byte("line\r\n")))
		data, err := os.ReadFile(path + ".part")
		must(t, err)
		if r := load(t, data); r.Truncated || r.Len() != i+1 {
			t.Fatalf("%d events: %s", r.Len(), data)
		}
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there already: %v", err)
	}
	if _, err := NewCast(path, CastOptions{}); err == nil || !strings.Contains(err.Error(), "is being recorded or written, or was left unfinished: .part exists; wait until it is whole, or remove it") {
		t.Errorf("twice: %v", err)
	}
	must(t, c.Close())
	must(t, c.Close())
	info, err := os.Lstat(path)
	must(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if s := c.Status(); s.State != StateDone || s.Bytes != info.Size() || s.Path != path || s.Duration != 19*time.Millisecond {
		t.Errorf("%+v", s)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%v", files)
	}
	c, err = NewCast(filepath.Join(dir, "b.cast"), CastOptions{})
	must(t, err)
	must(t, c.Discard())
	if files, _ := os.ReadDir(dir); len(files) != 1 || c.Status().State != StateDiscarded {
		t.Errorf("%v", files)
	}
	must(t, c.Close())
}

func TestPathsThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	must(t, os.Symlink("real", filepath.Join(dir, "link")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	for path, want := range map[string]error{
		"missing/a.cast": ErrNoFolder,
		"file/a.cast":    ErrNotFolder,
		"link/a.cast":    ErrSymlink,
		"dangling":       ErrSymlink,
		"link":           ErrSymlink,
		"file":           ErrExists,
		"real":           ErrExists,
	} {
		_, err := NewCast(filepath.Join(dir, path), CastOptions{})
		var fe *engine.FileError
		if !errors.Is(err, want) || !errors.As(err, &fe) {
			t.Errorf("%s: %v", path, err)
		}
		if path == "real" {
			want = ErrNotFile
		}
		if err := WriteFile(filepath.Join(dir, path), nil); !errors.Is(err, want) {
			t.Errorf("write %s: %v", path, err)
		}
	}
	for _, name := range []string{"new/", "real/", "real//", "real/new/", "real/.", "real/..", "real/new/.", "/"} {
		path := dir + "/" + name
		var fe *engine.FileError
		if _, err := NewCast(path, CastOptions{}); !errors.Is(err, ErrFolder) || !errors.As(err, &fe) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := NewTranscript(path, TranscriptOptions{}); !errors.Is(err, ErrFolder) {
			t.Errorf("markdown to %s: %v", name, err)
		}
		if err := WriteFile(path, nil); !errors.Is(err, ErrFolder) {
			t.Errorf("write %s: %v", name, err)
		}
	}
	if inside, err := os.ReadDir(filepath.Join(dir, "real")); err != nil || len(inside) > 0 {
		t.Errorf("left behind: %v, %v", inside, err)
	}
	if _, err := NewCast("", CastOptions{}); err == nil {
		t.Error("no path at all")
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != 4 {
		t.Errorf("left behind: %v", files)
	}
}

// Somebody removes, replaces or takes the name of a file that is recorded to.
func TestFileTakenAway(t *testing.T) {
	for name, harm := range map[string]struct {
		do   func(path string) error
		want error
	}{
		"unlinked": {func(path string) error { return os.Remove(path + ".part") }, ErrGone},
		"replaced": {func(path string) error {
			return errors.Join(os.Remove(path+".part"), os.WriteFile(path+".part", []byte("other"), 0o600))
		}, ErrGone},
		"name taken":           {func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) }, ErrExists},
		"name taken by a link": {func(path string) error { return os.Symlink("/etc/passwd", path) }, ErrSymlink},
		"folder became a symlink": {func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Rename(dir, dir+"2"), os.Symlink("/", dir))
		}, nil}, // it goes where it was begun
	} {
		dir := filepath.Join(t.TempDir(), "d")
		must(t, os.Mkdir(dir, 0o700))
		path := filepath.Join(dir, "a.cast")
		c, err := NewCast(path, CastOptions{})
		must(t, err)
		must(t, harm.do(path))
		must(t, c.Output(time.Now(), []byte("goes on\n")))
		if err := c.Close(); !errors.Is(err, harm.want) || harm.want != nil && c.Status().State != StateFailed {
			t.Errorf("%s: %v %+v", name, err, c.Status())
		}
		if harm.want == nil {
			if _, err := os.Lstat(filepath.Join(dir+"2", "a.cast")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestFileName(t *testing.T) {
	if got, want := FileName("s7", AsciicastV3, t0), "s7-20231114-221320.000000.cast"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestOnlyAPictureIsReplaced: a file without an extension may be anything.
func TestOnlyAPictureIsReplaced(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]error{"a.png": nil, "Makefile": ErrExists} {
		path := filepath.Join(dir, name)
		for range 2 {
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := WriteFile(path, []byte("new")); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
		if b, err := os.ReadFile(path); err != nil || (string(b) == "new") != (want == nil) {
			t.Errorf("%s has %q, %v", name, b, err)
		}
	}
	if err := WriteFile(filepath.Join(dir, "fresh"), []byte("new")); err != nil {
		t.Error(err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 3 {
		t.Errorf("in the folder: %v, %v", all, err)
	}
}
