package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// A Stop is what came of stopping one instance.
type Stop struct {
	ID    string `json:"id"`
	Ended bool   `json:"ended"`
	Error string `json:"error,omitempty"`
	Err   error  `json:"-"`
}

// Stop tells the selected instances to end, with their sessions, and waits for each. A process is signalled only when
// it is the one of the record. done is called for each, one at a time, as it comes. Errors: those of the selection.
func (f Fleet) Stop(ctx context.Context, s Selection, done func(Stop)) error {
	records, err := f.pick(s)
	if err != nil {
		return err
	}
	each(ctx, records, func(ctx context.Context, r instance.Record) Stop {
		stubborn := fmt.Errorf("it has been told to %v ago; to end it without asking: kill -9 %d", endBound, r.PID)
		ctx, cancel := context.WithTimeoutCause(ctx, endBound, stubborn)
		defer cancel()
		stop := Stop{ID: r.ID}
		err := instance.Stop(ctx, r)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%s has not ended: %w", r.ID, context.Cause(ctx))
		}
		if err != nil && !errors.Is(err, instance.ErrGone) {
			stop.Err, stop.Error = err, err.Error()
			return stop
		}
		stop.Ended = true
		f.dropLog(r.ID)
		return stop
	}, done)
	return nil
}
