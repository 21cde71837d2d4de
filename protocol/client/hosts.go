package client

import (
	"context"
	"time"
)

// A Host is a machine whose sessions the server shows beside its own, under ids like web-3/s12.
type Host struct {
	Host  string `json:"host"`
	State string `json:"state"` // none (nobody has needed it), up, silent or down
	// of the program there, when it answered last; "": it has not yet
	Version  string   `json:"version"`
	Sessions *int     `json:"sessions"`      // how many it has; nil: it was not asked
	RoundMS  *float64 `json:"round_trip_ms"` // of a question and its answer; likewise
	// since when it is away, and why; zero: it is not
	Since time.Time `json:"since"`
	Error string    `json:"error"`
}

// Hosts returns the machines that the server knows, by name; none for a server without hosts. With
// check each is asked now, for at most some seconds.
func (c *Client) Hosts(ctx context.Context, check bool) ([]Host, error) {
	var r struct {
		Hosts []Host `json:"hosts"`
	}
	err := c.Call(ctx, "server.hosts", map[string]bool{"check": check}, &r)
	return r.Hosts, err
}
