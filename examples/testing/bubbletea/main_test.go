package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest"
)

// TestCounter drives the program as a person does. The first run writes testdata/TestCounter; where
// CI is set they have to be there.
func TestCounter(t *testing.T) {
	program := filepath.Join(t.TempDir(), "counter")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tui := tuitest.New(t, program)
	tui.Expect(matchers.Text("up, down, q"))
	tui.ExpectScreen("start")
	tui.Press("up", "up")
	tui.Wait(matchers.Text("Count 2"))
	tui.ExpectScreen("two")
	tui.Press("down", "down", "down")
	tui.Wait(matchers.Text("Count -1"))
	tui.ExpectScreen("negative")
	tui.Press("q")
	tui.Exit(0)
}
