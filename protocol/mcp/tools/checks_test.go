package tools_test

import (
	"context"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/protocol/mcp/tools"
	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// TestChecks is what every dialect holds to.
func TestChecks(t *testing.T) {
	t.Parallel()
	log, logged := protocoltest.Logger()
	p := enginetest.New()
	e := enginetest.Engine(p)
	defer e.Close(context.Background())
	h := host.Over(e, nil, log)
	s := mcp.New(h, tools.New(h, tools.Options{}))
	defer s.Close()
	call := func(id, tool, args string) string {
		return `{"jsonrpc":"2.0","id":"` + id + `","method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
	}
	protocoltest.Checks{
		Dial:  protocoltest.Lines(s.ServeLines),
		Hello: protocoltest.MCPHello,
		Ask:   `{"jsonrpc":"2.0","id":%d,"method":"ping"}`,
		Log:   logged,
		Canary: func(ask func(string) string) {
			const c = protocoltest.Canary
			p.Print("token=" + c + "\r\n\x1b]0;password=" + c + "\a\r\ndone\r\n")
			ask(call("start", "start", `{"program":"x","args":["--token","`+c+`"],"env":{"TOKEN":"`+c+`"},"wait_for":{"text":"done"}}`))
			ask(call("read", "read", `{"session":"s1"}`))
			ask(call("changes", "read", `{"session":"s1","what":"changes","since":0}`))
			ask(call("list", "sessions", `{}`))
			ask(call("wait", "wait", `{"session":"s1","text":"`+c+`x","timeout_ms":1}`))
			ask(call("none", "read", `{"session":"`+c+`"}`))
			ask(call("wrong", "read", `{"`+c+`":1}`))
			ask(`{"jsonrpc":"2.0","id":"uri","method":"resources/read","params":{"uri":"ptywright://sessions/` + c + `/screen"}}`)
		},
	}.Run(t)
}
