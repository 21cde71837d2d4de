package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
)

const (
	// maxQueuedInput bounds the bytes that wait for a child. A single larger action is taken when
	// nothing else waits. More memory gains nothing: a child that leaves 1 MiB unread is not
	// reading.
	maxQueuedInput = 1 << 20
	// maxQueuedReplies bounds the terminal's own replies that wait for a child. Programs send a
	// handful of queries at a time, each answered in under 40 bytes, or query all 256 colours at
	// once, which takes 7 KiB; past the bound replies are dropped and counted.
	maxQueuedReplies = 8 << 10
)

// DefaultInputTimeout is how long an action waits for a child that does not read: the 5,000 ms of
// the design.
const DefaultInputTimeout = 5 * time.Second

// An InputBlockedError says that a child did not read an action's bytes in time. The rest was
// dropped.
type InputBlockedError struct {
	Written, Length int // bytes
}

func (e *InputBlockedError) Error() string {
	if e.Length == 0 {
		return "the program does not read its input: what was sent before is still under way, and nothing was written"
	}
	return fmt.Sprintf("the program does not read its input: %d of %d bytes written, the rest dropped", e.Written, e.Length)
}

// A LineTooLongError says that a terminal in canonical mode would have cut a line. Nothing was
// written.
type LineTooLongError struct {
	Length, Limit int // bytes, without the line ending
}

func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("a line of %d bytes is longer than the %d that a terminal in canonical mode keeps; send it in "+
		"shorter lines, or to a program that reads in raw mode", e.Length, e.Limit)
}

// ErrInputFull: too much input already waits for a child that does not read.
var ErrInputFull = errors.New("too much input is waiting for a program that does not read")

// An inputQueue holds everything bound for one child, in order. A caller that puts something into
// an empty queue writes it at once; only when the child does not take it all does a feeder
// continue.
type inputQueue struct {
	pty   PTY
	typed atomic.Uint64 // bytes that were typed, or are about to be

	mu sync.Mutex
	// protects the fields below
	items   []*input
	writing *input // what the token's holder is writing; nil when nothing is written
	queued  int    // bytes of actions in items and writing
	replies int    // bytes of replies in items and writing
	dropped int    // replies dropped
	err     error  // set: nothing more is accepted
	feeder  sync.WaitGroup
	line    int // bytes in the child's unfinished canonical line; belongs to the writer
}

// An input is the bytes of one action or reply.
type input struct {
	data  []byte
	off   int           // written so far
	reply bool          // the terminal's own
	abort bool          // its sender timed out; guarded by the queue's mu
	about func()        // called once, before the terminal gets the first byte; may be nil
	done  chan struct{} // closed when err is set
	err   error
	wrote wrote
}

// A wrote is what was known when an input had been written.
type wrote struct {
	end  uint64 // the queue's typed then; 0: nothing was written
	last byte
	open bool // a terminal in canonical mode keeps it until its line is finished
}

// put queues in and writes what the child takes at once.
func (q *inputQueue) put(in *input) error {
	in.done = make(chan struct{})
	q.mu.Lock()
	switch {
	case q.err != nil:
		q.mu.Unlock()
		return q.err
	case in.reply && q.replies+len(in.data) > maxQueuedReplies:
		q.dropped++
		q.mu.Unlock()
		return ErrInputFull
	case !in.reply && q.queued > 0 && q.queued+len(in.data) > maxQueuedInput:
		q.mu.Unlock()
		return ErrInputFull
	}
	q.count(in, len(in.data))
	if q.writing != nil || len(q.items) > 0 {
		q.items = append(q.items, in)
		q.mu.Unlock()
		return nil
	}
	q.writing = in
	q.mu.Unlock()
	blocked := q.write(in, q.pty.TryWrite)
	q.mu.Lock()
	if !blocked {
		q.finish(in)
	}
	if blocked || len(q.items) > 0 {
		q.feeder.Add(1)
		go q.feed()
	}
	q.mu.Unlock()
	return nil
}

func (q *inputQueue) count(in *input, n int) {
	if in.reply {
		q.replies += n
	} else {
		q.queued += n
	}
}

// finish ends the current write. It is called with mu held, as expire is, so that a deadline set
// for one input never hits the next.
func (q *inputQueue) finish(in *input) {
	if in.abort {
		q.pty.SetWriteDeadline(time.Time{})
	}
	q.count(in, -len(in.data))
	q.writing = nil
	close(in.done)
}

