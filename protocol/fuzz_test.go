package protocol_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"
	"unicode/utf8"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// FuzzConn sends hostile bytes through a whole connection: it ends, and all it says is JSON-RPC.
func FuzzConn(f *testing.F) {
	for _, family := range []string{"ndjson", "lsp"} {
		for _, c := range protocoltest.Cases(f, family) {
			f.Add(c.Bytes, family == "lsp")
		}
	}
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"echo","params":{"session":"s"}},{"jsonrpc":"2.0","id":2,"method":"$/cancelRequest","params":{"id":1}}]`), false)
	f.Fuzz(func(t *testing.T, in []byte, headers bool) {
		config := protocol.Config{Log: quiet}
		if headers {
			config.Framing = protocol.Headers
		}
		var out kept
		protocol.NewConn(protocol.Join(io.NopCloser(bytes.NewReader(in)), &out), echoDialect{}, config).Serve(context.Background())
		r := config.Framing.NewReader(&out.Buffer, 1<<30)
		for {
			message, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatalf("the server's own framing: %v", err)
			}
			parts := []json.RawMessage{message}
			if bytes.HasPrefix(message, []byte("[")) {
				err = json.Unmarshal(message, &parts)
			}
			for _, part := range parts {
				var reply map[string]json.RawMessage
				if err == nil {
					err = json.Unmarshal(part, &reply)
				}
				if err != nil || !utf8.Valid(part) || len(reply) != 3 || reply["id"] == nil || string(reply["jsonrpc"]) != `"2.0"` ||
					(reply["result"] == nil) == (reply["error"] == nil) {
					t.Fatalf("reply %q, %v", part, err)
				}
			}
		}
	})
}

type kept struct{ bytes.Buffer }

func (*kept) Close() error { return nil }
