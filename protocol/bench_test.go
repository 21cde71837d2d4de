package protocol_test

import (
	"bufio"
	"context"
	"net"
	"path/filepath"
	"testing"

	"github.com/ptywright/ptywright/protocol"
)

// benchRequest is as long as a short real one.
var (
	benchRequest = []byte(`{"jsonrpc":"2.0","id":1234567,"method":"echo","params":{"session":"s12","redact":true}}` + "\n")
	benchReply   = []byte(`{"jsonrpc":"2.0","id":1234567,"result":{"session":"s12","redact":true}}` + "\n")
)

// bareLoop is the least a server of lines can do: it parses nothing and writes once for each read.
func bareLoop(conn net.Conn) {
	r, w := bufio.NewReaderSize(conn, 64<<10), bufio.NewWriterSize(conn, 64<<10)
	for {
		if _, err := r.ReadSlice('\n'); err != nil {
			return
		}
		w.Write(benchReply)
		if r.Buffered() == 0 {
			w.Flush()
		}
	}
}

func conn(c net.Conn) {
	protocol.NewConn(c, echoDialect{}, protocol.Config{}).Serve(context.Background())
}

// BenchmarkRequests compares a served connection with the bare loop, in the same run: the ratio of the
// two lines of a pair is what counts.
func BenchmarkRequests(b *testing.B) {
	for _, window := range []int{1, 64} {
		name := map[int]string{1: "one at a time", 64: "64 in flight"}[window]
		b.Run(name+"/bare loop", func(b *testing.B) { requests(b, bareLoop, window) })
		b.Run(name+"/served", func(b *testing.B) { requests(b, conn, window) })
	}
}

// requests keeps up to window requests unanswered over a Unix socket.
func requests(b *testing.B, serve func(net.Conn), window int) {
	l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		serve(c)
	}()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	// One write a request, as clients do that send each from where it came up.
	free := make(chan struct{}, window)
	go func() {
		for {
			free <- struct{}{}
			if _, err := c.Write(benchRequest); err != nil {
				return
			}
		}
	}()
	r := bufio.NewReaderSize(c, 64<<10)
	for b.Loop() {
		if _, err := r.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
		<-free
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
