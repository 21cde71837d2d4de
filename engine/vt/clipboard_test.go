package vt

import (
	"bytes"
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// copied feeds data in pieces of n bytes and returns what was told.
func copied(t *testing.T, data string, n int) outcome {
	t.Helper()
	term := New(4, 20, Options{})
	var all outcome
	for p := []byte(data); len(p) > 0; p = p[min(n, len(p)):] {
		all.feed(term, bytes.Clone(p[:min(n, len(p))]))
		if len(term.parser.str) > clipboardMax {
			t.Fatalf("%d bytes are kept", len(term.parser.str))
		}
	}
	if why := verifyReply(all.reply); why != "" { // an answer to anything else has nothing of the program's in it
		t.Fatal(why)
	}
	if kept := cap(term.parser.str); kept > 2*stringMax && term.parser.state == stateGround {
		t.Fatalf("%d bytes of memory are kept afterwards", kept)
	}
	return all
}

func copying(text string) string {
	return "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x1b\\"
}

// TestClipboardIsBounded: a text is told whole or, beyond the bound, not at all, in whatever pieces
// it comes; and what stands behind it is text as ever.
func TestClipboardIsBounded(t *testing.T) {
	const most = 74_994
	for _, size := range []int{0, 1, stringMax, 3 * stringMax, most - 1, most, most + 1, 10 * most} {
		text := strings.Repeat("0123456789 äöü\n\t", size/16+1)[:size]
		text = strings.ToValidUTF8(text, "")
		text += strings.Repeat("x", size-len(text))
		want := Event{Kind: EventClipboard, Text: text, Col: 2}
		if size > most {
			want.Text, want.Cut = "", true
		}
		for _, n := range []int{1, 7, 4096, 1 << 30} {
			if n == 1 && size > most+1 {
				continue // a million calls tell nothing more
			}
			all := copied(t, "ab"+copying(text)+"c", n)
			if len(all.events) != 1 || all.events[0] != want {
				t.Errorf("%d bytes in pieces of %d: %d events, %.200q", size, n, len(all.events), eventNames(all.events))
			}
		}
	}
}

// TestOnlyAClipboardIsLong: no other string has its bound, and one that never ends takes no more
// than it.
func TestOnlyAClipboardIsLong(t *testing.T) {
	long := strings.Repeat("y", 2*clipboardMax)
	for _, begin := range []string{"]52;c;", "]52", "]7;", "]052;", "]521;", "]2;52;", "P$q52;", "_52;"} {
		term := New(4, 20, Options{})
		term.Feed([]byte("\x1b" + begin))
		for p := long; len(p) > 0; p = p[4096:] {
			term.Feed([]byte(p[:4096]))
			if len(p) < 8192 {
				break
			}
		}
		want := stringMax
		if begin == "]52;c;" {
			want = clipboardMax
		}
		if got := len(term.parser.str); got > want || cap(term.parser.str) > 2*want {
			t.Errorf("%s: %d bytes in %d, at most %d", begin, got, cap(term.parser.str), want)
		}
	}
}

// TestClipboardIsTheText: what a program copies is told as it is, but for what is no plain text.
func TestClipboardIsTheText(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\rc\n\td": "a\nb\nc\n\td", "\x1b[31mred\x1b[m\x07\x00\x7f": "[31mred[m", "\xff\xfea\xc3": "a", "\u202eabc\u2028": "abc", "日本\u009b語": "日本語",
	} {
		if got := copied(t, copying(in), 1<<20).events[0].Text; got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOf(rapid.StringOf(rapid.RuneFrom([]rune("abc äß日本😀\t;=\\\"")))).Draw(rt, "lines")
		text := strings.Join(lines, "\n")
		all := copied(t, copying(text), rapid.IntRange(1, 50).Draw(rt, "pieces"))
		if len(all.events) != 1 || all.events[0] != (Event{Kind: EventClipboard, Text: text}) {
			rt.Fatalf("%q is %+v", text, all.events)
		}
	})
}

// FuzzClipboard: whatever stands in an OSC 52, nothing is answered, what is told is plain text of
// several lines, and it does not matter in what pieces it comes.
func FuzzClipboard(f *testing.F) {
	for _, s := range []string{"c;aGVsbG8=", ";", "c;!", "c;?", "?;?", "cps01234567q;YQ", "c;YQ==\r\n", "c;=", "c;YWJj=", "", "c;GwcbXQ==", "p;4oCu\x07c;YQ==", "c;a\x1b]52;c;YQ==", "c;" + strings.Repeat("QUFB", 2200)} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, body []byte, pieces uint8) {
		if len(body) > 16_000 {
			return
		}
		in := "\x1b]52;" + string(body) + "\x1b\\"
		whole := copied(t, in, 1<<20)
		if parts := copied(t, in, 1+int(pieces)); !reflect.DeepEqual(whole.events, parts.events) {
			t.Fatalf("in pieces of %d: %+v, want %+v", 1+int(pieces), parts.events, whole.events)
		}
		for _, e := range whole.events {
			if e.Kind != EventClipboard {
				continue
			}
			for line := range strings.FieldsFuncSeq(e.Text, func(r rune) bool { return r == '\n' || r == '\t' }) {
				if why := dirty(line, clipboardMax); why != "" {
					t.Fatalf("%q: %s", e.Text, why)
				}
			}
			if e.Text != "" && (e.Cut || e.Bad) || e.Cut && e.Bad {
				t.Fatalf("%+v", e)
			}
		}
	})
}

// BenchmarkClipboard is a flood of texts of the largest size that is kept, and of the smallest that
// are dropped.
func BenchmarkClipboard(b *testing.B) {
	for name, text := range map[string]string{"kept": strings.Repeat("x", 74_994), "dropped": strings.Repeat("x", 100_000), "small": "x"} {
		p := []byte(copying(text))
		p = bytes.Repeat(p, max(1, 64<<10/len(p)))
		b.Run(name, func(b *testing.B) {
			term := New(24, 80, Options{})
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				term.Feed(p)
			}
		})
	}
}
