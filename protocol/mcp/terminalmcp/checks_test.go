package terminalmcp

import (
	"context"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// TestChecks is what every dialect holds to.
func TestChecks(t *testing.T) {
	log, logged := protocoltest.Logger()
	p := enginetest.New()
	e := enginetest.Engine(p)
	defer e.Close(context.Background())
	h := host.Over(e, nil, log)
	served, err := New(h, Options{Shell: "sh", RecordDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s := mcp.New(h, served.Profile())
	defer s.Close()
	call := func(tool, args string) string {
		return `{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
	}
	protocoltest.Checks{
		Dial:  protocoltest.Lines(s.ServeLines),
		Hello: protocoltest.MCPHello,
		Ask:   `{"jsonrpc":"2.0","id":%d,"method":"ping"}`,
		Log:   logged,
		Canary: func(ask func(string) string) {
			const c = protocoltest.Canary
			printed := served.Default().Changed()
			p.Print("token=" + c + "\r\n")
			<-printed
			ask(call("getContent", `{}`))
			ask(call("takeScreenshot", `{"format":"text"}`))
			ask(call("listSessions", `{}`))
			ask(call("stopRecording", `{"recordingId":"`+c+`"}`))
			ask(call("destroySession", `{"sessionId":"`+c+`"}`))
			ask(call(c, `{}`))
		},
	}.Run(t)
}
