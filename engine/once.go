package engine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
)

const (
	// maxOnces is how many ids of actions a session remembers: those of a client that has lost its
	// connection with many requests under way, as many as a server runs for one.
	maxOnces = 256
	// MaxOnceID is the length of such an id, in characters: a UUID has 36.
	MaxOnceID = 64
)

// Once gives an action an id, under which it is done once: [Session.Do] with the same id again does
// nothing, and returns what the first one did, with [Receipt].Again set. While that one is still
// being typed, it waits for it. A session remembers its newest 256 ids, whichever client gave them.
// An action that failed before anything was typed is not remembered: sent again, it is tried again.
// One that was typed in part returns its error again.
type Once struct {
	ID string // at most [MaxOnceID] characters; "": the action has none
	// Of identifies what is done, as [sha256.Sum256] of its text does: another action with the same
	// id is an [OnceError].
	Of [sha256.Size]byte
}

func (x Once) act(o *doOptions) { o.Once = x }

// An OnceError says that another action had the id of this one, which was not done.
type OnceError struct {
	Session ID
	ID      string // of the action
}

func (e *OnceError) Error() string {
	return fmt.Sprintf("another input of session %s had the id %s, and nothing was typed: "+
		"give each input an id of its own", e.Session, Quote(e.ID))
}

// onces are the actions with ids of one session. Its zero value is ready.
type onces struct {
	mu sync.Mutex
	// protects the field below
	all []*once // oldest first: those under way, and the newest maxOnces of all
}

// A once is one of them. Its other fields are set before done is closed.
type once struct {
	Once
	done    chan struct{}
	receipt Receipt
	err     error // it was done in part; nil: whole
	none    bool  // nothing of it was done
}

func (x *once) over() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// begin returns the action with an id. It is the caller's to do when it is new.
func (q *onces) begin(o Once) (x *once, fresh bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.IndexFunc(q.all, func(x *once) bool { return x.ID == o.ID }); i >= 0 {
		return q.all[i], false
	}
	if len(q.all) >= maxOnces {
		if i := slices.IndexFunc(q.all, (*once).over); i >= 0 {
			q.all = slices.Delete(q.all, i, i+1)
		}
	}
	x = &once{Once: o, done: make(chan struct{})}
	q.all = append(q.all, x)
	return x, true
}

// end notes what became of an action. One of which nothing was done is forgotten.
func (q *onces) end(x *once, r Receipt, whole bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x.receipt, x.err = r, err
	if whole {
		x.err = nil
	} else if r.Written == 0 {
		x.none = true
		q.all = slices.DeleteFunc(q.all, func(y *once) bool { return x == y })
	}
	close(x.done)
}

// once does an action that has an id, unless it was done.
func (s *Session) once(ctx context.Context, a Action, o doOptions) (Receipt, error) {
	for {
		x, fresh := s.onces.begin(o.Once)
		switch {
		case x.Of != o.Once.Of:
			return Receipt{}, &OnceError{Session: s.id, ID: o.Once.ID}
		case fresh:
			return s.first(ctx, a, o, x)
		case !x.over():
			o.park()
		}
		select {
		case <-x.done:
		case <-ctx.Done():
			return Receipt{}, context.Cause(ctx)
		}
		if x.none { // it is for the next to try
			continue
		}
		r := x.receipt
		r.Again = true
		return r, x.err
	}
}

// first does an action for the first time. It ends it after a panic, too, with nothing done as far
// as is known: those who wait for it must not wait forever.
func (s *Session) first(ctx context.Context, a Action, o doOptions,
	x *once) (r Receipt, err error) {
	whole := false
	defer func() { s.onces.end(x, r, whole, err) }()
	r, whole, err = s.act(ctx, a, o)
	return r, err
}
