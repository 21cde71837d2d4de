package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/redact"
)

const runAbout = `Run one command line in an interactive shell (bash, zsh or fish), and return its output and its exit code, as the shell itself tells them.

{"command":"go test ./..."}   {"session":"s2","command":"cd src && ls"}   {"command":"make","keep":true,"timeout_ms":45000}

Without session a fresh shell runs it and ends with it; keep leaves that shell for more. With session, the shell there runs it: directory and variables stay. A command that asks something or draws a screen is better driven with start and send. When the time is up the command goes on: the result has a handle for wait, and read {"what":"commands"} shows its output so far.`

type runParams struct {
	Command   string            `json:"command" jsonschema:"the command line, as it would be typed"`
	Session   string            `json:"session,omitempty" jsonschema:"a shell that waits at its prompt; default: a fresh one"`
	Shell     string            `json:"shell,omitempty" jsonschema:"for a fresh shell: bash, zsh or fish; default the user's own, else bash"`
	Cwd       string            `json:"cwd,omitempty" jsonschema:"for a fresh shell: working directory"`
	Env       map[string]string `json:"env,omitempty" jsonschema:"for a fresh shell: variables to set"`
	Keep      bool              `json:"keep,omitempty" jsonschema:"leave the fresh shell for more commands"`
	TimeoutMS *int              `json:"timeout_ms,omitempty" jsonschema:"default 30000, at most 45000 a call; as a task up to a day"`
	budget
	rawAsked
}

