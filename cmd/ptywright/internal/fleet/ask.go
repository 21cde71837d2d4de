package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// Tag sets an instance's title; an empty title removes it.
func (f Fleet) Tag(ctx context.Context, name, title string) error {
	records, err := f.pick(Selection{Names: []string{name}})
	if err != nil {
		return err
	}
	return with(ctx, records[0], func(m *member) error {
		return m.call(ctx, answerBound, "instance.set_title",
			map[string]string{"title": title}, nil)
	})
}

// Rows are the last rows of a session's screen and scrollback, in order. The instance redacts them.
type Rows struct {
	ID      string   `json:"id"`
	Session int      `json:"session"`
	Lines   []string `json:"lines"`
}

// Read returns the last rows of a session.
func (f Fleet) Read(ctx context.Context, name string, session, lines int) (Rows, error) {
	records, err := f.pick(Selection{Names: []string{name}})
	if err != nil {
		return Rows{}, err
	}
	rows := Rows{ID: name, Session: session}
	err = with(ctx, records[0], func(m *member) error {
		return m.about(ctx, session,
			m.call(ctx, answerBound, "session.read_tail",
				map[string]int{"id": session, "lines": lines}, &rows))
	})
	rows.ID = name
	return rows, err
}

// A Run is the result of a command in one instance.
type Run struct {
	ID       string            `json:"id"`
	Title    instance.Optional `json:"title"`
	Sent     bool              `json:"sent,omitempty"` // without waiting: it was typed
	Output   *string           `json:"output,omitempty"`
	ExitCode *int              `json:"exit_code,omitempty"` // nil: not known, or still running
	TimedOut bool              `json:"timed_out,omitempty"` // still running; with an Error that is not certain
	Error    string            `json:"error,omitempty"`
	Err      error             `json:"-"` // names the instance
}

// Broadcast types a command into a session of each selected instance. done is called for each, one
// at a time, as soon as it was typed; or, when wait is not 0, when it has ended or timed out, which
// leaves it running. An error with one instance is in its [Run], and the others continue. Errors:
// those of the selection; the cause of ctx's end, which leaves the command running where it was
// typed.
func (f Fleet) Broadcast(ctx context.Context, s Selection, session int, command string,
	wait time.Duration, done func(Run)) error {
	records, err := f.pick(s)
	if err != nil {
		return err
	}
	each(ctx, records, func(ctx context.Context, r instance.Record) Run {
		run := Run{ID: r.ID, Title: r.Title}
		began := time.Now()
		err := run.do(ctx, r, session, command, wait)
		if err != nil {
			run.Error = err.Error()
		}
		if run.TimedOut = run.TimedOut || wait > 0 && silentSince(began, wait, err); !run.TimedOut {
			run.Err = named(r, err)
		}
		return run
	}, func(r Run) {
		if r.Err == nil || ctx.Err() == nil {
			done(r)
		}
	})
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%w: where the command has been typed it goes on", err)
	}
	return nil
}

// silentSince reports whether err says that an instance did not answer within the whole timeout.
func silentSince(began time.Time, timeout time.Duration, err error) bool {
	var silent *SilentError
	return errors.As(err, &silent) && time.Since(began) >= timeout
}

func (run *Run) do(ctx context.Context, r instance.Record, session int, command string,
	wait time.Duration) error {
	params := map[string]any{"id": session, "command": command}
	began, patience := time.Now(), answerBound
	if wait > 0 {
		patience = min(wait, answerBound)
	}
	m, err := dial(ctx, r, patience)
	if err != nil {
		return err
	}
	defer m.Close()
	if wait == 0 {
		err := m.about(ctx, session, m.call(ctx, answerBound, "exec.run", params, nil))
		run.Sent = err == nil
		return err
	}
	left := max(time.Millisecond, wait-time.Since(began))
	params["timeout_ms"] = left.Milliseconds()
	var result struct {
		Output   string `json:"output"`
		TimedOut bool   `json:"timed_out"`
		ExitCode *int   `json:"exit_code"`
	}
	if err := m.call(ctx, left+lateBound, "exec.run_wait", params, &result); err != nil {
		return m.about(ctx, session, err)
	}
	run.Output, run.TimedOut, run.ExitCode = &result.Output, result.TimedOut, result.ExitCode
	return nil
}
