package typescript

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ptywright/ptywright/internal/lanes"
	"github.com/ptywright/ptywright/internal/npm"
)

// root is the root of the repository.
var root = filepath.Join("..", "..")

// scratch is a folder for what several tests share.
var scratch string

func TestMain(m *testing.M) {
	lanes.Beside(4) // they wait for programs, mostly
	var err error
	if scratch, err = os.MkdirTemp("", "ptywright-ts-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// need skips a test when a program is not installed.
func need(t testing.TB, program, debian string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed: apt-get install %s", program, debian)
	}
}

// modules is the folder of what .ci/npm installed for these tests. A test skips without it.
func modules(t testing.TB) string {
	t.Helper()
	lanes.Toolchain(t)
	need(t, "node", "nodejs")
	dir, err := npm.Modules(root, "typescript")
	if err != nil {
		t.Skip(err)
	}
	return dir
}

// binary builds ptywright, once.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "ptywright")
	out, err := exec.Command("go", "build", "-o", path, filepath.Join(root, "cmd", "ptywright")).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// built is the package with its dist, built once.
var built = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "package")
	for _, name := range []string{"package.json", "tsconfig.json"} {
		if err := copyFile(name, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	if err := copyTree("src", filepath.Join(dir, "src")); err != nil {
		return "", err
	}
	if err := os.Symlink(sharedModules, filepath.Join(dir, "node_modules")); err != nil {
		return "", err
	}
	return dir, tsc(dir, "tsconfig.json")
})

// sharedModules is modules, for what is built once: pack sets it, and nothing writes it again.
var sharedModules string

// pack returns the folder of the built package.
func pack(t testing.TB) string {
	t.Helper()
	once.Lock()
	defer once.Unlock()
	if sharedModules == "" {
		sharedModules = modules(t)
	}
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var once sync.Mutex

func tsc(dir string, project string) error {
	c := exec.Command("node", filepath.Join(sharedModules, "typescript", "bin", "tsc"), "-p", project)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("tsc -p %s: %w\n%s", project, err, out)
	}
	return nil
}

// A project is a folder that uses the package as one that installed it does.
type project struct {
	dir     string
	binary  string
	modules string
}

// newProject makes a project of files of the test folder and others, compiled.
func newProject(t testing.TB, options string, files ...string) *project {
	t.Helper()
	p := &project{dir: t.TempDir()}
	sdk := pack(t)
	p.modules = sharedModules
	var err error
	if p.binary, err = binary(); err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(p.dir, "node_modules")
	entries, err := os.ReadDir(p.modules)
	if err != nil {
		t.Fatal(err)
	}
	p.link(t, sdk, filepath.Join(modules, "@ptywright", "sdk"))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && e.Name() != "@ptywright" {
			p.link(t, filepath.Join(p.modules, e.Name()), filepath.Join(modules, e.Name()))
		}
	}
	p.write(t, "package.json", `{"private": true, "type": "module"}`)
	if options == "" {
		options = `"lib": ["ES2023"], "skipLibCheck": true`
	}
	p.write(t, "tsconfig.json", `{"compilerOptions": {"target": "ES2022", "module": "NodeNext", "strict": true,
		"exactOptionalPropertyTypes": true, "noUncheckedIndexedAccess": true, "noImplicitOverride": true,
		"noPropertyAccessFromIndexSignature": true, "types": ["node"], `+options+`}, "include": ["*.ts"]}`)
	for _, name := range files {
		if err := copyFile(filepath.Join("test", name), filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// compile compiles all that the project has.
func (p *project) compile(t testing.TB) {
	t.Helper()
	if err := tsc(p.dir, "tsconfig.json"); err != nil {
		t.Fatal(err)
	}
}

func (p *project) link(t testing.TB, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}

func (p *project) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(p.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// hang is longer than any of these commands takes on a machine that is busy.
func hang() time.Duration {
	if long() {
		return 20 * time.Minute
	}
	return 4 * time.Minute
}

// run runs a command in the project and returns what it wrote, with how it ended.
func (p *project) run(t testing.TB, env []string, name string, args ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	var out bytes.Buffer
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay = p.dir, &out, &out, time.Second
	home := t.TempDir()
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PTYWRIGHT_") }),
		append([]string{"PTYWRIGHT_BIN=" + p.binary, "PTYWRIGHT_HOME=" + home, "NODE_ENV=test", "NO_COLOR=1"}, env...)...)
	late := time.AfterFunc(hang(), func() { _ = c.Process.Kill() })
	defer late.Stop()
	err := c.Run()
	return out.String(), err
}

// node runs Node, which has to end with 0.
func (p *project) node(t testing.TB, env []string, args ...string) string {
	t.Helper()
	out, err := p.run(t, env, "node", args...)
	if err != nil {
		t.Fatalf("node %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// test runs files with node:test, which all have to pass with none skipped.
func (p *project) test(t testing.TB, env []string, files ...string) {
	t.Helper()
	bound := fmt.Sprintf("--test-timeout=%d", (hang() / 2).Milliseconds())
	args := append([]string{"--test", "--test-reporter=spec", bound}, files...)
	if out := p.node(t, env, args...); !strings.Contains(out, "ℹ skipped 0") || strings.Contains(out, "ℹ pass 0\n") {
		t.Errorf("not all tests were run:\n%s", out)
	}
}

func copyFile(from, to string) error {
	body, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, body, 0o644)
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return copyFile(path, filepath.Join(to, rel))
	})
}
