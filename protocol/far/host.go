package far

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// errGivenBack is why a link ends that nobody needs.
var errGivenBack = errors.New("nobody needs it")

const (
	// A link is opened again after firstRetry, doubled each time up to lastRetry, with a quarter of
	// that at random, so that many hubs do not come at once to a host that is back.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 10 * time.Second
	// parkFor is how long a link that nobody needs is kept for the next client: as long as a script
	// thinks between two commands. mostParked bounds how many.
	parkFor    = time.Minute
	mostParked = 4
)

// A Host is a machine whose sessions are shown. Its fields are not changed once it is given to
// [New].
type Host struct {
	// Name is the prefix of its ids: 1 to 32 of a-z, 0-9 and -.
	Name string
	// Open opens a stream to its server, which speaks the native wire, one message a line. ctx
	// bounds the opening; the stream outlives it. Closing the stream must end its reads and writes
	// in progress. An error of a read should say why the stream has ended, if that is known.
	Open func(ctx context.Context) (io.ReadWriteCloser, error)
}

// A host is a Host with what all its clients share.
type host struct {
	Host
	hub *Hub

	mu sync.Mutex
	// protects the fields below
	failures int       // in a row
	next     time.Time // not to be tried before
	away     time.Time // since when; zero: it is there, or nobody has tried
	err      error     // the last failure
	about    about     // of the last answer
	known    bool      // about is
	up       int       // links that somebody has
	parked   []*link
	closed   bool
}

// connect returns a link to the host: a parked one that still answers, or a new one. Errors are
// [*UnreachableError].
func (h *host) connect(ctx context.Context) (*link, error) {
	for l := h.unpark(); l != nil; l = h.unpark() {
		if l.alive(ctx) {
			h.there(l)
			return l, nil
		}
	}
	client, began := ctx, time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, helloBound,
		fmt.Errorf("it has not answered %v after its command was started", helloBound))
	defer cancel()
	stream, err := h.Open(ctx)
	if err == nil {
		var l *link
		if l, err = greet(ctx, h, stream); err == nil {
			l.run()
			h.there(l)
			return l, nil
		}
	}
	switch took := time.Since(began); {
	case client.Err() == nil:
	case took < listBound: // says nothing of the host
		return nil, context.Cause(client)
	default:
		err = fmt.Errorf("it has not answered %.0f s after its command was started", took.Seconds())
	}
	return nil, h.failed(err)
}

// there notes that the host answers.
func (h *host) there(l *link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures, h.next, h.away, h.err = 0, time.Time{}, time.Time{}, nil
	h.about, h.known = l.about, true
	h.up++
}

// failed notes that the host does not answer, and says so.
func (h *host) failed(err error) *UnreachableError {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.missLocked(err)
	return h.unreachableLocked()
}

func (h *host) missLocked(err error) {
	if h.away.IsZero() {
		h.away = time.Now()
	}
	wait := min(firstRetry<<min(h.failures, 10), lastRetry)
	wait += rand.N(wait / 4)
	h.failures++
	h.next, h.err = time.Now().Add(wait), err
}

func (h *host) unreachableLocked() *UnreachableError {
	return &UnreachableError{Host: h.Name, Since: h.away, Err: h.err,
		Retry: max(time.Until(h.next), 0)}
}

// rests returns why the host is not tried right now; nil: it is.
func (h *host) rests() *UnreachableError {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil || !time.Now().Before(h.next) {
		return nil
	}
	return h.unreachableLocked()
}

// retry has the host tried at once by who asks next.
func (h *host) retry() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next = time.Time{}
}

// until returns when the host may be tried next.
func (h *host) until() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(time.Until(h.next), 0)
}

// gone notes that a link that somebody had has ended, or was given back (nil).
func (h *host) gone(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.up--
	if why != nil {
		h.missLocked(why)
	}
}

// lost is the error of a request that is left without an answer.
func (h *host) lost(why error) *LostError {
	h.mu.Lock()
	defer h.mu.Unlock()
	since := h.away
	if since.IsZero() {
		since = time.Now()
	}
	return &LostError{Host: h.Name, Since: since, Err: why}
}

// stateless reports whether a far server forgets a call once it has answered it.
func stateless(c *call) bool {
	switch c.method {
	case pingMethod, setClient, "server.capabilities", "server.metrics":
		return true
	case "session.lease", "session.frame":
		return false
	}
	return !strings.HasPrefix(c.method, "server.") && !c.owns
}

// park gives a link back: it is kept for the next client if the far server knows nothing of this
// one, and ended otherwise.
func (h *host) park(l *link) {
	l.mu.Lock()
	l.owner = nil
	keep := l.err == nil && len(l.calls) == 0 && len(l.out) == 0 && !l.tainted
	l.mu.Unlock()
	h.mu.Lock()
	keep = keep && !h.closed && len(h.parked) < mostParked
	if keep {
		h.parked = append(h.parked, l)
	}
	h.mu.Unlock()
	if !keep {
		l.end(errGivenBack)
		<-l.ended
		<-l.wrote
		return
	}
	time.AfterFunc(parkFor, func() {
		if h.take(l) {
			l.end(errGivenBack)
		}
	})
}

// unpark takes the youngest parked link; nil: there is none.
func (h *host) unpark() *link {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.parked)
	if n == 0 {
		return nil
	}
	l := h.parked[n-1]
	h.parked = h.parked[:n-1]
	return l
}

// take takes one parked link, if it is still parked.
func (h *host) take(l *link) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, p := range h.parked {
		if p == l {
			h.parked = append(h.parked[:i], h.parked[i+1:]...)
			return true
		}
	}
	return false
}

// close ends the parked links, and keeps no more.
func (h *host) close() {
	h.mu.Lock()
	parked := h.parked
	h.parked, h.closed = nil, true
	h.mu.Unlock()
	for _, l := range parked {
		l.end(errGivenBack)
	}
	for _, l := range parked {
		<-l.ended
		<-l.wrote
	}
}

// alive reports whether a parked link still answers.
func (l *link) alive(ctx context.Context) bool {
	answered := make(chan answer, 1)
	l.ping(func(a answer) { answered <- a })
	bound := time.NewTimer(pingEvery)
	defer bound.Stop()
	select {
	case a := <-answered:
		if a.err == nil {
			return true
		}
	case <-l.ended:
	case <-bound.C:
	case <-ctx.Done():
	}
	l.end(ErrSilent)
	return false
}
