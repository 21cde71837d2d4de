package vt

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/internal/lanes"
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

// TestNoAllocationPerByte: output allocates for the lines that left the screen only, some six times
// a block of them.
func TestNoAllocationPerByte(t *testing.T) {
	for name, data := range streams {
		term := New(24, 80, Options{Scrollback: -1})
		term.Feed(data)
		if n := testing.AllocsPerRun(3, func() { term.Feed(data) }); n > 512 {
			t.Errorf("%s: %v allocations for 1 MiB", name, n)
		}
	}
}

// hostile are the most expensive inputs that are known, one for each kind of work. They are
// repeated to the length wanted.
var hostile = map[string]string{
	"REP":                    "a\x1b[9999999b",
	"scroll up and down":     "\x1b[999S\x1b[999T",
	"insert lines":           "\x1b[H\x1b[999L\x1b[999M",
	"insert characters":      "x\x1b[H\x1b[999@\x1b[999P",
	"columns":                "x\x1b[H\x1b[999'}\x1b[999'~",
	"align and scroll":       "\x1b#8\x1b[999S",
	"erase with background":  "\x1b[41m\x1b[2J\x1b[m\x1b[2J",
	"tabs":                   "\x1b[65535I\x1b[65535Z",
	"alternate screen":       "\x1b[?1049hx\x1b[?1049l",
	"synchronized updates":   "\x1b[?2026hx\x1b[?2026l",
	"reset":                  "x\x1bc",
	"soft reset":             "\x1b[5;6r\x1b[!p",
	"marks":                  "e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b\u030c\u030d\u030e\u030f\u0310\u0311",
	"marks on one cell":      "\u0301",
	"clusters":               "\x1b[?2027h👩\u200d👩\u200d👧❤\ufe0f\r",
	"links":                  "\x1b]8;;" + strings.Repeat("u", 2000) + "\x07x\x1b]8;;\x07y",
	"short links":            "\x1b]8;;a\x07x\x1b]8;;b\x07y\r",
	"underline colours":      "\x1b[58;5;1mx\x1b[58;5;2my\r",
	"titles":                 "\x1b]2;x\x07\x1b[22t\x1b[23t",
	"events":                 "\x1b]133;A\x07",
	"queries":                "\x1b[c\x1b[6n\x1bP$qm\x1b\\",
	"parameters":             "\x1b[" + strings.Repeat("1;", 4000) + "m",
	"unfinished string":      strings.Repeat("x", 4000),
	"line feeds":             "\n",
	"reverse index":          "\x1bM",
	"wrapped wide":           "日",
	"true colours":           "\x1b[38;2;1;2;3m\x1b[48;2;4;5;6mx\x1b[38;2;3;2;1m\x1b[48;2;6;5;4my",
	"selective erase":        "\x1b[H\x1b[1\"qx\x1b[?2J",
	"invalid UTF-8":          "\xff\xe6\xf0\x9f",
	"window sizes":           "\x1b[?2048h",
	"line feeds in a column": "\x1b[41m\x1b[?69h\x1b[2;400s\x1b[999;9He\u0301" + strings.Repeat("\n", 400),
	"text in a column":       "\x1b[?69h\x1b[2;400s\x1b[999;9H" + strings.Repeat("\nx", 400),
	"columns of all":         "\x1b#8\x1b[999;999H" + strings.Repeat("\x1b9", 400),
	"REP in a column":        "\x1b[?69h\x1b[1;2s\x1b[999;1H" + strings.Repeat("a\x1b[999b", 400),
	"REP inserted":           "\x1b[4h\x1b[?7l" + strings.Repeat("\ra\x1b[999b", 400),
	"REP of no ASCII":        "é\x1b[999b",
	"back in a column":       "\x1b[?69h\x1b[1;2s\x1b[?1045h" + strings.Repeat("\x1b[65535D", 400),
	"palette":                "\x1b]4" + strings.Repeat(";0;?", 2000) + "\x07",
	"capabilities":           "\x1bP+q" + strings.Repeat("544e;", 1600) + "\x1b\\",
	"sized text in a column": "\x1b[?69h\x1b[2;9s\x1b[999;9H\x1b]66;;" + strings.Repeat("日a", 2000) + "\x07",
	"text style":             "\x1b[?2027h⌚\ufe0e\r",
	"links in a column":      "\x1b[?69h\x1b[2;9s\x1b[999;9H\x1b]8;;u\x07x\x1b]8;;\x07" + strings.Repeat("\n\x1b[9Gx", 400),
}

