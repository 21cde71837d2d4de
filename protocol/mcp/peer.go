package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/loopback"
)

// PeerOf returns who made a request: the user, where the system tells, and the name that the client
// gives itself.
func PeerOf(ctx context.Context, req *sdk.CallToolRequest) protocol.Peer {
	p := protocol.Peer{UID: loopback.UIDOf(ctx), PID: -1}
	if info, ok := req.Params.Meta[sdk.MetaKeyClientInfo].(map[string]any); ok { // the request's own wins
		p.Client, _ = info["name"].(string)
	} else if s := req.Session; s != nil {
		if init := s.InitializeParams(); init != nil && init.ClientInfo != nil {
			p.Client = init.ClientInfo.Name
		}
	}
	return p
}
