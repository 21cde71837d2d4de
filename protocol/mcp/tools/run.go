package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/cmdline"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

const runAbout = `Run one command line in an interactive shell (bash, zsh or fish), and return its output and its exit code, as the shell itself tells them.

{"command":"go test ./..."}   {"session":"s2","command":"cd src && ls"}

Without session a fresh shell runs it and ends with it, and so does everything that it started: keep leaves that shell for more, and servers are for start. With session, the shell there runs it: directory and variables stay. A command that asks something or draws a screen is better driven with start and send. When the time is up the command goes on: the result has a handle for wait, and read {"what":"commands"} shows its output so far.`

type runParams struct {
	Command   string            `json:"command" jsonschema:"the command line, as it would be typed"`
	Session   string            `json:"session,omitempty" jsonschema:"a shell that waits at its prompt; default: a fresh one"`
	Shell     string            `json:"shell,omitempty" jsonschema:"for a fresh shell: bash, zsh or fish; default the user's own, else bash"`
	Cwd       string            `json:"cwd,omitempty" jsonschema:"for a fresh shell: working directory"`
	Env       map[string]string `json:"env,omitempty" jsonschema:"for a fresh shell: variables to set"`
	Keep      bool              `json:"keep,omitempty" jsonschema:"leave the fresh shell for more commands"`
	Escapes   bool              `json:"escapes,omitempty" jsonschema:"leave escape sequences in output"`
	Screen    bool              `json:"screen_text,omitempty" jsonschema:"also tell what stood on the screen: for progress bars"`
	TimeoutMS *int              `json:"timeout_ms,omitempty" jsonschema:"default 30000, at most 45000 a call; as a task up to a day"`
	budget
	rawAsked
}