// feed writes until nothing is queued.
func (q *inputQueue) feed() {
	defer q.feeder.Done()
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		in := q.writing
		if in == nil {
			if len(q.items) == 0 {
				q.items = nil
				return
			}
			in, q.items = q.items[0], q.items[1:]
			q.writing = in
		}
		if q.err != nil {
			in.err = q.err
		} else {
			q.mu.Unlock()
			q.write(in, q.pty.Write)
			q.mu.Lock()
		}
		if errors.Is(in.err, os.ErrDeadlineExceeded) {
			switch {
			case in.abort:
				in.err = &InputBlockedError{Written: in.off, Length: len(in.data)}
			case q.err != nil:
				in.err = q.err
			}
		}
		q.finish(in)
	}
}

// write passes the rest of in to the PTY and reports whether some is left because the child does
// not read.
func (q *inputQueue) write(in *input, write func([]byte) (int, error)) (blocked bool) {
	if in.off == 0 && !in.reply {
		if in.err = q.checkLine(in.data); in.err != nil {
			return false
		}
		if in.about != nil {
			in.about()
			in.about = nil
		}
	}
	rest := in.data[in.off:]
	q.typed.Add(uint64(len(rest)))
	n, err := write(rest)
	in.off += n
	in.wrote.end = q.typed.Add(-uint64(len(rest) - n))
	in.wrote.last, in.wrote.open = in.data[len(in.data)-1], q.line > 0
	if in.off < len(in.data) && err == nil {
		return true
	}
	in.err = err
	return false
}

// checkLine refuses what a canonical-mode terminal would silently cut. The child's unfinished line
// is tracked from what was sent, since a terminal does not report it: a character that ends or
// flushes a line starts a new one.
func (q *inputQueue) checkLine(p []byte) error {
	mode, err := q.pty.LineMode()
	if err != nil || !mode.Canonical {
		q.line = 0
		return nil
	}
	ends := lineEnds(mode)
	line, longest := q.line, 0
	for _, c := range p {
		if bytes.IndexByte(ends, c) >= 0 {
			line = 0
			continue
		}
		line++
		longest = max(longest, line)
	}
	if longest > pty.MaxLine {
		return &LineTooLongError{Length: longest, Limit: pty.MaxLine}
	}
	q.line = line
	return nil
}

// send queues data and waits until the PTY has taken it, at most for o.Timeout. about is called
// right before the terminal gets the first byte, so that what it notes comes before all effects; not
// at all if nothing is written.
func (q *inputQueue) send(ctx context.Context, data []byte, o doOptions, about func()) (wrote, error) {
	if len(data) == 0 {
		return wrote{}, nil
	}
	in := &input{data: data, about: about}
	if err := q.put(in); err != nil {
		return wrote{}, err
	}
	select {
	case <-in.done:
		return in.wrote, in.err
	default:
	}
	o.park()
	timer := time.NewTimer(o.Timeout)
	defer timer.Stop()
	select {
	case <-in.done:
	case <-timer.C:
		q.expire(in, nil)
	case <-ctx.Done():
		q.expire(in, context.Cause(ctx))
	}
	<-in.done
	return in.wrote, in.err
}

// expire removes in from the queue, or stops its write. cause replaces the error of one that was
// not begun.
func (q *inputQueue) expire(in *input, cause error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, x := range q.items {
		if x == in {
			q.items = append(q.items[:i:i], q.items[i+1:]...)
			if in.err = cause; cause == nil {
				in.err = &InputBlockedError{Length: len(in.data)}
			}
			q.count(in, -len(in.data))
			close(in.done)
			return
		}
	}
	if q.writing == in {
		in.abort = true
		q.pty.SetWriteDeadline(longAgo)
	}
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// reply queues the terminal's own reply. It never blocks: the reply may be dropped.
func (q *inputQueue) reply(p []byte) {
	_ = q.put(&input{data: append([]byte(nil), p...), reply: true}) // a full queue has been counted
}

// close refuses new input and ends what waits with err.
func (q *inputQueue) close(err error) {
	q.mu.Lock()
	if q.err == nil {
		q.err = err
	}
	if q.writing != nil {
		q.pty.SetWriteDeadline(longAgo)
	}
	q.mu.Unlock()
}
