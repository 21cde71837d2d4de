package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	version = "v1.2.3-test"
	commit  = "0123456789abcdef0123456789abcdef01234567"
)

// made is the time of every file in the packages.
var made = time.Unix(1700000000, 0)

// host is the platform of this machine.
var host = platform{runtime.GOOS, runtime.GOARCH}

// root is the folder of the sources, in which a release runs.
var root string

// shared is where the one release is that most tests look at.
var shared string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if os.Getenv(fakeProtocol) != "" {
			return fakeServer(os.Getenv(fakeProtocol))
		}
		var err error
		if root, err = filepath.Abs(".."); err != nil {
			panic(err)
		}
		if err := os.Chdir(root); err != nil {
			panic(err)
		}
		if shared, err = os.MkdirTemp("", "release-test-"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(shared)
		os.Setenv("SOURCE_DATE_EPOCH", fmt.Sprint(made.Unix()))
		return m.Run()
	}())
}

// of is the release of a version to a folder, from the sources in the current folder. The TypeScript
// SDK is built first, for which a release needs it.
func of(t *testing.T, out string) *release {
	t.Helper()
	r := &release{version: version, commit: commit, out: out, python: "sdk/python", typescript: typescript(t)}
	if err := r.identify(); err != nil {
		t.Fatal(err)
	}
	return r
}

var once sync.Once

// released makes the shared release of this machine's platform, once, and returns its folder.
func released(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("what is looked at here is packed as tar.gz")
	}
	dist := filepath.Join(shared, "dist")
	once.Do(func() {
		if err := of(t, dist).run([]string{host.String()}); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := os.Stat(filepath.Join(dist, "SHA256SUMS")); err != nil {
		t.Fatal("the release that is shared was not made: ", err)
	}
	return dist
}

// archiveName is the shared release's archive.
func archiveName() string {
	return "ptywright_" + version + "_" + host.system + "_" + host.arch + ".tar.gz"
}

// one is the only file of the shared release whose name fits a pattern.
func one(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(released(t), pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return found[0]
}

// contents are the files of a package, by name. It checks what all have in common: sorted names,
// the release's time, nobody as owner.
func contents(t *testing.T, path string) map[string]file {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]file{}
	var names []string
	if strings.HasSuffix(path, ".whl") || strings.HasSuffix(path, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			if !f.Modified.Equal(made) {
				t.Errorf("%s: %s is of %v", path, f.Name, f.Modified)
			}
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			all[f.Name] = file{f.Name, int64(f.Mode().Perm()), body}
			names = append(names, f.Name)
		}
	} else {
		files, heads := untar(t, body)
		for i, f := range files {
			all[f.name] = f
			names = append(names, f.name)
			if h := heads[i]; h.Uid != 0 || h.Uname != "" || !h.ModTime.Equal(made) {
				t.Errorf("%s is of %d %q, made %v", h.Name, h.Uid, h.Uname, h.ModTime)
			}
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("%s is not sorted: %q", path, names)
	}
	return all
}

// untar are the files of a compressed tar, and what it says of each.
func untar(t *testing.T, body []byte) (files []file, heads []*tar.Header) {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(unzipped); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, heads
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files, heads = append(files, file{head.Name, head.Mode, body}), append(heads, head)
	}
}

// unpack writes the files of an archive below a new folder, which it returns.
func unpack(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	for name, f := range contents(t, path) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, f.body, os.FileMode(f.mode)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run runs a program and returns its output. Nothing of ptywright is in its environment but what is
// given, and no home.
func run(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute) // it hangs
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PTYWRIGHT_") && !strings.HasPrefix(v, "PYTHON") && !strings.HasPrefix(v, "npm_") && !strings.HasPrefix(v, "NODE_") {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(append(c.Env, "HOME="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1"), env...)
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", command, err, said)
	}
	return string(said)
}

// need skips a test whose program is not installed.
func need(t *testing.T, program, debian string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed: apt-get install %s", program, debian)
	}
}

