package native_test

import (
	"bufio"
	"bytes"
	"fmt"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
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
			id := w.create()
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
		})
	}
}
