// Package tools is ptywright's own MCP profile: a few tools made for models, over the engine.
package tools

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/protocol/mcp"
)

// New returns the profile.
func New(h *mcp.Host) *mcp.Profile {
	p := &profile{Host: h}
	return &mcp.Profile{
		Implementation: sdk.Implementation{Name: "ptywright", Title: "ptywright", Version: h.Version},
		Install:        p.install,
	}
}

// A profile is the tools' state, shared by all connections.
type profile struct {
	*mcp.Host
}

func (p *profile) install(s *sdk.Server) {}
