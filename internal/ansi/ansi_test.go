package ansi_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/ansi"
)

func TestStrip(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"plain\ttext \r\n":                  "plain\ttext \r\n",
		"\x1b[1;31mred\x1b[m":               "red",
		"\x1b]0;title\aafter":               "after",
		"\x1b]8;;http://x\x1b\\in":          "in",
		"\x1bP+q544e\x1b\\dcs":              "dcs",
		"\x1bP a bell \a is data \x1b\\dcs": "dcs",
		"\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\x": "x",
		"\x1b(B\x1b#8\x1b7x\x1b=":                    "x",
		"a\bb\a\x00\x7f\x0e\x0f":                     "a\bb\a\x00\x7f\x0e\x0f",
		"\x1b[3\n1mline":                             "\nline", // executed within the sequence
		"\x1b[31é":                                   "é",      // broken off by text
		"\x1b[3\x18x\x1b]0;t\x1ay":                   "xy",     // CAN and SUB end what is under way
		"\x1b]0;t\x1b[1mbold":                        "bold",   // a new sequence does, too
		"never \x1b]0;ends":                          "never ",
		"never \x1b[":                                "never ",
		"never \x1b":                                 "never ",
		"\u009b31mC1 has its 7-bit form":             "\u009b31mC1 has its 7-bit form",
		"\x1b\x1b\x1b[mx":                            "x",
		"10%\r20%\r\x1b[Kdone\n":                     "10%\r20%\rdone\n",
		"\x1b[?1049h\x1b[Hin\x1b[?1049l":             "in",
		"\x1b[38:2::1:2:3mcolons\x1b[0 q":            "colons",
	} {
		if got := ansi.Strip(in); got != want {
			t.Errorf("Strip(%q) is %q, want %q", in, got, want)
		}
	}
}

// output draws output of a program: text, and sequences whole, broken and cut.
func output(t *rapid.T) string {
	part := rapid.OneOf(
		rapid.StringMatching(`[a-z \t\r\n]{0,12}`),
		rapid.SampledFrom([]string{
			"\x1b[1;31m", "\x1b[m", "\x1b]0;title\a", "\x1b]8;;x\x1b\\", "\x1bPq#0\x1b\\", "\x1b(B", "\x1b7", "\x1b[", "\x1b", "\x1b]",
			"\x18", "\x1a", "é", "漢", "\u009b", "\xff", "\xe2\x82", "\x7f", "\b", "\a", "\x1b[?25l", "\x1b[3\n4m", "\x1b_G\x1b\\",
			"\x1b[2K", "\x1b[K", "\x1b[1K", "\x1b[5C", "\x1b[3D", "\x1b[7G", "\x1b[9b", "\x1b[2A", "\x1b[3;4H", "\x1bP", "\xe6\x97", "\xa5",
		}),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "noise")) }),
	)
	return strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "output"), "")
}

// TestPieces: any cut of the same output comes out the same, of the stripper and of what is
// collected.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := output(t)
		var s ansi.Stripper
		var p ansi.Printed
		var plain []byte
		for rest := []byte(all); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			plain = s.Append(plain, rest[:n])
			p.Write(rest[:n])
			rest = rest[n:]
		}
		if want := ansi.Strip(all); string(plain) != want {
			t.Errorf("in pieces %q is %q, whole %q", all, plain, want)
		}
		raw := ansi.Valid([]byte(strings.ReplaceAll(all, "\r\n", "\n")))
		if got, want := p.Text(), (ansi.Text{Raw: raw, Plain: ansi.Strip(raw)}); got != want {
			t.Errorf("%q was collected as %+v, want %+v", all, got, want)
		}
	})
}

// TestAsTheTerminal: what stays is what the terminal takes for text. A long line of it has the same
// characters.
func TestAsTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// What moves the cursor, or prints in another way, makes another text of it on a screen.
		all := strings.Map(func(r rune) rune {
			if r == '\r' || r == '\n' || r == '\t' || r == '\b' || r == '\v' || r == '\f' || r == 0x0e {
				return -1
			}
			return r
		}, ansi.Valid([]byte(output(t))))
		term := vt.New(1, 1000, vt.Options{})
		term.Feed([]byte("|" + all))
		want, _, _ := strings.Cut(term.Snapshot().Text(), "\n")
		var shown strings.Builder
		for _, r := range "|" + ansi.Strip(all) {
			if r >= ' ' && r != 0x7f && (r < 0x80 || r >= 0xa0) {
				shown.WriteRune(r)
			}
		}
		moves := func(final string) bool { return strings.Contains(all, final) }
		if got := strings.TrimRight(shown.String(), " "); got != want && !moves("\x1b[") && !moves("\x1bc") && !drawn(all) {
			t.Errorf("%q: stripped it shows %q, the terminal %q", all, got, want)
		}
	})
}

