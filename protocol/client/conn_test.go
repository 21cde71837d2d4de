package client

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

type input struct{ io.Reader }

func (input) Write(p []byte) (int, error) { return len(p), nil }
func (input) Close() error                { return nil }

func TestLinesOfAnyLengthUpToTheBound(t *testing.T) {
	const most = 200 << 10 // above the buffer
	around := len(fmt.Sprintf(`{"method":"m","params":"%s"}`+"\n", ""))
	for _, test := range []struct {
		n    int
		good bool
	}{{1, true}, {64<<10 - around, true}, {64 << 10, true}, {most - around, true}, {most - around + 1, false}, {10 * most, false}} {
		text := fmt.Sprintf(`{"method":"m","params":"%s"}`+"\n", strings.Repeat("x", test.n))
		var got int
		c := &conn{
			stream: input{}, in: newReader(strings.NewReader("\n \r\n" + text)), most: most, ended: make(chan struct{}),
			notice: func(_ string, params []byte) { got = len(params) - 2 },
		}
		c.read()
		if test.good != (c.err == nil) || test.good && got != test.n {
			t.Errorf("a line of %d bytes: %d bytes read, error %v", len(text), got, c.err)
		}
		if !test.good && !strings.Contains(c.err.Error(), "204800 bytes") {
			t.Errorf("error %v", c.err)
		}
	}
}
