package vt

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMemoryBounds: an idle terminal costs a few KiB, a full scrollback of 80 columns under 2 MiB.
func TestMemoryBounds(t *testing.T) {
	if n := heldBytes(func(*Terminal) {}); n > 6<<10 {
		t.Errorf("an untouched terminal holds %d bytes", n)
	}
	line := []byte(strings.Repeat("x", 79) + "\r\n")
	if n := heldBytes(func(t *Terminal) {
		for range 10_100 {
			t.Feed(line)
		}
	}); n > 2<<20 {
		t.Errorf("a full scrollback holds %d bytes", n)
	}
}

// TestSnapshotCost: a snapshot of 24x80 stays under 1 KiB, and one without a change costs nothing.
func TestSnapshotCost(t *testing.T) {
	term := filled(24, 80)
	bytesOf := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			term.fresh = false
			term.Snapshot()
		}
	}).AllocedBytesPerOp()
	if bytesOf > 1<<10 {
		t.Errorf("a snapshot takes %d bytes", bytesOf)
	}
	if n := testing.AllocsPerRun(100, func() { term.Snapshot() }); n != 0 {
		t.Errorf("a snapshot without a change allocates %v times", n)
	}
}

// TestNoAllocationPerByte: output allocates for the scrollback only.
func TestNoAllocationPerByte(t *testing.T) {
	for name, data := range streams {
		term := New(24, 80, Options{Scrollback: -1})
		term.Feed(data)
		if n := testing.AllocsPerRun(3, func() { term.Feed(data) }); n > 64 {
			t.Errorf("%s: %v allocations for 1 MiB", name, n)
		}
	}
}

// TestHostileInputIsLinear: a MiB of the most expensive input that is known for each kind of work is
// done within a bound that is only there to notice a hang, and keeps no more than 64 MiB.
func TestHostileInputIsLinear(t *testing.T) {
	inputs := map[string]string{
		"REP":                   "a\x1b[9999999b",
		"scroll up and down":    "\x1b[999S\x1b[999T",
		"insert lines":          "\x1b[H\x1b[999L\x1b[999M",
		"insert characters":     "x\x1b[H\x1b[999@\x1b[999P",
		"columns":               "x\x1b[H\x1b[999'}\x1b[999'~",
		"align and scroll":      "\x1b#8\x1b[999S",
		"erase with background": "\x1b[41m\x1b[2J\x1b[m\x1b[2J",
		"tabs":                  "\x1b[65535I\x1b[65535Z",
		"alternate screen":      "\x1b[?1049hx\x1b[?1049l",
		"synchronized updates":  "\x1b[?2026hx\x1b[?2026l",
		"reset":                 "x\x1bc",
		"soft reset":            "\x1b[5;6r\x1b[!p",
		"marks":                 "e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b\u030c\u030d\u030e\u030f\u0310\u0311",
		"marks on one cell":     "\u0301",
		"clusters":              "\x1b[?2027h👩\u200d👩\u200d👧❤\ufe0f\r",
		"links":                 "\x1b]8;;" + strings.Repeat("u", 2000) + "\x07x\x1b]8;;\x07y",
		"short links":           "\x1b]8;;a\x07x\x1b]8;;b\x07y\r",
		"underline colours":     "\x1b[58;5;1mx\x1b[58;5;2my\r",
		"titles":                "\x1b]2;x\x07\x1b[22t\x1b[23t",
		"events":                "\x1b]133;A\x07",
		"queries":               "\x1b[c\x1b[6n\x1bP$qm\x1b\\",
		"parameters":            "\x1b[" + strings.Repeat("1;", 4000) + "m",
		"unfinished string":     strings.Repeat("x", 4000),
		"line feeds":            "\n",
		"reverse index":         "\x1bM",
		"wrapped wide":          "日",
		"true colours":          "\x1b[38;2;1;2;3m\x1b[48;2;4;5;6mx\x1b[38;2;3;2;1m\x1b[48;2;6;5;4my",
		"selective erase":       "\x1b[H\x1b[1\"qx\x1b[?2J",
		"invalid UTF-8":         "\xff\xe6\xf0\x9f",
		"window sizes":          "\x1b[?2048h",
	}
	for name, unit := range inputs {
		data := []byte(strings.Repeat(unit, 1<<20/len(unit)))
		if name == "unfinished string" {
			data = append([]byte("\x1b]0;"), bytes.Repeat([]byte(unit), 1<<20/len(unit))...)
		}
		for _, size := range [][2]int{{24, 80}, {1, 1}, {200, 500}} {
			term := New(size[0], size[1], Options{})
			start := time.Now()
			term.Feed(data)
			term.Snapshot()
			took := time.Since(start)
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			t.Logf("%-22s %4dx%-4d %8.1f ms, heap %4.1f MiB", name, size[0], size[1], float64(took.Microseconds())/1000, float64(m.HeapAlloc)/(1<<20))
			if took > 30*time.Second {
				t.Errorf("%s on %v: %v for 1 MiB", name, size, took)
			}
			runtime.KeepAlive(term)
		}
	}
}
