package redact

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pairs are redactors, each with one of the same policy that takes no first look.
func pairs(t testing.TB) (all [][2]*Redactor) {
	literals, err := New(Policy{ExtraLiterals: []string{"topsecretliteral", "brown fox", " x "}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(redactors(t), literals) {
		judging := *r.policy()
		judging.thorough = true
		all = append(all, [2]*Redactor{r, judging.redactor()})
	}
	return all
}

// calmParts are parts without a keyword, and beginnings and ends of keywords: a text of parts with many has nothing to overlook.
var calmParts = []string{
	"to", "ken", "tok", "en=", "pass", "word", "sk", "-", "gh", "p_", "q", "hunter2", "Zz9", " ", "  ", "lorem ipsum ", "dolor", "x", ":", "=",
	"top", "secret", "brown", "fox", "a", "p", "\r\n", "\n", "\r", "\b", "\t", "é", "中", "│", "|", "\u0301", "\u200b", "\x00", "\x07", "\x7f", "\xff",
	"\x1b[1m", "\x1b[38;5;208m", "\x1b[K", "\x1b[2K", "\x1b[J", "\x1b[5;3H", "\x1b[5;9H", "\x1b[5;6H", "\x1b[2;1H", "\x1b[H", "\x1b[3G", "\x1b[2d", "\x1b[A", "\x1b[B",
	"\x1b[C", "\x1b[9C", "\x1b[D", "\x1b[2D", "\x1b[3D", "\x1b[1;2D", "\x1b[?25l", "\x1b(B", "\x1b]0;lorem\x07", "\x1b]0;to", "\x1b]8;;x\x1b\\", "\x1b", "\x1b[",
	"\x1b[5;990H", "\x1b[500;5H",
}

// sameLook holds a redactor against the one without a first look.
func sameLook(t interface{ Fatalf(string, ...any) }, pair [2]*Redactor, text string, at int) {
	if got, want := pair[0].String(text), pair[1].String(text); got != want {
		t.Fatalf("String(%q)\n is %q\nnot %q", text, got, want)
	}
	var outs [2]string
	for i, r := range pair {
		s := NewStream(r)
		outs[i] = s.Write(text[:at]) + "|" + s.Write(text[at:]) + "|" + s.Flush() + "|" + s.Write(text) + "|" + s.Flush()
	}
	if outs[0] != outs[1] {
		t.Fatalf("Stream of %q cut at %d\n is %q\nnot %q", text, at, outs[0], outs[1])
	}
}

// A first look overlooks nothing: with it and without, the results are the same.
func TestFirstLook(t *testing.T) {
	ps := pairs(t)
	rapid.Check(t, func(t *rapid.T) {
		pair := rapid.SampledFrom(ps).Draw(t, "redactor")
		from := rapid.SampledFrom([][]string{parts, calmParts}).Draw(t, "parts")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), 0, 60).Draw(t, "text"), "")
		text += strings.Repeat(rapid.SampledFrom([]string{"", "lorem ipsum ", "\x1b[4;7Hdolor\x1b[2Dx", "a"}).Draw(t, "pad"), rapid.IntRange(0, 900).Draw(t, "times")) + text
		sameLook(t, pair, text, rapid.IntRange(0, len(text)).Draw(t, "cut"))
	})
}

// The same on the corpus, and on what real programs wrote.
func TestFirstLookOnCorpus(t *testing.T) {
	ps := pairs(t)
	for _, file := range []string{"secrets.jsonl", "benign.jsonl"} {
		for _, rec := range corpus(t, file) {
			for _, pair := range ps {
				sameLook(t, pair, rec.Text, len(rec.Text)/2)
			}
		}
	}
	for _, text := range recorded(t) {
		sameLook(t, ps[0], text, len(text)/3)
		sameLook(t, ps[3], text, len(text)/3)
	}
}

// recorded is the output of the programs whose recordings the terminal is tested with, as lines of JSON.
func recorded(t testing.TB) []string {
	f, err := os.Open("../engine/vt/testdata/recordings.txtar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	var b strings.Builder
	in := bufio.NewReaderSize(z, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if strings.HasPrefix(line, "-- ") || err == io.EOF {
			all = append(all, b.String())
			b.Reset()
		}
		if err == io.EOF {
			return all
		}
		b.WriteString(unquoted(line))
	}
}

// unquoted is the text of an event of a cast.
func unquoted(line string) string {
	_, text, ok := strings.Cut(line, `"o", `)
	if !ok {
		return ""
	}
	var out string
	if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(text), "]")), &out); err != nil {
		return ""
	}
	return out
}

func FuzzFirstLook(f *testing.F) {
	for _, s := range calmParts {
		f.Add("\x1b[5;3Hto"+s+"\x1b[5;5Hken=abcdefgh", uint16(3), uint16(1))
	}
	ps := pairs(f)
	f.Fuzz(func(t *testing.T, text string, cut, times uint16) {
		if len(text) > 0 {
			text = strings.Repeat(text, 1+int(times)%(1+10_000/len(text)))
		}
		for _, pair := range ps {
			sameLook(t, pair, text, int(cut)%(len(text)+1))
		}
	})
}
