package unterm

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// TestChecks is what every dialect holds to.
func TestChecks(t *testing.T) {
	log, logged := protocoltest.Logger()
	p := enginetest.New()
	e := enginetest.Engine(p)
	defer e.Close(context.Background())
	s := desk()
	s.Host = host.Over(e, nil, log)
	s.panes.engine, s.covered = e, s.Redactor()
	s.audit.hide = s.covered.ForAll()
	protocoltest.Checks{
		Dial: func(t *testing.T) protocoltest.Peer {
			return protocoltest.Over(t, func(stream net.Conn) {
				c := &conn{server: s, stream: s.room.Enter(stream)}
				defer c.stream.Close()
				c.serve(context.Background())
			})
		},
		Hello: []string{strings.TrimSpace(login)},
		Ask:   `{"jsonrpc":"2.0","id":%d,"method":"server.info"}`,
		Log:   logged,
		Canary: func(ask func(string) string) {
			const c = protocoltest.Canary
			session, err := s.Spawn(t.Context(), engine.Config{Program: "x", Args: []string{c}, Env: map[string]string{"TOKEN": c}})
			if err != nil {
				t.Fatal(err)
			}
			printed := session.Changed()
			p.Print("token=" + c + "\r\n\x1b]0;password=" + c + "\a")
			<-printed
			for _, method := range []string{"session.list", "session.get", "session.env", "session.history", "session.read_tail", "screen.read", "screen.text", "screen.search"} {
				ask(`{"jsonrpc":"2.0","id":"` + method + `","method":"` + method + `","params":{"id":0,"pattern":"token"}}`)
			}
			ask(`{"jsonrpc":"2.0","id":"none","method":"screen.text","params":{"id":"` + c + `"}}`)
		},
	}.Run(t)
}
