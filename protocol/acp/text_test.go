package acp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/redact"
)

// plainOf is the text of output that comes in one write, with what is held back at its end.
func plainOf(output string) string {
	var p plain
	p.write([]byte(output))
	return string(p.text) + p.held()
}

func TestPlainText(t *testing.T) {
	long := strings.Repeat("x", maxEdited+1)
	for _, c := range []struct{ name, output, text string }{
		{"lines", "a\r\nb\r\n", "a\nb\n"},
		{"a CR from the program and one from the terminal", "a\r\r\nb", "a\nb"},
		{"attributes", "\x1b[1;31mred\x1b[m \x1b[38:2::1:2:3mtrue\x1b[0m", "red true"},
		{"a title", "\x1b]0;title\x07a\x1b]2;more\x1b\\b", "ab"},
		{"a link", "\x1b]8;;http://x\x1b\\name\x1b]8;;\x1b\\", "name"},
		{"strings", "\x1bPq#0~\x1b\\a\x1b_G1\x1b\\b\x1b^x\x1b\\c\x1bXy\x1b\\d", "abcd"},
		{"BEL does not end what is no OSC", "\x1bPq\x07~\x1b\\a", "a"},
		{"a string that is broken off", "\x1b]0;ti\x18a", "a"},
		{"a sequence in a string", "\x1b]0;ti\x1b[1ma", "a"},
		{"character sets", "\x1b(0\x1b)Ba", "a"},
		{"private modes", "\x1b[?25l\x1b[?2026ha\x1b[>4;1m\x1b=\x1b7b\x1b8c", "abc"},
		{"controls inside of a sequence", "a\x1b[1\nmb", "a\nb"},
		{"C1 controls and DEL", "a\u009b1mb\x7fc\x00d\x07", "a1mbcd"},
		{"a progress bar", "10%\r20%\r100%\n", "100%\n"},
		{"what is shorter leaves the rest", "abcdef\rxy\n", "xycdef\n"},
		{"unless it is erased", "abcdef\rxy\x1b[K\nz", "xy\nz"},
		{"or all of it is", "abcdef\x1b[2K\rxy\n", "xy\n"},
		{"or its beginning", "abcd\x1b[2D\x1b[1Kz\n", "  zd\n"},
		{"characters of other sizes", "aéz\rü€x\n", "ü€x\n"},
		{"backspace", "abc\b\bX\n", "aXc\n"},
		{"backspace stops", "a\nb\b\b\bX", "a\nX"},
		{"movement to the right", "a\x1b[3Cb\x1b[10Gc", "a   b    c"},
		{"and not without end", "a\x1b[99999999Cb", "a" + strings.Repeat(" ", columns) + "b"},
		{"repetition", "-\x1b[4b|", "-----|"},
		{"tabs", "a\tb\rX\tY\n", "X\tY\n"},
		{"another row", "a\x1b[5;1Hb\x1b[2Ac\x1b[Hd", "a\nb\nc\nd"},
		{"the same row again and again", "\x1b[H\x1b[H\x1b[2Ja", "a"},
		{"NEL and IND", "a\x1bEb\x1bDc", "a\nb\nc"},
		{"form feed", "a\fb\vc", "a\nb\nc"},
		{"a long line is not written over", long + "\ry\n", long + "\ny\n"},
		{"but ended once", long + "\r\ny", long + "\ny"},
		{"an invalid byte", "a\xffb", "a\uFFFDb"},
		{"one for each maximal subpart", "\xe6\x97x\xe6\x97\xe6\x97", "\uFFFDx\uFFFD\uFFFD"},
		{"surrogates and what is too long", "\xed\xa0\x80\xc0\xaf", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"half of a character at the end", "a\xf0\x9f\x98", "a\uFFFD"},
	} {
		if got := plainOf(c.output); got != c.text {
			t.Errorf("%s: %+q gives %+q, expected %+q", c.name, c.output, got, c.text)
		}
	}
}

// pieces are what programs write, and what breaks readers of it.
var pieces = rapid.SampledFrom([]string{
	"a", "word ", "é", "日本", "😀", "\r", "\n", "\r\n", "\t", "\b", "\x1b", "\x1b[", "\x1b[2K", "\x1b[K", "\x1b[1;31m", "\x1b[5C", "\x1b[3D", "\x1b[7G", "\x1b[9b",
	"\x1b[2A", "\x1b[3;4H", "\x1b]0;t", "\x07", "\x1b\\", "\x1bP", "\x18", "\xff", "\xe6\x97", "\xa5", "\xf0\x9f", "\x00", ";", "1", "m", "password=hunter2secret ",
})

func outputs(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(pieces, 0, 60).Draw(t, "output"), "")
}

func TestPlainTextIsTheSameHoweverItIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		output := outputs(t)
		var p plain
		for rest := []byte(output); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			p.write(rest[:n])
			rest = rest[n:]
		}
		if got, want := string(p.text)+p.held(), plainOf(output); got != want {
			t.Fatalf("%+q in pieces gives %+q, in one %+q", output, got, want)
		}
	})
}

func TestTailKeepsTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 200).Draw(t, "limit")
		tl := &tail{limit: limit}
		var all strings.Builder
		truncated := false
		for i := range rapid.IntRange(0, 30).Draw(t, "writes") {
			line := fmt.Sprintf("%d é %s\n", i, strings.Repeat("日", rapid.SampledFrom([]int{0, 1, 30, 30_000}).Draw(t, "length")))
			all.WriteString(line)
			if err := tl.Output(time.Time{}, []byte(line)); err != nil {
				t.Fatal(err)
			}
			if most := 2*(limit+sight) + slack + len(line); len(tl.plain.text) > most {
				t.Fatalf("%d bytes kept, at most %d", len(tl.plain.text), most)
			}
			text, cut := tl.shown(false)
			truncated = truncated || all.Len() > limit
			if !utf8.ValidString(text) || len(text) > limit || !strings.HasSuffix(all.String(), text) || len(text) < min(limit-2, all.Len()) || cut != truncated {
				t.Fatalf("limit %d of %d: %d bytes, truncated %v", limit, all.Len(), len(text), cut)
			}
		}
	})
}

// TestTailHidesWhatIsCut shows the end of a text whose beginning, cut off, makes a secret of it.
func TestTailHidesWhatIsCut(t *testing.T) {
	const secret = "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"
	for _, before := range []int{0, sight, 3 * (sight + slack)} {
		for limit := range 60 {
			tl := &tail{limit: limit, hide: redact.Default}
			tl.Output(time.Time{}, []byte(strings.Repeat("filler line\n", before/12)+"export GITHUB_TOKEN=ghp_"+secret))
			tl.Output(time.Time{}, []byte("\nthe end\n"))
			text, truncated := tl.shown(true)
			for i := range len(secret) - 8 {
				if strings.Contains(text, secret[i:i+8]) {
					t.Fatalf("limit %d behind %d bytes shows %q", limit, before, text)
				}
			}
			if !truncated && limit < 30 || len(text) > limit {
				t.Errorf("limit %d: %q, truncated %v", limit, text, truncated)
			}
		}
	}
}

func TestTruncatedStays(t *testing.T) {
	tl := &tail{limit: 5}
	tl.Output(time.Time{}, []byte("0123456789"))
	if text, truncated := tl.shown(false); text != "56789" || !truncated {
		t.Errorf("%q, %v", text, truncated)
	}
	tl.Output(time.Time{}, []byte("\r\x1b[Kab"))
	if text, truncated := tl.shown(false); text != "ab" || !truncated {
		t.Errorf("%q, %v: once something was left out it stays so", text, truncated)
	}
}

func FuzzTail(f *testing.F) {
	for _, s := range []string{"a\r\nb", "\x1b[31mé\x1b[m", "日本\xe6\x97", "\x1b]0;x\x07y\rz\x1b[K", "\x1bP", "a\x1b[5G\x1b[1K\x1b[300b", "token=ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"} {
		f.Add([]byte(s), uint16(3), 7)
	}
	f.Fuzz(func(t *testing.T, output []byte, limit uint16, cut int) {
		whole, parts := &tail{limit: int(limit), hide: redact.Default}, &tail{limit: int(limit), hide: redact.Default}
		whole.Output(time.Time{}, output)
		for rest := output; len(rest) > 0; {
			n := min(max(cut%64, 1), len(rest))
			parts.Output(time.Time{}, rest[:n])
			rest = rest[n:]
		}
		for _, ended := range []bool{false, true} {
			a, cutA := whole.shown(ended)
			b, cutB := parts.shown(ended)
			switch {
			case a != b || cutA != cutB:
				t.Fatalf("%+q in pieces gives %+q, in one %+q", output, b, a)
			case !utf8.ValidString(a), len(a) > int(limit), strings.ContainsAny(a, "\x1b\r\x00\x07\b"):
				t.Fatalf("%+q with limit %d gives %+q", output, limit, a)
			}
		}
	})
}

func BenchmarkPlain(b *testing.B) {
	for name, line := range map[string]string{
		"text":     "the quick brown fox jumps over the lazy dog and goes on to the end of the line\r\n",
		"coloured": "\x1b[1;32mok\x1b[0m \x1b[2mpackage/path\x1b[0m 0.123s some more words\r\n",
		"progress": "\r[=====>          ] 33% 12.3 MB/s eta 00:12",
		"cjk":      "日本語の文章はこのように続いていきます。終わり\r\n",
	} {
		block := bytes.Repeat([]byte(line), 16<<10/len(line))
		b.Run(name, func(b *testing.B) {
			t := &tail{limit: DefaultOutputBytes}
			b.SetBytes(int64(len(block)))
			for b.Loop() {
				t.Output(time.Time{}, block)
			}
		})
	}
}

// BenchmarkOutput is terminal/output of a terminal that is full.
func BenchmarkOutput(b *testing.B) {
	t := &tail{limit: DefaultOutputBytes, hide: redact.Default}
	for i := range 60_000 {
		t.Output(time.Time{}, fmt.Appendf(nil, "\x1b[32mok\x1b[m   package/with/a/name/%d 0.%03ds\r\n", i, i%1000))
	}
	b.SetBytes(DefaultOutputBytes)
	for b.Loop() {
		t.shown(false)
	}
}
