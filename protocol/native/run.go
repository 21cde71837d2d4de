package native

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/cmdline"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/protocol"
)

type runParams struct {
	sessionParams
	readParams
	Command    *string `json:"command" jsonschema:"the command line, as it would be typed; it may have several lines"`
	TimeoutMS  *int64  `json:"timeout_ms,omitempty" jsonschema:"for the command to end; default 30000; it goes on after that"`
	Raw        bool    `json:"raw,omitempty" jsonschema:"true leaves escape sequences in output"`
	ScreenText bool    `json:"screen_text,omitempty" jsonschema:"true adds screen_text"`
}

// printedShape is what a command has written so far.
type printedShape struct {
	Sequence   uint64  `json:"sequence" jsonschema:"the session's right before the command was typed, for since"`
	Output     string  `json:"output" jsonschema:"exactly what the command wrote, without escape sequences"`
	Truncated  bool    `json:"truncated" jsonschema:"the beginning of output is left out: it is the last 256 KiB"`
	ScreenText *string `json:"screen_text,omitempty" jsonschema:"text as a screen shows it: lines as they were left, tabs as blanks"`
	DurationMS int64   `json:"duration_ms"`
}

type runResult struct {
	printedShape
	ExitCode *int      `json:"exit_code" jsonschema:"null when the shell did not tell, as of a command that was interrupted"`
	By       string    `json:"by" jsonschema:"how its end was told: marks, or sentinel"`
	Number   uint64    `json:"number,omitzero" jsonschema:"of its block in session.blocks, where the shell has marks"`
	Exit     *exitInfo `json:"exit,omitempty" jsonschema:"the command has ended the shell itself: how"`
}

// errNotRun reports that the shell has not run a command line that was typed.
var errNotRun = errors.New("the shell has not run the command")

// A runError reports a command line that was typed and whose end is unknown.
type runError struct {
	message string
	err     error
	printed printedShape
	look    *look // the last one, for what is shown of the screen
}

func (e *runError) Error() string { return e.message }
func (e *runError) Unwrap() error { return e.err }

// runEvidence is the data of a session.run error besides its reason.
type runEvidence struct {
	printedShape
	Snapshot *look `json:"snapshot"`
}

func (e *runError) data() any { return &runEvidence{e.printed, e.look} }

// sessionRun runs a command line in a session's shell and waits for its end.
func (c *client) sessionRun(ctx context.Context, p runParams) (*runResult, error) {
	timeout, err := milliseconds("timeout_ms", p.TimeoutMS, engine.DefaultWait)
	if err != nil {
		return nil, err
	}
	if err := required("command", p.Command); err != nil {
		return nil, err
	}
	if strings.TrimSpace(*p.Command) == "" {
		return nil, &protocol.ParamError{Path: "command", Expected: "a command line", Got: "blanks"}
	}
	s, err := c.free(p.sessionParams)
	if err != nil {
		return nil, err
	}
	out, err := cmdline.Run(ctx, s, *p.Command, cmdline.Options{
		Timeout: timeout, GiveUp: true, Parked: func() { protocol.Yield(ctx) },
		Lease: c.leaseFor(s), By: c.by(),
	})
	if err != nil {
		return nil, over(s, err)
	}
	l := newLook(out.View, p.redactor(), "none")
	printed := printedShape{
		Sequence: out.Since, Output: l.Printed(out.Printed(), p.Raw), Truncated: out.Cut,
		DurationMS: out.Duration.Milliseconds(),
	}
	if p.ScreenText {
		text := out.ScreenText()
		if out.Cut && l.Redacted() {
			text = reading.HideHead(text)
		}
		text = l.Piece(text)
		printed.ScreenText = &text
	}
	failed := func(err error, format string, args ...any) (*runResult, error) {
		return nil, &runError{fmt.Sprintf(format, args...), err, printed, l}
	}
	switch out.Reason {
	case cmdline.Timeout:
		return failed(engine.ErrTimeout,
			"the command has not ended after %v, and goes on in session %s", timeout, s.ID())
	case cmdline.Cancelled:
		return failed(context.Cause(ctx), "%v: the command goes on in session %s",
			context.Cause(ctx), s.ID())
	case cmdline.Incomplete:
		return failed(errNotRun,
			"the command is not complete, and was given up: a quote, a bracket or a keyword in it is open")
	case cmdline.NotRun:
		if out.Other != "" {
			return failed(errNotRun,
				"%v, but another one together with what stood on its command line: %s", errNotRun,
				protocol.Quote(l.Piece(out.Other), 120))
		}
		if said := strings.TrimSpace(printed.Output); said != "" {
			return failed(errNotRun, "%v: %s", errNotRun, protocol.Quote(said, 120))
		}
		return failed(errNotRun, "%v: there is none in the line", errNotRun)
	}
	r := &runResult{printedShape: printed, ExitCode: out.ExitCode, By: string(out.By)}
	if out.Block != nil {
		r.Number = out.Block.Number
	}
	if out.Reason == cmdline.Ended {
		r.Exit = exitOf(out.View.Exit)
	}
	return r, nil
}
