package protocol_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ptywright/ptywright/protocol"
)

// all reads until an error; a ParseError that can be read past shows as "!".
func all(f protocol.Framing, r io.Reader, max int) (messages []string, end error) {
	in := f.NewReader(r, max)
	for {
		m, err := in.Next()
		var parse *protocol.ParseError
		switch {
		case err == nil:
			messages = append(messages, string(m))
		case errors.As(err, &parse) && !errors.Is(err, protocol.ErrFraming):
			messages = append(messages, "!")
		default:
			return messages, err
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, tt := range []struct{ in, want string }{
		{"a\nb\n", "a|b"},
		{"a\r\nb", "a\r|b"},
		{"\n \t\r\n\na\n\n", "a"},
		{long + "\na\n", "!|a"},
		{long, "!"},
		{strings.Repeat("y", 100_000) + "\n" + strings.Repeat("z", 100_001) + "\nb", strings.Repeat("y", 100_000) + "|!|b"},
		{strings.Repeat(" ", 90_000) + "\nb", "b"},
		{"", ""},
	} {
		for name, r := range readers(tt.in) {
			got, err := all(protocol.Lines, r, 100_000)
			if s := strings.Join(got, "|"); s != tt.want || err != io.EOF {
				t.Errorf("%s: %.60q: got %.60q, %v", name, tt.in, s, err)
			}
		}
	}
}

func TestLineLimitIsToldAtTheByte(t *testing.T) {
	r, w := io.Pipe()
	in := protocol.Lines.NewReader(r, 100)
	go w.Write(bytes.Repeat([]byte("x"), 200<<10)) // a line that never ends
	if _, err := in.Next(); err == nil || !strings.Contains(err.Error(), "over 100 bytes") {
		t.Errorf("got %v", err)
	}
	go func() {
		w.Write([]byte("\nnext\n"))
		w.Close()
	}()
	if m, err := in.Next(); err != nil || string(m) != "next" {
		t.Errorf("after the long line: %q, %v", m, err)
	}
}

func TestHeaders(t *testing.T) {
	const body = "Content-Length: 2\r\n\r\nab"
	for _, tt := range []struct {
		in, want string
		end      error
	}{
		{body + body, "ab|ab", io.EOF},
		{"content-LENGTH:\t02 \r\nContent-Type: x; charset=utf-8\r\n\r\nab", "ab", io.EOF},
		{"Content-Length: 2\n\nab", "ab", io.EOF},
		{"\r\n\r\n" + body, "ab", io.EOF},
		{"X-A: b\r\n folded\r\n" + body, "ab", io.EOF},
		{"Content-Length: 2\r\nContent-Length: 2\r\n\r\nab", "ab", io.EOF},
		{"Content-Length: 0\r\n\r\n" + body, "|ab", io.EOF},
		{"Content-Length: 100000\r\n\r\n" + strings.Repeat("x", 100_000) + body, strings.Repeat("x", 100_000) + "|ab", io.EOF},
		{"Content-Length: 2\r\nContent-Length: 3\r\n\r\nab", "", protocol.ErrFraming},
		{"Content-Length: 2\r\n 3\r\n\r\nab", "", protocol.ErrFraming},
		{" X: folded\r\n" + body, "", protocol.ErrFraming},
		{"Content-Length: 100001\r\n\r\n", "", protocol.ErrFraming},
		{"Content-Length: -2\r\n\r\nab", "", protocol.ErrFraming},
		{"Content-Length: +2\r\n\r\nab", "", protocol.ErrFraming},
		{"Content-Length: 2.0\r\n\r\nab", "", protocol.ErrFraming},
		{"Content-Length: 0x2\r\n\r\nab", "", protocol.ErrFraming},
		{"Content-Length: 2 2\r\n\r\nab", "", protocol.ErrFraming},
		{"Content-Length:\r\n\r\nab", "", protocol.ErrFraming},
		{"Content-Length: 99999999999999999999999999\r\n\r\nab", "", protocol.ErrFraming},
		{"Content-Length: 18446744073709551618\r\n\r\nab", "", protocol.ErrFraming},
		{"Content-Length : 2\r\n\r\nab", "", protocol.ErrFraming},
		{"Content-Length 2\r\n\r\nab", "", protocol.ErrFraming},
		{"X-A: b\r\n\r\nab", "", protocol.ErrFraming},
		{"X\x00A: b\r\n" + body, "", protocol.ErrFraming},
		{": b\r\n" + body, "", protocol.ErrFraming},
		{"X: " + strings.Repeat("a", 1100) + "\r\n" + body, "", protocol.ErrFraming},
		{"X: " + strings.Repeat("a", 200_000), "", protocol.ErrFraming},
		{strings.Repeat("X: b\r\n", 33) + body, "", protocol.ErrFraming},
		{strings.Repeat("\r\n", 5000), "", protocol.ErrFraming},
		{strings.Repeat("X: "+strings.Repeat("a", 1000)+"\r\n", 9) + body, "", protocol.ErrFraming},
		{`{"jsonrpc":"2.0"}` + "\n", "", protocol.ErrFraming},
		{"Content-Len", "", io.ErrUnexpectedEOF},
		{"Content-Length: 2\r\n", "", io.ErrUnexpectedEOF},
		{"Content-Length: 2\r\n\r\na", "", io.ErrUnexpectedEOF},
	} {
		for name, r := range readers(tt.in) {
			got, err := all(protocol.Headers, r, 100_000)
			if s := strings.Join(got, "|"); s != tt.want || !errors.Is(err, tt.end) {
				t.Errorf("%s: %.60q: got %.60q, %v", name, tt.in, s, err)
			}
		}
	}
}

// readers hands the text over whole and byte by byte.
func readers(text string) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":        strings.NewReader(text),
		"byte by byte": iotest.OneByteReader(strings.NewReader(text)),
	}
}

