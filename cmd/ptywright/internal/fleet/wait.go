package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// A Condition is what to wait for in a session: a text on its screen or, with an empty Pattern,
// that it is idle, that is, its shell waits for a command.
type Condition struct {
	Pattern string
}

func (c Condition) String() string {
	if c.Pattern == "" {
		return "idle"
	}
	return fmt.Sprintf("%q on the screen", c.Pattern)
}

// A Wait is the result of waiting for one instance. Running and Screen are the evidence when the
// wait failed.
type Wait struct {
	ID        string            `json:"id"`
	Title     instance.Optional `json:"title"`
	Matched   bool              `json:"matched"`
	ElapsedMS int64             `json:"elapsed_ms"`
	Running   string            `json:"foreground_process,omitempty"`
	Screen    []string          `json:"screen,omitempty"` // without blank rows at its end
	Error     string            `json:"error,omitempty"`  // why it failed, or why evidence is missing
	Err       error             `json:"-"`                // names the instance
}

// errOther is why a wait ends when another one has decided.
var errOther = errors.New("another instance has decided")

// WaitFor waits until the condition holds in the session of one of the selected instances, or of
// all. The instances do the waiting; nothing is polled here. done is called for each that has
// matched or failed, one at a time, as it happens, until the result is decided, and for the others
// on a timeout.
//
// Errors: [ErrTimeout]; an instance that failed when all had to match, or the last when none is
// left that could; those of the selection; the cause of ctx's end.
func (f Fleet) WaitFor(ctx context.Context, s Selection, session int, c Condition, all bool,
	timeout time.Duration, done func(Wait)) error {
	records, err := f.pick(s)
	if err != nil {
		return err
	}
	waiting, decide := context.WithCancelCause(ctx)
	defer decide(nil)
	matched, decided := 0, false
	var failed, late error
	each(waiting, records, func(ctx context.Context, r instance.Record) Wait {
		w := Wait{ID: r.ID, Title: r.Title}
		began := time.Now()
		err := w.do(ctx, r, session, c, timeout)
		w.ElapsedMS = time.Since(began).Milliseconds()
		if silentSince(began, timeout, err) {
			w.Error, err = err.Error(), ErrTimeout
		} else if err != nil && !errors.Is(err, ErrTimeout) {
			w.Error = err.Error()
		}
		w.Err = named(r, err)
		return w
	}, func(w Wait) {
		if decided || ctx.Err() != nil { // of results in the same moment only the first is reported
			return
		}
		switch {
		case errors.Is(w.Err, ErrTimeout):
			late = w.Err
		case w.Err != nil:
			failed = w.Err
		default:
			matched++
		}
		done(w)
		if !all && w.Matched || all && failed != nil {
			decided = true
			decide(errOther)
		}
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !all && matched > 0 || matched == len(records):
		return nil
	case all && failed != nil:
		return failed
	case late != nil:
		return fmt.Errorf("%w: %s after %v in %d of %d instances", ErrTimeout, c, timeout, matched,
			len(records))
	}
	return failed
}

func (w *Wait) do(ctx context.Context, r instance.Record, session int, c Condition,
	timeout time.Duration) error {
	began := time.Now()
	m, err := dial(ctx, r, min(timeout, answerBound))
	if err != nil {
		return err
	}
	defer m.Close()
	left := max(time.Millisecond, timeout-time.Since(began))
	params := map[string]any{"id": session, "timeout_ms": left.Milliseconds()}
	if c.Pattern == "" {
		params["idle"] = true
	} else {
		params["pattern"] = c.Pattern
	}
	var waited struct {
		Matched bool `json:"matched"`
		Ended   bool `json:"session_ended"`
	}
	if err := m.call(ctx, left+lateBound, "orchestrate.wait", params, &waited); err != nil {
		return m.about(ctx, session, err)
	}
	if w.Matched = waited.Matched; w.Matched {
		return nil
	}
	if waited.Ended {
		return &SessionError{r.ID, session, true} // the condition can no longer hold
	}
	if err := w.look(ctx, m, session); err != nil {
		w.Error = err.Error()
	}
	return ErrTimeout
}

// look collects the evidence.
func (w *Wait) look(ctx context.Context, m *member, session int) error {
	var status struct {
		Running string `json:"foreground_process"`
	}
	if err := m.call(ctx, lateBound, "exec.status", map[string]int{"id": session},
		&status); err != nil {
		return err
	}
	var screen struct {
		Lines []string `json:"lines"`
	}
	if err := m.call(ctx, lateBound, "screen.text", map[string]int{"id": session},
		&screen); err != nil {
		return err
	}
	w.Running = status.Running
	last := len(screen.Lines)
	for last > 0 && strings.TrimSpace(screen.Lines[last-1]) == "" {
		last--
	}
	w.Screen = slices.Clip(screen.Lines[:last])
	return nil
}
