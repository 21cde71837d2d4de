// Package daemon finds, starts and stops the shared server: the one that listens on the default
// socket, or on another that is named. [Ensure] is the entry point of commands that need it,
// [Start] of those that start other servers which outlive them. The package knows no method of the
// wire.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
)

const (
	// startBound is how long a server may take to listen. It needs some milliseconds; this leaves
	// time for a loaded machine, but with more, a server that hangs keeps its caller waiting
	// longer.
	startBound = 30 * time.Second

	// tries is how often a server is started in a race with others that start one. The loser finds
	// the winner, except in the microseconds between the winner's lock and its first connection; a
	// try takes milliseconds.
	tries = 3
)

var (
	// ErrNone says that no server listens.
	ErrNone = errors.New("no server listens there")
	// ErrRefused says that the socket is not this user's.
	ErrRefused = fmt.Errorf("the socket is not this user's: %w", fs.ErrPermission)
)

// A DialError says which socket could not be connected to, and why. It wraps [ErrNone],
// [fs.ErrPermission] or the system's error.
type DialError struct {
	Socket string
	Err    error
}

func (e *DialError) Error() string {
	s := fmt.Sprintf("connect to %s: %v", e.Socket, e.Err)
	if e.Err == ErrNone {
		s += "; start one with ptywright spawn -- PROGRAM or ptywright serve, or name its socket with --socket"
	}
	return s
}

func (e *DialError) Unwrap() error { return e.Err }

// Root is the folder of ptywright's files for this user: $PTYWRIGHT_HOME, or else ~/.ptywright. It
// need not exist.
func Root() (string, error) {
	if home := os.Getenv("PTYWRIGHT_HOME"); home != "" {
		return filepath.Abs(home)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find a place for the socket: %w; set PTYWRIGHT_HOME or give --socket", err)
	}
	return filepath.Join(home, ".ptywright"), nil
}

// DefaultSocket is where a server listens without --socket: the file socket in [Root], on Windows a
// named pipe with the root in its name.
func DefaultSocket() (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return socketOf(root), nil
}

// Dial connects to the server at socket, and returns when it has answered, within [AnswerBound] and
// before ctx ends. Errors are [*DialError] and [*SilentError], or the cause of ctx's end.
func Dial(ctx context.Context, socket string) (*client.Client, error) {
	c, _, err := DialLocal(ctx, socket)
	return c, err
}

// DialLocal is [Dial], and also reports whether the server itself is at the other end, as this
// user's process on this machine: the process that the kernel says listens there is the one that
// the server says it is. It is false where the system cannot say, and where ssh or the like listens
// and forwards to another machine. Send what belongs to this machine alone, such as an environment,
// only when local is true.
func DialLocal(ctx context.Context, socket string) (c *client.Client, local bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, AnswerBound, ErrLate)
	defer cancel()
	began := time.Now()
	stream, err := DialStream(ctx, socket)
	var why net.Error
	switch {
	case errors.As(err, &why) && why.Timeout(): // nobody accepts, and the system queues no more
		return nil, false, Silent(socket, began)
	case err != nil:
		return nil, false, err
	}
	c = client.New(stream)
	own, err := greet(ctx, socket, stream, c)
	if err == nil {
		pid, _, err := peer(stream)
		return c, err == nil && pid > 0 && pid == own, nil
	}
	c.Close()
	if errors.Is(err, client.ErrClosed) {
		return nil, false, &DialError{Socket: socket, Err: fmt.Errorf("it gave no answer: %w", err)}
	}
	return nil, false, err
}

// DialStream connects to the server at socket if it is this user's: before a byte is sent it asks
// the kernel whose it is, where the system can say. ctx bounds only the dialing. The error is a
// [*DialError], which wraps [ErrRefused] when another user listens there.
func DialStream(ctx context.Context, socket string) (net.Conn, error) {
	stream, err := client.DialStream(ctx, socket)
	if err != nil {
		return nil, explain(socket, err)
	}
	if err := Ours(stream); err != nil {
		stream.Close()
		return nil, &DialError{Socket: socket, Err: err}
	}
	return stream, nil
}

