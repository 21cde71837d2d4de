package protocol_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ptywright/ptywright/protocol"
)

// A coded dialect has rows that fail, and one code for everything.
type coded struct {
	code   int
	names  []string
	closed chan<- int
}

func (d coded) Open(*protocol.Conn) protocol.Handler { return d }
func (d coded) Close()                               { d.closed <- d.code }
func (d coded) Error(err error) *protocol.Error {
	return &protocol.Error{Code: d.code, Message: err.Error()}
}
func (d coded) Method(name string) (protocol.Method, bool) {
	call := func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("refused") }
	return protocol.Method{Name: name, Call: call}, slices.Contains(d.names, name)
}

// TestCombinedDialectsKeepTheirCodes has each row judged by its own dialect, and what is nobody's
// by the first.
func TestCombinedDialectsKeepTheirCodes(t *testing.T) {
	closed := make(chan int, 3)
	d := protocol.Combine(coded{1, []string{"a", "both"}, closed}, coded{2, []string{"b", "both"}, closed}, coded{3, []string{"c"}, closed})
	client, server := socketPair(t)
	done := make(chan error)
	go func() { done <- protocol.NewConn(server, d, protocol.Config{}).Serve(t.Context()) }()
	answers := bufio.NewScanner(client)
	for _, c := range []struct {
		method string
		code   int
	}{{"a", 1}, {"b", 2}, {"c", 3}, {"both", 1}, {"none", 1}} {
		fmt.Fprintf(client, `{"jsonrpc":"2.0","id":1,"method":%q}`+"\n", c.method)
		if !answers.Scan() {
			t.Fatal(answers.Err())
		}
		var r struct{ Error struct{ Code int } }
		if err := json.Unmarshal(answers.Bytes(), &r); err != nil || r.Error.Code != c.code {
			t.Errorf("%s: %s, expected the code %d", c.method, answers.Text(), c.code)
		}
	}
	client.Close()
	if err := <-done; err != nil && !errors.Is(err, protocol.ErrPeerGone) {
		t.Error(err)
	}
	for range 3 {
		<-closed
	}
}
