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
			if most := 2*(limit+sight) + slack + len(line); len(tl.plain.Text()) > most {
				t.Fatalf("%d bytes kept, at most %d", len(tl.plain.Text()), most)
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
