package native

import (
	"context"
	"maps"
	"os"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol"
)

type capabilitiesParams struct {
	Schema bool `json:"schema,omitempty" jsonschema:"add the model of the wire"`
	hostParams
}

type capabilitiesResult struct {
	Name          string             `json:"name"`
	Version       string             `json:"version"`
	Protocol      int                `json:"protocol" jsonschema:"version of the wire; a client that knows only another says so and ends"`
	PID           int                `json:"pid" jsonschema:"of the server's process, as it knows it itself"`
	Epoch         string             `json:"epoch" jsonschema:"another one with each start of a server: ids and sequences of another epoch mean nothing here"`
	Framing       []string           `json:"framing"`
	Methods       []string           `json:"methods"`
	Notifications []string           `json:"notifications"`
	Actions       []string           `json:"actions"`
	Matchers      []string           `json:"matchers"`
	Ordering      []string           `json:"ordering"`
	Rights        string             `json:"rights" jsonschema:"what this connection may do: read, type or admin"`
	Audit         *auditShape        `json:"audit,omitempty" jsonschema:"left out: the server writes none"`
	Limits        map[string]int     `json:"limits"`
	Reasons       []string           `json:"reasons,omitempty"`
	Schema        *jsonschema.Schema `json:"schema,omitempty" jsonschema:"the model of the wire, as ptywright schema prints it"`
}

func (c *client) capabilities(ctx context.Context,
	p capabilitiesParams) (capabilitiesResult, error) {
	known := &asking{catalog: c.Catalog, ctx: ctx}
	r := capabilitiesResult{
		Name: "ptywright", Version: c.Version, Protocol: protocolVersion, PID: os.Getpid(),
		Epoch:         c.Engine.Epoch(),
		Framing:       []string{"ndjson", "lsp"},
		Notifications: notifications,
		Actions:       engine.ActionTypes(),
		Matchers:      matchers.Types(matchers.Options{Predicates: known, States: known}),
		Ordering:      []string{protocol.Session.String(), protocol.Concurrent.String()},
		Rights:        c.conn.Rights().String(),
		Audit:         c.auditing(),
		Limits: map[string]int{
			"message_bytes": c.limits.Message, "executing_requests": c.limits.Executing,
			"queued_bytes": c.limits.Queued, "reply_bytes": c.limits.Replies,
			"screen_side": engine.MaxSide, "matcher_depth": c.matchers.Depth,
			"matcher_nodes": matchers.MaxNodes, "sessions": c.Engine.Limit(),
			"ended_sessions": c.Engine.EndedLimit(), "history_bytes": c.Engine.HistoryLimit(),
		},
	}
	for _, row := range table {
		r.Methods = append(r.Methods, row.name)
	}
	if !p.Schema {
		return r, nil
	}
	r.Reasons = slices.Sorted(maps.Keys(faults()))
	r.Schema = Model()
	return r, nil
}
