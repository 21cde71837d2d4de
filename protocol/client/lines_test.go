package client

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

type input struct{ io.Reader }

func (input) Write(p []byte) (int, error) { return len(p), nil }
func (input) Close() error                { return nil }

func TestLinesOfAnyLengthUpToTheBound(t *testing.T) {
	const most = 200 << 10 // above the buffer
	for _, test := range []struct {
		n    int
		good bool
	}{{1, true}, {64<<10 - 1, true}, {64 << 10, true}, {most - 3, true}, {most - 2, false}, {10 * most, false}} {
		text := `"` + strings.Repeat("x", test.n) + `"` + "\n"
		l := newLines(input{strings.NewReader("\n \r\n" + text)})
		l.most = most
		var got string
		err := l.ReadObject(&got)
		if (err == nil) != test.good || test.good && len(got) != test.n {
			t.Errorf("a line of %d bytes: %v, %d bytes read, cause %v", len(text), err, len(got), l.cause())
		}
		if !test.good && (l.cause() == nil || !strings.Contains(l.cause().Error(), "204800 bytes")) {
			t.Errorf("cause %v", l.cause())
		}
	}
}

func TestWrittenMessagesAreOneLine(t *testing.T) {
	var b bytes.Buffer
	l := newLines(struct {
		io.Reader
		io.Writer
		io.Closer
	}{&b, &b, input{}})
	for range 2 {
		if err := l.WriteObject(map[string]string{"a": "b\nc"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.String(); got != strings.Repeat(`{"a":"b\nc"}`+"\n", 2) {
		t.Errorf("wrote %q", got)
	}
	var m json.RawMessage
	if err := l.ReadObject(&m); err != nil {
		t.Error(err)
	}
}
