package vt

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/ptywright/ptywright/internal/lanes"
)

// TestBytes holds the figure against the heap: a bound that is kept by a figure that lies keeps
// nothing.
func TestBytes(t *testing.T) {
	lines := func(n int, line string) []byte { return bytes.Repeat([]byte(line+"\r\n"), n) }
	for name, c := range map[string]struct {
		rows, cols int
		output     []byte
	}{
		"fresh":      {24, 80, nil},
		"a page":     {24, 80, lines(20, "some text of a program")},
		"large":      {200, 400, lines(200, string(bytes.Repeat([]byte("x"), 399)))},
		"scrollback": {24, 80, lines(20_000, "a line of an ordinary length, as builds and tests print them")},
		"styled":     {24, 80, lines(5_000, "\x1b[31mred \x1b[1;44mbold\x1b[m 漢字 e\u0301")},
		"alternate":  {50, 200, append([]byte("\x1b[?1049h"), lines(49, "drawn")...)},
	} {
		t.Run(name, func(t *testing.T) {
			most := lanes.Few(50, 10)
			var all []*Terminal
			grown := heapGrowth(func() {
				for range most {
					term := New(c.rows, c.cols, Options{})
					term.Feed(c.output)
					all = append(all, term)
				}
			})
			told := 0
			for _, term := range all {
				told += term.Bytes()
			}
			if ratio := float64(told) / float64(grown); ratio < 0.75 || ratio > 1.33 {
				t.Errorf("%d bytes are told of %d on the heap: %.2f", told/most, grown/most, ratio)
			}
			runtime.KeepAlive(all)
		})
	}
}

// heapGrowth returns by how much f makes what is reachable grow.
func heapGrowth(f func()) int {
	var before, after runtime.MemStats
	for range 3 { // what pools hold goes with the second
		runtime.GC()
	}
	runtime.ReadMemStats(&before)
	f()
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&after)
	return int(after.HeapAlloc) - int(before.HeapAlloc)
}