// drawn reports whether an escape sequence in a text may draw, or change what is drawn: all but
// strings.
func drawn(text string) bool {
	for i := range len(text) - 1 {
		if text[i] == 0x1b && !strings.ContainsRune("]P_^X\\", rune(text[i+1])) {
			return true
		}
	}
	return false
}

// TestCutAbove: what is kept begins with a line and has its bound, and nothing is lost between it
// and what is above.
func TestCutAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		character := rapid.SampledFrom([]string{"x", "é", "漢"}).Draw(t, "character")
		line := strings.Repeat(character, rapid.SampledFrom([]int{0, 1, 5, 79, 5000, 400000}).Draw(t, "length")) + "\n"
		all := "first\n" + strings.Repeat(line, max(1, rapid.IntRange(0, 900000).Draw(t, "bytes")/len(line))) + "last"
		var p ansi.Printed
		for rest := []byte(strings.ReplaceAll(all, "\n", "\r\n")); len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 200_000)).Draw(t, "piece")
			p.Write(rest[:n])
			rest = rest[n:]
		}
		got := p.Text()
		switch {
		case len(all) <= ansi.MaxPrinted:
			if want := (ansi.Text{Raw: all, Plain: all}); got != want {
				t.Fatalf("cut %v, %d bytes of %d", got.Cut, len(got.Raw), len(all))
			}
			return
		case !got.Cut || len(got.Raw) > ansi.MaxPrinted || got.Plain != got.Raw:
			t.Fatalf("cut %v, %d bytes above %d", got.Cut, len(got.Above), len(got.Raw))
		case !strings.HasSuffix(all, strings.TrimLeft(got.Above, "\uFFFD")+got.Raw):
			t.Fatalf("something is lost between %d and %d bytes of %d", len(got.Above), len(got.Raw), len(all))
		case !strings.HasSuffix(got.Above, "\n") && strings.Contains(strings.TrimSuffix(got.Raw, "last"), "\n"):
			t.Fatalf("it begins within a line: %.20q", got.Raw)
		}
	})
}

// TestCutWithinASequence: the rest of a sequence that began above is not text.
func TestCutWithinASequence(t *testing.T) {
	var p ansi.Printed
	p.Write([]byte("\x1b]0;" + strings.Repeat("t", ansi.MaxPrinted+100)))
	p.Write([]byte("\aafter"))
	if got := p.Text(); !got.Cut || got.Plain != "after" {
		t.Errorf("cut %v, %d bytes: %.40q", got.Cut, len(got.Plain), got.Plain)
	}
}

// TestPrintedIsBounded: however much is written, little is kept.
func TestPrintedIsBounded(t *testing.T) {
	var p ansi.Printed
	for range 100 {
		p.Write(bytes.Repeat([]byte("0123456789\r\n"), 100_000))
	}
	p.Write([]byte("end"))
	if got := p.Text(); len(p.Bytes()) > 1<<20 || !got.Cut || !strings.HasSuffix(got.Plain, "0123456789\nend") ||
		!strings.HasPrefix(got.Plain, "0123456789\n") || !strings.HasSuffix(got.Above, "0123456789\n") {
		t.Errorf("%d bytes are kept; %d shown, %d above", len(p.Bytes()), len(got.Plain), len(got.Above))
	}
	p.Reset()
	if got := p.Text(); got != (ansi.Text{}) {
		t.Errorf("emptied: %+v", got)
	}
}

func TestDropMark(t *testing.T) {
	for in, want := range map[string]string{
		"out\x1b]133;D;0\a":                        "out",
		"out\x1b]0;t\a\x1b]133;D;0\x1b\\":          "out\x1b]0;t\a",
		"out\x1b]633;E;next\a\x1b]133;C\a":         "out",
		"out\x1b]633;E;next\a more\x1b]133;C\a":    "out\x1b]633;E;next\a more",
		"\x1b]633;E;next\aout\r\n\x1b[m\x1b]133;C": "\x1b]633;E;next\aout\n\x1b[m",
		"none": "none",
	} {
		var p ansi.Printed
		p.Write([]byte(in))
		p.DropMark(strings.Contains(in, "133;C"))
		if got := string(p.Bytes()); got != want {
			t.Errorf("of %q %q is left, want %q", in, got, want)
		}
	}
}

