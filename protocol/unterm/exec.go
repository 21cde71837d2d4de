package unterm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/cmdline"
	"github.com/ptywright/ptywright/engine/reading"
)

type sent struct {
	Sent bool `json:"sent"`
}

// command returns the command line of a request.
func (p params) command() (string, error) { return p.needText("command", "Missing 'command'") }

// submit types a command line and Enter, if the policy allows it.
func (s *Server) submit(ctx context.Context, method string, at *pane, line string) error {
	return s.typeText(ctx, method, at, line+"\r", line)
}

func execRun(ctx context.Context, s *reader, at *pane, p params) (any, error) {
	line, err := p.command()
	if err != nil {
		return nil, err
	}
	if err := s.submit(ctx, "exec.run", at, line); err != nil {
		return nil, err
	}
	return sent{true}, nil
}

type execState struct {
	Status     string `json:"status"` // idle or running
	Foreground string `json:"foreground_process"`
}

func execStatus(_ context.Context, s *reader, at *pane, _ params) (any, error) {
	process, _ := at.session.Foreground()
	l := s.look(at.session)
	r := execState{"running", l.Clean(process.Path)}
	if idle(at.session, l.Raw, process) {
		r.Status = "idle"
	}
	return r, nil
}

func execCancel(ctx context.Context, s *reader, at *pane, _ params) (any, error) {
	s.audit.add("exec.cancel", at, "Ctrl+C", true)
	if err := s.typeText(ctx, "exec.cancel", at, "\x03", ""); err != nil {
		return nil, err
	}
	return struct {
		Cancelled bool `json:"cancelled"`
	}{true}, nil
}

// signals are the control characters that a terminal turns into signals, by Unterm's names.
var signals = map[string]string{
	"SIGINT": "\x03", "INT": "\x03", "SIGTSTP": "\x1a", "TSTP": "\x1a", "SIGQUIT": "\x1c",
	"QUIT": "\x1c", "EOF": "\x04",
}

func signalSend(ctx context.Context, s *reader, at *pane, p params) (any, error) {
	name, err := p.needText("signal", "Missing 'signal'")
	if err != nil {
		return nil, err
	}
	char, ok := signals[strings.ToUpper(name)]
	s.audit.add("signal.send", at, name, ok)
	if !ok {
		return nil, fmt.Errorf("Unsupported signal: %s", clip(name))
	}
	if err := s.typeText(ctx, "signal.send", at, char, ""); err != nil {
		return nil, err
	}
	return struct {
		sent
		Signal string `json:"signal"`
	}{sent{true}, name}, nil
}

type ranResult struct {
	Output   string `json:"output"`      // exactly what the command wrote; with raw, including escape sequences
	Status   string `json:"exit_status"` // completed or timeout
	TimedOut bool   `json:"timed_out"`
	Marker   string `json:"marker"`
	ExitCode *int   `json:"exit_code"`              // null when unknown; Unterm has none
	By       string `json:"completed_by,omitempty"` // marks or sentinel
	Cut      bool   `json:"output_truncated"`       // its beginning is missing
	Ended    bool   `json:"session_ended,omitzero"` // the shell itself has ended; exit_code is its
	// ScreenText is the text on the screen, if screen_text asked for it.
	ScreenText *string `json:"screen_text,omitempty"`
}

// runBound is how long exec.run_wait waits by default.
const runBound = 30 * time.Second

// promptBound is how long a shell may take from a command's end to its prompt before the result is
// returned without it: the user's own code makes the prompt, mostly in milliseconds.
const promptBound = 500 * time.Millisecond

