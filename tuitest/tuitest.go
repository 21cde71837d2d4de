// Package tuitest tests programs that have a terminal, in the test's own process: it needs no
// server and no binary. Begin with [New]:
//
//	func TestRename(t *testing.T) {
//		tui := tuitest.New(t, "vim", "-u", "NONE", "notes.txt")
//		tui.Expect(matchers.Text("~")) // a state of the screen
//		tui.Send("ihello")
//		tui.Press("escape")
//		tui.Send(":wq\n")
//		tui.Wait(matchers.Exited()) // an event since the last input
//	}
//
// What does not come about fails the test, with what each part of the matcher lacked and the last
// screen. A failed test leaves them in its artifacts (go test -artifacts), with a recording and a
// picture. Secrets are hidden in all of these.
//
// The program gets an environment of its own: see [Config]. The program and all it started end with
// the test. A [TUI] belongs to the test's goroutine; tests with one each may run in parallel.
package tuitest

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
)

// Config says how the program of a [TUI] is started. The zero value is that of [New].
//
// Nothing of the test's environment but PATH reaches the program, so that a test says the same on
// every machine; and where your caches of Go, npm and pip are, so that a program that builds does not
// begin with nothing: GOCACHE, GOMODCACHE, npm_config_cache, PIP_CACHE_DIR. It gets TERM=xterm-256color, COLORTERM=truecolor, LANG=C.UTF-8, TZ=UTC, PS1="$ ",
// and empty folders of its own for HOME, TMPDIR and XDG_*.
type Config struct {
	Rows, Cols int               // 0: 24 and 80
	Dir        string            // the working folder; "": the test's
	Env        map[string]string // set in the environment, over what is there
	// names of variables that the program gets from the test's environment
	Inherit []string
	// Timeout bounds each wait that says nothing else; 0: 30 seconds. No wait outlasts the test's
	// deadline, so that it fails with its evidence.
	Timeout time.Duration
	// ShellIntegration makes the program, an interactive bash, zsh or fish, mark its commands, for
	// [matchers.Command].
	ShellIntegration bool
}

// A TUI is a program on a terminal, in a test.
type TUI struct {
	// Session has what the methods do not: see package engine.
	Session *engine.Session

	t        testing.TB
	drive    *driver.Driver
	timeout  time.Duration
	deadline time.Time // of the test; zero: it has none
	evidence string    // of the wait that failed last
	cast     string    // the recording
}

// New starts a program for a test: [Config.New] with the zero Config.
func New(t testing.TB, program string, args ...string) *TUI {
	t.Helper()
	return Config{}.New(t, program, args...)
}

// New starts a program for a test, which fails when it cannot be started.
func (c Config) New(t testing.TB, program string, args ...string) *TUI {
	t.Helper()
	env, err := driver.Hermetic(t.TempDir(), c.Inherit, c.Env)
	if err != nil {
		t.Fatal(err)
	}
	tui := &TUI{
		t: t, drive: driver.New(engine.Options{}), timeout: c.Timeout,
		cast: filepath.Join(t.TempDir(), "session.cast"),
	}
	if tui.timeout <= 0 {
		tui.timeout = engine.DefaultWait
	}
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		tui.deadline, _ = d.Deadline()
	}
	rows, cols := cmp.Or(c.Rows, 24), cmp.Or(c.Cols, 80)
	cast, err := record.NewCast(tui.cast, record.CastOptions{
		Rows: rows, Cols: cols, Title: t.Name(), Redactor: tui.drive.Hide,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tui.end)
	err = tui.drive.Spawn(t.Context(), engine.Config{
		Program: program, Args: args, Dir: c.Dir, ClearEnv: true, Env: env,
		Size:             driver.SizeOf(rows, cols),
		ShellIntegration: c.ShellIntegration, Taps: []engine.Tap{cast},
	})
	if err != nil {
		t.Fatal(err)
	}
	tui.Session = tui.drive.Session
	return tui
}

// Send types text. "\n" is the Enter key, which sends a carriage return; all else is typed as it is.
func (u *TUI) Send(text string) {
	u.t.Helper()
	u.do("send", driver.Typed(text))
}

// Press presses keys by their names, one after the other: "enter", "up", "ctrl+c", "alt+x", "G".
func (u *TUI) Press(keys ...string) {
	u.t.Helper()
	var pressed []vt.Key
	for _, name := range keys {
		key, err := vt.ParseKey(name)
		if err != nil {
			u.t.Fatalf("press: %v", err)
		}
		pressed = append(pressed, key)
	}
	u.do("press", driver.Keys(pressed...))
}

