package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// MaxMessage bounds one message of the server, in bytes. Every cell of the largest screen, 1,000 by
// 1,000, is some 200 MB; anything larger is not from a ptywright server.
const MaxMessage = 256 << 20

// lines is a stream of messages, one a line. It has one reader and, by the library's lock, one
// writer at a time.
type lines struct {
	rwc   io.ReadWriteCloser
	most  int // bytes of a message
	in    *bufio.Reader
	ended chan struct{} // closed when reading has ended

	mu sync.Mutex
	// protects the fields below
	err error // why nothing is read any more; nil: the end, or not yet
}

func newLines(rwc io.ReadWriteCloser) *lines {
	// 64 KiB: as much as a pipe holds.
	return &lines{rwc: rwc, most: MaxMessage, in: bufio.NewReaderSize(rwc, 64<<10), ended: make(chan struct{})}
}

// WriteObject writes a message and its line end in one write. An error means that the connection
// has ended, which the reader may not have seen yet.
func (l *lines) WriteObject(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := l.rwc.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
}

// ReadObject reads the next message. It is not called again after an error.
func (l *lines) ReadObject(v any) error {
	err := l.cause()
	if err == nil {
		var line []byte
		if line, err = l.next(); err == nil {
			if err = json.Unmarshal(line, v); err == nil {
				return nil
			}
			err = fmt.Errorf("the server sent something other than a message: %w", err)
		}
	}
	if !errors.Is(err, io.EOF) {
		l.fail(err)
	}
	close(l.ended)
	return io.EOF // the library would log any other error
}

// next returns the next line that is not blank. A last line without a line feed is not a message.
func (l *lines) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > l.most {
			return nil, fmt.Errorf("the server sent a message of more than %d bytes", l.most)
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// check sees every answer. An error without an id is about a request that the server could not
// read, and nothing says which: it ends the connection, so that no call waits forever.
func (l *lines) check(_ *jsonrpc2.Request, answer *jsonrpc2.Response) {
	if answer != nil && answer.Error != nil && answer.ID == (jsonrpc2.ID{}) {
		l.fail(wireError(answer.Error))
	}
}

// fail keeps the first error.
func (l *lines) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

func (l *lines) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close closes the underlying stream.
func (l *lines) Close() error { return l.rwc.Close() }