// execRunWait runs a command line in a shell and waits for its end. On a timeout the command keeps
// running.
func execRunWait(ctx context.Context, s *reader, at *pane, p params) (any, error) {
	line, err := p.command()
	if err == nil {
		err = s.mayRun("exec.run_wait", at, line)
	}
	if err != nil {
		return nil, err
	}
	r, err := s.run(ctx, at, line,
		runOptions{bound: p.timeout(runBound), raw: p.is("raw"), screen: p.is("screen_text")})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// runOptions say how to run a command line, and what to return.
type runOptions struct {
	bound  time.Duration
	raw    bool // leave escape sequences in the output
	screen bool // return the text on the screen, too
}

// run runs a command line in the shell of a pane. The result always has a marker: clients look for
// it.
func (s *reader) run(ctx context.Context, at *pane, line string, o runOptions) (*ranResult, error) {
	marker := cmdline.NewMarker()
	out, err := runWhenFree(ctx, at.session, line,
		cmdline.Options{Timeout: o.bound, Marker: marker})
	if err != nil {
		return nil, s.notTyped(at, err)
	}
	switch {
	case out.Reason == cmdline.Cancelled:
		return nil, context.Cause(ctx)
	case ended(at.session) != "":
		return nil, fmt.Errorf("Session %d was ended (%s) while the command ran", at.number,
			ended(at.session))
	case out.Reason == cmdline.NotRun && out.Other != "":
		return nil, fmt.Errorf("Session %d ran something else than the command, together with what stood on its command line: %s", at.number, clip(out.Other))
	case out.Reason == cmdline.NotRun && strings.TrimSpace(uncommented(line)) != "":
		return nil, fmt.Errorf("the shell of session %d has not run the command: %s", at.number,
			clip(reading.New(out.View, s.hide).Piece(out.Output)))
	case out.Reason == cmdline.Finished && out.By == cmdline.Marks: // the shell's directory and idle state come with its prompt
		_ = cmdline.Prompt(ctx, at.session, promptBound, nil)
	}
	l := reading.New(out.View, s.hide)
	r := &ranResult{
		Marker: marker, ExitCode: out.ExitCode, By: string(out.By), Cut: out.Cut,
		Status: "completed",
		Output: l.Printed(out.Printed(), o.raw),
	}
	if o.screen {
		text := out.ScreenText()
		if out.Cut && l.Redacted() {
			text = reading.HideHead(text)
		}
		text = l.Piece(text)
		r.ScreenText = &text
	}
	r.Ended = out.Reason == cmdline.Ended
	if out.Reason == cmdline.Timeout {
		r.Status, r.TimedOut = "timeout", true
	}
	return r, nil
}

// uncommented is a command line without comment lines.
func uncommented(line string) string {
	var rest []string
	for text := range strings.Lines(line) {
		if !strings.HasPrefix(strings.TrimSpace(text), "#") {
			rest = append(rest, text)
		}
	}
	return strings.Join(rest, "")
}

// ended is the signal that ended a session's program, sent by session.destroy or by another client;
// "" when there was none.
func ended(s *engine.Session) string {
	if v := s.View(); v.Exit != nil {
		return v.Exit.Signal
	}
	return ""
}

// busyBound is how long a busy session may take to become free: an interrupted program takes a
// moment to end.
const busyBound = time.Second

// runWhenFree runs a line, and retries while the session is busy and active, for busyBound.
func runWhenFree(ctx context.Context, session *engine.Session, line string,
	o cmdline.Options) (*cmdline.Result, error) {
	began := time.Now()
	for {
		before := session.Sequence()
		out, err := cmdline.Run(ctx, session, line, o)
		var busy *cmdline.BusyError
		if !errors.As(err, &busy) || busy.Secret {
			return out, err
		}
		left := busyBound - time.Since(began)
		if left <= 0 {
			return out, err
		}
		changed := engine.Func(func(v *engine.View) bool { return v.Sequence != before })
		if _, waited := session.Wait(ctx, changed, engine.Within(left)); waited != nil {
			return out, err
		}
	}
}

// notTyped names the pane where the error has the engine's session id.
func (s *reader) notTyped(at *pane, err error) error {
	var busy *cmdline.BusyError
	var occupied *cmdline.OccupiedError
	var none *cmdline.NoShellError
	var prompt *cmdline.PromptError
	switch {
	case errors.As(err, &busy):
		what := "a command"
		if sh := at.session.View().Reports.Shell; busy.Program != "" {
			what = clip(busy.Program)
		} else if sh != nil && sh.Command != "" {
			what = clip(sh.Command)
		}
		return fmt.Errorf("Session %d is running %s: nothing was typed. Wait for its end, or end it with exec.cancel", at.number, what)
	case errors.As(err, &occupied):
		return fmt.Errorf("Session %d has something on its command line already: nothing was typed. Clear it with exec.cancel", at.number)
	case errors.As(err, &prompt):
		return fmt.Errorf("Session %d does not come to a prompt: nothing was typed. Look at its screen, or end what it does with exec.cancel", at.number)
	case errors.As(err, &none):
		return fmt.Errorf("Session %d runs %s, which is not a shell known to tell when a command has ended: nothing was typed. Use session.input", at.number, clip(none.Program))
	}
	return err
}
