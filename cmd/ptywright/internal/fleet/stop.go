package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// A Stop is the result of stopping one instance.
type Stop struct {
	ID     string `json:"id"`
	Ended  bool   `json:"ended"`
	Killed bool   `json:"killed,omitempty"` // it did not end by itself
	Error  string `json:"error,omitempty"`
	Err    error  `json:"-"`
}

// Stop asks the selected instances to end, with their sessions, and waits for each, at most for
// bound. With kill, those that have not ended by then are killed. A process is signalled only if it
// is the one of the record. done is called for each, one at a time, as it ends. Errors: those of
// the selection.
func (f Fleet) Stop(ctx context.Context, s Selection, bound time.Duration, kill bool,
	done func(Stop)) error {
	records, err := f.pick(s)
	if err != nil {
		return err
	}
	each(ctx, records, func(ctx context.Context, r instance.Record) Stop {
		stop := Stop{ID: r.ID}
		err := within(ctx, bound, func(ctx context.Context) error { return instance.Stop(ctx, r) })
		if late := errors.Is(err, context.DeadlineExceeded); late && kill {
			stop.Killed = true
			err = within(ctx, EndBound,
				func(ctx context.Context) error { return instance.Kill(ctx, r) })
		} else if late {
			err = fmt.Errorf("%s has not ended %v after it was told to; without asking: ptywright fleet stop --kill %[1]s", r.ID, bound)
		}
		if err != nil && !errors.Is(err, instance.ErrGone) {
			stop.Err, stop.Error = err, err.Error()
			return stop
		}
		stop.Ended = true
		f.dropLog(r.ID)
		return stop
	}, done)
	_, err = instance.List(f.Root) // removes what killed instances left behind
	return err
}

// within calls f with a context bounded by bound.
func within(ctx context.Context, bound time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	return f(ctx)
}
