package reading_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/redact"
)

// BenchmarkTurn is a line that is typed, the program's answer, and a look at the screen with its
// secrets covered: with echo on and off, after no line and after 600, with nothing known to be
// secret and with a thousand values.
func BenchmarkTurn(b *testing.B) {
	for _, echo := range []bool{true, false} {
		for _, lines := range []int{0, 600} {
			for _, values := range []int{0, 1000} {
				b.Run(fmt.Sprintf("echo=%v/lines=%d/known=%d", echo, lines, values), func(b *testing.B) { benchmarkTurn(b, echo, lines, values) })
			}
		}
	}
}

func benchmarkTurn(b *testing.B, echo bool, lines, values int) {
	known := new(redact.Known)
	for i := range values {
		known.Add(fmt.Sprintf("tok-%x-%x", i*7919, i))
	}
	hide := redact.Default.With(known)
	p := enginetest.New()
	p.SetLineMode(pty.LineMode{Canonical: true, CRToNL: true, Echo: echo})
	e := engine.New(engine.Options{
		Start: func(pty.Command) (engine.PTY, error) { return p, nil }, Typed: reading.Learn(known), Asks: redact.Asks,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	s, err := e.Spawn(b.Context(), engine.Config{Program: "fake"})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close(context.Background())
	turn := func(n int) {
		if _, err := s.Do(b.Context(), engine.Text(fmt.Sprintf("line number %d\n", n))); err != nil {
			b.Fatal(err)
		}
		since := s.Sequence()
		p.Print(fmt.Sprintf("got-line number %d\r\n", n))
		for {
			changed := s.Changed()
			if s.Sequence() > since {
				break
			}
			<-changed
		}
		reading.New(s.View(), hide).Screen().Text()
	}
	for n := range max(lines, 24) { // a full screen, in any case
		turn(n)
	}
	for n := 0; b.Loop(); n++ {
		turn(n)
	}
}