type runResult struct {
	status
	Command    string `json:"command"`
	Reason     string `json:"reason" jsonschema:"finished; not_run: the shell did not take it as a command; incomplete: the shell wanted more of it, and it was given up; timeout: it goes on; ended: the shell itself has; cancelled"`
	Why        string `json:"why,omitempty" jsonschema:"not_run: what stood in the way, and what to do"`
	Output     string `json:"output" jsonschema:"exactly what it wrote, without escape sequences"`
	Truncated  bool   `json:"truncated" jsonschema:"output, or screen_text, is not all of it"`
	Omitted    int    `json:"omitted_chars,omitempty" jsonschema:"characters left out of the middle of output, where it says so"`
	Screen     string `json:"screen_text,omitempty"`
	ExitCode   *int   `json:"exit_code,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	Wait       string `json:"wait,omitempty" jsonschema:"handle to wait on for the end"`
	Closed     bool   `json:"closed" jsonschema:"the fresh shell has ended with its command"`
	Cut        bool   `json:"-"` // its beginning is no longer kept
	Background []int  `json:"background,omitempty" jsonschema:"processes that the command left in the background and that have ended with the shell"`
}

const (
	// promptBound is how long a new shell may take to its first prompt: its start-up files are the
	// user's.
	promptBound = 10 * time.Second
	// runRows and runCols are a new shell's size: commands that read it print wider tables.
	runRows, runCols = 40, 120
)

func (p *profile) run(ctx context.Context, req *sdk.CallToolRequest,
	in runParams) (*reply[runResult], error) {
	most, hide := in.or(textBudget), in.redactor()
	timeout, err := timeoutOf(ctx, in.TimeoutMS, engine.DefaultWait)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.TrimSpace(in.Command) == "":
		return nil, bad("command", "expected a command line")
	case strings.ContainsFunc(in.Command,
		func(c rune) bool { return c < ' ' && !strings.ContainsRune("\t\r\n", c) || c == 0x7f }):
		return nil, bad("command",
			"has control characters, which a command line takes for keys: write them as $'\\e' or with printf")
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
	over := err != nil || r.Reason != "timeout" // a client that cancelled never learns the id of a session that continues
	if fresh && over && !in.Keep {
		if r != nil {
			r.Background = running(r.Output)
		}
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

// notEmpty is the result of a command that was not typed because the command line is not empty.
func notEmpty(s *engine.Session, in *runParams, l *reading.View) *runResult {
	line := ""
	if rows, c := l.Screen().Lines(), l.Screen().Cursor; c.Row < len(rows) {
		line = strings.TrimSpace(rows[c.Row])
	}
	return &runResult{status: statusOf(l), Command: l.Piece(in.Command), Reason: "not_run",
		Why: fmt.Sprintf(
			"nothing was typed, because something stands on the command line already: %s. To run that: send {\"session\":%q,\"submit\":true}. To clear it: send {\"session\":%q,\"keys\":[\"ctrl+c\"]}, then run again",
			protocol.Quote(line, 120), s.ID(), s.ID())}
}

// shell finds the shell to run a command in, or starts one and waits for its prompt.
func (p *profile) shell(ctx context.Context, in *runParams) (*engine.Session, error) {
	if in.Session != "" {
		s, err := p.free(in.Session)
		if err != nil {
			return nil, err
		}
		switch v := s.View(); {
		case v.Exit != nil:
			return nil,
				fmt.Errorf("the shell of session %s has ended, it %s: read {\"session\":%q} shows what it left; to run more leave session out, or start another shell", s.ID(), exitOf(v.Exit), s.ID())
		case s.Replaced(): // another program replaced it: no more marks
		case v.Reports.Shell == nil || v.Reports.Shell.Phase == "":
			return nil,
				fmt.Errorf("session %s marks no commands, so the end of one cannot be told: start bash, zsh or fish with start, or use send", s.ID())
		case v.Reports.Shell.Phase == engine.ShellRunning:
			return nil, &busyError{s.ID()}
		}
		return s, nil
	}
	program, err := shellProgram(in.Shell)
	if err != nil {
		return nil, err
	}
	s, err := p.Spawn(ctx, engine.Config{
		Program: program, Dir: in.Cwd, Env: in.Env, Size: pty.Size{Rows: runRows, Cols: runCols},
		ShellIntegration: true,
	})
	if err != nil {
		return nil, err
	}
	var occupied *cmdline.OccupiedError
	if err := cmdline.Prompt(ctx, s, promptBound, parked(ctx)); err != nil &&
		!errors.As(err, &occupied) {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound)
		defer cancel()
		return nil, errors.Join(p.inWords(s, err), s.Close(bound))
	}
	return s, nil
}

// shellProgram is the shell to start.
func shellProgram(asked string) (string, error) {
	if asked != "" {
		if !slices.Contains(shells, filepath.Base(asked)) {
			return "",
				bad("shell",
					"expected bash, zsh or fish: others do not tell when a command has finished")
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

func (p *profile) runIn(ctx context.Context, req *sdk.CallToolRequest, s *engine.Session,
	in *runParams, timeout time.Duration, hide *redact.Redactor, most int) (*runResult, error) {
	stop := p.progress(ctx, req, s, timeout)
	out, err := cmdline.Run(ctx, s, in.Command,
		cmdline.Options{Timeout: timeout, GiveUp: true, By: by(ctx), Parked: parked(ctx)})
	stop()
	var occupied *cmdline.OccupiedError
	switch {
	case errors.As(err, &occupied):
		return notEmpty(s, in, p.look(s, hide).At(occupied.View)), nil
	case err != nil:
		return nil, p.inWords(s, err)
	}
	l := p.look(s, hide).At(out.View)
	r := &runResult{status: statusOf(l), Command: l.Piece(in.Command), Reason: string(out.Reason),
		DurationMS: out.Duration.Milliseconds()}
	if out.Reason == cmdline.Timeout || out.Reason == cmdline.Cancelled {
		since := out.Since
		r.Wait = p.questions.keep(&asked{session: s.ID(), matcher: fresh(matchers.Command),
			since: engine.After(since), elapsed: out.View.At.Sub(out.Began)})
	}
	if out.Other != "" {
		r.Why = "the shell ran something else, " + protocol.Quote(l.Piece(out.Other), 120) +
			": what is shown is that"
	}
	r.take(l, out, in, most)
	return r, nil
}

// take adds the command's output to the result.
func (r *runResult) take(l *reading.View, out *cmdline.Result, in *runParams, most int) {
	r.ExitCode = out.ExitCode
	r.Output, r.Omitted = endsOf(l.Printed(out.Printed(), in.Escapes || in.Raw), most)
	r.Cut = out.Cut
	r.Truncated = r.Cut || r.Omitted > 0
	if in.Screen {
		text := out.ScreenText()
		if out.Cut && l.Redacted() {
			text = reading.HideHead(text)
		}
		var omitted int
		r.Screen, omitted = endsOf(l.Piece(text), most)
		r.Truncated = r.Truncated || omitted > 0
	}
}

// job matches what bash and zsh print for a command in the background: its number and process id.
var job = lazy.Regexp(`(?m)^\[\d+\] (\d+)$`)

// running returns the background processes that a command's output names and that still run.
func running(output string) []int {
	var live []int
	for _, m := range job().FindAllStringSubmatch(output, maxJobs) {
		pid, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		process, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if process.Signal(syscall.Signal(0)) == nil { // it exists, and is ours
			live = append(live, pid)
		}
		_ = process.Release()
	}
	return live
}

// maxJobs bounds the background processes that are checked: output may name any number.
const maxJobs = 20

func (r *runResult) text() string {
	text := r.words()
	if r.Closed && len(r.Background) > 0 {
		text += fmt.Sprintf("\n[still running in the background, and ended with the shell: %s; to leave it running use keep, or start]", strings.Trim(fmt.Sprint(r.Background), "[]"))
	}
	return text
}

func (r *runResult) words() string {
	var b strings.Builder
	switch all := "give a greater max_chars, or write it to a file"; {
	case r.Cut:
		b.WriteString("(the beginning of the output is no longer kept: write it to a file)\n")
	case r.Omitted > 0 && r.Closed:
		fmt.Fprintf(&b,
			"(%d characters are left out and gone with the shell: %s; with keep they can be read afterwards)\n", r.Omitted, all)
	case r.Omitted > 0:
		fmt.Fprintf(&b,
			"(%d characters are left out: read {\"session\":%q,\"what\":\"commands\",\"count\":1,\"max_chars\":%d} shows more)\n", r.Omitted, r.Session, maxBudget)
	}
	shown := r.Output
	if r.Screen != "" {
		shown = r.Screen
	}
	b.WriteString(shown)
	if shown != "" && !strings.HasSuffix(shown, "\n") {
		b.WriteString("\n")
	}
	where := r.Session
	if r.Closed {
		where += ", closed"
	}
	switch {
	case r.Reason == "ended" && r.Exit != nil:
		fmt.Fprintf(&b, "[the shell itself has ended, it %s, session %s", r.Exit, where)
		if !r.Closed {
			b.WriteString("; to run more leave session out, or start another shell")
		}
		b.WriteString("]")
	case r.ExitCode != nil:
		fmt.Fprintf(&b, "[exit code %d, %d ms, session %s]", *r.ExitCode, r.DurationMS, where)
	case r.Reason == "finished":
		fmt.Fprintf(&b, "[finished, but the shell told no exit code, session %s]", where)
	case r.Reason == "not_run" && r.Why != "":
		fmt.Fprintf(&b, "[not run: %s]", r.Why)
	case r.Reason == "not_run":
		fmt.Fprintf(&b, "[the shell did not run it as a command: see above, session %s]", where)
	case r.Reason == "incomplete":
		fmt.Fprintf(&b,
			"[the command line is not complete: a quote, bracket or keyword is open; it was given up, session %s]", where)
	case r.Reason == "ended":
		fmt.Fprintf(&b, "[the shell itself has ended, session %s]", where)
	default:
		fmt.Fprintf(&b, "[%s: it is still running in session %s", r.Reason, r.Session)
		switch {
		case r.Secret:
			fmt.Fprintf(&b,
				", and asks for a secret: send {\"session\":%q,\"secret\":\"what it asks for\"} has the person type it. Then", r.Session)
		case r.Alternate:
			fmt.Fprintf(&b,
				", and draws on the full screen: read {\"session\":%q} shows it, send {\"session\":%q,\"keys\":[...]} drives it. Then", r.Session, r.Session)
		default:
			fmt.Fprintf(&b,
				". If it asks something: read {\"session\":%q} shows its screen, send answers. Else", r.Session)
		}
		fmt.Fprintf(&b,
			" wait {\"wait\":%q} for its end, and read {\"session\":%q,\"what\":\"commands\"}]",
			r.Wait, r.Session)
	}
	return b.String()
}
