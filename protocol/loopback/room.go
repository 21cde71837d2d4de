package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
)

// A Room holds the connections of one door: those that have shown the token, and separately a few
// that have not. Strangers never keep out clients with the token: one stranger too many replaces
// the oldest of the peer that has the most of them. A peer is a user of this machine where the
// system says which, and an address elsewhere. Its methods may be called by any number of
// goroutines.
type Room struct {
	strangers, known int

	mu sync.Mutex
	// protects the fields below
	waiting []*Conn // that have not shown the token, oldest first
	in      int     // that have
}

// NewRoom returns a room for that many strangers and, beside them, that many connections that have
// shown the token. Both are at least 1.
func NewRoom(strangers, known int) *Room {
	return &Room{strangers: max(strangers, 1), known: max(known, 1)}
}

// A Conn is a connection in a [Room], which it leaves when it is closed.
type Conn struct {
	net.Conn
	room  *Room
	peer  string
	uid   int
	state state // guarded by the room's mu
}

type state uint8

const (
	stranger state = iota
	admitted
	gone
)

// ErrEvicted is why a connection is closed that made room for others before it had shown the token.
var ErrEvicted = errors.New("the connection has made room for others before it showed the token")

// A FullError is why a connection is refused although it has shown the token.
type FullError struct{ Limit int }

func (e *FullError) Error() string {
	return fmt.Sprintf("%d clients are connected already: close some first", e.Limit)
}

// Listener returns a listener whose connections are in the room, each a *[Conn].
func (r *Room) Listener(l net.Listener) net.Listener { return &roomListener{l, r} }

type roomListener struct {
	net.Listener
	room *Room
}

// Accept waits for a connection.
func (l *roomListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.room.Enter(c), nil
}

// Enter admits a connection as a stranger, and closes another one when there are too many.
func (r *Room) Enter(c net.Conn) *Conn {
	peer, uid := peerOf(c)
	return r.enter(c, peer, uid)
}

func (r *Room) enter(c net.Conn, peer string, uid int) *Conn {
	in := &Conn{Conn: c, room: r, peer: peer, uid: uid}
	r.mu.Lock()
	r.waiting = append(r.waiting, in)
	var evicted *Conn
	if len(r.waiting) > r.strangers {
		evicted = r.oldestLocked()
		r.leaveLocked(evicted)
	}
	r.mu.Unlock()
	if evicted != nil {
		evicted.Conn.Close()
	}
	return in
}

// oldestLocked returns the oldest stranger of the peer that has the most; if several have as many,
// the oldest of them.
func (r *Room) oldestLocked() *Conn {
	count := map[string]int{}
	most := 0
	for _, c := range r.waiting {
		count[c.peer]++
		most = max(most, count[c.peer])
	}
	i := slices.IndexFunc(r.waiting, func(c *Conn) bool { return count[c.peer] == most })
	return r.waiting[i]
}

// leaveLocked forgets a connection, once.
func (r *Room) leaveLocked(c *Conn) {
	switch c.state {
	case stranger:
		if i := slices.Index(r.waiting, c); i >= 0 {
			r.waiting = slices.Delete(r.waiting, i, i+1)
		}
	case admitted:
		r.in--
	}
	c.state = gone
}

// Admit records that the connection has shown the token; again does nothing. Errors: [ErrEvicted],
// and a *[FullError].
func (c *Conn) Admit() error {
	r := c.room
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case c.state == admitted:
		return nil
	case c.state == gone:
		return ErrEvicted
	case r.in >= r.known:
		return &FullError{r.known}
	}
	r.leaveLocked(c)
	c.state = admitted
	r.in++
	return nil
}

// UID returns the user at the other end; -1 where the system does not tell.
func (c *Conn) UID() int { return c.uid }

// Leave frees the connection's place without closing it: its peer has closed its side and sends
// nothing more.
func (c *Conn) Leave() {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	c.room.leaveLocked(c)
}

// Close closes the connection and frees its place.
func (c *Conn) Close() error {
	c.Leave()
	return c.Conn.Close()
}

// CloseWrite closes our direction of the connection if it can be half closed; else the error is
// [errors.ErrUnsupported].
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

type connKey struct{}

// ConnContext is the [net/http.Server.ConnContext] of a server whose listener is a room's: it lets
// handlers call [Admit].
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// Admit is [Conn.Admit] of the request's connection.
func Admit(request context.Context) error {
	c, ok := request.Value(connKey{}).(*Conn)
	if !ok {
		return errors.New("loopback: the server has no ConnContext, or its listener is of no room")
	}
	return c.Admit()
}

// UIDOf is [Conn.UID] of the request's connection; -1 for a context that is not a request's.
func UIDOf(request context.Context) int {
	if c, ok := request.Value(connKey{}).(*Conn); ok {
		return c.UID()
	}
	return -1
}
