package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestNewcomer does what the README says as someone does who has just cloned: in a root that holds
// a shell and Go and nothing else, with an empty home and nothing built before.
func TestNewcomer(t *testing.T) {
	if !long {
		t.Skip("builds everything anew, which takes a minute or two: set PTYWRIGHT_LONG=1")
	}
	need(t, "unshare", "util-linux")
	const home, clone = "/home/new", "/home/new/ptywright"
	tree := t.TempDir()
	for _, dir := range []string{"bin", "dev", "proc", "tmp", "modules", home, runtime.GOROOT()} {
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	install(t, tree, "sh")
	copyClone(t, filepath.Join(tree, clone))

	// Modules come through the Go command's ordinary door, from what this machine has downloaded.
	downloaded, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	enter := `set -e
		mount --bind "$GOROOT" "$ROOT$GOROOT"
		mount --bind "$MODULES" "$ROOT/modules"
		mount --rbind /dev "$ROOT/dev"
		mount -t proc proc "$ROOT/proc"
		exec chroot "$ROOT" /bin/sh -c 'cd ` + clone + ` && unset GOROOT ROOT MODULES && exec /bin/sh'`
	flags := []string{"--mount", "--pid", "--fork", "--kill-child"}
	if os.Getuid() != 0 {
		flags = append(flags, "--user", "--map-root-user")
	}
	if said, err := exec.Command("unshare", append(flags, "true")...).CombinedOutput(); err != nil {
		t.Skipf("no namespace of one's own here: %v: %s", err, said)
	}
	p := programOf(t, exec.Command("unshare", append(flags, "sh", "-c", enter)...))
	p.Env = []string{
		asProgram + "=" + p.Mark, "HOME=" + home, "PATH=" + runtime.GOROOT() + "/bin:/bin:/usr/bin:/usr/sbin:/sbin", "GOPROXY=file:///modules/cache/download",
		"GOROOT=" + runtime.GOROOT(), "ROOT=" + tree, "MODULES=" + strings.TrimSpace(string(downloaded)), "GOFLAGS=-modcacherw",
	}
	r := startReader(t, p, filepath.Join(tree, clone), clone)
	if found, _ := r.do("ls /usr/bin; command -v python3 git ls", ""); !strings.Contains(found, "not found") || strings.Contains(found, "/python3") {
		t.Fatalf("the root is not clean: %s", found)
	}
	blocks := 0
	for _, c := range chapters(t, filepath.Join(root, "README.md")) {
		for _, b := range c.blocks {
			r.run("README.md", b)
			blocks++
		}
	}
	if blocks < 2 {
		t.Errorf("the README has %d blocks of commands", blocks)
	}
	kept, err := os.ReadDir(filepath.Join(tree, home))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kept {
		if !slices.Contains([]string{".cache", ".config", "go", "ptywright", ".ptywright"}, k.Name()) { // of Go's, the clone, ours
			t.Errorf("the home holds %s", k.Name())
		}
	}
}

// install copies a program into a root, with the libraries that it needs.
func install(t *testing.T, tree, name string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	copyFile(t, path, filepath.Join(tree, "bin", name))
	libraries, _ := exec.Command("ldd", path).CombinedOutput() // of a static one it has none to tell
	for _, m := range regexp.MustCompile(`(/\S+) \(0x`).FindAllStringSubmatch(string(libraries), -1) {
		copyFile(t, m[1], filepath.Join(tree, m[1]))
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	body, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, body, 0o755); err != nil {
		t.Fatal(err)
	}
}

// copyClone copies what a clone has: no hidden folders, nothing that was built.
func copyClone(t *testing.T, to string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "dist" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.Type().IsRegular() && rel != "ptywright":
			copyFile(t, path, filepath.Join(to, rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
