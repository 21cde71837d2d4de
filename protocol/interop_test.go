package protocol_test

import (
	"context"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol"
	"github.com/sourcegraph/jsonrpc2"
)

// TestInterop lets somebody else's client talk to both framings.
func TestInterop(t *testing.T) {
	for framing, codec := range map[protocol.Framing]jsonrpc2.ObjectCodec{
		protocol.Lines:   jsonrpc2.PlainObjectCodec{},
		protocol.Headers: jsonrpc2.VSCodeObjectCodec{},
	} {
		t.Run(framing.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			a, b := socketPair(t)
			done := make(chan error, 1)
			go func() {
				done <- protocol.NewConn(b, each{}, protocol.Config{Framing: framing}).Serve(context.Background())
			}()
			notes := make(chan string, 1)
			peer := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(a, codec),
				jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
					notes <- r.Method + string(*r.Params)
					return nil, nil
				}))
			var got sessionParams
			if err := peer.Call(ctx, "echo", sessionParams{Session: "s1", MS: 7}, &got); err != nil || got.MS != 7 {
				t.Errorf("echo: %+v, %v", got, err)
			}
			var fault *jsonrpc2.Error
			err := peer.Call(ctx, "no.such", nil, nil)
			if f, ok := err.(*jsonrpc2.Error); ok {
				fault = f
			}
			if fault == nil || fault.Code != jsonrpc2.CodeMethodNotFound {
				t.Errorf("no.such: %v", err)
			}
			var name string
			if err := peer.Call(ctx, "change", sessionParams{Name: "x"}, &name); err != nil || name != "x" {
				t.Errorf("change: %q, %v", name, err)
			}
			if n := <-notes; n != `changed{"name":"x"}` {
				t.Errorf("notification %s", n)
			}
			peer.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
