package testreport

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/tuitest/script"
)

// aRun is a run in which everything happened once.
func aRun(t testing.TB) []script.Result {
	bad := failed(t, "")
	return []script.Result{
		bad,
		{Script: "tests/good.ptw", Name: "good", Outcome: script.Passed, Attempt: 1, Run: 1, Took: script.Millis(time.Second), Steps: []script.StepResult{{Line: 2, Text: "expect text 'x'", Outcome: script.Passed, Vacuous: true, Note: "it held before", Screen: "its screen"}}},
		{Script: "tests/win.ptw", Name: "win", Outcome: script.Skipped, Why: "only # on Windows", Attempt: 1, Run: 1},
		{Script: "tests/flaky.ptw", Name: "flaky", Outcome: script.Passed, Flaky: true, Attempt: 2, Run: 1},
		{Script: "tests/typo.ptw", Name: "typo", Outcome: script.Failed, Attempt: 1, Run: 1, Failure: &script.Failure{Doing: "read tests/typo.ptw", Why: "unknown verb \"prss\"", Reason: "syntax", Line: 3, Col: 1, Likely: "press", Next: "correct line 3"}},
		{Script: "tests/cut.ptw", Name: "cut", Outcome: script.Interrupted, Why: "interrupted at line 4", Attempt: 1, Run: 2},
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := JUnit(&b, aRun(t), 3*time.Second); err != nil {
		t.Fatal(err)
	}
	var s junitSuites
	if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
		t.Fatalf("%v: %s", err, b.String())
	}
	if s.Tests != 6 || s.Failures != 2 || s.Errors != 1 || s.Skipped != 1 || s.Time != "3.000" || len(s.Suite.Cases) != 6 {
		t.Errorf("%+v", s)
	}
	c := s.Suite.Cases
	if c[0].Failure == nil || c[0].Failure.Type != "differs" || c[0].Line != 5 || c[0].File != "tests/files.ptw" || c[0].Out != "the last screen" ||
		!strings.Contains(c[0].Failure.Text, "run this again: ptywright test tests/files.ptw") || !strings.Contains(c[0].Failure.Text, "@@") {
		t.Errorf("%+v %+v", c[0], c[0].Failure)
	}
	if c[1].Failure != nil || c[1].Out != "its screen" || c[2].Skipped == nil || !strings.HasPrefix(c[3].Out, "flaky") || c[4].Line != 3 ||
		c[5].Error == nil || c[5].Name != "cut (run 2)" {
		t.Errorf("%+v", c)
	}
}

func TestTAP(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := New(Flags{Format: "tap"}, &b, func(string) string { return "" })
	for _, r := range aRun(t) {
		if _, err := w.Result(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(time.Second); err != nil {
		t.Fatal(err)
	}
	var lines, block []string
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if key, value, ok := strings.Cut(strings.TrimPrefix(line, "  "), ": "); strings.HasPrefix(line, "  ") && ok {
			block = append(block, key)
			if !json.Valid([]byte(value)) {
				t.Errorf("not a value: %s", line)
			}
		} else if !strings.HasPrefix(line, "  ") {
			lines = append(lines, line)
		}
	}
	want := []string{"TAP version 14", "not ok 1 - tests/files", "ok 2 - tests/good", `ok 3 - tests/win # SKIP only \# on Windows`, "ok 4 - tests/flaky flaky (attempt 2)",
		"not ok 5 - tests/typo", "not ok 6 - tests/cut cut (run 2)", "1..6"}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("%s", got)
	}
	if got := strings.Join(block[:8], " "); got != "message severity reason at next again details screen" {
		t.Errorf("%s", got)
	}
	// None at all is a plan of none.
	b.Reset()
	if err := New(Flags{Format: "tap"}, &b, nil).End(0); err != nil || b.String() != "TAP version 14\n1..0\n" {
		t.Errorf("%v: %q", err, b.String())
	}
}

// TestGitHub: annotations at the lines of scripts, relative to the repository, and nothing of a
// program is taken for a command.
func TestGitHub(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(root, "sub"))
	summary := filepath.Join(root, "summary")
	env := map[string]string{"GITHUB_WORKSPACE": root, "GITHUB_STEP_SUMMARY": summary}
	var b bytes.Buffer
	w := New(Flags{Format: "github"}, &b, func(name string) string { return env[name] })
	run := aRun(t)
	run[0].Steps[3].Failure.Golden.Diff += "\n::error::forged\n  ::set-output name=x::y\n##[error]forged\n"
	for _, r := range run {
		if _, err := w.Result(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(3 * time.Second); err != nil {
		t.Fatal(err)
	}
	var commands []string
	stopped := ""
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSpace(line)
		word, stops := strings.CutPrefix(line, "::stop-commands::")
		switch {
		case stopped != "" && line == "::"+stopped+"::":
			stopped = ""
		case stopped != "":
		case stops:
			stopped = word
		case strings.HasPrefix(line, "::"):
			head, _, _ := strings.Cut(line[2:], "::")
			commands = append(commands, head)
		case strings.Contains(line, "##["):
			t.Errorf("a command of the old form: %s", line)
		}
	}
	want := []string{
		"error file=sub/tests/files.ptw,line=5,col=1,title=files", "warning file=sub/tests/good.ptw,line=2,title=good",
		"warning file=sub/tests/flaky.ptw,line=1,title=flaky (attempt 2) is flaky", "error file=sub/tests/typo.ptw,line=3,col=1,title=typo",
		"error file=sub/tests/cut.ptw,title=cut (run 2)",
	}
	if got := strings.Join(commands, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("%s", got)
	}
	text, err := os.ReadFile(summary)
	if err != nil || !strings.HasPrefix(string(text), "### ❌ ptywright test: 2 passed, 2 failed, 1 skipped, 1 interrupted, 1 flaky in 3s\n") ||
		!strings.Contains(string(text), "#### files\n\n`tests/files.ptw:5` `screen below`") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestSummaryIsBounded, however many failures there are and however much the file has already; what
// is left out is said.
func TestSummaryIsBounded(t *testing.T) {
	t.Parallel()
	bad := failed(t, strings.Repeat("x", 64<<10))
	run := make([]script.Result, 200)
	for n := range run {
		run[n] = bad
	}
	text := Summary(run, time.Second, maxSummary)
	if len(text) > maxSummary || len(text) < maxSummary/2 || !strings.Contains(text, " more failures are left out") {
		t.Errorf("%d bytes", len(text))
	}
	fences(t, "summary", text)
	path := filepath.Join(t.TempDir(), "summary")
	if err := os.WriteFile(path, bytes.Repeat([]byte("a"), maxSummary-40000), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := appendSummary(path, run, time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
		t.Errorf("%v: %d bytes", err, info.Size())
	}
}

func TestFlagsCheck(t *testing.T) {
	t.Parallel()
	for _, format := range append([]string{""}, Formats...) {
		if err := (&Flags{Format: format}).Check(); err != nil {
			t.Error(err)
		}
	}
	if err := (&Flags{Format: "xunit"}).Check(); err == nil || !strings.Contains(fmt.Sprint(err), "give junit, tap or github") {
		t.Error(err)
	}
}
