package protocol

import (
	"io"
	"sync"
	"time"
)

const (
	// 64 KiB a write: as much as a pipe or a socket takes at once, and the granularity of a slow
	// peer's progress.
	writeChunk = 64 << 10
	// Replies to requests that were read together leave together: a reply is held back while the
	// next request, already read, runs, at most this long plus that request's run. It saves a tenth
	// of the time of a quick request; a row that takes long yields, and then nothing is held back.
	corkTime = 100 * time.Microsecond
	// 512 KiB: larger buffers are freed once they are empty. A snapshot of 24x80 with all its cells
	// fits; a connection keeps up to two of them.
	keepBuffer = 512 << 10
)

// An outbox is the outgoing side of a connection: any goroutine may append frames. One that appends
// to an empty outbox writes what the stream takes without blocking; one goroutine writes the rest,
// many frames in one write when they come quickly.
type outbox struct {
	w       io.Writer
	try     func([]byte) int // writes what does not block; nil for a stream that cannot tell
	framing Framing
	bound   int           // unread reply bytes past which nothing new starts
	stall   time.Duration // after this long past the bound without progress, onStall is called
	onStall func()
	onError func(error)

	kick chan struct{} // one slot: there is something to write
	dead chan struct{} // closed when nothing more will be written
	done chan struct{} // closed when the writer has ended

	mu sync.Mutex
	// protects the fields below
	buf     []byte // framed, not yet taken by a writer
	spare   []byte // an empty buffer, for when buf is taken
	busy    bool   // a goroutine writes
	unread  int    // bytes in buf and being written, except the notification
	note    *note  // the one notification that is not yet written
	room    chan struct{}
	corked  time.Time // when the first reply in buf was held back
	closing bool
	killed  bool
	timer   *time.Timer
}

// A note is a notification in flight.
type note struct {
	size    int
	ahead   int // bytes that leave before its last one, itself included
	written chan struct{}
	slot    <-chan struct{} // emptied when it is written
}

func newOutbox(w io.Writer, framing Framing, limits Limits, onStall func(),
	onError func(error)) *outbox {
	return &outbox{
		w: w, try: tryWriter(w), framing: framing, bound: limits.Replies, stall: limits.Stall,
		onStall: onStall, onError: onError, kick: make(chan struct{}, 1), dead: make(chan struct{}),
		done: make(chan struct{}),
	}
}

// reply appends a message. A corked one waits for more, until flush or the next reply. The outbox
// then owns the message's buffer, and the caller gets the returned one in exchange, which may be
// nil.
func (o *outbox) reply(message []byte, cork bool) (free []byte) {
	o.mu.Lock()
	if o.killed {
		o.mu.Unlock()
		return message
	}
	before := len(o.buf)
	if before == 0 && len(message) >= writeChunk && o.framing == Lines {
		// A copy would cost a second buffer of its size.
		if free = o.buf; cap(free) < cap(o.spare) {
			free, o.spare = o.spare, free
		}
		o.buf = append(message, '\n')
	} else {
		o.buf, free = o.framing.Append(o.buf, message), message
	}
	o.unread += len(o.buf) - before
	if o.unread > o.bound && o.timer == nil {
		o.timer = time.AfterFunc(o.stall, o.onStall)
	}
	if cork && len(o.buf) < writeChunk {
		now := time.Now()
		if o.corked.IsZero() {
			o.corked = now
		}
		cork = now.Sub(o.corked) < corkTime
	} else {
		cork = false
	}
	if !cork {
		o.corked = time.Time{}
	}
	o.mu.Unlock()
	if !cork {
		o.send()
	}
	return free
}

// notify appends the connection's one notification. When its last byte is written, written is
// closed and slot is emptied, so that the next one can follow.
func (o *outbox) notify(message []byte, slot <-chan struct{}) (written <-chan struct{}) {
	n := &note{written: make(chan struct{}), slot: slot}
	o.mu.Lock()
	if o.killed || o.closing {
		o.mu.Unlock()
		return n.written // never: the caller watches dead as well
	}
	before := len(o.buf)
	o.buf = o.framing.Append(o.buf, message)
	n.size = len(o.buf) - before
	n.ahead = o.unread + n.size
	o.note = n
	o.corked = time.Time{}
	o.mu.Unlock()
	o.send()
	return n.written
}

