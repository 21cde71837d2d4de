package remote

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// plain is all that comes of output in one piece.
func plain(output string) string {
	var p Plain
	return p.Write(output) + p.Rest()
}

func TestPlain(t *testing.T) {
	for output, want := range map[string]string{
		"a\r\nb\n":                       "a\nb\n",
		"10%\r20%\r100%\n":               "100%\n",
		"abc\b\bx\n":                     "axc\n", // as on a screen
		"é\b \b\n":                       " \n",
		"abcdef\rxy\x1b[K\n":             "xy\n",
		"\x1b[1;31mred\x1b[m\n":          "red\n",
		"\x1b]0;a title\x07after\n":      "after\n",
		"\x1b]8;;http://x\x1b\\link\n":   "link\n",
		"\x1bPq#0\x1b\\after\n":          "after\n",
		"\x1b]52;c;AAAA\x1b[31mx\n":      "x\n", // ESC ends the string, whatever follows
		"\x1b(Bplain\x1b=\n":             "plain\n",
		"\u009b31mC1\u009d0;t\x07s\n":    "31mC10;ts\n", // C1 in its 8-bit form introduces nothing here
		"\x1b[3\n1mx":                    "\nx",         // a control character within a sequence is performed
		"日本\t語\n":                        "日本\t語\n",
		"\xffa\xe6\x97b\xe6\x97\xa5\n":   "\uFFFDa\uFFFDb日\n",
		"\x00\x01\x07\x7fx\n":            "x\n",
		strings.Repeat("x", lineBound+1): strings.Repeat("x", lineBound) + "\nx",
	} {
		if got := plain(output); got != want {
			t.Errorf("%.60q: %.60q, expected %.60q", output, got, want)
		}
	}
}

// FuzzPlain: nothing that moves a cursor comes out, the unfinished line is bounded, and cuts do not
// matter.
func FuzzPlain(f *testing.F) {
	f.Add("a\x1b[1mb\r\nc\u009b3", uint8(3))
	f.Add("\x1b]0;t\x1b\x1b[Px\xe6\x97", uint8(1))
	f.Fuzz(func(t *testing.T, output string, cut uint8) {
		whole := plain(output)
		if i := strings.IndexFunc(whole, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Fatalf("%q comes out of %q", whole[i:], output)
		}
		var p Plain
		var b strings.Builder
		for rest, n := output, int(cut)+1; rest != ""; {
			n = min(n, len(rest))
			b.WriteString(p.Write(rest[:n]))
			rest = rest[n:]
			if len(p.text.Text()) > lineBound {
				t.Fatalf("%d bytes of a line are kept", len(p.text.Text()))
			}
		}
		if got := b.String() + p.Rest(); got != whole {
			t.Fatalf("in pieces %q, whole %q", got, whole)
		}
	})
}

func TestPlainOfText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.StringMatching(`[a-z0-9 äöü日本\t]{0,20}`)).Draw(t, "lines"), "\n")
		if got := plain(text); got != text {
			t.Fatalf("%q becomes %q", text, got)
		}
	})
}

func TestTrim(t *testing.T) {
	if got := Trim([]string{"", "a", " ", ""}); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got := Trim([]string{"", " "}); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestReadText(t *testing.T) {
	for text, want := range map[string]string{
		"plain é\n":                    "",
		"\xff":                         "not UTF-8",
		strings.Repeat("x", MaxText+1): "longer than",
		strings.Repeat("x", MaxText):   "",
	} {
		got, err := ReadText(strings.NewReader(text))
		if want == "" && (err != nil || got != text) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.20q: %.20q, %v", text, got, err)
		}
	}
}
