package protocol_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol"
)

func TestSmoke(t *testing.T) {
	a, b := net.Pipe()
	c := protocol.NewConn(b, smoke{}, protocol.Config{})
	done := make(chan error, 1)
	go func() { done <- c.Serve(context.Background()) }()
	go a.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}` + "\n" + `[{"jsonrpc":"2.0","id":2,"method":"echo"},{"jsonrpc":"2.0","id":"x","method":"nope"},3]` + "\n{\n"))
	r := bufio.NewReader(a)
	for range 3 {
		line, err := r.ReadString('\n')
		t.Log(strings.TrimSpace(line), err)
	}
	a.Close()
	t.Log(<-done)
}

type smoke struct{}

func (smoke) Open(*protocol.Conn) protocol.Handler { return smoke{} }
func (smoke) Method(name string) (protocol.Method, bool) {
	return protocol.Method{Name: name, Call: func(ctx context.Context, p json.RawMessage) (any, error) { return p, nil }}, name == "echo"
}
func (smoke) Error(err error) *protocol.Error { return protocol.Standard(err) }
func (smoke) Close()                          {}
