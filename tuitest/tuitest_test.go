//go:build unix

package tuitest_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a test that may fail.
type fake struct {
	testing.TB
	dir      string // of its artifacts
	deadline time.Time
	failed   bool
	said     strings.Builder
	cleanups []func()
}

func (f *fake) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}
func (f *fake) Fatal(args ...any) { f.Fatalf("%s", fmt.Sprint(args...)) }
func (f *fake) Errorf(format string, args ...any) {
	f.failed = true
	fmt.Fprintf(&f.said, format+"\n", args...)
}
func (f *fake) Failed() bool                { return f.failed }
func (f *fake) Cleanup(c func())            { f.cleanups = append(f.cleanups, c) }
func (f *fake) ArtifactDir() string         { return f.dir }
func (f *fake) Deadline() (time.Time, bool) { return f.deadline, !f.deadline.IsZero() }

// run runs a test that may fail.
func (f *fake) run(test func(t testing.TB)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	for i := len(f.cleanups) - 1; i >= 0; i-- {
		f.cleanups[i]()
	}
}

func newFake(t *testing.T) *fake { return &fake{TB: t, dir: t.TempDir()} }

// TestEventsAndStates: a wait counts what came after the last input, an expectation what is there.
func TestEventsAndStates(t *testing.T) {
	t.Parallel()
	tui := tuitest.New(t, "sh")
	tui.Expect(matchers.Regexp(regexp.MustCompile(`\$$`)))
	tui.Send("echo $((6*7))\n")
	out := tui.Wait(matchers.Regexp(regexp.MustCompile(`(?m)^(\d+)$`)))
	if out.Match.Capture != "42" {
		t.Errorf("matched %+v", out.Match)
	}
	tui.Expect(matchers.Regexp(regexp.MustCompile(`\n\$$`))) // an echo would stand before it
	tui.Send("stty -echo; echo ready\n")
	tui.Wait(matchers.Regexp(regexp.MustCompile(`(?m)^ready$`)))
	tui.Expect(matchers.Text("42"), engine.Within(0)) // it still stands there
	f := newFake(t)
	f.run(func(f testing.TB) {
		old := tuitest.New(f, "sh", "-c", "stty -echo; echo 42; read -r _; echo 43; read -r _")
		old.Expect(matchers.Text("42"))
		old.Send("\n")
		old.Wait(matchers.Text("43"))
		old.Wait(matchers.Text("42"), engine.Within(0)) // which came before the input
	})
	if said := f.said.String(); !f.failed || !strings.Contains(said, "the screen has it, but nothing of it was written after sequence") {
		t.Errorf("an old text was taken for an event: %s", said)
	}
	tui.Send("exit 3\n")
	tui.Exit(3)
}

// TestStatesAreOfTheScreen: what has scrolled off counts as an event, and not as a state.
func TestStatesAreOfTheScreen(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.run(func(t testing.TB) {
		tui := tuitest.New(t, "sh", "-c", "read -r _; seq 1 100; read -r _")
		tui.Send("\n")
		tui.Wait(matchers.Regexp(regexp.MustCompile(`(?m)^3$`)))
		tui.Expect(matchers.Text("100"))
		tui.Expect(matchers.Any(matchers.Regexp(regexp.MustCompile(`(?m)^3$`))), engine.Within(0))
	})
	if said := f.said.String(); !f.failed || strings.Contains(said, "wait:") || !strings.Contains(said, "expect: the wait timed out") {
		t.Errorf("%s", said)
	}
}

// TestFailureLeavesEvidence: a failure says what was lacking and shows the screen; its artifacts
// are whole, and hide what is secret.
func TestFailureLeavesEvidence(t *testing.T) {
	t.Parallel()
	const secret = "correct-horse-battery"
	f := newFake(t)
	f.run(func(t testing.TB) {
		tui := tuitest.Config{Rows: 5, Cols: 60, Env: map[string]string{"API_TOKEN": secret}}.New(t, "sh", "-c",
			`echo "token $API_TOKEN"; echo "2 passed, 1 failed"; read -r _`)
		tui.Wait(matchers.Text("failed"))
		tui.Wait(matchers.All(matchers.Text("2 passed"), matchers.Text("2 passed, 0 failed")), engine.Within(0))
	})
	said := f.said.String()
	for _, want := range []string{
		"wait: the wait timed out\nno match after ", "\n- all: 1 of 2 hold; all have to\n", "\n-   contains_text \"2 passed\": held\n",
		"\n-   contains_text \"2 passed, 0 failed\": the screen shows ", "(nearest: \"2 passed, 1 failed\")\n", " (running):\ntoken [REDACTED]\n2 passed, 1 failed\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the failure lacks %q:\n%s", want, said)
		}
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(f.dir, name))
		if err != nil {
			t.Error(err)
		}
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s shows the secret", name)
		}
		return data
	}
	if got := string(read("screen.txt")); got != "token [REDACTED]\n2 passed, 1 failed\n" {
		t.Errorf("screen.txt: %q", got)
	}
	if got := string(read("evidence.txt")); !strings.Contains(said, got) {
		t.Errorf("evidence.txt: %q", got)
	}
	if png := read("screen.png"); !bytes.HasPrefix(png, []byte("\x89PNG")) {
		t.Errorf("screen.png: %.20q", png)
	}
	cast, err := record.Load(bytes.NewReader(read("session.cast")))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := cast.Text(); err != nil || !strings.Contains(text, "2 passed, 1 failed") {
		t.Errorf("the recording shows %q, %v", text, err)
	}
}

