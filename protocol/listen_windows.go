package protocol

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// pipeBuffer is what a pipe holds in each direction: as much as we write at once.
const pipeBuffer = writeChunk

// Listen listens on a named pipe, `\\.\pipe\name`, that only this user can open.
//
// Its access control list has only this user's SID, remote clients are rejected, and an existing
// pipe is not joined. Errors are [*ListenError]: [ErrInUse], [ErrPath], or of the system.
func Listen(path string) (net.Listener, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, &ListenError{Path: path, Err: fmt.Errorf("ask for our own user: %w", err)}
	}
	l, err := winio.ListenPipe(path, &winio.PipeConfig{
		// P: no inherited entries; GA: all rights.
		SecurityDescriptor: "D:P(A;;GA;;;" + user.User.Sid.String() + ")",
		InputBufferSize:    pipeBuffer,
		OutputBufferSize:   pipeBuffer,
	})
	// A pipe that exists with another access control list answers a second creation with "access
	// denied".
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_PIPE_BUSY) ||
		errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		return nil, &ListenError{Path: path, Err: ErrInUse, Detail: err.Error(),
			Advice: "connect to it, stop it, or use another name"}
	}
	if err != nil {
		return nil, &ListenError{Path: path, Err: err}
	}
	return l, nil
}

// Check says why [Listen] would refuse a path, whether or not a server listens there; nil if it
// would not. Errors are [*ListenError].
func Check(path string) error {
	if !strings.HasPrefix(strings.ToLower(path), `\\.\pipe\`) {
		return &ListenError{Path: path, Err: ErrPath, Advice: `use \\.\pipe\ and a name`}
	}
	return nil
}

// Locked reports nothing: a pipe has no lock.
func Locked(string) bool { return false }

// processOf returns the process at the other end of a pipe, as the system tells it; -1: it does not.
// Windows has no number for a user: only ours can open the pipe.
func processOf(c net.Conn) (uid, pid int) {
	pipe, ok := c.(interface{ Fd() uintptr })
	if !ok {
		return -1, -1
	}
	var id uint32
	if err := windows.GetNamedPipeClientProcessId(windows.Handle(pipe.Fd()), &id); err != nil {
		return -1, -1
	}
	return -1, int(id)
}
