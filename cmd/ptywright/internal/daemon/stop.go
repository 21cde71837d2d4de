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
	// greetBound is how long a server that should end has to answer. One that does not answer is
	// still asked to end, and killed if it does not do that either: with less, a server that is
	// only busy would be treated as hung.
	greetBound = 3 * time.Second

	// hungBound is how long a server that did not answer has to end by itself, which takes at most
	// five seconds if it still can.
	hungBound = 6 * time.Second
)

// Stop asks the server that listens on socket to end, with all its sessions, and waits until its
// process has ended or ctx ends. It signals the process that the kernel says listens there, of
// which it took hold before the server answered once more: a reused pid is never signalled. On
// Windows, which cannot ask, the process is killed.
//
// A server that does not answer is asked to end, too, and killed if it has not ended some seconds
// later; forced reports that. The proof that it is a server, and ours, is then what the kernel says
// of the other end of a connection that is still open, and the lock that servers hold beside their
// sockets.
//
// Errors: [*DialError]; one that says the proof is missing; [instance.ErrGone] if the server ended
// meanwhile; the cause of ctx's end; those of the system.
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
