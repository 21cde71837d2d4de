package acp

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// TestChecks is what every dialect holds to.
func TestChecks(t *testing.T) {
	log, logged := protocoltest.Logger()
	p := enginetest.New()
	e := enginetest.Engine(p)
	defer e.Close(context.Background())
	protocoltest.Checks{
		Dial: over(New(host.Over(e, nil, log), Options{}), log),
		Ask:  `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":1}}`,
		Log:  logged,
		Canary: func(ask func(string) string) {
			const c = protocoltest.Canary
			p.Print("token=" + c + "\r\n")
			p.End(1)
			ask(`{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"S","command":"x","args":["` + c + `"],"env":[{"name":"TOKEN","value":"` + c + `"}]}}`)
			for _, method := range []string{"wait_for_exit", "output", "kill", "release"} {
				ask(`{"jsonrpc":"2.0","id":"` + method + `","method":"terminal/` + method + `","params":{"sessionId":"S","terminalId":"ptywright-s1"}}`)
				ask(`{"jsonrpc":"2.0","id":"no ` + method + `","method":"terminal/` + method + `","params":{"sessionId":"` + c + `","terminalId":"` + c + `"}}`)
			}
		},
	}.Run(t)
}

// over dials to a dialect.
func over(d protocol.Dialect, log *slog.Logger) func(t *testing.T) protocoltest.Peer {
	return func(t *testing.T) protocoltest.Peer {
		return protocoltest.Over(t, func(c net.Conn) { protocol.NewConn(c, d, protocol.Config{Log: log}).Serve(context.Background()) })
	}
}