type runResult struct {
	status
	Command    string `json:"command"`
	Reason     string `json:"reason" jsonschema:"finished; not_run: the shell did not take it as a command; incomplete: the shell wanted more of it, and it was given up; timeout: it goes on; ended: the shell itself has; cancelled"`
	Output     string `json:"output"`
	Truncated  bool   `json:"truncated" jsonschema:"output is only the end of it"`
	ExitCode   *int   `json:"exit_code,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	Wait       string `json:"wait,omitempty" jsonschema:"handle to wait on for the end"`
	Closed     bool   `json:"closed" jsonschema:"the fresh shell has ended with its command"`
}

const (
	// promptBound is how long a fresh shell may take to its first prompt: its start-up files are the user's.
	promptBound = 10 * time.Second
	// readyBound is how long a shell that has just finished a command may take to its next prompt.
	readyBound = 2 * time.Second
	// runRows and runCols are a fresh shell's size: commands that look at it print wider tables.
	runRows, runCols = 40, 120
)

func (p *profile) run(ctx context.Context, req *sdk.CallToolRequest, in runParams) (*reply[runResult], error) {
	most, err := in.or(textBudget)
	if err != nil {
		return nil, err
	}
	hide, err := p.redactor(in.rawAsked)
	if err != nil {
		return nil, err
	}
	timeout, err := timeoutOf(ctx, in.TimeoutMS, engine.DefaultWait)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.TrimSpace(in.Command) == "":
		return nil, bad("command", "expected a command line")
	case strings.Contains(in.Command, redact.DefaultReplacement):
		return nil, errMarker
	case in.Session != "" && (in.Shell != "" || in.Cwd != "" || in.Env != nil || in.Keep):
		return nil, bad("session", "shell, cwd, env and keep are for a fresh shell: leave them out")
	}
	s, err := p.shell(ctx, &in)
	if err != nil {
		return nil, err
	}
	fresh := in.Session == ""
	r, err := p.runIn(ctx, req, s, &in, timeout, hide, most)
	over := err != nil || r.Reason != "timeout" && r.Reason != "cancelled"
	if fresh && over && !in.Keep {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound)
		defer cancel()
		if closeErr := s.Close(bound); closeErr == nil && r != nil {
			r.Closed = true
		}
	}
	if err != nil {
		return nil, err
	}
	return &reply[runResult]{text: r.text(), out: *r}, nil
}

// shell finds the shell that a command is to run in, or starts one.
func (p *profile) shell(ctx context.Context, in *runParams) (*engine.Session, error) {
	if in.Session != "" {
		s, err := p.free(in.Session)
		if err != nil {
			return nil, err
		}
		v := s.View()
		switch sh := v.Reports.Shell; {
		case sh == nil || sh.Phase == "":
			return nil, fmt.Errorf("session %s marks no commands, so the end of one cannot be told: start bash, zsh or fish with start, or use send", s.ID())
		case sh.Phase == engine.ShellRunning:
			return nil, fmt.Errorf("session %s is running a command: wait {\"session\":%q,\"command_finished\":true}, or send {\"session\":%q,\"keys\":[\"ctrl+c\"]}", s.ID(), s.ID(), s.ID())
		}
		return s, p.prompt(ctx, s, readyBound)
	}
	program, err := shellProgram(in.Shell)
	if err != nil {
		return nil, err
	}
	for name, value := range in.Env {
		p.Known.AddEnv([]string{name + "=" + value})
	}
	s, err := p.Engine.Spawn(engine.Config{
		Program: program, Dir: in.Cwd, Env: in.Env, Size: pty.Size{Rows: runRows, Cols: runCols}, ShellIntegration: true,
	})
	if err != nil {
		return nil, err
	}
	if err := p.prompt(ctx, s, promptBound); err != nil {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound)
		defer cancel()
		return nil, errors.Join(err, s.Close(bound))
	}
	return s, nil
}

// shellProgram is the shell that is started.
func shellProgram(asked string) (string, error) {
	if asked != "" {
		if !slices.Contains(shells, filepath.Base(asked)) {
			return "", bad("shell", "expected bash, zsh or fish: others do not tell when a command has finished")
		}
		return asked, nil
	}
	if own := os.Getenv("SHELL"); slices.Contains(shells, filepath.Base(own)) {
		if _, err := exec.LookPath(own); err == nil {
			return own, nil
		}
	}
	for _, name := range shells {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no bash, zsh or fish is installed here: use start and send with the shell there is")
}

// atPrompt is a matcher of a shell that reads a command line.
type atPrompt struct{}

// Check matches when the shell says so.
func (atPrompt) Check(v *engine.View) engine.Result {
	if sh := v.Reports.Shell; sh != nil && sh.Phase == engine.ShellInput {
		return engine.Result{Match: &engine.Match{Kind: "prompt"}}
	}
	return engine.Result{}
}

// promptAfter is a matcher of a prompt that is another than the one before.
type promptAfter struct{ before *engine.Shell }

// Check matches when the shell reads a new command line.
func (m promptAfter) Check(v *engine.View) engine.Result {
	if v.Reports.Shell == m.before {
		return engine.Result{}
	}
	return atPrompt{}.Check(v)
}

func (p *profile) prompt(ctx context.Context, s *engine.Session, bound time.Duration) error {
	out, err := s.Wait(ctx, atPrompt{}, engine.WaitOptions{Timeout: bound, Parked: options(ctx).Parked})
	if err == nil {
		return nil
	}
	l := p.look(s, p.Hide).At(out.View)
	text, _ := screenText(l, screenBudget)
	return fmt.Errorf("the shell in %s does not come to a prompt: %w; its screen:\n%s", s.ID(), err, text)
}

// incomplete is how long a shell is still in front of a command line that it has not begun with: it wants the rest of it.
// Shells begin within milliseconds, on a busy machine within some hundred.
const incomplete = 2 * time.Second

// notRun is how long a shell stands still at a new prompt without having run anything: what it was given was no command. A shell
// that draws its prompt anew begins within milliseconds.
const notRun = 300 * time.Millisecond

// ran is a matcher of a shell that has come through a command line.
type ran struct {
	commands uint64        // that had ended before
	before   *engine.Shell // what the shell had said
}

// Check matches when a command has ended, or the shell reads the next line without having run one.
func (m *ran) Check(v *engine.View) engine.Result {
	sh := v.Reports.Shell
	switch {
	case sh == nil || sh == m.before:
		if quiet := v.StableFor(); quiet < incomplete {
			return engine.Result{Recheck: incomplete - quiet}
		}
		return engine.Result{Match: &engine.Match{Kind: "incomplete"}}
	case sh.Commands > m.commands:
		return engine.Result{Match: &engine.Match{Kind: "command_finished"}}
	case sh.Phase == engine.ShellInput: // or it has drawn its prompt anew, and is about to begin
		if quiet := v.StableFor(); quiet < notRun {
			return engine.Result{Recheck: notRun - quiet}
		}
		return engine.Result{Match: &engine.Match{Kind: "not_run"}}
	}
	return engine.Result{}
}

func (p *profile) runIn(ctx context.Context, req *sdk.CallToolRequest, s *engine.Session, in *runParams, timeout time.Duration, hide *redact.Redactor, most int) (*runResult, error) {
	v := s.View()
	m := &ran{commands: v.Reports.Shell.Commands, before: v.Reports.Shell}
	blocks, _ := s.Blocks(0)
	var last uint64
	if len(blocks) > 0 {
		last = blocks[len(blocks)-1].Number
	}
	since := v.Sequence
	line := strings.TrimRight(in.Command, "\r\n")
	if strings.ContainsAny(line, "\r\n") {
		if !v.Screen.Modes.BracketedPaste {
			return nil, bad("command", "has several lines, which this shell takes one by one: join them with && or ;")
		}
		if _, err := s.Do(ctx, engine.BracketedPaste(line), options(ctx)); err != nil {
			return nil, err
		}
		line = ""
	}
	if _, err := s.Do(ctx, engine.Text(line+"\r"), options(ctx)); err != nil {
		return nil, err
	}
	stop := p.progress(ctx, req, s, timeout)
	out, err := s.Wait(ctx, m, engine.WaitOptions{Timeout: timeout, Parked: func() { mcp.Yield(ctx) }})
	stop()
	l := p.look(s, hide).At(out.View)
	r := &runResult{status: statusOf(l), Command: l.Piece(in.Command), DurationMS: out.Elapsed.Milliseconds()}
	switch {
	case err == nil && out.Match.Kind != "command_finished":
		r.Reason = out.Match.Kind
	case err == nil:
		r.Reason = "finished"
	case errors.Is(err, engine.ErrEnded), errors.Is(err, engine.ErrClosed):
		r.Reason = "ended"
	default:
		r.Reason = "timeout"
		if !errors.Is(err, engine.ErrTimeout) {
			r.Reason = "cancelled"
		}
		r.Wait = p.questions.keep(&asked{session: s.ID(), tree: map[string]any{"type": "command_finished"}, since: &since, elapsed: out.Elapsed})
	}
	r.take(s, l, last, since, most)
	if r.Reason == "incomplete" { // back to a prompt: the next command is not the rest of this one
		if err := p.giveUp(ctx, s); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// giveUp leaves a command line that is not complete, and waits for the prompt after it.
func (p *profile) giveUp(ctx context.Context, s *engine.Session) error {
	v := s.View()
	if _, err := s.Do(ctx, engine.Interrupt{}, options(ctx)); err != nil {
		return err
	}
	if _, err := s.Wait(ctx, promptAfter{v.Reports.Shell}, engine.WaitOptions{Timeout: readyBound, Parked: options(ctx).Parked}); err != nil && !errors.Is(err, engine.ErrTimeout) {
		return err
	}
	return nil
}

// take takes the command's output out of its block, or when the shell has not run it, out of what came since.
func (r *runResult) take(s *engine.Session, l *reading.View, last, since uint64, most int) {
	blocks, _ := s.Blocks(last)
	if len(blocks) > 0 && r.Reason != "not_run" && r.Reason != "incomplete" {
		c := commandOf(l, &blocks[0])
		r.Output, r.ExitCode, r.Truncated = c.Output, c.ExitCode, !c.Whole
		if r.Reason == "finished" {
			r.DurationMS = c.DurationMS
		}
	} else {
		r.Output, r.Truncated = l.OutputSince(s.OffsetAt(since))
		r.Output = readable(l, r.Output)
	}
	if tail, omitted := tailOf(r.Output, most); omitted > 0 {
		r.Output, r.Truncated = tail, true
	}
}

func (r *runResult) text() string {
	var b strings.Builder
	if r.Truncated {
		b.WriteString("(only the end of the output; give a greater max_chars, or write it to a file)\n")
	}
	b.WriteString(r.Output)
	if r.Output != "" && !strings.HasSuffix(r.Output, "\n") {
		b.WriteString("\n")
	}
	where := r.Session
	if r.Closed {
		where += ", closed"
	}
	switch {
	case r.ExitCode != nil:
		fmt.Fprintf(&b, "[exit code %d, %d ms, session %s]", *r.ExitCode, r.DurationMS, where)
	case r.Reason == "finished":
		fmt.Fprintf(&b, "[finished, but the shell told no exit code, session %s]", where)
	case r.Reason == "not_run":
		fmt.Fprintf(&b, "[the shell did not run it as a command: see above, session %s]", where)
	case r.Reason == "incomplete":
		fmt.Fprintf(&b, "[the command line is not complete: a quote, bracket or keyword is open; it was given up, session %s]", where)
	case r.Reason == "ended":
		fmt.Fprintf(&b, "[the shell itself has ended, session %s]", where)
	default:
		fmt.Fprintf(&b, "[%s: it is still running in session %s. To wait for its end: wait {\"wait\":%q}, then read {\"session\":%q,\"what\":\"commands\"}]", r.Reason, r.Session, r.Wait, r.Session)
	}
	return b.String()
}
