package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ptywright/ptywright/internal/lanes"
	"github.com/ptywright/ptywright/internal/npm"
)

// first is the first example of a page of the documentation: its first fenced block in a language.
func first(t *testing.T, page string, languages ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?ms)^```(?:" + strings.Join(languages, "|") + ")\n(.*?)^```").FindSubmatch(text)
	if m == nil {
		t.Fatalf("docs/%s has no example", page)
	}
	return string(m[1])
}

// evidence is what the first example of each page prints: the evidence of a wait that timed out.
const evidence = "never-there"

// TestWheelInstalls into an empty environment and into a folder, without an index; the first lines of
// the Python page work in both, with the binary inside.
func TestWheelInstalls(t *testing.T) {
	lanes.Toolchain(t)
	need(t, "python3", "python3-venv")
	dist := released(t)
	script := filepath.Join(t.TempDir(), "first.py")
	write(t, script, first(t, "python.md", "python"))
	env := filepath.Join(t.TempDir(), "venv")
	run(t, "", nil, "python3", "-m", "venv", env)
	python := filepath.Join(env, "bin", "python")
	const install = "install --quiet --no-index --disable-pip-version-check --no-compile"
	run(t, "", nil, append(append([]string{python, "-m", "pip"}, strings.Fields(install)...), "--find-links", dist, "--pre", "ptywright-sdk")...)
	if said := run(t, t.TempDir(), []string{"PATH=/usr/bin:/bin"}, python, script); !strings.Contains(said, evidence) {
		t.Errorf("the first lines print %q", said)
	}
	info := run(t, "", nil, python, "-m", "pip", "--disable-pip-version-check", "show", "--files", "ptywright-sdk")
	for _, want := range []string{"Version: 1.2.3+test", "ptywright/_bin/ptywright", ".dist-info/sboms/ptywright.spdx.json", ".dist-info/licenses/LICENSES.txt", "License: "} {
		if !strings.Contains(info, want) {
			t.Errorf("pip shows no %s:\n%s", want, info)
		}
	}
	run(t, "", nil, python, "-m", "pip", "--disable-pip-version-check", "check")
	for _, command := range []string{"ptywright", "ptywright-sdk"} {
		if said := run(t, "", nil, filepath.Join(env, "bin", command), "--version"); !strings.HasPrefix(said, "ptywright "+version) {
			t.Errorf("%s --version prints %q", command, said)
		}
	}

	target := t.TempDir()
	run(t, "", nil, append(append([]string{python, "-m", "pip"}, strings.Fields(install)...), "--target", target, one(t, "*.whl"))...)
	if said := run(t, t.TempDir(), []string{"PATH=/usr/bin:/bin", "PYTHONPATH=" + target}, lookup(t, "python3"), script); !strings.Contains(said, evidence) {
		t.Errorf("in a folder the first lines print %q", said)
	}
}

