package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol"
)

// sizes is a dialect whose replies have the size that is asked for.
type sizes struct{ echoDialect }

func (sizes) Open(*protocol.Conn) protocol.Handler { return sizes{} }

func (sizes) Method(name string) (protocol.Method, bool) {
	return protocol.Method{Name: name, Call: protocol.Bind(func(_ context.Context, p sessionParams) (any, error) {
		return sized{p.Bytes}, nil
	})}, name == "sized"
}

var errTooLong = errors.New("too long")

func (sizes) Error(err error) *protocol.Error {
	if errors.Is(err, errTooLong) {
		return &protocol.Error{Code: 9, Reason: "too_long", Message: err.Error()}
	}
	return protocol.Standard(err)
}

// mostSized is the most that a sized result may have.
const mostSized = 700 << 10

type sized struct{ n int }

func (s sized) text() string {
	return strings.Repeat(fmt.Sprintf("<%d>", s.n), s.n/3+1)[:s.n]
}

func (s sized) AppendJSON(b []byte) []byte { return append(append(append(b, '"'), s.text()...), '"') }

func (s sized) Fits(size int) error {
	if size > mostSized+2 { // the quotes
		return errTooLong
	}
	return nil
}

// TestBigRepliesAreWhole: large replies change hands instead of being copied, and what a socket
// does not take at once stays where it is. Whatever comes between them, each arrives whole and in
// its place.
func TestBigRepliesAreWhole(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, framing := range []protocol.Framing{protocol.Lines, protocol.Headers} {
		client, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		config := protocol.Config{Framing: framing, Log: quiet}
		go func() { served <- protocol.NewConn(server, sizes{}, config).Serve(t.Context()) }()
		var asked []int
		for i := range 40 {
			kinds := []int{10, 384 << 10, 70 << 10, 3, 520 << 10, 64 << 10, mostSized, 1000, mostSized + 1}
			asked = append(asked, kinds[i*7%len(kinds)])
		}
		go func() {
			for i, n := range asked {
				request := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"sized","params":{"bytes":%d}}`, i, n)
				if _, err := client.Write(framing.Append(nil, []byte(request))); err != nil {
					t.Errorf("%v: %v", framing, err)
					return
				}
			}
		}()
		r := framing.NewReader(client, 1<<30)
		for i, n := range asked {
			line, err := r.Next()
			if err != nil {
				t.Fatalf("%v: reply %d: %v", framing, i, err)
			}
			var reply struct {
				ID     int
				Result string
				Error  *struct{ Code int }
			}
			if err := json.Unmarshal(line, &reply); err != nil {
				t.Fatalf("%v: reply %d of %d bytes: %v", framing, i, n, err)
			}
			refused := reply.Error != nil && reply.Error.Code == 9
			if reply.ID != i || refused != (n > mostSized) || !refused && reply.Result != (sized{n}).text() {
				t.Fatalf("%v: reply %d of %d bytes has the id %d, an error %v, and %d bytes that are not it",
					framing, i, n, reply.ID, reply.Error, len(reply.Result))
			}
		}
		client.Close()
		if err := <-served; err != nil && !errors.Is(err, protocol.ErrPeerGone) && !errors.Is(err, io.EOF) {
			t.Errorf("%v: Serve: %v", framing, err)
		}
	}
}
