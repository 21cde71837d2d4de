package native

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/protocol"
)

type leaseParams struct {
	sessionParams
	Holder string `json:"holder,omitempty" jsonschema:"who takes it, for others to read; default: what this client is called, or client"`
	Take   bool   `json:"take,omitempty" jsonschema:"take it from whoever has it"`
}

type leaseResult struct {
	Holder string    `json:"holder"`
	Since  time.Time `json:"since"`
}

// A lease is one that this connection took.
type lease struct {
	*engine.Lease
	session *engine.Session
	size    *pty.Size // the session's size before this connection held another; nil: it holds none
}

// current reports that no other client has taken it.
func (l *lease) current() bool { return l.session.View().Lease == l.Lease }

// giveBack ends the lease, and restores the size that was held. had is false when another client
// had taken it.
func (l *lease) giveBack(ctx context.Context) (had bool) {
	had = l.current()
	if had && l.size != nil {
		_, _ = l.session.Do(ctx, engine.Resize(*l.size), l.Lease) // the session has ended, or another client has it by now
	}
	l.Release()
	return had
}

// holdSize saves a session's size, to be restored with the end of the lease.
func (c *client) holdSize(s *engine.Session) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.leases[s.ID()]
	if l == nil || !l.current() {
		return &paramError{path: "hold", reason: "invalid_params",
			problem: "needs session.lease: a size is held for as long as this connection has the session"}
	}
	if l.size == nil {
		now := s.View().Screen
		l.size = &pty.Size{Rows: uint16(now.Rows), Cols: uint16(now.Cols)}
	}
	return nil
}

// sessionLease takes the right to type for this connection. A lease that the connection already has
// is unchanged.
func (c *client) sessionLease(_ context.Context, p leaseParams) (leaseResult, error) {
	s, err := c.free(p.sessionParams)
	if err != nil {
		return leaseResult{}, err
	}
	holder := c.holder(s.ID(), cmp.Or(p.Holder, c.title(), "client"))
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.leases[s.ID()]
	if l == nil || !l.current() {
		took, err := s.Lease(holder, p.Take)
		if err != nil {
			return leaseResult{}, over(s, err)
		}
		l = &lease{Lease: took, session: s}
		c.tie(s)
		c.leases[s.ID()] = l
	}
	return leaseResult{Holder: c.holder(s.ID(), l.Holder), Since: l.Since.UTC()}, nil
}

// holder is the name that the holder of a session's lease has given itself, as it may leave: each
// secret of the session that is known by now is hidden in it, wherever it is told.
func (c *client) holder(id engine.ID, name string) string {
	s, err := c.Engine.Session(id)
	if err != nil { // it has gone meanwhile
		return engine.PlainLine(name, c.hide.String)
	}
	return engine.PlainLine(name, reading.New(s.View(), c.hide).Piece)
}

type releaseResult struct {
	Released bool `json:"released" jsonschema:"false: this connection had it not, or no more"`
}

func (c *client) sessionRelease(ctx context.Context, p sessionParams) (releaseResult, error) {
	s, err := c.session(p)
	if err != nil {
		return releaseResult{}, err
	}
	c.mu.Lock()
	l := c.leases[s.ID()]
	delete(c.leases, s.ID())
	c.mu.Unlock()
	if l == nil {
		return releaseResult{}, nil
	}
	return releaseResult{Released: l.giveBack(ctx)}, nil
}

// do performs an action with this connection's lease, if it has one.
func (c *client) do(ctx context.Context, s *engine.Session, a engine.Action,
	timeout time.Duration, more ...engine.DoOption) (engine.Receipt, error) {
	return s.Do(ctx, a, append(more, engine.Within(timeout), c.leaseFor(s), c.by(),
		engine.Parked(func() { protocol.Yield(ctx) }))...)
}

// leaseFor is this connection's lease of a session; nil when it has none.
func (c *client) leaseFor(s *engine.Session) *engine.Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.leases[s.ID()]; l != nil {
		return l.Lease
	}
	return nil
}

// release gives back all leases of the connection.
func (c *client) release() {
	c.mu.Lock()
	leases := slices.Collect(maps.Values(c.leases))
	clear(c.leases)
	c.mu.Unlock()
	for _, l := range leases {
		l.giveBack(context.Background())
	}
}

// A leaseInfo is a lease as all clients see it; null: no client has it.
type leaseInfo struct {
	Holder string    `json:"holder"`
	Since  time.Time `json:"since"`
	Yours  bool      `json:"yours" jsonschema:"this connection has it"`
}

// leaseOf is the lease that a view tells of, with the name of its holder as every event has it.
func (c *client) leaseOf(l *reading.View) *leaseInfo {
	v := l.Raw
	if v.Lease == nil {
		return nil
	}
	holder := engine.PlainLine(v.Lease.Holder, l.Piece)
	c.mu.Lock()
	defer c.mu.Unlock()
	ours := c.leases[v.Session]
	return &leaseInfo{Holder: holder, Since: v.Lease.Since.UTC(),
		Yours: ours != nil && ours.Lease == v.Lease}
}
