package protocoltest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol"
)

// Faults checks how a dialect's faults are handled: a method that panics and one whose result does
// not encode are answered with -32603, and the connection continues, as does another one. Each dial
// connects to the same server, whose dialect is the one under test combined with [Broken].
func Faults(t *testing.T, dial func(t *testing.T) Peer, alive string) {
	t.Helper()
	bad, other := dial(t), dial(t)
	ask := func(p Peer, id int, method string) string {
		t.Helper()
		if _, err := fmt.Fprintf(p, `{"jsonrpc":"2.0","id":%d,"method":%q}`+"\n", id,
			method); err != nil {
			t.Fatal(err)
		}
		for r := protocol.Lines.NewReader(p, 1<<20); ; {
			line, err := r.Next()
			if err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			if strings.HasPrefix(string(line), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, id)) {
				return string(line)
			}
		}
	}
	for i, method := range brokenMethods {
		if got := ask(bad, i, method); !strings.Contains(got, `"code":-32603`) ||
			strings.Contains(got, brokenSecret) {
			t.Errorf("%s is answered %s", method, got)
		}
		for _, p := range []Peer{bad, other} {
			if got := ask(p, 100+i, alive); !strings.Contains(got, `"result"`) {
				t.Errorf("after %s, %s is answered %s", method, alive, got)
			}
		}
	}
}

// brokenSecret is the message of a panic in [Broken], which no client may read.
const brokenSecret = "the secret of the panic"

var brokenMethods = []string{"test.panic", "test.lookup", "test.unencodable", "test.encoder"}

// Broken is a dialect whose methods break, for [Faults].
type Broken struct{}

// Open returns the dialect itself.
func (Broken) Open(*protocol.Conn) protocol.Handler { return Broken{} }

// Close does nothing.
func (Broken) Close() {}

// Error answers as JSON-RPC does.
func (Broken) Error(err error) *protocol.Error { return protocol.Standard(err) }

// Method finds the methods that break. test.lookup breaks here.
func (Broken) Method(name string) (protocol.Method, bool) {
	call := func(context.Context, json.RawMessage) (any, error) {
		switch name {
		case "test.unencodable":
			return make(chan int), nil
		case "test.encoder":
			return brokenValue{}, nil
		}
		panic(brokenSecret)
	}
	if name == "test.lookup" {
		panic(brokenSecret)
	}
	return protocol.Method{Name: name, Call: call}, slices.Contains(brokenMethods, name)
}

// brokenValue is a value whose encoder fails.
type brokenValue struct{}

func (brokenValue) MarshalJSON() ([]byte, error) { panic(brokenSecret) }
