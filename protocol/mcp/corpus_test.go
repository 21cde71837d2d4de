package mcp

import (
	"io"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// TestCorpus is the suite of messages that every dialect passes, after a handshake. What the corpus
// asks of a method that answers at once is asked of ping.
func TestCorpus(t *testing.T) {
	stands := map[string]string{"session.list": "ping", `session.\u006cist`: `pin\u0067`, "server.capabilities": "ping"}
	protocoltest.Corpus(t, protocoltest.Suite{
		Family: "ndjson", Parallel: true,
		Has:     func(method string) bool { return stands[method] != "" },
		Replace: func(*testing.T) map[string]string { return stands },
		Dial: func(t *testing.T) protocoltest.Peer {
			s := newProbe()
			t.Cleanup(s.Close)
			p := protocoltest.Lines(s.ServeLines)(t)
			if _, err := io.WriteString(p, strings.Join(protocoltest.MCPHello, "\n")+"\n"); err != nil {
				t.Fatal(err)
			}
			for b := make([]byte, 1); b[0] != '\n'; { // its answer, and nothing after it
				if _, err := p.Read(b); err != nil {
					t.Fatal(err)
				}
			}
			return p
		},
		// MCP's ids are strings and integers that every client can tell apart.
		Differs: map[string]int{
			"ndjson.id.int53plus": -32600, "ndjson.id.int64max": -32600, "ndjson.id.uint64max": -32600, "ndjson.id.hundred-digits": -32600,
		},
	})
}
