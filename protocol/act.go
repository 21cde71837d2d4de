package protocol

import (
	"context"
	"time"
)

// A Peer is who is at the other end of a connection.
type Peer struct {
	// Door is how it came: "stdio", "socket", "read-only-socket", "mcp-http" or "unterm".
	Door string
	// UID and PID are of the process that connected, as the kernel tells; -1: it does not.
	UID, PID int
	// Name is what the dialect calls it, as "client 3" in the events of sessions.
	Name string
	// Client and Host are what the peer says of itself, at most 64 characters each: a program's
	// name, and the machine that it serves as a link for. Nothing verifies them.
	Client, Host string
}

// An Act is a request as an audit is told of it: one that needed more than [RightRead], or whose
// method is [Method.Audited]. It has no text that was typed. Other texts are the client's own, not
// redacted.
type Act struct {
	Peer   Peer
	Began  time.Time
	Took   time.Duration
	Method string
	Needs  Rights
	With   string // the part of the params that needs the right; "": the method itself
	Rights Rights // what the connection had
	// Reason is the error's data.reason, "forbidden" among them; "": it succeeded.
	Reason string

	// The rest is told by the row, with [ActOf].

	Session string // the id
	Name    string // the session's
	Adapter string
	Plugin  string
	Program string // that was started, without arguments
	Path    string // of a file that was written
	What    string // such as a size
	Bytes   int    // typed
	Secret  bool   // typed at a prompt for a secret: then Bytes is 0
}

// An AuditState says whether an audit takes acts.
type AuditState struct {
	Lost    int64     // acts that it did not take, since the server began
	Problem string    // why it takes none now; "": it takes them
	Since   time.Time // when that began
}

// newAct begins an act.
func newAct(method string) *Act { return &Act{Began: time.Now(), Method: method} }

type actKey struct{}

// ActOf returns the act of the request that a context belongs to, for its row to fill in; nil when
// the request is not audited. Only the request's own goroutine may write to it, until it returns.
func ActOf(ctx context.Context) *Act {
	if k, ok := ctx.Value(callKey{}).(*call); ok {
		return k.act
	}
	act, _ := ctx.Value(actKey{}).(*Act)
	return act
}

// A Grant is what the clients of a dialect without a [Conn] may do, and who is told of it. The zero
// value allows everything and tells nobody.
type Grant struct {
	Rights Rights
	Door   string    // of the [Peer] that is told
	Audit  func(Act) // as in [Config]; nil: nobody is told
}

// Begin begins a request of method. end ends it, with the error's reason or "" and with who asked,
// and passes on its act when that needed more than [RightRead]: until [Grant.Permit] says otherwise
// it did not.
func (g *Grant) Begin(ctx context.Context, method string) (of context.Context,
	end func(peer Peer, reason string)) {
	if g.Audit == nil {
		return ctx, func(Peer, string) {}
	}
	act := newAct(method)
	act.Needs, act.Rights = RightRead, g.Rights
	return context.WithValue(ctx, actKey{}, act), func(peer Peer, reason string) {
		if act.Needs == RightRead {
			return
		}
		act.Peer, act.Reason, act.Took = peer, reason, time.Since(act.Began)
		act.Peer.Door = g.Door
		g.Audit(*act)
	}
}

// Permit decides whether a request of method may go on that needs needs, because of with. The error
// is a *[ForbiddenError]. The context is that of [Grant.Begin].
func (g *Grant) Permit(ctx context.Context, method string, needs Rights, with string) error {
	if act := ActOf(ctx); act != nil {
		act.Needs, act.With = needs, with
	}
	return g.Rights.permit(method, needs, with)
}

// mostSaid bounds what a peer says of itself, in characters.
const mostSaid = 64

// Introduce notes what the peer says of itself; "" leaves what it said before. Longer texts are cut
// to 64 characters. It does not block.
func (c *Conn) Introduce(client, host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range []struct {
		said string
		to   *string
	}{{client, &c.peer.Client}, {host, &c.peer.Host}} {
		if x.said != "" {
			*x.to = cut(x.said, mostSaid)
		}
	}
}

// Call notes what the dialect calls the peer. It does not block.
func (c *Conn) Call(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peer.Name = name
}

// Peer returns who is at the other end. It does not block.
func (c *Conn) Peer() Peer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peer
}

// tell passes on a request's act, once that has ended with err.
func (c *Conn) tell(act *Act, err error) {
	act.Peer, act.Took = c.Peer(), time.Since(act.Began)
	if err != nil {
		act.Reason = c.errorOf(err).Reason
		if act.Reason == "" {
			act.Reason = reasonInternal
		}
	}
	c.audit(*act)
}
