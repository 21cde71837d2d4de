package native

import (
	"context"
	"time"

	"github.com/ptywright/ptywright/protocol"
)

// An Audit is that of a server. Its methods do not block, and may be called by any number of
// goroutines.
type Audit interface {
	// State says whether its file takes lines.
	State() protocol.AuditState
	// Changed returns a channel that is closed when that is next otherwise. Take it before State.
	Changed() <-chan struct{}
}

// An auditShape says how the server's audit is.
type auditShape struct {
	Lost    int64      `json:"lost" jsonschema:"requests that its file has not taken since the server began"`
	Problem string     `json:"problem,omitempty" jsonschema:"why its file takes none now; left out: it does"`
	Since   *time.Time `json:"since,omitempty" jsonschema:"when that began"`
}

// auditing is the audit's shape; nil without one.
func (c *client) auditing() *auditShape {
	if c.audit == nil {
		return nil
	}
	state := c.audit.State()
	shape := &auditShape{Lost: state.Lost, Problem: c.hide.String(state.Problem)}
	if state.Problem != "" {
		shape.Since = &state.Since
	}
	return shape
}

// audited is closed when there is something new to tell of the audit; nil: there never is.
func (n *notifier) audited() <-chan struct{} {
	if !n.filter.events || n.client.audit == nil {
		return nil
	}
	return n.client.audit.Changed()
}

// audit tells when the audit has a problem, or has none any more: to who asked for events, since
// those are of what happens to the server's sessions.
func (n *notifier) audit(ctx context.Context) error {
	if !n.filter.events || n.client.audit == nil {
		return nil
	}
	now := n.client.auditing()
	if now.Problem == n.problem {
		return nil
	}
	n.problem = now.Problem
	return n.notify(ctx, noteAudit, now)
}
