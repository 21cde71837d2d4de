package protocol

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// Join makes one stream of a reader and a writer, such as standard input and output. The peer can
// close each alone. When r is an *os.File that cannot be interrupted, as inherited descriptors
// cannot, [Conn.Serve] returns before its last read has ended.
func Join(r io.ReadCloser, w io.WriteCloser) io.ReadWriteCloser { return &joined{r, w} }

type joined struct {
	io.ReadCloser
	w io.WriteCloser
}

func (j *joined) Write(p []byte) (int, error) { return j.w.Write(p) }
func (j *joined) CloseWrite() error           { return j.w.Close() }
func (j *joined) Close() error {
	return errors.Join(j.ReadCloser.Close(), j.w.Close())
}

func (j *joined) SetReadDeadline(t time.Time) error {
	if d, ok := j.ReadCloser.(interface{ SetReadDeadline(time.Time) error }); ok {
		return d.SetReadDeadline(t)
	}
	return os.ErrNoDeadline
}

// SyscallConn is that of the writer: its reader is the peer whose end matters.
func (j *joined) SyscallConn() (syscall.RawConn, error) {
	if s, ok := j.w.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, os.ErrInvalid
}
