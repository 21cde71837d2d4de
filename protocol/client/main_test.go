package client_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// asProgram runs what a test starts this program for, and reports whether that is so.
var asProgram func() bool

// TestMain builds the server that the tests and examples start.
func TestMain(m *testing.M) {
	if asProgram != nil && asProgram() {
		return
	}
	dir, err := os.MkdirTemp("", "ptywright")
	if err == nil {
		bin := filepath.Join(dir, "ptywright.exe") // Windows needs the ending, and others take it
		build := exec.Command("go", "build", "-o", bin, "github.com/ptywright/ptywright/cmd/ptywright")
		build.Stderr = os.Stderr
		if err = build.Run(); err == nil {
			err = os.Setenv("PTYWRIGHT_BIN", bin)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(tests{m, dir})
}

type tests struct {
	*testing.M
	dir string
}

func (m tests) Run() int {
	defer os.RemoveAll(m.dir)
	return m.M.Run()
}
