package redact

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// pairs are redactors, each with one of the same policy that takes no first look.
func pairs(t testing.TB) (all [][2]*Redactor) {
	literals, err := New(Policy{ExtraLiterals: []string{"topsecretliteral", "brown fox", " x "}})
	if err != nil {
		t.Fatal(err)
	}
	wide, err := New(Policy{ExtraLiterals: []string{"中é", "x密y", "é中"}})
	if err != nil {
		t.Fatal(err)
	}
	wideKnown := new(Known)
	wideKnown.Add("équux", "中é中é", "quux中")
	for _, r := range append(redactors(t), literals, wide, literals.With(knownParts()), Default.With(wideKnown)) {
		judging := *r.policy()
		judging.thorough = true
		all = append(all, [2]*Redactor{r, judging.redactor().With(r.known)})
	}
	return all
}

// calmParts are parts without a keyword, and beginnings and ends of keywords: a text of parts with
// many has nothing to overlook.
var calmParts = []string{
	"\x1b]52;c;", "\x1b]52;", "QUJDREVG", "\\\n", "\n    ", "NDIzNDU2Nzg5MDEyMzQ1Njc4", ".GaB3dE.", "Kx7Rt2Lm4Wz8Bv3NcQp5Ys9Dk1Fg6", "NDIzNDU2Nzg5MDEyMzQ1Njc4.GaB3dE.Kx7Rt2Lm4Wz8Bv3NcQp5Ys9Dk1Fg6",
	"to", "ken", "tok", "en=", "pass", "word", "sk", "-", "gh", "p_", "q", "hunter2", "Zz9", " ", "  ", "lorem ipsum ", "dolor", "x", ":", "=",
	"top", "secret", "brown", "fox", "a", "p", "\r\n", "\n", "\r", "\b", "\t", "é", "中", "│", "|", "\u0301", "\u200b", "\x00", "\x07", "\x7f", "\xff",
	"\x1b[1m", "\x1b[38;5;208m", "\x1b[K", "\x1b[2K", "\x1b[J", "\x1b[5;3H", "\x1b[5;9H", "\x1b[5;6H", "\x1b[2;1H", "\x1b[H", "\x1b[3G", "\x1b[2d", "\x1b[A", "\x1b[B",
	"\x1b[C", "\x1b[9C", "\x1b[D", "\x1b[2D", "\x1b[3D", "\x1b[1;2D", "\x1b[?25l", "\x1b(B", "\x1b]0;lorem\x07", "\x1b]0;to", "\x1b]8;;x\x1b\\", "\x1b", "\x1b[",
	"\x1b[5;990H", "\x1b[500;5H", "qu", "ux", "lor", "em", "hunt", "er2",
	"пар", "оль", "п", "ь", "密", "码", "：", "has", "ło", "ł", "pass", "word", "パス", "ワード",
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

// recorded is the output of the programs whose recordings the terminal is tested with, as lines of
// JSON.
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

// What is written in pieces, in any order, with moves of the cursor between: a seam hides nothing
// from a first look.
func TestFirstLookAtPieces(t *testing.T) {
	ps := pairs(t)
	whole := []string{
		"hunter2", "lorem", "42hunter2", "x dolor", "équux", "中é中é", "topsecretliteral", "x密y",
		"пароль: hunter9", "hasło: hunter9", "密码：hunter9x", "パスワード: hunter9", "token=hunter9", "password: hunter9",
	}
	rapid.Check(t, func(t *rapid.T) {
		pair := rapid.SampledFrom(ps).Draw(t, "redactor")
		type piece struct {
			col  int
			text string
		}
		col := 1 + rapid.IntRange(0, 3).Draw(t, "column")
		var pieces []piece
		add := func(text string) {
			pieces = append(pieces, piece{col, text})
			for _, c := range text {
				col += width(c)
			}
		}
		for range rapid.IntRange(1, 2).Draw(t, "secrets") {
			rest := []rune(rapid.SampledFrom(whole).Draw(t, "secret"))
			for len(rest) > 0 {
				n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
				add(string(rest[:n]))
				rest = rest[n:]
			}
			add(rapid.SampledFrom([]string{" ", "ab", " é "}).Draw(t, "between"))
		}
		var b strings.Builder
		back := rapid.Bool().Draw(t, "backwards within the line")
		at := 1
		for _, p := range rapid.Permutation(pieces).Draw(t, "order") {
			switch {
			case !back:
				fmt.Fprintf(&b, "\x1b[7;%dH", p.col)
			case p.col < at:
				fmt.Fprintf(&b, "\x1b[%dD", at-p.col)
			case p.col > at:
				fmt.Fprintf(&b, "\x1b[%dC", p.col-at)
			}
			b.WriteString(p.text)
			for at = p.col; p.text != ""; {
				c, n := utf8.DecodeRuneInString(p.text)
				at, p.text = at+width(c), p.text[n:]
			}
		}
		text := b.String()
		sameLook(t, pair, text, rapid.IntRange(0, len(text)).Draw(t, "split"))
	})
}
