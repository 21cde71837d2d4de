package instance

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	// ErrGone reports an instance whose process has ended.
	ErrGone = errors.New("its process has ended")
	// ErrUncertain reports a record that does not prove which process wrote it: no process is
	// signalled on a guess.
	ErrUncertain = errors.New("its record does not prove which process it is")
)

// Stop sends SIGTERM to the process of an instance, and waits until it has ended, having released
// its name, or ctx ends. Windows has no such signal: there the process is ended at once, as by
// [Kill].
//
// A reused pid is never signalled. On Linux a pidfd ensures that; elsewhere the start of the
// process is checked just before, which leaves an instant.
//
// Errors are [ErrGone], if there was nothing to end, [ErrUncertain], ctx's, or of the system.
func Stop(ctx context.Context, r Record) error { return end(ctx, r, false) }

// StopProcess is Stop for a server that is known by a connection instead of a record. sure is
// called with the process held: ok says whether the server with that pid still runs, and force
// above 0 that it is ended as by [Kill] if it has not ended that much later; forced reports whether
// that was necessary. A process that is stopped (SIGSTOP) is continued, so that it can end.
//
// Errors are [ErrGone], also when sure returns false, ctx's, or of the system.
func StopProcess(ctx context.Context, pid int,
	sure func() (force time.Duration, ok bool)) (forced bool, err error) {
	h, err := hold(pid)
	if err != nil {
		return false, err
	}
	defer h.release()
	force, ok := sure()
	if !ok {
		return false, ErrGone
	}
	if err := h.signal(false); err != nil {
		return false, err
	}
	if force <= 0 {
		return false, h.wait(ctx)
	}
	if err := h.goOn(); err != nil && !errors.Is(err, ErrGone) {
		return false, err
	}
	bound, cancel := context.WithTimeout(ctx, force)
	defer cancel()
	if err := h.wait(bound); err == nil || ctx.Err() != nil {
		return false, err
	}
	if err := h.signal(true); err != nil && !errors.Is(err, ErrGone) {
		return false, err
	}
	return true, h.wait(ctx)
}

// Kill is Stop without a chance to clean up. The files are left to the next reader: call [List].
func Kill(ctx context.Context, r Record) error { return end(ctx, r, true) }

func end(ctx context.Context, r Record, kill bool) error {
	fail := func(err error) error {
		return fmt.Errorf("stop instance %s, process %d: %w", r.ID, r.PID, err)
	}
	if !r.Alive() {
		return fail(ErrGone)
	}
	h, err := hold(r.PID)
	if err != nil {
		return fail(err)
	}
	defer h.release()
	// Checked with the process held: from now on the answer cannot become stale.
	if !r.Alive() {
		return fail(ErrGone)
	}
	if _, sight := look(r.PID); sight != seen || r.PIDStarted == "" {
		return fail(fmt.Errorf("%w; if it is the right one: kill %d", ErrUncertain, r.PID))
	}
	if err := h.signal(kill); err != nil {
		return fail(err)
	}
	if err := h.wait(ctx); err != nil {
		return fail(fmt.Errorf("wait for it to end: %w", err))
	}
	return nil
}
