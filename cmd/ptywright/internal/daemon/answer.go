package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/caller"
	"github.com/ptywright/ptywright/protocol/client"
)

// AnswerBound is how long a server has for answers that need no waiting. They take a millisecond,
// and some seconds on a machine that swaps; with more, clients wait longer to learn that a server
// is stopped.
const AnswerBound = 10 * time.Second

// ErrLate is the cause to set when a context ends because the server took too long: [Dial] and
// [Silent] then report what is known about it.
var ErrLate = errors.New("the answer timed out")

// A SilentError reports a server that has a socket but does not answer: it is stopped, or hangs.
type SilentError struct {
	Socket  string
	PID     int           // of its process; 0 when not known
	Stopped bool          // by a signal, such as that of Ctrl-Z
	After   time.Duration // how long it has not answered, in whole seconds
}

func (e *SilentError) Error() string {
	who, kill := "the server on "+e.Socket, "ptywright kill --server"
	if socket, err := DefaultSocket(); err != nil || socket != e.Socket {
		kill += " --socket " + e.Socket
	}
	s := fmt.Sprintf("%s has not answered for %v: %s ends it, by force if it has to", who,
		e.After, kill)
	if e.PID > 0 {
		s = fmt.Sprintf("%s, process %d, has not answered for %v: %s, or kill -9 %d, ends it", who,
			e.PID, e.After, kill, e.PID)
	}
	if e.Stopped {
		s = fmt.Sprintf("%s, process %d, has not answered for %v as it is stopped: kill -CONT %d lets it go on; %s, or kill -9 %d, ends it",
			who, e.PID, e.After, e.PID, kill, e.PID)
	}
	return s + " with the programs of its sessions, and the next server takes its socket over"
}

// Silent returns an error about the server on socket, which has not answered since a time.
func Silent(socket string, since time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // a full backlog makes a connect block
	defer cancel()
	pid, _ := PID(ctx, socket)
	return silent(socket, pid, since)
}

func silent(socket string, pid int, since time.Time) error {
	return &SilentError{Socket: socket, PID: pid, Stopped: pid > 0 && isStopped(pid),
		After: time.Since(since).Truncate(time.Second)}
}

// greet returns once the server has answered, with the process it says it is; 0: it does not say,
// like one without that method. The error is a [*SilentError] when ctx timed out, the cause of
// ctx's end when it was cancelled, or why the connection ended.
func greet(ctx context.Context, socket string, stream net.Conn,
	c *client.Client) (pid int, err error) {
	began := time.Now()
	var own struct {
		PID int `json:"pid"`
	}
	if err = c.Call(ctx, "server.capabilities", nil, &own); err == nil {
		err = c.Introduce(ctx, caller.Command(os.Args))
	}
	var answer *client.Error
	cause := context.Cause(ctx)
	switch {
	case err == nil, errors.As(err, &answer) && !errors.Is(err, client.ErrClosed):
		return own.PID, nil
	case errors.Is(cause, ErrLate), errors.Is(cause, context.DeadlineExceeded):
		pid, _, _ := peer(stream)
		return 0, silent(socket, pid, began)
	case cause != nil:
		return 0, cause
	}
	return 0, err
}