// lookup is where a program is.
func lookup(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var builtTypeScript struct {
	once sync.Once
	dir  string
}

// typescript is the folder of the TypeScript SDK, built: a copy, since nothing is written into the
// sources. Without a compiler it is "".
func typescript(t *testing.T) string {
	t.Helper()
	b := &builtTypeScript
	b.once.Do(func() {
		modules := compiler()
		if modules == "" {
			return
		}
		b.dir = filepath.Join(shared, "typescript")
		copyTree(t, filepath.Join(root, "sdk/typescript"), b.dir)
		if err := os.Symlink(modules, filepath.Join(b.dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
		run(t, b.dir, nil, "node", filepath.Join(modules, "typescript/bin/tsc"), "-p", "tsconfig.json")
		if err := os.Remove(filepath.Join(b.dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
	})
	return b.dir
}

// compiler is the node_modules folder that has the TypeScript compiler; "": it is not installed.
func compiler() string {
	dir, err := npm.Modules(root, "typescript")
	if err != nil {
		return ""
	}
	return dir
}

// TestTarballsInstall with npm, offline and with an empty cache, also without scripts; the first
// lines of the TypeScript page work, and npx starts the binary.
func TestTarballsInstall(t *testing.T) {
	lanes.Toolchain(t)
	need(t, "npm", "npm")
	if compiler() == "" {
		t.Skip("the TypeScript compiler is not installed: .ci/npm installs it")
	}
	sdk, cli := one(t, "ptywright-sdk-*.tgz"), one(t, "ptywright-cli-*.tgz")
	for _, flags := range [][]string{nil, {"--ignore-scripts"}} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "package.json"), `{"private": true, "type": "module"}`)
		command := append([]string{"npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", "--cache", t.TempDir(), cli, sdk}, flags...)
		run(t, dir, nil, command...)
		script := filepath.Join(dir, "first.mjs")
		write(t, script, plainJavaScript(t, first(t, "typescript.md", "ts", "typescript", "js", "javascript")))
		if said := run(t, dir, []string{"PATH=/usr/bin:/bin:" + filepath.Dir(lookup(t, "node"))}, "node", script); !strings.Contains(said, evidence) {
			t.Errorf("%q: the first lines print %q", flags, said)
		}
		if said := run(t, dir, nil, "npx", "--offline", "ptywright", "--version"); !strings.HasPrefix(said, "ptywright "+version) {
			t.Errorf("%q: npx ptywright --version prints %q", flags, said)
		}
	}
}

// TestTarballsAreClean: publint finds nothing in the npm packages as they are published, and the types
// of the SDK are what whoever installs it gets.
func TestTarballsAreClean(t *testing.T) {
	lanes.Toolchain(t)
	need(t, "npm", "npm")
	modules := compiler()
	if modules == "" {
		t.Skip("publint and attw are not installed: .ci/npm installs them")
	}
	bin := func(name string) string { return filepath.Join(modules, ".bin", name) }
	for _, tarball := range []string{one(t, "ptywright-sdk-*.tgz"), one(t, "ptywright-cli-*.tgz")} {
		if said := run(t, t.TempDir(), nil, bin("publint"), "run", "--strict", tarball); !strings.Contains(said, "All good!") {
			t.Errorf("publint of %s:\n%s", filepath.Base(tarball), said)
		}
	}
	said := run(t, t.TempDir(), nil, bin("attw"), one(t, "ptywright-sdk-*.tgz"), "--profile", "esm-only", "--format", "json")
	var report struct {
		Problems map[string]json.RawMessage `json:"problems"`
		Analysis struct {
			PackageName string                     `json:"packageName"`
			Types       any                        `json:"types"`
			Entrypoints map[string]json.RawMessage `json:"entrypoints"`
		} `json:"analysis"`
	}
	if err := json.Unmarshal([]byte(said), &report); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if report.Analysis.PackageName != npmScope+"sdk" || report.Analysis.Types == false || len(report.Analysis.Entrypoints) < 3 {
		t.Errorf("attw looked at %+v", report.Analysis)
	}
}

// plainJavaScript is an example as node 20 takes it: without types, and without the declarations that
// dispose of what they declare, which only newer versions know.
func plainJavaScript(t *testing.T, example string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "first.mts"), example)
	modules := compiler()
	run(t, dir, nil, "node", filepath.Join(modules, "typescript/bin/tsc"), "--target", "ES2022", "--module", "NodeNext", "--noCheck", "--skipLibCheck", "first.mts")
	body, err := os.ReadFile(filepath.Join(dir, "first.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestDeb: dpkg installs the package, everything where Debian looks for it.
func TestDeb(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("packages for Debian are for Linux")
	}
	need(t, "dpkg-deb", "dpkg")
	path := one(t, "*.deb")
	control := run(t, "", nil, "dpkg-deb", "--field", path)
	for _, want := range []string{"Package: ptywright\n", "Version: 1.2.3~test\n", "Architecture: " + runtime.GOARCH + "\n", "Description: " + summary + "\n"} {
		if !strings.Contains(control, want) {
			t.Errorf("no %q in\n%s", want, control)
		}
	}
	dir := t.TempDir()
	if os.Getuid() == 0 {
		for _, name := range []string{"var/lib/dpkg/status", "var/lib/dpkg/available"} {
			write(t, filepath.Join(dir, name), "")
		}
		for _, name := range []string{"updates", "info"} {
			if err := os.MkdirAll(filepath.Join(dir, "var/lib/dpkg", name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		run(t, "", nil, "dpkg", "--root="+dir, "--log=/dev/null", "--install", path)
		if said := run(t, "", nil, "dpkg", "--root="+dir, "--verify", "ptywright"); said != "" {
			t.Errorf("dpkg --verify: %s", said)
		}
	} else {
		run(t, "", nil, "dpkg-deb", "--extract", path, dir)
	}
	for _, name := range []string{"usr/share/man/man1/ptywright.1.gz", "usr/share/doc/ptywright/copyright", "usr/share/doc/ptywright/ptywright.spdx.json",
		"usr/share/bash-completion/completions/ptywright", "usr/share/zsh/vendor-completions/_ptywright", "usr/share/fish/vendor_completions.d/ptywright.fish"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if said := run(t, "", nil, filepath.Join(dir, "usr/bin/ptywright"), "run", "--", "echo", "42"); !strings.Contains(said, "42") {
		t.Errorf("the program prints %q", said)
	}
}

// TestFormula: Ruby takes it, and it names the archive of this release with its sum.
func TestFormula(t *testing.T) {
	path := one(t, "ptywright.rb")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(released(t), "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sums)) {
		if strings.TrimSpace(line[sumWidth:]) == archiveName() && !strings.Contains(string(text), line[:sumWidth-2]) {
			t.Errorf("the formula does not have %s", line)
		}
	}
	need(t, "ruby", "ruby")
	if said := run(t, "", nil, "ruby", "-wc", path); said != "Syntax OK\n" {
		t.Error(said)
	}
}

// TestServerJSON: it is what the schema of the registry of MCP servers describes.
func TestServerJSON(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "release/testdata/server.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.ID != mcpSchema {
		t.Errorf("the schema is %s, and server.json says %s", schema.ID, mcpSchema)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(one(t, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(v); err != nil {
		t.Errorf("%v\n%s", err, body)
	}
	v["description"] = strings.Repeat("x", 101)
	if resolved.Validate(v) == nil {
		t.Error("the schema takes a description that is too long")
	}
}

// sum is the SHA-256 of a body, in hexadecimal digits.
func sum(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }
