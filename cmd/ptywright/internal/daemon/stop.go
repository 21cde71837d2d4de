package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

const (
	// greetBound is how long a server that is to end has to answer. One that does not is told to end all the same, and ended
	// by force when it does not do that either: with less, one that is only busy is not given the benefit.
	greetBound = 3 * time.Second

	// hungBound is how long a server that did not answer has to end by itself, which takes five seconds at most where it can.
	hungBound = 6 * time.Second
)

// Stop tells the server that listens on socket to end, with all its sessions, and waits until its process has ended or ctx
// ends. It is the process that the kernel says listens there, held from before the server has answered once more: a pid that
// has come to mean another process is never signalled. On Windows the process is ended at once, as there is no asking.
//
// A server that does not answer is told to end, too, and killed when it has not some seconds later; forced says so. The proof
// that it is one, and ours, is then what the kernel says of the other end of a connection that is still there, and the lock
// that servers hold beside their sockets.
//
// Errors: [*DialError]; that there is no such proof; [instance.ErrGone] when it ended meanwhile; the cause of
// ctx's end; what the system says.
func Stop(ctx context.Context, socket string) (forced bool, err error) {
	stream, err := DialStream(ctx, socket)
	if err != nil {
		return false, err
	}
	c := client.New(stream)
	defer c.Close()
	pid, uid, err := peer(stream)
	if err != nil {
		return false, fmt.Errorf("find the process that listens on %s: %w", socket, err)
	}
	var unproven error
	forced, err = instance.StopProcess(ctx, pid, func() (force time.Duration, ok bool) {
		bound, cancel := context.WithTimeoutCause(ctx, greetBound, ErrLate)
		defer cancel()
		_, err := greet(bound, socket, stream, c)
		var silent *SilentError
		if !errors.As(err, &silent) {
			return 0, err == nil
		}
		select {
		case <-c.Done():
			return 0, false
		default:
		}
		if pid == os.Getpid() || uid != euid() || !protocol.Locked(socket) {
			unproven = fmt.Errorf("whoever listens on %s, process %d, has not answered for %v, and is left alone, as nothing proves that it is a server of yours; if it is: kill -9 %d",
				socket, pid, silent.After, pid)
			return 0, false
		}
		return hungBound, true
	})
	switch {
	case unproven != nil:
		return false, unproven
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		err = context.Cause(ctx)
	}
	if err != nil {
		return forced, fmt.Errorf("stop the server on %s, process %d: %w", socket, pid, err)
	}
	return forced, nil
}