// send writes what the stream takes now, unless another goroutine is writing, and leaves the rest
// to the writer: switching goroutines costs a tenth of a quick answer's time.
func (o *outbox) send() {
	o.mu.Lock()
	if o.try == nil || o.busy || o.killed || len(o.buf) == 0 {
		o.mu.Unlock()
		o.wake()
		return
	}
	batch := o.takeLocked()
	o.mu.Unlock()
	n := o.try(batch)
	if n > 0 {
		o.taken(n)
	}
	o.mu.Lock()
	rest := len(batch) > n && !o.killed
	if rest && len(o.buf) == 0 {
		o.buf = batch[n:]
		batch = nil
	} else if rest {
		o.buf = append(append(make([]byte, 0, len(batch)-n+len(o.buf)), batch[n:]...), o.buf...)
	}
	more := o.putBackLocked(batch)
	o.mu.Unlock()
	if rest || more {
		o.wake()
	}
}

// takeLocked takes what is to be written.
func (o *outbox) takeLocked() []byte {
	batch := o.buf
	o.buf, o.spare = o.spare[:0], nil
	o.busy = true
	o.corked = time.Time{}
	return batch
}

// putBackLocked returns the buffer of a written batch and reports whether there is more to write.
func (o *outbox) putBackLocked(batch []byte) bool {
	o.busy = false
	if cap(batch) <= keepBuffer && cap(batch) > cap(o.spare) {
		o.spare = batch[:0]
	}
	return len(o.buf) > 0 && o.corked.IsZero() || o.closing
}

func (o *outbox) wake() {
	select {
	case o.kick <- struct{}{}:
	default:
	}
}

// flush sends what was corked.
func (o *outbox) flush() {
	o.mu.Lock()
	corked := !o.corked.IsZero()
	o.corked = time.Time{}
	o.mu.Unlock()
	if corked {
		o.send()
	}
}

// waitRoom returns when the unread replies are within the bound, or when nothing more will be
// written.
func (o *outbox) waitRoom() {
	o.mu.Lock()
	if o.unread <= o.bound || o.killed {
		o.mu.Unlock()
		return
	}
	if o.room == nil {
		o.room = make(chan struct{})
	}
	room := o.room
	o.mu.Unlock()
	select {
	case <-room:
	case <-o.dead:
	}
}

// run writes until close and the last byte, or kill, or an error.
func (o *outbox) run() {
	defer close(o.done)
	for {
		o.mu.Lock()
		if o.killed || o.closing && !o.busy && len(o.buf) == 0 {
			o.mu.Unlock()
			return
		}
		if o.busy || len(o.buf) == 0 {
			o.mu.Unlock()
			select {
			case <-o.kick:
			case <-o.dead:
			}
			continue
		}
		batch := o.takeLocked()
		o.mu.Unlock()
		for rest := batch; len(rest) > 0; {
			n, err := o.w.Write(rest[:min(len(rest), writeChunk)])
			o.taken(n)
			if err != nil {
				o.kill()
				o.onError(err)
				return
			}
			rest = rest[n:]
		}
		o.mu.Lock()
		o.putBackLocked(batch)
		o.mu.Unlock()
	}
}

// taken accounts for n bytes that the peer's side has taken.
func (o *outbox) taken(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if note := o.note; note != nil {
		if note.ahead -= n; note.ahead <= 0 {
			// Bytes of the note among the n are not replies.
			n -= note.size
			o.note = nil
			close(note.written)
			<-note.slot
		}
	}
	o.unread -= n
	if o.timer != nil {
		if o.unread > o.bound {
			o.timer.Reset(o.stall)
		} else {
			o.timer.Stop()
			o.timer = nil
		}
	}
	if o.unread <= o.bound && o.room != nil {
		close(o.room)
		o.room = nil
	}
}

// close lets the writer end once everything is written.
func (o *outbox) close() {
	o.mu.Lock()
	o.closing = true
	o.mu.Unlock()
	o.wake()
}

// kill drops what is not written. A write in progress ends when the stream is closed.
func (o *outbox) kill() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.killed {
		return
	}
	o.killed = true
	o.buf, o.unread, o.note = nil, 0, nil
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	close(o.dead)
}
