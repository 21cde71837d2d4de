package python

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/internal/lanes"
	"github.com/ptywright/ptywright/internal/npm"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "ptywright-python-")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "ptywright")
	build := exec.Command("go", "build", "-o", binary, "../../cmd/ptywright")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// interpreter is a Python that has the modules, or the test is skipped.
func interpreter(t *testing.T, debian string, modules ...string) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import "+strings.Join(modules, ", ")).Run() == nil {
			return python
		}
	}
	t.Skipf("no python3 has %s: apt-get install %s", strings.Join(modules, " and "), debian)
	return ""
}

// command is one with the program under test, a home of its own and the package as it stands in the
// tree.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	src, err := filepath.Abs("src")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "PTYWRIGHT_BIN="+binary, "PTYWRIGHT_HOME="+filepath.Join(home, "ptywright"), "HOME="+home,
		"PYTHONPATH="+src, "PYTHONDONTWRITEBYTECODE=1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=", "PYTEST_ADDOPTS=")
	return c
}

// run runs a command and shows what it printed when it fails.
func run(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(c.Args, " "), err, out)
	}
	return string(out)
}

// TestPython runs the SDK's own tests.
func TestPython(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the Python SDK has not been run on Windows yet")
	}
	t.Parallel()
	python := interpreter(t, "python3-pytest", "pytest")
	out := run(t, command(t, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", "--durations=5", "tests"))
	t.Log(out)
}

// TestPythonOfTheOldestVersion: the sources are Python 3.9, which is not here to run them.
func TestPythonOfTheOldestVersion(t *testing.T) {
	t.Parallel()
	python := interpreter(t, "python3", "ast")
	run(t, command(t, python, "-c", `
import ast, pathlib
for path in pathlib.Path("src").rglob("*.py"):
    ast.parse(path.read_text(), str(path), feature_version=(3, 9))
`))
}

// TestPythonTypes: pyright and mypy, both strict, have no finding.
func TestPythonTypes(t *testing.T) {
	t.Parallel()
	lanes.Toolchain(t)
	t.Run("mypy", func(t *testing.T) {
		t.Parallel()
		python := interpreter(t, "python3-mypy python3-pytest", "mypy", "pytest")
		run(t, command(t, python, "-m", "mypy", "--cache-dir", t.TempDir(), "--no-error-summary"))
	})
	t.Run("pyright", func(t *testing.T) {
		t.Parallel()
		python := interpreter(t, "python3-pytest", "pytest")
		modules, err := npm.Modules(filepath.Join("..", ".."), "pyright")
		if err != nil {
			t.Skip(err)
		}
		run(t, command(t, "node", filepath.Join(modules, "pyright", "index.js"), "--pythonpath", python))
	})
}
