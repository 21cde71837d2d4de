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
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/redact"
)

// Config says how the program of a [TUI] is started. The zero value is that of [New].
//
// Nothing of the test's environment but PATH reaches the program, so that a test says the same on
// every machine. It gets TERM=xterm-256color, COLORTERM=truecolor, LANG=C.UTF-8, TZ=UTC, PS1="$ ",
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
	hide     *redact.Redactor
	timeout  time.Duration
	deadline time.Time        // of the test; zero: it has none
	input    *engine.Position // before the last input; nil: there was none
	evidence string           // of the wait that failed last
	cast     string           // the recording
}

// New starts a program for a test: [Config.New] with the zero Config.
func New(t testing.TB, program string, args ...string) *TUI {
	t.Helper()
	return Config{}.New(t, program, args...)
}

// New starts a program for a test, which fails when it cannot be started.
func (c Config) New(t testing.TB, program string, args ...string) *TUI {
	t.Helper()
	env, err := c.environ(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	known := new(redact.Known)
	settle, err := known.Lend(env)
	if err != nil {
		t.Fatal(err)
	}
	tui := &TUI{
		t: t, hide: redact.Default.With(known), timeout: c.Timeout,
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
		Rows: rows, Cols: cols, Title: t.Name(), Redactor: tui.hide,
	})
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{Typed: reading.Learn(known), Asks: redact.Asks})
	t.Cleanup(func() { tui.end(e) })
	tui.Session, err = e.Spawn(t.Context(), engine.Config{
		Program: program, Args: args, Dir: c.Dir, ClearEnv: true, Env: env,
		Size:             sizeOf(rows, cols),
		ShellIntegration: c.ShellIntegration, Taps: []engine.Tap{cast},
	})
	if err != nil {
		settle("", nil)
		cast.Close()
		t.Fatal(err)
	}
	settle(string(tui.Session.ID()), tui.Session.Closed())
	return tui
}

// environ makes the program's environment, with folders below home.
func (c Config) environ(home string) (map[string]string, error) {
	env := map[string]string{
		"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "TZ": "UTC",
		"PS1": "$ ", "HOME": home, "TMPDIR": filepath.Join(home, "tmp"),
		"XDG_CONFIG_HOME": filepath.Join(home, "config"),
		"XDG_CACHE_HOME":  filepath.Join(home, "cache"),
		"XDG_DATA_HOME":   filepath.Join(home, "data"),
		"XDG_STATE_HOME":  filepath.Join(home, "state"),
		"XDG_RUNTIME_DIR": filepath.Join(home, "run"),
	}
	for name, folder := range env {
		if name == "TMPDIR" || len(name) > 4 && name[:4] == "XDG_" {
			if err := os.Mkdir(folder, 0o700); err != nil {
				return nil, err
			}
		}
	}
	inherit := append([]string{"PATH"}, c.Inherit...)
	if runtime.GOOS == "windows" { // programs do not start without them
		inherit = append(inherit, "SystemRoot", "PATHEXT", "ComSpec")
		env["USERPROFILE"], env["TEMP"], env["TMP"] = home, env["TMPDIR"], env["TMPDIR"]
	}
	for _, name := range inherit {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	maps.Copy(env, c.Env)
	return env, nil
}

// Send types text. "\n" is the Enter key, which sends a carriage return; all else is typed as it is.
func (u *TUI) Send(text string) {
	u.t.Helper()
	u.do("send", engine.Text(enter.Replace(text)))
}

var enter = strings.NewReplacer("\r\n", "\r", "\n", "\r")

// Press presses keys by their names, one after the other: "enter", "up", "ctrl+c", "alt+x", "G".
func (u *TUI) Press(keys ...string) {
	u.t.Helper()
	typing := engine.Typing{}
	for _, name := range keys {
		key, err := vt.ParseKey(name)
		if err != nil {
			u.t.Fatalf("press: %v", err)
		}
		typing.Actions = append(typing.Actions, engine.Key(key))
	}
	u.do("press", typing)
}

// Paste pastes text as a terminal does: in brackets when the program asks for them.
func (u *TUI) Paste(text string) {
	u.t.Helper()
	if u.Session.View().Screen.Modes.BracketedPaste {
		u.do("paste", engine.BracketedPaste(text))
	} else {
		u.do("paste", engine.Paste(text))
	}
}

// Click presses and releases the left button of the mouse on a cell, counted from 0.
func (u *TUI) Click(row, col int) {
	u.t.Helper()
	press := vt.Mouse{Row: row, Col: col, Button: vt.MouseLeft, Action: vt.MousePress}
	release := press
	release.Action = vt.MouseRelease
	both := []engine.Action{engine.Mouse(press), engine.Mouse(release)}
	u.do("click", engine.Typing{Actions: both})
}

func (u *TUI) do(what string, a engine.Action) {
	u.t.Helper()
	receipt, err := u.Session.Do(u.t.Context(), a)
	if err != nil {
		u.t.Fatalf("%s: %v\n%s", what, err, u.Screen())
	}
	u.input = engine.After(receipt.Sequence)
}

// Resize changes the terminal's size and notifies the program.
func (u *TUI) Resize(rows, cols int) {
	u.t.Helper()
	if err := u.Session.Resize(sizeOf(rows, cols)); err != nil {
		u.t.Fatalf("resize: %v", err)
	}
}

// sizeOf leaves it to the engine to refuse sizes that are none.
func sizeOf(rows, cols int) pty.Size {
	side := func(n int) uint16 { return uint16(min(max(n, 0), math.MaxUint16)) }
	return pty.Size{Rows: side(rows), Cols: side(cols)}
}

// Wait waits for an event: m counts only in what came after the last input, and before any in
// everything. Of several waits after one input all count from it, unless they go on from the Next
// of an outcome, which is an option. [engine.Within] bounds the wait.
func (u *TUI) Wait(m matchers.Matcher, options ...engine.WaitOption) *engine.Outcome {
	u.t.Helper()
	return u.wait("wait", m, append([]engine.WaitOption{u.input}, options...))
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
		u.evidence = reading.Evidence(out, m, u.hide)
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
	return u.Session.Wait(u.t.Context(), m, options...)
}

// Screen returns the text on the screen: rows joined by line feeds, without blanks at their ends,
// and without the blank rows below the last. Secrets are hidden.
func (u *TUI) Screen() string { return u.shown(u.Session.View()).Text() }

// end ends the program, and leaves the artifacts of a test that has failed.
func (u *TUI) end(e *engine.Engine) {
	var last *engine.View
	if u.Session != nil {
		last = u.Session.View()
	}
	if err := e.Close(context.WithoutCancel(u.t.Context())); err != nil {
		u.t.Errorf("end the program: %v", err)
	}
	if !u.t.Failed() || last == nil {
		return
	}
	dir := u.t.ArtifactDir()
	shown := reading.New(last, u.hide)
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