// Paste pastes text as a terminal does: in brackets when the program asks for them.
func (u *TUI) Paste(text string) {
	u.t.Helper()
	u.do("paste", u.drive.Paste(text))
}

// Click presses and releases the left button of the mouse on a cell, counted from 0.
func (u *TUI) Click(row, col int) {
	u.t.Helper()
	u.do("click", driver.Click(row, col, vt.MouseLeft, 1))
}

func (u *TUI) do(what string, a engine.Action) {
	u.t.Helper()
	if err := u.drive.Do(u.t.Context(), a); err != nil {
		u.t.Fatalf("%s: %v\n%s", what, err, u.Screen())
	}
}

// Resize changes the terminal's size and notifies the program.
func (u *TUI) Resize(rows, cols int) {
	u.t.Helper()
	if err := u.Session.Resize(driver.SizeOf(rows, cols)); err != nil {
		u.t.Fatalf("resize: %v", err)
	}
}

// Wait waits for an event: m counts only in what came after the last input, and before any in
// everything. Of several waits after one input all count from it, unless they go on from the Next
// of an outcome, which is an option. [engine.Within] bounds the wait.
func (u *TUI) Wait(m matchers.Matcher, options ...engine.WaitOption) *engine.Outcome {
	u.t.Helper()
	return u.wait("wait", m, append([]engine.WaitOption{u.drive.Since()}, options...))
}

// Expect waits for a state: until m matches the screen as it is, however long it has been so. What
// has scrolled off the screen does not count.
func (u *TUI) Expect(m matchers.Matcher, options ...engine.WaitOption) *engine.Outcome {
	u.t.Helper()
	return u.wait("expect", matchers.State(m), options)
}

// Exit waits for the end of the program, which must exit with this code.
func (u *TUI) Exit(code int) {
	u.t.Helper()
	out := u.wait("exit", matchers.Exited(), nil)
	if e := out.View.Exit; e.Code != code || e.Signal != "" {
		u.t.Fatalf("exit: %s, expected exit %d\n%s", e, code, u.Screen())
	}
}

func (u *TUI) wait(what string, m matchers.Matcher, options []engine.WaitOption) *engine.Outcome {
	u.t.Helper()
	out, err := u.await(m, options)
	if err != nil {
		u.evidence = reading.Evidence(out, m, u.drive.Hide)
		u.t.Fatalf("%s: %v\n%s", what, err, u.evidence)
	}
	return out
}

// await waits within the test's bounds.
func (u *TUI) await(m matchers.Matcher, options []engine.WaitOption) (*engine.Outcome, error) {
	bound := u.timeout
	if !u.deadline.IsZero() {
		bound = max(min(bound, time.Until(u.deadline)*9/10), time.Millisecond)
	}
	options = append([]engine.WaitOption{engine.Within(bound)}, options...)
	return u.drive.Wait(u.t.Context(), m, options...)
}

// Screen returns the text on the screen: rows joined by line feeds, without blanks at their ends,
// and without the blank rows below the last. Secrets are hidden.
func (u *TUI) Screen() string { return u.shown(u.Session.View()).Text() }

// end ends the program, and leaves the artifacts of a test that has failed.
func (u *TUI) end() {
	var last *engine.View
	if u.Session != nil {
		last = u.Session.View()
	}
	if err := u.drive.Close(context.WithoutCancel(u.t.Context())); err != nil {
		u.t.Errorf("end the program: %v", err)
	}
	if !u.t.Failed() || last == nil {
		return
	}
	dir := u.t.ArtifactDir()
	shown := reading.New(last, u.drive.Hide)
	files := map[string][]byte{"screen.txt": []byte(shown.Screen().Text() + "\n")}
	if u.evidence != "" {
		files["evidence.txt"] = []byte(u.evidence)
	}
	png, err := picture.PNG(shown.Screen(), picture.Options{Clean: shown.Clean})
	if err == nil {
		files["screen.png"] = png
	}
	cast, cerr := os.ReadFile(u.cast)
	if cerr == nil {
		files["session.cast"] = cast
	}
	for _, err := range []error{err, cerr} {
		if err != nil {
			u.t.Logf("artifacts: %v", err)
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			u.t.Logf("artifacts: %v", err)
		}
	}
}
