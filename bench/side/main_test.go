//go:build linux

package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/internal/lanes"
)

// TestSide runs each job once with each tool that is there, and ptywright's must be right.
func TestSide(t *testing.T) {
	lanes.Toolchain(t)
	if _, err := exec.LookPath("fzf"); err != nil {
		t.Skip("fzf is not installed: apt-get install fzf")
	}
	var out strings.Builder
	s := &side{interpreter: "/usr/bin/python3", pairs: 1}
	if err := s.run("", "", &out); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	if strings.Contains(out.String(), "ptywright is left out") || strings.Contains(out.String(), "\nptywright, ") {
		t.Error("a job of ptywright failed")
	}
	for _, job := range jobs {
		if !strings.Contains(out.String(), "| "+job+" | ptywright | ") {
			t.Errorf("the table has no %s", job)
		}
	}
}

// TestCount: marks, blank lines and comments are no lines of code.
func TestCount(t *testing.T) {
	source := "# [a x y\ncommon()\n# ]\nother\n  # [a x\n  one()\n\n  # why\n  two()\n  # ]\n  # [b x\n  three()\n  # ]\n"
	for what, want := range map[[2]string]int{{"a", "x"}: 3, {"a", "y"}: 1, {"b", "x"}: 1, {"b", "y"}: 0} {
		if n := count(source, what[0], what[1]); n != want {
			t.Errorf("%v: %d lines, want %d", what, n, want)
		}
	}
}
