package native_test

import (
	"context"
	"net"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/native"
	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// TestChecks is what every dialect holds to.
func TestChecks(t *testing.T) {
	log, logged := protocoltest.Logger()
	p := enginetest.New()
	e := enginetest.Engine(p)
	defer e.Close(context.Background())
	d := native.New(host.Over(e, nil, log), native.Options{})
	protocoltest.Checks{
		Dial: func(t *testing.T) protocoltest.Peer {
			return protocoltest.Over(t, func(c net.Conn) { protocol.NewConn(c, d, protocol.Config{Log: log}).Serve(context.Background()) })
		},
		Ask: `{"jsonrpc":"2.0","id":%d,"method":"session.list"}`,
		Log: logged,
		Canary: func(ask func(string) string) {
			const c = protocoltest.Canary
			p.Print("token=" + c + "\r\n\x1b]0;password=" + c + "\a\r\ndone\r\n")
			ask(`{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"program":"x","args":["--token","` + c + `"],"env":{"TOKEN":"` + c + `"}}}`)
			ask(`{"jsonrpc":"2.0","id":2,"method":"session.wait","params":{"session":"s1","matcher":{"type":"contains_text","value":"done"}}}`)
			for _, method := range []string{"snapshot", "transcript", "scrollback", "blocks", "frame", "screenshot"} {
				ask(`{"jsonrpc":"2.0","id":"` + method + `","method":"session.` + method + `","params":{"session":"s1","path":""}}`)
			}
			ask(`{"jsonrpc":"2.0","id":3,"method":"session.list","params":{"details":true}}`)
			ask(`{"jsonrpc":"2.0","id":4,"method":"session.wait","params":{"session":"s1","timeout_ms":0,"matcher":{"type":"contains_text","value":"` + c + `x"}}}`)
			ask(`{"jsonrpc":"2.0","id":5,"method":"session.snapshot","params":{"session":"` + c + `"}}`)
		},
	}.Run(t)
}
