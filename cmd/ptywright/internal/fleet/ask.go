package fleet

import (
	"context"
	"time"

	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// Tag gives an instance a title, or takes it away when title is empty.
func (f Fleet) Tag(ctx context.Context, name, title string) error {
	records, err := f.pick(Selection{Names: []string{name}})
	if err != nil {
		return err
	}
	return ask(ctx, records[0], "instance.set_title", map[string]string{"title": title}, nil)
}

// Rows are the end of what a session shows and has shown, the last row last. Secrets are hidden by the instance.
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
	err = ask(ctx, records[0], "session.read_tail", map[string]int{"id": session, "lines": lines}, &rows)
	rows.ID = name
	return rows, err
}

// A Run is what came of a command in one instance.
type Run struct {
	ID       string            `json:"id"`
	Title    instance.Optional `json:"title"`
	Sent     bool              `json:"sent,omitempty"` // without waiting: it has been typed
	Output   *string           `json:"output,omitempty"`
	ExitCode *int              `json:"exit_code,omitempty"` // nil: not known, or it still runs
	TimedOut bool              `json:"timed_out,omitempty"` // it still runs
	Error    string            `json:"error,omitempty"`
	Err      error             `json:"-"`
}

// Broadcast types a command into a session of each selected instance. done is called for each, one at a time, as soon
// as it has been typed; or, when wait is not 0, when it has ended or that time is up, which leaves it running. What
// goes wrong with one instance is in its [Run] and the others go on. Errors: those of the selection; the cause of ctx's
// end, which leaves the command running where it was typed.
func (f Fleet) Broadcast(ctx context.Context, s Selection, session int, command string, wait time.Duration, done func(Run)) error {
	records, err := f.pick(s)
	if err != nil {
		return err
	}
	each(ctx, records, func(ctx context.Context, r instance.Record) Run {
		run := Run{ID: r.ID, Title: r.Title}
		if run.Err = run.do(ctx, r, session, command, wait); run.Err != nil {
			run.Error = run.Err.Error()
		}
		return run
	}, func(r Run) {
		if r.Err == nil || ctx.Err() == nil {
			done(r)
		}
	})
	return context.Cause(ctx)
}

func (run *Run) do(ctx context.Context, r instance.Record, session int, command string, wait time.Duration) error {
	params := map[string]any{"id": session, "command": command}
	if wait == 0 {
		err := ask(ctx, r, "exec.run", params, nil)
		run.Sent = err == nil
		return err
	}
	m, err := dial(ctx, r)
	if err != nil {
		return err
	}
	defer m.Close()
	params["timeout_ms"] = wait.Milliseconds()
	var result struct {
		Output   string `json:"output"`
		TimedOut bool   `json:"timed_out"`
		ExitCode *int   `json:"exit_code"`
	}
	if err := m.call(ctx, wait+answerBound, "exec.run_wait", params, &result); err != nil {
		return err
	}
	run.Output, run.TimedOut, run.ExitCode = &result.Output, result.TimedOut, result.ExitCode
	return nil
}
