package terminalmcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/protocol/mcp"
)

// Profile returns the server as a profile of MCP.
func (s *Server) Profile() *mcp.Profile {
	p := profile(toolsFor(s.opts.Grant.Rights),
		func(ctx context.Context, name string,
			args json.RawMessage) *Result {
			return s.Call(ctx, name, args)
		}, unknown...)
	p.Options.Instructions = Instructions
	p.Options.Capabilities.Prompts = &sdk.PromptCapabilities{}
	p.Close = s.Close
	install := p.Install
	p.Install = func(m *sdk.Server) {
		install(m)
		m.AddPrompt(&sdk.Prompt{Name: PromptName, Description: promptDescription},
			func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user",
					Content: &sdk.TextContent{Text: PromptText}}}}, nil
			})
	}
	return p
}

// profile is a profile of tools that call runs. Methods whose name begins with one of missing are
// not found.
func profile(all []Tool, call func(ctx context.Context, name string, args json.RawMessage) *Result,
	missing ...string) *mcp.Profile {
	return &mcp.Profile{
		Implementation: sdk.Implementation{Name: Name, Version: Version},
		Options:        sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}},
		NotFound:       "Method not found",
		Install: func(m *sdk.Server) {
			for _, t := range all {
				m.AddTool(&sdk.Tool{Name: t.Name, Description: t.Description,
					InputSchema: t.Schema}, uncalled)
			}
			m.AddReceivingMiddleware(middleware(all, call, missing))
		},
	}
}

// unknown are methods that the SDK serves and Terminal MCP does not.
var unknown = []string{"resources/", "completion/", "logging/"}

// uncalled is the handler of the tools in the SDK's list: the middleware calls them.
func uncalled(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return nil, errors.New("a call passed the middleware")
}

// middleware does what Terminal MCP does differently from the SDK: it calls the tools (an unknown
// one gives a result too), keeps their order, has its own text for an unknown prompt, and has no
// resources.
func middleware(all []Tool, call func(context.Context, string, json.RawMessage) *Result,
	missing []string) sdk.Middleware {
	known := map[string]int{}
	for i, t := range all {
		known[t.Name] = i
	}
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if slices.ContainsFunc(missing,
				func(prefix string) bool { return strings.HasPrefix(method, prefix) }) {
				return nil,
					&jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found"}
			}
			switch p := req.GetParams().(type) {
			case *sdk.CallToolParamsRaw:
				if r, ok := req.(*sdk.CallToolRequest); ok {
					ctx = context.WithValue(ctx, peerKey{}, mcp.PeerOf(ctx, r))
				}
				return sdkResult(call(ctx, p.Name, p.Arguments)), nil
			case *sdk.GetPromptParams:
				if p.Name != PromptName {
					return nil,
						&jsonrpc.Error{Code: jsonrpc.CodeInternalError,
							Message: "Unknown prompt: " + p.Name}
				}
			}
			r, err := next(ctx, method, req)
			if l, ok := r.(*sdk.ListToolsResult); ok && err == nil {
				slices.SortFunc(l.Tools,
					func(a, b *sdk.Tool) int { return known[a.Name] - known[b.Name] })
			}
			return r, err
		}
	}
}

type peerKey struct{} // of the protocol.Peer that made a call

// sdkResult converts r for the SDK.
func sdkResult(r *Result) sdk.Result {
	out := &sdk.CallToolResult{Content: make([]sdk.Content, len(r.Content))}
	for i, c := range r.Content {
		if c.Type == "image" {
			out.Content[i] = &sdk.ImageContent{Data: c.Data, MIMEType: c.MimeType}
		} else {
			out.Content[i] = &sdk.TextContent{Text: c.Text}
		}
	}
	if r.IsError != nil && !*r.IsError {
		return toldResult{out}
	}
	out.IsError = r.IsError != nil
	return out
}

// A toldResult writes isError even when it is false, which the SDK leaves out.
type toldResult struct{ *sdk.CallToolResult }

// MarshalJSON writes the result with isError.
func (r toldResult) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(r.CallToolResult)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"isError":false,`), b[1:]...), nil
}