// TestSuccessLeavesNothing: a test that passes has no artifacts.
func TestSuccessLeavesNothing(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.run(func(t testing.TB) { tuitest.New(t, "true").Exit(0) })
	left, err := os.ReadDir(f.dir)
	if f.failed || err != nil || len(left) > 0 {
		t.Errorf("%v, %v: %s", left, err, &f.said)
	}
}

// TestFailuresOfInput: what cannot be typed, or started, fails the test and says why.
func TestFailuresOfInput(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]func(t testing.TB){
		"press: ":                     func(t testing.TB) { tuitest.New(t, "cat").Press("no such key") },
		"click: ":                     func(t testing.TB) { tuitest.New(t, "cat").Click(0, 0) },
		"resize: ":                    func(t testing.TB) { tuitest.New(t, "cat").Resize(0, 5000) },
		"/nonexistent/program":        func(t testing.TB) { tuitest.New(t, "/nonexistent/program") },
		"exit: exit 3, expected exit": func(t testing.TB) { tuitest.New(t, "sh", "-c", "exit 3").Exit(0) },
	} {
		f := newFake(t)
		f.run(test)
		if !f.failed || !strings.Contains(f.said.String(), want) {
			t.Errorf("expected %q: %s", want, &f.said)
		}
	}
}

// TestDeadlineLeavesTimeForEvidence: a wait does not outlast its test.
func TestDeadlineLeavesTimeForEvidence(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.deadline = time.Now().Add(500 * time.Millisecond)
	f.run(func(t testing.TB) { tuitest.New(t, "cat").Wait(matchers.Text("never"), engine.Within(0)) })
	g := newFake(t)
	g.deadline = time.Now().Add(time.Second)
	g.run(func(t testing.TB) { tuitest.New(t, "cat").Wait(matchers.Text("never")) })
	for _, f := range []*fake{f, g} {
		if !strings.Contains(f.said.String(), "the wait timed out") {
			t.Errorf("%s", &f.said)
		}
	}
}

// TestEnvironmentIsItsOwn: what the test runs in does not reach the program.
func TestEnvironmentIsItsOwn(t *testing.T) {
	t.Setenv("EDITOR", "leaked")
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("WANTED", "inherited")
	cache := t.TempDir() // a program that builds finds what was built before
	t.Setenv("GOCACHE", cache)
	tui := tuitest.Config{Cols: 200, Env: map[string]string{"LANG": "C"}, Inherit: []string{"WANTED"}}.New(t, "env")
	tui.Exit(0)
	got := map[string]string{}
	for line := range strings.Lines(tui.Screen()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		got[name] = value
	}
	for name, want := range map[string]string{
		"EDITOR": "", "TZ": "UTC", "WANTED": "inherited", "LANG": "C", "TERM": "xterm-256color", "PS1": "$", "CI": "", "COLUMNS": "",
		"GOCACHE": cache,
	} {
		if got[name] != want {
			t.Errorf("%s is %q, not %q", name, got[name], want)
		}
	}
	if home := os.Getenv("HOME"); got["HOME"] == "" || got["HOME"] == home || !strings.HasPrefix(got["XDG_CONFIG_HOME"], got["HOME"]) {
		t.Errorf("HOME is %q, XDG_CONFIG_HOME %q", got["HOME"], got["XDG_CONFIG_HOME"])
	}
}

// TestEndsWithTheTest: the program, and what it left in the background, are gone when the test is
// over.
func TestEndsWithTheTest(t *testing.T) {
	t.Parallel()
	var pids []string
	f := newFake(t)
	f.run(func(t testing.TB) {
		tui := tuitest.New(t, "sh", "-c", "sleep 1000 & echo pids $$ $!; wait")
		tui.Wait(matchers.Regexp(regexp.MustCompile(`pids (\d+ \d+)`)))
		pids = strings.Fields(tui.Screen())[1:]
	})
	if f.failed || len(pids) != 2 {
		t.Fatalf("pids %v: %s", pids, &f.said)
	}
	for _, pid := range pids {
		var n int
		fmt.Sscan(pid, &n)
		if err := syscall.Kill(n, 0); err != syscall.ESRCH && !zombie(pid) {
			t.Errorf("process %s: %v", pid, err)
		}
	}
}

// zombie reports whether a process has ended, and nobody has asked how.
func zombie(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// TestVim: an editor, from its first screen to the file that it has written.
func TestVim(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("vim"); err != nil {
		t.Skip("vim is not installed: apt-get install vim")
	}
	file := filepath.Join(t.TempDir(), "notes.txt")
	tui := tuitest.New(t, "vim", "-u", "NONE", file)
	tui.Expect(matchers.Text("~"))
	tui.Send("ihello")
	tui.Press("escape")
	tui.Send(":wq\n")
	tui.Exit(0)
	if got, err := os.ReadFile(file); err != nil || string(got) != "hello\n" {
		t.Errorf("%q, %v", got, err)
	}
}
