package attach

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// told writes events down so that they can be compared.
func told(events []event) string {
	var b strings.Builder
	for _, e := range events {
		switch e.kind {
		case eventMouse:
			fmt.Fprintf(&b, "mouse(%s %s %d,%d %s)", e.mouse.action, e.mouse.button, e.mouse.row, e.mouse.col, strings.Join(e.mouse.mods, "+"))
		default:
			fmt.Fprintf(&b, "%s(%q)", [...]string{"text", "key", "prefix", "mouse", "paste", "pasteOn", "pasteOff", "reply", "invalid"}[e.kind], e.data)
		}
	}
	return b.String()
}

func TestDecoder(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"ls -l\r", `text("ls -l\r")`},
		{"日\x1b[A本", `text("日")key("\x1b[A")text("本")`},
		{"a\x1cd", `text("a")prefix("")text("d")`},
		{"\x1b\x1c", `key("\x1b\x1c")`}, // Alt and it
		{"\x1bOP\x1b[15;2~\x1bx", `key("\x1bOP")key("\x1b[15;2~")key("\x1bx")`},
		{"\x1b[92;5u", `prefix("")`},
		{"\x1b[92:124;5:1;28u", `prefix("")`},
		{"\x1b[92;69:2u", `prefix("")`},         // repeated, with caps lock
		{"\x1b[92;5:3u", `reply("")`},           // released
		{"\x1b[27;5;92~", `prefix("")`},         // modifyOtherKeys
		{"\x1b[92;6u", `key("\x1b[92;6u")`},     // with Shift
		{"\x1b[27;5;9~", `key("\x1b[27;5;9~")`}, // Ctrl-Tab
		{"\x1b[<0;5;3M\x1b[<0;5;3m", `mouse(press left 2,4 )mouse(release left 2,4 )`},
		{"\x1b[<35;1;1M\x1b[<81;80;24M", `mouse(move none 0,0 )mouse(press wheel_down 23,79 ctrl)`},
		{"\x1b[<128;1;1M", `key("\x1b[<128;1;1M")`},
		{"\x1b[M !!\x1b[M#!!", `mouse(press left 0,0 )mouse(release left 0,0 )`},
		{"\x1b[200~a\x1c\x1b[A\x1b[201~b", `pasteOn("")paste("a\x1c\x1b[A")pasteOff("")text("b")`},
		{"\x1b[?5u\x1b[>4;1m\x1b[?1007;1$y\x1b[?62;22c", `reply("\x1b[?5u")reply("\x1b[>4;1m")reply("\x1b[?1007;1$y")reply("\x1b[?62;22c")`},
		{"a\xffb", `text("a")invalid("\xff")text("b")`},
		{"\x1b[I", `key("\x1b[I")`},
		{"\x1b[1\x01", `key("\x1b[")text("1\x01")`},
		{"\x1b\x1b[A", `text("\x1b")key("\x1b[A")`},
		{"\x1b[" + strings.Repeat("1", 200), `key("\x1b[")text("` + strings.Repeat("1", 200) + `")`},
	} {
		d := decoder{prefix: byte(DefaultKey), asked: true, mouse: true}
		if diff := cmp.Diff(test.want, told(append(d.feed([]byte(test.in)), d.flush()...))); diff != "" {
			t.Errorf("%q: %s", test.in, diff)
		}
	}
	d := decoder{prefix: byte(DefaultKey)}
	if got := told(d.feed([]byte("\x1b[?5u\x1b[c\x1b"))); got != `key("\x1b[?5u")key("\x1b[c")` || !d.waiting() {
		t.Errorf("of a terminal that was not asked: %s", got)
	}
	if got := told(d.flush()); got != `text("\x1b")` || d.waiting() {
		t.Errorf("the Escape key: %s", got)
	}
	if d.feed([]byte("\x1b[200~abc\x1b[20")); d.waiting() {
		t.Error("the end of a paste is not waited for with a timer")
	}
}

// pieces are what a terminal sends.
var pieces = []string{"a", "日", "é", "\x1c", "\x1b", "\x1b[A", "\x1bOA", "\x1b[200~", "\x1b[201~", "\x1b[<0;5;3M", "\x1b[92;5u", "\x1b[27;5;92~", "\x1b[?62c", "\x1b[", ";", "1", "\xff", "\xe6\x97", "\x1b[M !!", "~", "u"}

// checkCuts feeds in whole and in pieces.
func checkCuts(in string, cuts []int) string {
	whole := decoder{prefix: byte(DefaultKey), asked: true, mouse: true}
	pieced := whole
	want := whole.feed([]byte(in))
	var got []event
	for len(in) > 0 {
		n := len(in)
		if len(cuts) > 0 {
			n, cuts = min(max(cuts[0], 1), len(in)), cuts[1:]
		}
		for _, e := range pieced.feed([]byte(in[:n])) {
			got = join(got, e)
		}
		in = in[n:]
	}
	return cmp.Diff(told(append(want, whole.flush()...)), told(append(got, pieced.flush()...)))
}

func TestDecoderTakesAnyCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "pieces"), "")
		if diff := checkCuts(in, rapid.SliceOf(rapid.IntRange(1, 9)).Draw(t, "cuts")); diff != "" {
			t.Fatalf("%q: %s", in, diff)
		}
	})
}

// FuzzDecoder: any cut comes out the same, and what passes through is all that came, in order.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("ab\x1b[<0;1;1M\x1b[200~x\x1b[201~\x1c"), byte(3))
	f.Fuzz(func(t *testing.T, in []byte, cut byte) {
		if diff := checkCuts(string(in), []int{int(cut), int(cut), 1, 1, 1, 1}); diff != "" {
			t.Fatalf("%q: %s", in, diff)
		}
		d := decoder{prefix: byte(DefaultKey)}
		var passed strings.Builder
		for _, e := range append(d.feed(in), d.flush()...) {
			switch e.kind {
			case eventPasteOn:
				passed.WriteString(pasteOn)
			case eventPasteOff:
				passed.WriteString(pasteOff)
			case eventPrefix, eventMouse, eventReply:
				return // not passed on as it came
			default:
				passed.WriteString(e.data)
			}
		}
		if passed.String() != string(in) {
			t.Fatalf("%q passed on as %q", in, passed.String())
		}
	})
}

func TestKey(t *testing.T) {
	for in, want := range map[string]string{`ctrl+\`: `ctrl+\`, "Ctrl-A": "ctrl+a", "ctrl_b": "ctrl+b", "^]": "ctrl+]", "^P": "ctrl+p", "ctrl+^": "ctrl+^", "CTRL+Z": "ctrl+z"} {
		var k Key
		if err := k.Set(in); err != nil || k.String() != want {
			t.Errorf("%s: %v, %v", in, k, err)
		}
	}
	for _, in := range []string{"", "a", "ctrl+", "ctrl+aa", "ctrl+m", "ctrl+i", "^[", "ctrl+h", "ctrl+j", "f1", "ctrl+1", "ctrl+é"} {
		k := DefaultKey
		if err := k.Set(in); err == nil || k != DefaultKey {
			t.Errorf("%q is taken as %v", in, k)
		}
	}
}
