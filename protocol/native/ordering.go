package native

import (
	"context"

	"github.com/ptywright/ptywright/protocol"
)

type orderingParams struct {
	Ordering string `json:"ordering" jsonschema:"session (default) or concurrent"`
}

func (c *client) setOrdering(_ context.Context, p orderingParams) (orderingParams, error) {
	for _, o := range []protocol.Ordering{protocol.Session, protocol.Concurrent} {
		if p.Ordering == o.String() {
			c.conn.SetOrdering(o)
			return p, nil
		}
	}
	return p, notOneOf("ordering", p.Ordering)
}
