package native

import (
	"context"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol"
)

type leaseParams struct {
	sessionParams
	Holder string `json:"holder,omitempty" jsonschema:"who takes it, for others to read; default client"`
	Take   bool   `json:"take,omitempty" jsonschema:"take it from whoever has it"`
}

type leaseResult struct {
	Holder string    `json:"holder"`
	Since  time.Time `json:"since"`
}

// sessionLease takes the right to type for this connection. One that the connection has already stays as it is.
func (c *client) sessionLease(_ context.Context, p leaseParams) (leaseResult, error) {
	s, err := c.free(p.sessionParams)
	if err != nil {
		return leaseResult{}, err
	}
	if p.Holder == "" {
		p.Holder = "client"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.leases[s.ID()]
	if l == nil || s.View().Lease != l {
		if l, err = s.Lease(p.Holder, p.Take); err != nil {
			return leaseResult{}, err
		}
		for id := range c.leases { // those of sessions that are gone
			if _, err := c.engine.Session(id); err != nil {
				delete(c.leases, id)
			}
		}
		c.leases[s.ID()] = l
	}
	return leaseResult{Holder: c.hide.String(l.Holder), Since: l.Since.UTC()}, nil
}

type releaseResult struct {
	Released bool `json:"released" jsonschema:"false: this connection had it not, or no more"`
}

func (c *client) sessionRelease(_ context.Context, p sessionParams) (releaseResult, error) {
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
	had := s.View().Lease == l
	l.Release()
	return releaseResult{Released: had}, nil
}

// do performs an action with the right that this connection has, if it has it.
func (c *client) do(ctx context.Context, s *engine.Session, a engine.Action, timeout time.Duration) (engine.Receipt, error) {
	c.mu.Lock()
	l := c.leases[s.ID()]
	c.mu.Unlock()
	return s.Do(ctx, a, engine.DoOptions{Timeout: timeout, Parked: func() { protocol.Yield(ctx) }, Lease: l})
}

// release gives back what the connection has not.
func (c *client) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.leases {
		l.Release()
	}
	clear(c.leases)
}

// leaseInfo is a lease as it is told to everybody; null: nobody has it.
type leaseInfo struct {
	Holder string    `json:"holder"`
	Since  time.Time `json:"since"`
	Yours  bool      `json:"yours" jsonschema:"this connection has it"`
}

func (c *client) leaseOf(v *engine.View, clean func(string) string) *leaseInfo {
	if v.Lease == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &leaseInfo{Holder: clean(v.Lease.Holder), Since: v.Lease.Since.UTC(), Yours: c.leases[v.Session] == v.Lease}
}
