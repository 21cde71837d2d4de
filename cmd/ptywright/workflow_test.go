//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWorkflow: the ready workflow is what a reader can copy: each job has its steps, each step is a
// known action or a command, and the commands name flags and files that there are.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "examples", "testing", "workflow.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var jobs []string
	steps, uploads := map[string]int{}, 0
	job := regexp.MustCompile(`^  ([a-z]+): #`)
	step := regexp.MustCompile(`^      - (uses: actions/[a-z-]+@v\d|run: \S.*)$`)
	inJobs := false
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		if strings.Contains(line, "\t") || blanks%2 != 0 || strings.TrimRight(line, " ") != line {
			t.Errorf("line %d is indented otherwise: %q", i+1, line)
		}
		switch m := job.FindStringSubmatch(line); {
		case line == "jobs:":
			inJobs = true
		case m != nil && inJobs:
			jobs = append(jobs, m[1])
		case strings.HasPrefix(line, "      - "):
			if !step.MatchString(line) || len(jobs) == 0 {
				t.Errorf("line %d is not a step: %q", i+1, line)
			} else {
				steps[jobs[len(jobs)-1]]++
			}
			if strings.Contains(line, "upload-artifact") {
				uploads++
			}
		case strings.HasPrefix(line, "  ") && !strings.Contains(line, ":"):
			t.Errorf("line %d is not a key: %q", i+1, line)
		}
	}
	if want := []string{"scripts", "go", "python", "node"}; !slices.Equal(jobs, want) || uploads != 3 {
		t.Errorf("jobs %v and %d uploads", jobs, uploads)
	}
	for _, name := range jobs {
		if steps[name] < 3 {
			t.Errorf("the job %s has %d steps", name, steps[name])
		}
	}
	for _, named := range regexp.MustCompile(`[a-z]+/[a-z_]+\.(?:ptw|py)`).FindAllString(string(text), -1) {
		if _, err := os.Stat(filepath.Join(root, "examples", "testing", named)); err != nil {
			t.Errorf("%s: %v", named, err)
		}
	}
	plugin, err := os.ReadFile(filepath.Join(root, "sdk", "python", "src", "ptywright", "pytest.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range regexp.MustCompile(`--tui-[a-z]+`).FindAllString(string(text), -1) {
		if !strings.Contains(string(plugin), `"`+flag+`"`) {
			t.Errorf("pytest has no %s", flag)
		}
	}
}
