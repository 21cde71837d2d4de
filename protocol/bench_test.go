package protocol_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"sync"
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

// parsingLoop is the bare loop that also reads each line as an envelope and encodes its reply, with
// encoding/json and no rule of JSON-RPC kept.
func parsingLoop(conn net.Conn) {
	r, w := bufio.NewReaderSize(conn, 64<<10), bufio.NewWriterSize(conn, 64<<10)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params echoParams      `json:"params"`
		}
		if json.Unmarshal(line, &request) != nil {
			return
		}
		reply, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": request.ID, "result": request.Params})
		w.Write(append(reply, '\n'))
		if r.Buffered() == 0 {
			w.Flush()
		}
	}
}

// BenchmarkRequests compares a served connection with two loops, in the same run: "of-bare" is what
// counts, the rate as a share of that of the bare loop measured just before.
func BenchmarkRequests(b *testing.B) {
	for _, window := range []int{1, 64} {
		name := map[int]string{1: "one at a time", 64: "64 in flight"}[window]
		var bare float64
		b.Run(name+"/bare loop", func(b *testing.B) { bare = requests(b, bareLoop, window) })
		b.Run(name+"/parsing loop", func(b *testing.B) { b.ReportMetric(requests(b, parsingLoop, window)/bare, "of-bare") })
		b.Run(name+"/served", func(b *testing.B) { b.ReportMetric(requests(b, conn, window)/bare, "of-bare") })
	}
}

// requests keeps up to window requests unanswered over a Unix socket, and returns requests per
// second.
func requests(b *testing.B, serve func(net.Conn), window int) float64 {
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
	var sender sync.WaitGroup
	defer sender.Wait()
	over := make(chan struct{})
	defer close(over)
	sender.Go(func() {
		for {
			select {
			case free <- struct{}{}:
			case <-over:
				return
			}
			if _, err := c.Write(benchRequest); err != nil {
				return
			}
		}
	})
	r := bufio.NewReaderSize(c, 64<<10)
	for b.Loop() {
		if _, err := r.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
		<-free
	}
	rate := float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "requests/s")
	return rate
}

// BenchmarkDispatch is what one request costs without a stream: framing, envelope, order, decoding,
// encoding.
func BenchmarkDispatch(b *testing.B) {
	b.ReportAllocs()
	in := io.NopCloser(&repeat{line: benchRequest, left: b.N})
	stream := protocol.Join(in, discard{})
	if err := protocol.NewConn(stream, echoDialect{}, protocol.Config{}).Serve(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// repeat reads as one line, many times.
type repeat struct {
	line []byte
	left int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	for r.left > 0 && len(p)-n >= len(r.line) {
		n += copy(p[n:], r.line)
		r.left--
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