// Ours returns [ErrRefused], before anything is sent, when another user listens at the other end of
// a connection. Where the system cannot say, it returns nil.
func Ours(stream net.Conn) error {
	switch _, uid, err := peer(stream); {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return fmt.Errorf("ask whose it is: %w", err)
	case uid != euid():
		return fmt.Errorf("%w: user %d listens there, and is told nothing", ErrRefused, uid)
	}
	return nil
}

// euid is the user whose servers are accepted; tests replace it.
var euid = os.Geteuid

// explain wraps the system's dial errors in ours. Where no server could listen, it says why.
func explain(socket string, err error) *DialError {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED),
		errors.Is(err, syscall.EINVAL):
		var no *protocol.ListenError
		if errors.As(protocol.Check(socket), &no) {
			err = fmt.Errorf("%w, and none can: %w", ErrNone, &placeError{no})
		} else if !errors.Is(err, syscall.EINVAL) {
			err = ErrNone
		}
	case errors.Is(err, fs.ErrPermission):
		err = ErrRefused
	}
	return &DialError{Socket: socket, Err: err}
}

// A placeError is why no server can listen at a path, without the path.
type placeError struct{ *protocol.ListenError }

func (e *placeError) Error() string { return e.Why() }
func (e *placeError) Unwrap() error { return e.ListenError }

// Ensure makes sure that a server listens on socket, and reports whether it started one: `ptywright
// serve`, in the background, with the flags of this user's configuration. The server outlives this
// program, has no terminal, works in the home folder, and logs to socket.log beside the socket
// ([LogOf]), which only its owner can read. When Ensure returns, all doors that the configuration
// asks for are open, or the start has failed. [Stop] ends the server.
//
// Any number of callers may race: one server is started, and one caller learns that it started it.
// Errors: [*DialError] when there is a server that cannot be used; the server's last words when it
// did not start; the cause of ctx's end.
func Ensure(ctx context.Context, socket string) (started bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startBound,
		fmt.Errorf("it did not listen after %v", startBound))
	defer cancel()
	for range tries {
		c, dialErr := Dial(ctx, socket)
		if dialErr == nil {
			c.Close()
			return false, nil
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
			break
		}
		var place *placeError
		switch {
		case errors.Is(dialErr, client.ErrClosed): // the next try says why
		case !errors.Is(dialErr, ErrNone), errors.As(dialErr, &place):
			return false, dialErr
		}
		if err = launch(ctx, socket); err == nil {
			return true, nil
		}
		if ctx.Err() != nil {
			break
		}
		// Another may have been first; if not, the next try fails at once for the same reason as
		// this one.
	}
	return false, fmt.Errorf("start a server on %s: %w", socket, err)
}

// launch starts one server and waits until it listens.
func launch(ctx context.Context, socket string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	log, err := LogOf(socket)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		return err
	}
	cmd := exec.Command(self, "serve", "--socket", socket, "--background")
	cmd.Dir = filepath.Dir(log) // it exists and is ours
	if home, err := os.UserHomeDir(); err == nil {
		if info, err := os.Stat(home); err == nil && info.IsDir() {
			cmd.Dir = home
		}
	}
	p, err := Start(cmd, filepath.Dir(log))
	if err != nil {
		return err
	}
	if err := p.Ready(ctx); err != nil {
		p.Stop()
		p.End("")
		return err
	}
	if info, err := os.Lstat(log); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		os.Rename(log, log+".old") // the last server's log: perhaps it says why that ended
	}
	p.Release(log)
	return nil
}

// LogOf is the log of a server that [Ensure] started on this socket.
func LogOf(socket string) (string, error) { return beside(socket, ".log") }

// TokenOf is where such a server keeps its generated token of MCP over HTTP while it runs.
func TokenOf(socket string) (string, error) { return beside(socket, ".mcp-token") }

// beside names a file after a socket.
func beside(socket, ending string) (string, error) {
	dir, name := logPlace(socket)
	if dir == "" {
		var err error
		if dir, err = Root(); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, name+ending), nil
}

// PID returns the process that listens on socket, according to the kernel. Errors: those of
// dialing, or [errors.ErrUnsupported] where the system cannot say.
func PID(ctx context.Context, socket string) (int, error) {
	conn, err := DialStream(ctx, socket)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	pid, _, err := peer(conn)
	if err != nil {
		return 0, fmt.Errorf("find the process that listens on %s: %w", socket, err)
	}
	return pid, nil
}
