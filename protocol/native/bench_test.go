package native

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/redact"
)

// BenchmarkSnapshot encodes full screens, redacted and not, with and without cells.
func BenchmarkSnapshot(b *testing.B) {
	for _, size := range []pty.Size{{Rows: 24, Cols: 80}, {Rows: 50, Cols: 200}} {
		p := enginetest.New()
		e := enginetest.Engine(p)
		s, err := e.Spawn(b.Context(), engine.Config{Program: "fake", Size: size})
		if err != nil {
			b.Fatal(err)
		}
		p.Print(strings.Repeat(fmt.Sprintf("\x1b[3%dmword \x1b[1mbold\x1b[m plain ", 4), int(size.Rows)*int(size.Cols)/18))
		for changed := s.Changed(); s.View().Screen.Text() == ""; changed = s.Changed() {
			<-changed
		}
		for _, cells := range []string{"none", "runs", "full"} {
			for name, hide := range map[string]*redact.Redactor{"redacted": redact.Default, "raw": nil} {
				b.Run(fmt.Sprintf("%dx%d/%s/%s", size.Rows, size.Cols, cells, name), func(b *testing.B) {
					var out []byte
					b.ReportAllocs()
					for b.Loop() {
						out = newLook(s.View(), hide, cells).AppendJSON(out[:0])
					}
					b.SetBytes(int64(len(out)))
				})
			}
		}
		e.Close(context.Background())
	}
}