// TestReleaseIsTheSameTwice, in another folder and with nothing built before (the latter with
// PTYWRIGHT_LONG=1: it takes minutes).
func TestReleaseIsTheSameTwice(t *testing.T) {
	sums, err := os.ReadFile(filepath.Join(released(t), "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "a clone elsewhere")
	copyTree(t, root, elsewhere)
	t.Chdir(elsewhere)
	if os.Getenv("PTYWRIGHT_LONG") == "1" {
		t.Setenv("GOCACHE", t.TempDir())
	}
	dist := t.TempDir()
	if err := os.WriteFile(filepath.Join(dist, "ptywright_v0.9.0_linux_amd64.tar.gz"), nil, 0o644); err != nil { // of an older release
		t.Fatal(err)
	}
	if err := of(t, dist).run([]string{host.String()}); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil || !bytes.Equal(sums, again) {
		t.Errorf("the sums are\n%sand of another clone\n%s, %v", sums, again, err)
	}
	written, err := os.ReadDir(dist)
	if err != nil || len(written) != bytes.Count(again, []byte("\n"))+1 {
		t.Errorf("the sums are\n%sand the files %v, %v", again, written, err)
	}
}

// TestNotBuilt: without the built SDK nothing is built, and nothing of the older release removed.
func TestNotBuilt(t *testing.T) {
	sdk, out := t.TempDir(), t.TempDir()
	old := filepath.Join(out, "SHA256SUMS")
	for path, text := range map[string]string{
		filepath.Join(sdk, "package.json"): `{"name": "@ptywright/sdk", "files": ["dist"]}`,
		old:                                "older",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := &release{version: version, commit: commit, out: out, typescript: sdk}
	err := r.run([]string{host.String()})
	if err == nil || !strings.Contains(err.Error(), "build the package first, as CONTRIBUTING.md says") {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(old); err != nil || string(text) != "older" || r.work != "" {
		t.Errorf("%q, %v; it worked in %q", text, err, r.work)
	}
}

// TestArchive: the binary is static and says its version, and all that belongs to it is there.
func TestArchive(t *testing.T) {
	path := filepath.Join(released(t), archiveName())
	folder := strings.TrimSuffix(archiveName(), ".tar.gz")
	files := contents(t, path)
	for _, want := range []string{"ptywright", "LICENSE", "LICENSES.txt", "README.md", "ptywright.spdx.json", "man/man1/ptywright.1", "man/man1/ptywright-serve.1",
		"completions/ptywright.bash", "completions/_ptywright", "completions/ptywright.fish", "completions/ptywright.ps1"} {
		if len(files[folder+"/"+want].body) == 0 {
			t.Errorf("%s is not in the archive", want)
		}
	}
	binary := filepath.Join(unpack(t, path), folder, "ptywright")
	want := "ptywright " + version + ", commit 0123456789ab, " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
	if said := run(t, "", nil, binary, "--version"); said != want {
		t.Errorf("--version: %q; expected %q", said, want)
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
	for _, name := range []string{"linux", "linux/386", "plan9/amd64", ""} {
		if err := (&release{}).run([]string{name}); err == nil || !strings.Contains(err.Error(), "OS/ARCH") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestEveryPlatformHasItsPackages, each named for it; those of Windows say that they are a preview.
func TestEveryPlatformHasItsPackages(t *testing.T) {
	sdk := t.TempDir()
	write(t, filepath.Join(sdk, "pyproject.toml"), "[project]\nname = \"ptywright-sdk\"\ndescription = \"Words\"\n")
	write(t, filepath.Join(sdk, "src/ptywright/__init__.py"), "")
	r := &release{version: "v1.2.3", made: made, out: t.TempDir(), python: sdk, urls: map[platform]archived{}}
	r.common = []file{{"LICENSE", 0o644, []byte("MIT License")}, {"README.md", 0o644, []byte("# ptywright")}}
	for name := range strings.SplitSeq(every, ",") {
		p, err := parsePlatform(name)
		if err != nil {
			t.Fatal(err)
		}
		b := &binary{p, file{p.program(), 0o755, []byte("program of " + name)}, []part{r.itself()}}
		for _, pack := range []func(*binary) error{r.archive, r.deb, r.wheel, r.npmBinary} {
			if err := pack(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	var names []string
	for _, line := range r.sums {
		names = append(names, strings.TrimSpace(line[sumWidth:]))
	}
	slices.Sort(names)
	want := []string{
		"ptywright-cli-darwin-arm64-1.2.3.tgz", "ptywright-cli-darwin-x64-1.2.3.tgz", "ptywright-cli-linux-arm64-1.2.3.tgz",
		"ptywright-cli-linux-x64-1.2.3.tgz", "ptywright-cli-win32-arm64-1.2.3.tgz", "ptywright-cli-win32-x64-1.2.3.tgz",
		"ptywright_1.2.3_amd64.deb", "ptywright_1.2.3_arm64.deb",
		"ptywright_sdk-1.2.3-py3-none-macosx_12_0_arm64.whl", "ptywright_sdk-1.2.3-py3-none-macosx_12_0_x86_64.whl",
		"ptywright_sdk-1.2.3-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64.whl",
		"ptywright_sdk-1.2.3-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl",
		"ptywright_sdk-1.2.3-py3-none-win_amd64.whl", "ptywright_sdk-1.2.3-py3-none-win_arm64.whl",
		"ptywright_v1.2.3_darwin_amd64.tar.gz", "ptywright_v1.2.3_darwin_arm64.tar.gz", "ptywright_v1.2.3_linux_amd64.tar.gz",
		"ptywright_v1.2.3_linux_arm64.tar.gz", "ptywright_v1.2.3_windows_amd64_preview.zip", "ptywright_v1.2.3_windows_arm64_preview.zip",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q\nexpected\n%q", names, want)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".deb") {
			continue
		}
		files := contents(t, filepath.Join(r.out, name))
		told, lists, programs := 0, 0, 0
		for path, f := range files {
			told += bytes.Count(f.body, []byte("review"))
			lists += strings.Count(path, ".spdx.json")
			if bytes.HasPrefix(f.body, []byte("program of ")) && f.mode == 0o755 {
				programs++
			}
		}
		if windows := regexp.MustCompile(`win32|windows|-win_`).MatchString(name); windows != (told > 0) {
			t.Errorf("%s says %d times that it is a preview", name, told)
		}
		if lists != 1 || programs != 1 {
			t.Errorf("%s has %d lists of parts and %d programs that can run", name, lists, programs)
		}
	}
	if err := r.formula(nil); err != nil {
		t.Fatal(err)
	}
	formula, err := os.ReadFile(filepath.Join(r.out, "ptywright.rb"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(regexp.MustCompile(`url "https://\S+/v1\.2\.3/ptywright_v1\.2\.3_\S+\.tar\.gz"\n +sha256 "[0-9a-f]{64}"`).FindAll(formula, -1)); n != 4 {
		t.Errorf("%d archives in the formula\n%s", n, formula)
	}
}

// write writes a file with its folders.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestVersions: each kind of package sorts an early version before its release, and a later build
// behind it.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		of   string
		want versions
	}{
		{"v1.2.3", versions{"1.2.3", "1.2.3", "1.2.3"}},
		{"v1.2.3-rc.1", versions{"1.2.3rc1", "1.2.3-rc.1", "1.2.3~rc1"}},
		{"v1.2.9-4-g0a1b2c3d4e5f", versions{"1.2.9.post4+g0a1b2c3d4e5f", "1.2.10-0.4.g0a1b2c3d4e5f", "1.2.9+4.g0a1b2c3d4e5f"}},
		{"v1.2.3-4-g0a1b-dirty", versions{"1.2.3.post4+g0a1b.dirty", "1.2.4-0.4.g0a1b.dirty", "1.2.3+4.g0a1b.dirty"}},
		{"v1.2.3-test", versions{"1.2.3+test", "1.2.3-test", "1.2.3~test"}},
		{"012345678901", versions{"0.0.0+g012345678901", "0.0.0-g012345678901", "0.0.0~g012345678901"}},
		{"0d3c4b2-dirty", versions{"0.0.0+g0d3c4b2.dirty", "0.0.0-g0d3c4b2.dirty", "0.0.0~g0d3c4b2.dirty"}},
	} {
		if got := versionsOf(c.of); got != c.want {
			t.Errorf("%s: %q, expected %q", c.of, got, c.want)
		}
	}
	if got := next("1.2.199"); got != "1.2.200" {
		t.Error(got)
	}
	if got := next("1.2.99"); got != "1.2.100" {
		t.Error(got)
	}
}

// TestPartsAreListed: every package names what the binary consists of, with a licence for each.
func TestPartsAreListed(t *testing.T) {
	var lists [][]byte
	for _, path := range []string{filepath.Join(released(t), archiveName()), one(t, "ptywright-cli-*.tgz")} {
		for name, f := range contents(t, path) {
			if strings.HasSuffix(name, ".spdx.json") {
				lists = append(lists, f.body)
			}
		}
	}
	if len(lists) != 2 {
		t.Fatalf("%d lists of parts", len(lists))
	}
	for _, list := range lists {
		var d spdxDocument
		if err := json.Unmarshal(list, &d); err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{d.ID: true}
		var names []string
		for _, p := range d.Packages {
			if ids[p.ID] || !regexp.MustCompile(`^SPDXRef-[0-9A-Za-z.-]+$`).MatchString(p.ID) {
				t.Errorf("the id %s is there twice, or is none", p.ID)
			}
			ids[p.ID] = true
			names = append(names, p.Name)
			if p.Concluded == "" || p.Name == "" || p.Version == "" || p.Copyright == "" {
				t.Errorf("%+v", p)
			}
		}
		for _, want := range []string{"ptywright", "go", "github.com/yuin/gopher-lua", "github.com/modelcontextprotocol/go-sdk", "codeberg.org/go-fonts/dejavu", "DejaVu Sans Mono", "Nerd Fonts icons"} {
			if !slices.Contains(names, want) {
				t.Errorf("%s is not among %q", want, names)
			}
		}
		for _, rel := range d.Relationships {
			if !ids[rel.From] || !ids[rel.To] {
				t.Errorf("%v", rel)
			}
		}
		if len(d.Relationships) != len(d.Packages) || len(d.Extracted) != 1 || d.Extracted[0].ID != "LicenseRef-Arev" {
			t.Errorf("%d relationships of %d packages, and own licences %+v", len(d.Relationships), len(d.Packages), d.Extracted)
		}
	}
}

// TestEveryLicenceIsKnown, of the modules that the binary of any platform is built from.
func TestEveryLicenceIsKnown(t *testing.T) {
	modules := map[string]bool{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/ptywright")
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for path := range strings.FieldsSeq(string(out)) {
			modules[path] = true
		}
	}
	var paths []string
	for path := range modules {
		paths = append(paths, path)
	}
	dirs, err := folders(paths)
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d modules, %v", len(paths), err)
	}
	for path, dir := range dirs {
		text, err := licenceText(dir, "")
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if id, err := identify(text); err != nil {
			t.Errorf("%s: %v", path, err)
		} else {
			t.Log(path, id)
		}
	}
	if _, err := identify("All rights reserved."); err == nil || !strings.Contains(err.Error(), "release/parts.go") {
		t.Error(err)
	}
}
