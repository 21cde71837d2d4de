//go:build unix

package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// started returns a client of a private server, which must end well.
func started(t testing.TB, flags ...string) *client.Client {
	t.Helper()
	c, err := client.Start(context.Background(), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	return c
}

func spawned(t testing.TB, c *client.Client, config client.Config) *client.Session {
	t.Helper()
	s, err := c.Spawn(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sh runs a script of the shell.
func sh(t testing.TB, c *client.Client, script string) *client.Session {
	t.Helper()
	return spawned(t, c, client.Config{Program: "sh", Args: []string{"-c", script}})
}

// must fails the test with the evidence there is.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if e := client.EvidenceOf(err); e != nil {
			t.Fatalf("%v\n%v", err, e)
		}
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestLatched: a latched wait finds what was wiped at once, before any input since the program began
// and then since the last one.
func TestLatched(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := sh(t, started(t), `stty -echo; printf 'lost 1\033[2J\033[Hready'; read -r _; printf 'lost 2\033[2J\033[Hagain'; read -r _`)
	matched := must[*client.Match](t)
	matched(s.Wait(ctx, client.Text("ready")))
	m := matched(s.Wait(ctx, client.Text("lost 1"), client.Latched(true), client.Within(0)))
	if m.Screen.PlainText != "lost 1" || m.HeldAt.IsZero() || m.Missed {
		t.Errorf("matched %+v", m)
	}
	check(t, s.Send(ctx, "\n"))
	matched(s.Wait(ctx, client.Text("again")))
	matched(s.Wait(ctx, client.Text("lost 2"), client.Latched(true), client.Within(0)))
	for what, latched := range map[string]client.Latched{"lost 1": true, "lost 2": false} {
		_, err := s.Wait(ctx, client.Text(what), latched, client.Within(0))
		if !errors.Is(err, client.ErrTimeout) || client.EvidenceOf(err).Missed {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestEventsAndStates: a wait counts what came after the last input, an expectation what is on the
// screen.
func TestEventsAndStates(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := sh(t, started(t), `stty -echo; echo 41; read -r _; echo 42; read -r _; seq 100 200; read -r _`)
	matched := must[*client.Match](t)
	matched(s.Wait(ctx, client.Text("41"))) // before any input everything counts
	check(t, s.Send(ctx, "\n"))
	m := matched(s.Wait(ctx, client.Regexp(`(?m)^(?P<n>4\d)$`)))
	if m.Text != "42" || m.Named["n"] != "42" || len(m.Groups) != 1 || m.Screen.PlainText != "41\n42" || m.Elapsed > hang || m.Index != -1 {
		t.Errorf("matched %+v", m)
	}
	matched(s.Expect(ctx, client.Text("41"), client.Within(0)))
	_, err := s.Wait(ctx, client.Text("41"), client.Within(0))
	if !errors.Is(err, client.ErrTimeout) || !strings.Contains(client.EvidenceOf(err).String(), "nothing of it was written after sequence") {
		t.Errorf("an old text: %v, %v", err, client.EvidenceOf(err))
	}
	matched(s.Wait(ctx, client.Text("41"), client.Everything))
	if _, err := s.Wait(ctx, client.Text("42"), m.Next, client.Within(0)); !errors.Is(err, client.ErrTimeout) {
		t.Errorf("a wait that goes on from a match finds it again: %v", err)
	}
	check(t, s.Press(ctx, "enter"))
	matched(s.Wait(ctx, client.Text("200")))
	matched(s.Wait(ctx, client.Text("101"))) // has scrolled off, and was seen
	if _, err := s.Expect(ctx, client.Any(client.Text("101"), client.Bell()), client.Within(0)); !errors.Is(err, client.ErrTimeout) {
		t.Errorf("a state that is not on the screen: %v", err)
	}
	m = matched(s.Expect(ctx, client.Any(client.Exited(), client.All(client.Not(client.Bell()), client.Text("199")))))
	if m.Index != 1 || m.Text != "199" || len(m.Outcome.Parts) != 1 || len(m.Outcome.Parts[0].Parts) != 2 {
		t.Errorf("matched %+v", m)
	}
}

// TestInput: what is typed, pressed, pasted and clicked arrives.
func TestInput(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := started(t)
	matched := must[*client.Match](t)
	s := sh(t, c, `stty raw -echo; printf '\033[?2004h\033[?1000h\033[?1006hready\r\n'; exec cat -v`)
	matched(s.Wait(ctx, client.Text("ready")))
	for want, do := range map[string]func() error{
		`a\^Mü`:                      func() error { return s.Send(ctx, "a\rü") },
		`b\^M\^M`:                    func() error { return s.Send(ctx, "b\n\r\n") },
		`\^C\^\[\[A`:                 func() error { return s.Press(ctx, "ctrl+c", "up") },
		`\^\[\[200~p\^\[\[201~`:      func() error { return s.Paste(ctx, "p") },
		`\^\[\[<0;3;2M\^\[\[<0;3;2m`: func() error { return s.Click(ctx, 1, 2, client.Left) },
		`\^\[\[<65;1;1M`:             func() error { return s.Click(ctx, 0, 0, client.WheelDown) },
	} {
		check(t, do())
		if want == `a\^Mü` {
			want = `a\^MM-CM-<` // as cat -v shows it
		}
		matched(s.Wait(ctx, client.Regexp(want)))
	}
	if err := s.Send(ctx, "a\xff"); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("a text that the wire cannot have: %v", err)
	}
	plain := sh(t, c, "stty -echo; echo ready; exec cat")
	matched(plain.Wait(ctx, client.Text("ready")))
	check(t, plain.Paste(ctx, "as it is\n"))
	matched(plain.Wait(ctx, client.Regexp(`(?m)^as it is$`)))
	if err := plain.Click(ctx, 0, 0, client.Left); !errors.Is(err, client.ErrMouseNotRequested) {
		t.Errorf("a click on a program without a mouse: %v", err)
	}
	check(t, plain.Signal(ctx, "term"))
	m := matched(plain.Wait(ctx, client.Exited()))
	if got := m.Screen.Exit.String(); got != "SIGTERM" {
		t.Errorf("it ended by %s", got)
	}
	if e, err := plain.Exit(ctx); err != nil || e.String() != "SIGTERM" {
		t.Errorf("its exit: %v, %v", e, err)
	}
	if e, err := s.Exit(ctx); err != nil || e != nil {
		t.Errorf("the exit of one that runs: %v, %v", e, err)
	}
}

// TestRunScreenResizeRecord: what else a session does.
func TestRunScreenResizeRecord(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := started(t)
	s := spawned(t, c, client.Config{
		Program: "bash", Args: []string{"--norc"}, ShellIntegration: true, Name: "shell", Max: time.Hour, Idle: time.Minute, Rows: 10, Cols: 40,
	})
	path := filepath.Join(t.TempDir(), "a.cast")
	rec := must[*client.Recording](t)(s.Record(ctx, path))
	ran := must[*client.Ran](t)(s.Run(ctx, `printf '%s\n' a 'b '; exit_with() { return 3; }; exit_with`))
	if ran.Output != "a\nb \n" || ran.Code == nil || *ran.Code != 3 || ran.By != "marks" || ran.Exit != nil {
		t.Errorf("ran %+v", ran)
	}
	if _, err := s.Run(ctx, "sleep 100", client.Within(50*time.Millisecond)); !errors.Is(err, client.ErrTimeout) {
		t.Errorf("a command that takes too long: %v", err)
	}
	check(t, s.Press(ctx, "ctrl+c"))
	check(t, s.Resize(ctx, 12, 50))
	must[*client.Match](t)(s.Expect(ctx, client.Regexp(`[#$]$`)))
	shown := must[*client.Snapshot](t)(s.Screen(ctx, client.Runs))
	if shown.Size.Rows != 12 || shown.Size.Cols != 50 || len(shown.Lines) != 12 || len(shown.Cells) == 0 || !strings.Contains(shown.String(), "sleep 100") {
		t.Errorf("the screen %+v", shown)
	}
	if bare := must[*client.Snapshot](t)(s.Screen(ctx)); len(bare.Cells) != 0 || bare.PlainText != shown.PlainText {
		t.Errorf("the screen without cells %+v", bare)
	}
	out := must[string](t)(s.Transcript(ctx))
	if !strings.Contains(out, "sleep 100") || !strings.Contains(out, "\x1b") {
		t.Errorf("the transcript %q", out)
	}
	done := must[*client.Recorded](t)(rec.Stop(ctx))
	if text, err := os.ReadFile(path); err != nil || int64(len(text)) != done.Bytes || done.State != "done" || done.Path != path || done.Session != s.ID {
		t.Errorf("recorded %+v, %v", done, err)
	}
	infos := must[[]client.Info](t)(c.Sessions(ctx))
	if len(infos) != 1 || infos[0].Name != "shell" || infos[0].Max != time.Hour || infos[0].Idle != time.Minute || infos[0].Rows != 12 {
		t.Errorf("sessions %+v", infos)
	}
	if i, err := c.Session("shell").Info(ctx); err != nil || i.Session != s.ID || i.Quiet < 0 {
		t.Errorf("by its name: %+v, %v", i, err)
	}
	if left, err := s.Kill(ctx); err != nil || len(left) > 0 {
		t.Errorf("kill: %v, %v", left, err)
	}
	if gone := must[[]string](t)(c.Forget(ctx)); !slices.Equal(gone, []string{s.ID}) {
		t.Errorf("forgotten %v", gone)
	}
	if _, err := s.Info(ctx); !errors.Is(err, client.ErrUnknownSession) && !errors.Is(err, client.ErrSessionForgotten) {
		t.Errorf("a forgotten session: %v", err)
	}
}

// TestSpawnAlone: a session with a server of its own ends it.
func TestSpawnAlone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := client.Spawn(ctx, client.Config{Program: "cat"})
	check(t, err)
	cancel() // bounds only the start
	ctx = t.Context()
	check(t, s.Send(ctx, "hello\n"))
	must[*client.Match](t)(s.Wait(ctx, client.Text("hello\nhello")))
	about := must[*client.Capabilities](t)(s.Client().Capabilities(ctx))
	check(t, s.Close(ctx))
	if p, err := os.FindProcess(about.PID); err == nil && p.Signal(nil) == nil {
		t.Errorf("the server %d is still there", about.PID)
	}
	if err := s.Send(ctx, "x"); !errors.Is(err, client.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := client.Spawn(ctx, client.Config{Program: "/nonexistent/program"}); !errors.Is(err, client.ErrCannotStart) {
		t.Errorf("a program that is not there: %v", err)
	}
}

// TestStrict: a server that was greeted refuses what it does not know.
func TestStrict(t *testing.T) {
	t.Parallel()
	c := started(t)
	err := c.Call(t.Context(), "session.list", map[string]any{"detials": true}, nil)
	if !errors.Is(err, client.ErrInvalidParams) || !strings.Contains(err.Error(), "did you mean details?") {
		t.Errorf("a misspelt member: %v", err)
	}
}

// TestErrorsByReason: what a caller acts on, by errors.Is and errors.As.
func TestErrorsByReason(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := started(t)
	_, err := c.Session("nobody").Wait(ctx, client.Text("x"))
	var e *client.Error
	if !errors.Is(err, client.ErrUnknownSession) || errors.Is(err, client.ErrTimeout) || !errors.As(err, &e) || e.Method != "session.wait" ||
		e.Code != client.CodeInvalidParams || client.EvidenceOf(err) != nil {
		t.Errorf("error %v, %+v", err, e)
	}
	s := sh(t, c, "echo done")
	if _, err := s.Wait(ctx, client.Text("never")); !errors.Is(err, client.ErrSessionEnded) || client.EvidenceOf(err) == nil {
		t.Errorf("a session that ended: %v", err)
	}
	if err := s.Send(ctx, "x"); !errors.Is(err, client.ErrSessionEnded) {
		t.Errorf("input after the end: %v", err)
	}
	if _, err := s.Wait(ctx, client.Regexp("(")); !errors.Is(err, client.ErrInvalidMatcher) {
		t.Errorf("a bad expression: %v", err)
	}
	check(t, s.Close(ctx))
	if _, err := s.Screen(ctx); !errors.Is(err, client.ErrUnknownSession) {
		t.Errorf("a closed session: %v", err)
	}
}

// TestNotifications: those of one session, in order, in a loop that uses the client.
func TestNotifications(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	c := started(t)
	s := spawned(t, c, client.Config{Program: "cat", Name: "mine"})
	other := spawned(t, c, client.Config{Program: "cat"})
	first := must[func(func(client.Event, error) bool)](t)
	events := first(c.Notifications(ctx, "mine"))
	check(t, other.Send(ctx, "not mine\n"))
	check(t, s.Send(ctx, "mine\n"))
	text := ""
	for e, err := range events {
		check(t, err)
		if e.Session != s.ID {
			t.Fatalf("told %+v", e)
		}
		if text += e.Output; strings.Count(text, "mine") < 2 {
			continue
		}
		if _, err := s.Screen(ctx); err != nil { // a loop may call
			t.Fatal(err)
		}
		break
	}
	stopped := errors.New("stopped")
	events = first(c.Notifications(ctx))
	newer := first(c.Notifications(ctx))
	for _, err := range events {
		if !errors.Is(err, client.ErrReplaced) {
			t.Errorf("the first of two: %v", err)
		}
	}
	cancel(stopped)
	for e, err := range newer {
		if err != nil && !errors.Is(err, stopped) {
			t.Errorf("the end: %+v, %v", e, err)
		}
	}
}

// TestAdapter: a plugin that drives a program.
func TestAdapter(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, err := started(t).Adapter(ctx, "repl", client.Config{Program: "python3", Args: []string{"-q"}})
	check(t, err)
	if s, err := a.Wait(ctx, client.Within(hang)); err != nil || s.Name != "ready" {
		t.Fatalf("state %+v, %v", s, err)
	}
	done, err := a.Turn(ctx, "eval", map[string]any{"code": "6 * 7"})
	check(t, err)
	if done.Matched == nil || done.Receipt.Submitted == nil || !*done.Receipt.Submitted || done.State.Name != "ready" || done.Next == "" {
		t.Errorf("performed %+v", done)
	}
	must[*client.Match](t)(a.Session.Expect(ctx, client.Regexp(`(?m)^42$`)))
	if _, err := a.Send(ctx, "no_such_intent", nil); !errors.Is(err, client.ErrUnknownIntent) {
		t.Errorf("an intent that there is not: %v", err)
	}
	if err := a.Session.Send(ctx, "1\n"); !errors.Is(err, client.ErrOwnedByAdapter) {
		t.Errorf("typing beside the adapter: %v", err)
	}
	if _, err := a.State(ctx); err != nil {
		t.Error(err)
	}
	check(t, a.Close(ctx))
}
