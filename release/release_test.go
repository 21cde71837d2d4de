package main

import (
	"archive/tar"
	"compress/gzip"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// built makes a release of this platform in the current folder, and returns its archive and the sums.
func built(t *testing.T) (archive, sums string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("what is looked at here is packed as tar.gz")
	}
	out := t.TempDir()
	r := release{version: "v1.2.3-test", commit: commit, out: out}
	if err := r.run([]string{runtime.GOOS + "/" + runtime.GOARCH}); err != nil {
		t.Fatal(err)
	}
	archive = filepath.Join(out, "ptywright_v1.2.3-test_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz")
	read, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	return archive, string(read)
}

// unpack returns the names in an archive, and writes its binary to a file.
func unpack(t *testing.T, archive string) (names []string, binary string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(t.TempDir(), "ptywright")
	for r := tar.NewReader(unzipped); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names, binary
		}
		if err != nil {
			t.Fatal(err)
		}
		if head.Uid != 0 || head.Uname != "" || !head.ModTime.Equal(time.Unix(1700000000, 0)) {
			t.Errorf("%s is of %d %q, made %v", head.Name, head.Uid, head.Uname, head.ModTime)
		}
		_, name, _ := strings.Cut(head.Name, "/")
		names = append(names, name)
		if name == "ptywright" {
			body, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(binary, body, os.FileMode(head.Mode)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestReleaseIsTheSameTwice, in another folder and with nothing built before (the latter with PTYWRIGHT_LONG=1: it takes minutes);
// and it is what it should be: static, with its version, and with all that belongs to it.
func TestReleaseIsTheSameTwice(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	archive, sums := built(t)

	elsewhere := filepath.Join(t.TempDir(), "a clone elsewhere")
	copyTree(t, root, elsewhere)
	t.Chdir(elsewhere)
	if os.Getenv("PTYWRIGHT_LONG") == "1" {
		t.Setenv("GOCACHE", t.TempDir())
	}
	if _, again := built(t); again != sums {
		t.Errorf("the sums are\n%sand of another clone\n%s", sums, again)
	}

	names, binary := unpack(t, archive)
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %q", names)
	}
	for _, want := range []string{"ptywright", "LICENSE", "README.md", "man/man1/ptywright.1", "man/man1/ptywright-serve.1",
		"completions/ptywright.bash", "completions/_ptywright", "completions/ptywright.fish", "completions/ptywright.ps1"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not in the archive: %q", want, names)
		}
	}
	said, err := exec.Command(binary, "--version").CombinedOutput()
	want := "ptywright v1.2.3-test, commit 0123456789ab, " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
	if err != nil || string(said) != want {
		t.Errorf("--version: %q, %v; expected %q", said, err, want)
	}
	if runtime.GOOS == "linux" {
		f, err := elf.Open(binary)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		needs, err := f.ImportedLibraries()
		if err != nil || len(needs) > 0 || slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
			t.Errorf("the binary is not static: %q, %v", needs, err)
		}
	}
}

// copyTree copies what a build needs: everything but hidden folders and what was built.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		switch {
		case d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "dist" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular() || rel == "ptywright":
			return nil
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), body, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReleaseRefusesAPlatform that is none.
func TestReleaseRefusesAPlatform(t *testing.T) {
	r := release{version: "v1", commit: commit, made: time.Unix(0, 0)}
	if _, _, err := r.archive(t.TempDir(), "linux"); err == nil || !strings.Contains(err.Error(), "OS/ARCH") {
		t.Error(err)
	}
}
