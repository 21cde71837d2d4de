package native_test

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/native"
)

// BenchmarkTurn types a line and waits for the program's answer to it, over a socket: all that a
// turn costs but for the kernel's terminal. The program answers at once.
func BenchmarkTurn(b *testing.B) {
	for name, echo := range map[string]bool{"echo": true, "no echo": false} {
		b.Run(name, func(b *testing.B) {
			p := enginetest.New()
			p.SetLineMode(pty.LineMode{Canonical: true, Echo: echo, CRToNL: true})
			p.WhenTaken(func(line []byte) { p.Print("R" + string(bytes.TrimSpace(line)) + ".\r\n") })
			w := newWire(b, enginetest.Engine(p))
			turns(b, w)
		})
	}
}

// turns takes turns with a program that answers each line with R and the line.
func turns(b *testing.B, w *wire) { turnsOf(b, w, w.create()) }

// turnsOf is turns with a session that is there.
func turnsOf(b *testing.B, w *wire, id string) {
	r := bufio.NewReaderSize(w.c, 64<<10) // an answer is one slice of it
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		fmt.Fprintf(w.c, `{"id":%d,"jsonrpc":"2.0","method":"session.input","params":{"action":{"type":"text","value":"%05d\n"},"session":"%s"}}`+"\n", 2*n, n, id)
		if _, err := r.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(w.c, `{"id":%d,"jsonrpc":"2.0","method":"session.wait","params":{"matcher":{"type":"contains_text","value":"R%05d."},"session":"%s","timeout_ms":20000}}`+"\n", 2*n+1, n, id)
		if _, err := r.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTurnWithRights is BenchmarkTurn of connections that may do everything, that gave up what
// a turn does not need, and whose requests an audit is told of.
func BenchmarkTurnWithRights(b *testing.B) {
	for _, name := range []string{"admin", "type", "audited"} {
		b.Run(name, func(b *testing.B) {
			p := enginetest.New()
			p.SetLineMode(pty.LineMode{Canonical: true, CRToNL: true})
			p.WhenTaken(func(line []byte) { p.Print("R" + string(bytes.TrimSpace(line)) + ".\r\n") })
			e, told := enginetest.Engine(p), 0
			config := protocol.Config{}
			if name == "audited" {
				config.Audit = func(protocol.Act) { told++ }
			}
			d := native.New(host.Over(e, nil, slog.New(slog.DiscardHandler)), native.Options{})
			c := serveConfig(b, e, d, config)
			w := &wire{t: b, c: c, r: bufio.NewReader(c)}
			if name == "type" { // what turns creates first is not for it
				other := newWireOf(b, e, d)
				id := other.create()
				w.result("server.set_rights", obj{"rights": "type"})
				turnsOf(b, w, id)
				return
			}
			turns(b, w)
		})
	}
}