// TestSplitAnywhere cuts a stream of two messages in two at every byte.
func TestSplitAnywhere(t *testing.T) {
	for _, f := range []protocol.Framing{protocol.Lines, protocol.Headers} {
		stream := f.Append(f.Append(nil, []byte(`{"a":"日本"}`)), []byte(`[1,2]`))
		want, _ := all(f, bytes.NewReader(stream), 1000)
		if len(want) != 2 {
			t.Fatalf("%v: %q", f, want)
		}
		for i := range stream {
			r := io.MultiReader(bytes.NewReader(stream[:i]), bytes.NewReader(stream[i:]))
			if got, err := all(f, r, 1000); strings.Join(got, "|") != strings.Join(want, "|") || err != io.EOF {
				t.Errorf("%v cut at %d: %q, %v", f, i, got, err)
			}
		}
	}
}

// TestAnnouncedSizeTakesNoMemory announces 16 MiB and sends nothing of it.
func TestAnnouncedSizeTakesNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := protocol.Headers.NewReader(strings.NewReader("Content-Length: 16777216\r\n\r\nx"), 16<<20).Next()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("%d bytes were taken for a body of one", taken)
	}
}

func TestParseFraming(t *testing.T) {
	for _, f := range []protocol.Framing{protocol.Lines, protocol.Headers} {
		if got, err := protocol.ParseFraming(f.String()); got != f || err != nil {
			t.Errorf("%v: %v, %v", f, got, err)
		}
	}
	if _, err := protocol.ParseFraming("xml\n"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("xml: %v", err)
	}
}

// FuzzFraming: what is appended is read back, in any pieces; hostile bytes give no more memory than
// the bound, and the same messages in any pieces.
func FuzzFraming(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\nab"), 3)
	f.Add([]byte("{}\n\n{}"), 1)
	f.Add([]byte("Content-Length: 99999999999\r\n\r\n"), 7)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		const max = 1000
		for _, framing := range []protocol.Framing{protocol.Lines, protocol.Headers} {
			whole, end := all(framing, bytes.NewReader(b), max)
			parts, endParts := all(framing, &pieces{b, piece&15 + 1}, max)
			if strings.Join(whole, "\x00") != strings.Join(parts, "\x00") || (end == io.EOF) != (endParts == io.EOF) {
				t.Fatalf("%v: whole %q %v, in pieces %q %v", framing, whole, end, parts, endParts)
			}
			for _, m := range whole {
				if len(m) > max {
					t.Fatalf("%v: message of %d bytes", framing, len(m))
				}
			}
			message := bytes.ReplaceAll(b, []byte("\n"), []byte(" "))
			if framing == protocol.Lines && len(bytes.Trim(message, " \t\r")) == 0 || len(message) > max {
				continue
			}
			got, end := all(framing, &pieces{framing.Append(framing.Append(nil, message), message), piece&15 + 1}, max)
			if len(got) != 2 || got[0] != string(message) || got[0] != got[1] || end != io.EOF {
				t.Fatalf("%v: %q came back as %q, %v", framing, message, got, end)
			}
		}
	})
}

type pieces struct {
	rest []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.size, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}