func FuzzStrip(f *testing.F) {
	f.Add("a\x1b[1mb\x1b]0;t\ac\x1bPq\x1b\\d")
	f.Fuzz(func(t *testing.T, in string) {
		out := ansi.Strip(in)
		if strings.ContainsRune(out, 0x1b) {
			t.Errorf("of %q an escape is left: %q", in, out)
		}
		if utf8.ValidString(in) && !utf8.ValidString(out) {
			t.Errorf("of %q %q is left", in, out)
		}
		if !strings.Contains(in, "\x1b") && out != in {
			t.Errorf("%q became %q", in, out)
		}
		if fmt.Sprint(ansi.Strip(out)) != out {
			t.Errorf("%q is not stripped", out)
		}
	})
}

// pieces is what a Cutter makes of output in pieces of n bytes, texts that follow each other
// joined.
func pieces(in []byte, n int) (out []string) {
	var c ansi.Cutter
	last := ansi.None
	for p := in; len(p) > 0; p = p[min(n, len(p)):] {
		for rest := p[:min(n, len(p))]; len(rest) > 0; {
			kind, data, left := c.Next(rest)
			switch rest = left; {
			case kind == ansi.None:
				continue
			case kind == ansi.Characters && last == ansi.Characters:
				out[len(out)-1] += string(data)
			default:
				out = append(out, fmt.Sprint(kind, " ", string(data)))
			}
			last = kind
		}
	}
	return out
}

func TestCutter(t *testing.T) {
	long := strings.Repeat("x", 8<<10)
	for in, want := range map[string][]string{
		"a\r\nb":                                 {"0 a\r\nb"},
		"\x1b[1;31mred\x1b(B\x1bM":               {"2 1;31m", "0 red", "1 (B", "1 M"},
		"\x1b]0;ti\ntle\a\x1b]8;;http://x\x1b\\": {"3 0;title", "3 8;;http://x"},
		"\x1bPq#0\a\x1b\\x":                      {"4 ", "0 x"},
		"\x1b[3\n1mline":                         {"0 \n", "2 31m", "0 line"},
		"\x1b[31é":                               {"4 ", "0 é"},
		"\x1b]0;t\x1b[1mbold":                    {"4 ", "2 1m", "0 bold"},
		"\x1b\x1b[\x18x":                         {"4 ", "4 ", "0 x"},
		"\x1b]" + long + "\a":                    {"3 " + long},
		"\x1b]" + long + "y\a\x1b[m":             {"4 ", "2 m"},
		"\x1b[" + strings.Repeat("1", 9<<10):     nil,
	} {
		for _, n := range []int{1, 2, len(in)} {
			if got := pieces([]byte(in), n); !slices.Equal(got, want) {
				t.Errorf("%.40q in pieces of %d is %.40q, want %.40q", in, n, got, want)
			}
		}
	}
}

// FuzzCutter: any cut of the same output gives the same pieces, and they have no more than was
// there.
func FuzzCutter(f *testing.F) {
	f.Add([]byte("a\x1b[1mb\x1b]0;t\ac\x1bPq\x1b\\d\x1b(B\x1b[3\n4mé\x18\x1b\x1b]x\x1b[m"), 3)
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		whole, cut := pieces(in, len(in)), pieces(in, max(1, n))
		if !slices.Equal(whole, cut) {
			t.Errorf("%q is %q, in pieces of %d %q", in, whole, n, cut)
		}
		size := 0
		for _, p := range whole {
			size += len(p) - len("0 ")
		}
		if size > len(in) {
			t.Errorf("%q: %d bytes in %q", in, size, whole)
		}
	})
}

// FuzzSequence: what is measured lies within the text, and where terminals agree it is what is cut.
func FuzzSequence(f *testing.F) {
	f.Add("a\x1b[1mb\x1b]0;t\x1b\\c\x1bPq\x1b\\d\x1b(B\x1b[31\u00e9\x1b\x1b]x\x1b[m\x1b")
	f.Add("\x1b]0;t\u009cx\x1bP\ay\x1b]\x18z\x1b[\x1a")
	f.Fuzz(func(t *testing.T, in string) {
		agreed := strings.Map(func(r rune) rune {
			if r != 0x1b && (r < ' ' || r >= 0x7f && r < 0xa0) {
				return -1
			}
			return r
		}, in)
		for _, text := range []string{in, agreed} {
			var b strings.Builder
			for i := 0; i < len(text); {
				if text[i] != 0x1b {
					b.WriteByte(text[i])
					i++
					continue
				}
				n, from, to := ansi.Sequence(text, i)
				if n < 1 || i+n > len(text) || from > to || to > i+n || from > 0 && from != i+2 {
					t.Fatalf("%q at %d: %d long, payload %d to %d", text, i, n, from, to)
				}
				i += n
			}
			if want := ansi.Strip(text); text == agreed && b.String() != want {
				t.Errorf("of %q %q is left, want %q", text, b.String(), want)
			}
		}
	})
}
