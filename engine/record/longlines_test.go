package record

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/vt"
)

// longest is the length of the longest line, in bytes.
func longest(data []byte) int {
	n := 0
	for line := range bytes.Lines(data) {
		n = max(n, len(line))
	}
	return n
}

// A large screen in which every cell has colours of its own is more than one event takes, and read
// back as it was.
func TestBegunOnALargeScreen(t *testing.T) {
	const rows, cols = 120, vt.MaxSide
	var b strings.Builder
	for y := range rows {
		fmt.Fprintf(&b, "\x1b[%dH", y+1)
		for x := range cols {
			fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm\x1b[48;2;1;%d;%dmé", x%256, y%256, (x+y)%256, x%256, y%256)
		}
	}
	b.WriteString("\x1b[H")
	term := vt.New(rows, cols, vt.Options{})
	term.Feed([]byte(b.String()))
	c, m := memCast(t, CastOptions{Rows: rows, Cols: cols, Screen: term.Snapshot(), Raw: true})
	must(t, c.Close())
	if n := longest(m.data); n > lineMax/8 {
		t.Errorf("a line of %d bytes; at most %d are read", n, lineMax)
	}
	if d := diffScreens(term.Snapshot(), at(t, load(t, m.data), 0)); d != "" {
		t.Error(d)
	}
}

// Bytes that JSON makes six of, and a header of them, stay far below what readers take.
func TestLinesOfHostileBytes(t *testing.T) {
	for _, text := range []string{"\x01", "\xff", "é", "\"", "\U0001F600"} {
		text = strings.Repeat(text, 600<<10/len(text))
		c, m := memCast(t, CastOptions{Title: text, Command: text, Shell: text, Term: text, Raw: true})
		must(t, c.Output(after(1), []byte(text)))
		must(t, c.Marker(after(2), text))
		must(t, c.Close())
		if n := longest(m.data); n > lineMax/8 {
			t.Errorf("%.4q: a line of %d bytes; at most %d are read", text, n, lineMax)
		}
		var out strings.Builder
		for e := range load(t, m.data).Events() {
			if e.Kind == EventOutput {
				out.WriteString(e.Text)
			}
		}
		if want := strings.ToValidUTF8(strings.ReplaceAll(text, "\xff", "\uFFFD"), "\uFFFD"); out.String() != want {
			t.Errorf("%.4q: %d bytes are read back, want %d", text, out.Len(), len(want))
		}
	}
}
