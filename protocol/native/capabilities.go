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
	Framing       []string           `json:"framing"`
	Methods       []string           `json:"methods"`
	Notifications []string           `json:"notifications"`
	Actions       []string           `json:"actions"`
	Matchers      []string           `json:"matchers"`
	Ordering      []string           `json:"ordering"`
	Access        []string           `json:"access"`
	Limits        map[string]int     `json:"limits"`
	Reasons       []string           `json:"reasons,omitempty"`
	Schema        *jsonschema.Schema `json:"schema,omitempty" jsonschema:"the model of the wire, as ptywright schema prints it"`
}

func (c *client) capabilities(ctx context.Context,
	p capabilitiesParams) (capabilitiesResult, error) {
	r := capabilitiesResult{
		Name: "ptywright", Version: c.Version, Protocol: protocolVersion, PID: os.Getpid(),
		Framing:       []string{"ndjson", "lsp"},
		Notifications: notifications,
		Actions:       engine.ActionTypes(),
		Matchers: matchers.Types(matchers.Options{Predicates: &asking{catalog: c.Catalog,
			ctx: ctx}}),
		Ordering: []string{protocol.Session.String(), protocol.Concurrent.String()},
		Access:   []string{accessFull, accessRead},
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
