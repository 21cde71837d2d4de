package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// Stop tells the server that listens on socket to end, with all its sessions, and waits until its process has ended or ctx
// ends. It is the process that the kernel says listens there, held from before the server has answered once more: a pid that
// has come to mean another process is never signalled. On Windows the process is ended at once, as there is no asking.
//
// Errors: [*DialError]; [instance.ErrGone] when it ended meanwhile; the cause of ctx's end; what the system says.
func Stop(ctx context.Context, socket string) error {
	c, err := Dial(ctx, socket)
	if err != nil {
		return err
	}
	defer c.Close()
	pid, err := PID(ctx, socket)
	if err != nil {
		return err
	}
	err = instance.StopProcess(ctx, pid, func() bool { return c.Call(ctx, "server.capabilities", nil, nil) == nil })
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("stop the server on %s, process %d: %w", socket, pid, err)
	}
	return nil
}