// hostileInput returns n bytes of a hostile input.
func hostileInput(name string, n int) []byte {
	head := ""
	if name == "unfinished string" {
		head = "\x1b]0;"
	}
	return append([]byte(head), strings.Repeat(hostile[name], max(1, n/len(hostile[name])))...)
}

// TestHostileInputIsLinear: no input takes much time or memory. The bound on time is only there to
// notice a hang; BenchmarkHostile has the figures.
func TestHostileInputIsLinear(t *testing.T) {
	for name := range hostile {
		data := hostileInput(name, lanes.Few(64<<10, 8<<10))
		for _, size := range [][2]int{{24, 80}, {1, 1}, {200, 500}} {
			term := New(size[0], size[1], Options{})
			start := time.Now()
			term.Feed(data)
			term.Snapshot()
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%s on %v: %v for %d bytes", name, size, took, len(data))
			}
			if s := verify(term); s != "" {
				t.Errorf("%s on %v: %s", name, size, s)
			}
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var terms []*Terminal
	for name := range hostile {
		term := New(24, 80, Options{})
		term.Feed(hostileInput(name, lanes.Few(1<<20, 64<<10)))
		terms = append(terms, term)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := int(after.HeapAlloc-before.HeapAlloc) / len(terms); each > 4<<20 {
		t.Errorf("a terminal holds %d bytes after its input", each)
	}
	runtime.KeepAlive(terms)
}

// TestWorkIsPaidFor: a flood of lines between side margins is drawn whole on a large screen, and
// what only a flood of sequences asks for stops at what it can pay.
func TestWorkIsPaidFor(t *testing.T) {
	term := New(50, 200, Options{})
	var b strings.Builder
	b.WriteString("\x1b[?69h\x1b[1;100s")
	for i := range 20000 {
		fmt.Fprintf(&b, "\r\n%d", 10000+i)
	}
	term.Feed([]byte(b.String()))
	for y, line := range term.Snapshot().Lines() {
		if want := fmt.Sprint(29950 + y); line != want {
			t.Fatalf("row %d shows %q, want %q", y, line, want)
		}
	}
	term = New(MaxSide, MaxSide, Options{})
	term.Feed([]byte("\x1b#8\x1b[1;1H"))
	n := 0
	for ; term.Snapshot().Lines()[0] != ""; n++ {
		before := term.work
		term.Feed([]byte("\x1b['~")) // DECDC
		if term.work > before {
			break // not done: only earned
		}
	}
	if n == 0 || n > 2*workSaved/(workMemory*MaxSide*MaxSide) {
		t.Errorf("%d times the largest screen was moved", n)
	}
}

// BenchmarkHostile reports the time for 1 MiB of each hostile input.
func BenchmarkHostile(b *testing.B) {
	for name := range hostile {
		for _, size := range [][2]int{{24, 80}, {200, 500}} {
			b.Run(fmt.Sprintf("%s/%dx%d", name, size[0], size[1]), func(b *testing.B) {
				data := hostileInput(name, 1<<20)
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					term := New(size[0], size[1], Options{})
					term.Feed(data)
				}
			})
		}
	}
}

// TestEventsAreBounded: of a flood of events the first are kept, and of the rest the last of each
// sort, in order.
func TestEventsAreBounded(t *testing.T) {
	var in strings.Builder
	for i := range 3 * eventsMax {
		fmt.Fprintf(&in, "\x1b]9;4;1;%d\a\x1b]133;%c\a", i%100, 'A'+i%26)
		if i == 2*eventsMax {
			in.WriteString("\x1b]7501;state=idle\a\x1b]133;D;7\a")
		}
	}
	in.WriteString("\x1b]633;E;last\a\x1b]133;C\a\x1b]9;4;1;42\a")
	events := New(4, 20, Options{}).Feed([]byte(in.String())).Events
	if n := len(events); n <= eventsMax || n > eventsMax+5+2*len(lastMarks) {
		t.Fatalf("%d events", n)
	}
	last := events[len(events)-3:]
	if last[0].Text != "last" || last[1].Mark != 'C' || last[2].Value != 42 {
		t.Errorf("the last three are %+v", last)
	}
	sorts := map[string]bool{}
	status := false
	for _, e := range events[eventsMax:] {
		sort := fmt.Sprint(e.Kind, e.Mark)
		if sorts[sort] {
			t.Errorf("%+v is there twice", e)
		}
		sorts[sort] = true
		status = status || e.Kind == EventStatus && e.Text == "state=idle"
	}
	if !status {
		t.Error("a report in the middle of the flood is lost")
	}
}
