//go:build unix

package tuitest_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/internal/lanes"
)

// TestBubbleTeaExample runs the golden test of the program in Bubble Tea, which is a module of its own,
// with the golden screens that stand beside it.
func TestBubbleTeaExample(t *testing.T) {
	t.Parallel()
	lanes.Toolchain(t)
	const example = "../examples/testing/bubbletea"
	run := func(args ...string) (string, error) {
		c := exec.Command("go", args...)
		c.Dir = example
		c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PTYWRIGHT_UPDATE=") }),
			"CI=true", "GOFLAGS=-mod=readonly")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := run("mod", "download"); err != nil {
		t.Skipf("its modules cannot be had: %v\n%s", err, out)
	}
	if out, err := run("test", "./..."); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
