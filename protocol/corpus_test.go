package protocol_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// TestCorpus runs the cases that are about envelopes and framings; those about sessions wait for a
// dialect that has them.
func TestCorpus(t *testing.T) {
	for family, framing := range map[string]protocol.Framing{"ndjson": protocol.Lines, "lsp": protocol.Headers} {
		t.Run(family, func(t *testing.T) {
			protocoltest.Corpus(t, protocoltest.Suite{
				Family: family,
				Dial: func(t *testing.T) protocoltest.Peer {
					client, server := socketPair(t)
					done := make(chan struct{})
					go func() {
						defer close(done)
						protocol.NewConn(server, fake{}, protocol.Config{Framing: framing}).Serve(context.Background())
					}()
					t.Cleanup(func() { <-done })
					return client
				},
				Has: func(method string) bool { _, ok := fake{}.Method(method); return ok },
			})
		})
	}
}

// socketPair returns both ends of a Unix socket connection.
func socketPair(t testing.TB) (client, server *net.UnixConn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return c.(*net.UnixConn), s.(*net.UnixConn)
}
