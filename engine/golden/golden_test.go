package golden

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/vt"
)

func screen(rows, cols int, output ...string) *vt.Screen {
	t := vt.New(rows, cols, vt.Options{})
	for _, o := range output {
		t.Feed([]byte(o))
	}
	return t.Snapshot()
}

func mustOf(t testing.TB, s *vt.Screen, o Options) *File {
	t.Helper()
	f, err := Of(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mask(t testing.TB, s string) Mask {
	t.Helper()
	m, err := ParseMask(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestWritten: what a screen looks like in a file, and that it reads back.
func TestWritten(t *testing.T) {
	for _, c := range []struct {
		name       string
		rows, cols int
		parts      Parts
		masks      []string
		region     *vt.Rect
		output     string
		want       string
	}{
		{"text alone", 3, 10, Text, nil, nil, "one\r\n  two", `
screen 1
size 3x10
--
|one
|  two
|
`},
		{"everything", 2, 12, All, nil, nil, "\x1b]2;a \"b\"\a\x1b[?1049h\x1b[?1002;1006h\x1b[6 qx\x1b[31mred\x1b[0m", `
screen 1
size 2x12
title "a \"b\""
cursor 0,4 bar
modes alt mouse=drag encoding=sgr
--
|xred
~ rrr
|
--
r fg=red
`},
		{"no title, hidden cursor", 1, 4, Title | Cursor | Modes, nil, nil, "\x1b[?25l", `
screen 1
size 1x4
title none
cursor hidden
modes
--
|
`},
		{"wide characters stand once, their letters twice", 1, 12, Styles, nil, nil, "\x1b[32m日本\x1b[0m é\u0301 👩‍🚀", `
screen 1
size 1x12
--
|日本 é` + "\u0301" + ` 👩‍🚀
~gggg
--
g fg=green
`},
		{"a wrapped line", 3, 5, Text, nil, nil, "abcdefgh", `
screen 1
size 3x5
--
|abcde↵
|fgh
|
`},
		{"its own arrow, and a no-break space", 3, 8, Text, nil, nil, "end↵\r\na\u00a0b\r\nc\u3000d", `
screen 1
size 3x8
--
"end↵"
"a\u00a0b"
"c\u3000d"
`},
		{"equal rows fold", 6, 4, Styles, nil, nil, "\x1b[7m ab \r\n ab \r\n ab \x1b[0m\r\n", `
screen 1
size 6x4
--
| ab
~iiii
*3
|
*3
--
i inverse
`},
		{"letters", 1, 12, Styles, nil, nil, "\x1b[34ma\x1b[94mb\x1b[1;34mc\x1b[0;44md\x1b[0;38;5;208me\x1b[38;2;1;2;3mf\x1b[0;4:3;58;5;1mg" +
			"\x1b[0m\x1b]8;;https://go.dev/a b\x1b\\h\x1b]8;;\x1b\\", `
screen 1
size 1x12
--
|abcdefgh
~bBacdeul
--
B fg=bright-blue
a fg=blue bold
b fg=blue
c bg=blue
d fg=208
e fg=#010203
l link="https://go.dev/a b"
u underline=curly underline-color=red
`},
		{"the base is what most of the screen has", 2, 6, Styles, nil, nil, "\x1b[37;44m\x1b[2Jab\x1b[30;46mcd\x1b[0m\x1b[2;6He", `
screen 1
size 2x6
--
|abcd
~wwbb
|     e
~     a
--
base bg=blue
a default
b fg=black bg=cyan
w fg=white bg=blue
`},
		{"a mask keeps its width", 2, 20, Styles, []string{`clock /\d\d:\d\d:\d\d/ in row 0`, `pid /pid (\d+)/ to end`}, nil,
			"\x1b[31mat 12:34:56.\x1b[0m\r\npid 12345 xyz", `
screen 1
size 2x20
mask clock /\d\d:\d\d:\d\d/ in row 0
mask pid /pid (\d+)/ to end
--
|at «clock·».
~rrr........r
|pid «pid…»
~    ......
--
r fg=red
`},
		{"a mask over a wrap", 3, 6, Text, []string{`url /https:\/\/\S+/`, `box rect 2,1 1x3`}, nil,
			"a https://x.\r\x1b[3;1Habcdef", `
screen 1
size 3x6
mask url /https:\/\/\S+/
mask box rect 2,1 1x3
--
|a «ur»↵
|«url·»
|a«b»ef
`},
		{"a region", 3, 6, Text, nil, &vt.Rect{Row: 0, Col: 1, Rows: 2, Cols: 3}, "abcdef\r\n日本語", `
screen 1
size 3x6
region 0,1 2x3
--
|bcd
| 本
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Parts: c.parts, Region: c.region}
			for _, m := range c.masks {
				o.Masks = append(o.Masks, mask(t, m))
			}
			s := screen(c.rows, c.cols, c.output)
			f := mustOf(t, s, o)
			if got := "\n" + f.String(); got != c.want {
				t.Errorf("written\n%s\nnot\n%s", got, c.want)
			}
			roundTrip(t, s, f)
		})
	}
}

// A reporter is a test, or a rapid one.
type reporter interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}

// roundTrip checks that a file can be read, that it says the same, and that its screen equals it.
func roundTrip(t reporter, s *vt.Screen, f *File) {
	t.Helper()
	text := f.String()
	g, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if again := g.String(); again != text {
		t.Errorf("read and written again\n%s\nnot\n%s", again, text)
	}
	d, err := g.Compare(s)
	if err != nil || !d.Equal() {
		t.Errorf("its own screen differs: %v\n%s", err, d)
	}
	if g, err = Parse([]byte(strings.ReplaceAll(text, "\n", "\r\n"))); err != nil || !f.Equal(g) {
		t.Errorf("with CR LF: %v", err)
	}
}

// pieces are what TestAnyScreen draws from: text of every kind, styles, and what moves things.
var pieces = []string{"abc", " ", "   ", "«x»", "↵", "日本", "e\u0301", "👩\u200d🚀", "🇩🇪", "\u00a0", "\u202e", "\u05d0", "~", "|", "*3", "--",
	"\r\n", "\n", "\x1b[H", "\x1b[2;3H", "\x1b[K", "\x1b[2J", "\x1b[7m", "\x1b[0m", "\x1b[31;1m", "\x1b[44m", "\x1b[38;5;200m",
	"\x1b[48;2;1;2;3m", "\x1b[4:3m", "\x1b[58;5;9m", "\x1b]8;;x://\"a b\x1b\\", "\x1b]8;;\x1b\\", "\x1b[?25l", "\x1b[3 q",
	"\x1b]2;t\u00e9\a", "\x1b[?1049h", "\x1b[?1000;2004h", "\x1b#8", "\x1b[3@", "\x1b[L"}

// TestAnyScreen: whatever a screen shows is written so that it reads back as the same, and any
// other screen differs.
func TestAnyScreen(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rows, cols := rapid.IntRange(1, 6).Draw(r, "rows"), rapid.IntRange(1, 12).Draw(r, "cols")
		draw := func(name string) *vt.Screen {
			return screen(rows, cols, rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(r, name)...)
		}
		s, other := draw("screen"), draw("other")
		f, err := Of(s, Options{Parts: All})
		if err != nil {
			r.Fatal(err)
		}
		roundTrip(r, s, f)
		d, err := f.Compare(other)
		if err != nil {
			r.Fatal(err)
		}
		if same := looksLike(s, other); same != d.Equal() {
			r.Fatalf("look the same: %v, but\n%s", same, d)
		}
		if !d.Equal() && d.String() == "" {
			r.Fatal("a difference that is not explained")
		}
		roundTrip(r, other, d.Got)
	})
}

// looksLike compares two screens in the slow, obvious way.
func looksLike(a, b *vt.Screen) bool {
	if cursorWords(a.Cursor) != cursorWords(b.Cursor) || a.Modes != b.Modes || a.Title != b.Title ||
		a.TitleSet != b.TitleSet {
		return false
	}
	for y := range a.Rows {
		if a.Wrapped(y) != b.Wrapped(y) {
			return false
		}
		for x := range a.Cols {
			c, d := a.Cell(y, x), b.Cell(y, x)
			for _, cell := range []*vt.Cell{&c, &d} {
				if cell.Text == "" && !cell.Continuation {
					cell.Text = " "
				}
				if cell.Text == " " {
					cell.Style = ofBlank(cell.Style)
				}
			}
			if c != d {
				return false
			}
		}
	}
	return true
}

// TestLettersStay: a style keeps its letter when others come and go before it.
func TestLettersStay(t *testing.T) {
	f := mustOf(t, screen(1, 10, "\x1b[31ma\x1b[91mb\x1b[1;31mc"), Options{Parts: Styles})
	if f.Rows[0].Styles != "rRb" {
		t.Fatal(f)
	}
	g, err := f.Like(screen(1, 10, "\x1b[3;31mz\x1b[0;1;31mc\x1b[0;31ma\x1b[91mb"))
	if err != nil || g.Rows[0].Styles != "ibrR" {
		t.Error(err, g)
	}
	if g, err = g.Like(screen(1, 10, "\x1b[1;31mc")); err != nil || g.Rows[0].Styles != "b" || len(g.Legend) != 1 {
		t.Error(err, g)
	}
}

// TestSmallDiffs: what moved on a screen is what moved in the file.
func TestSmallDiffs(t *testing.T) {
	list := func(selected, from int) *vt.Screen {
		var b strings.Builder
		b.WriteString("\x1b[37;44m\x1b[2J\x1b[H")
		for i := range 20 {
			if i == selected {
				b.WriteString("\x1b[30;46m")
			}
			b.WriteString("│ file " + strings.Repeat(string(rune('a'+from+i)), 1+(i+from)%7) + "\x1b[37;44m\x1b[K\r\n")
		}
		return screen(24, 80, b.String())
	}
	for _, c := range []struct {
		name  string
		other *vt.Screen
		most  int
	}{
		{"a highlight moves by a row", list(6, 0), 8},
		{"a list scrolls by a row", list(5, 1), 12},
	} {
		f := mustOf(t, list(5, 0), Options{Parts: All})
		d, err := f.Compare(c.other)
		if err != nil {
			t.Fatal(err)
		}
		changed := 0
		for line := range strings.Lines(string(diff.Diff("a", []byte(f.String()), "b", []byte(d.Got.String())))) {
			if (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "+++") && !strings.HasPrefix(line, "---") {
				changed++
			}
		}
		if changed == 0 || changed > c.most {
			t.Errorf("%s: %d lines\n%s", c.name, changed, d)
		}
	}
}

// TestWhatDiffers: each part that a file has is compared, and what it does not have is not.
func TestWhatDiffers(t *testing.T) {
	base := []string{"\x1b]2;one\a", "\x1b[31mab\x1b[0mcd", "\x1b[?2004h"}
	s := screen(2, 8, base...)
	for _, c := range []struct {
		name, output string
		parts        Parts
		want         string // the explanation's first line; "" when nothing differs
	}{
		{"nothing", "", All, ""},
		{"a colour", "\x1b[H\x1b[32mab\x1b[0m\x1b[3C\x1b[D", All, "row 0, columns 0 to 1: fg=green, not fg=red"},
		{"a colour that is not compared", "\x1b[H\x1b[32mab\x1b[0m", Text, ""},
		{"the cursor", "\x1b[C", All, "cursor 0,5, not 0,4"},
		{"the cursor, not compared", "\x1b[C", Styles, ""},
		{"the cursor's shape", "\x1b[5 q", Cursor, "cursor 0,4 bar blink, not 0,4"},
		{"the title", "\x1b]2;two\a", All, `title "two", not "one"`},
		{"a mode", "\x1b[?2004l", All, "modes none, not paste"},
		{"text and style", "\x1b[H\x1b[7mX", Styles, `row 0, column 0: "X", not "a"; inverse, not fg=red`},
		{"a blank that is underlined", "\x1b[2;3H\x1b[4m ", Styles, "row 1, column 2: underline, not default style"},
		{"a blank that was erased", "\x1b[2;3H ", Styles, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := mustOf(t, s, Options{Parts: c.parts}).Compare(screen(2, 8, append(base, c.output)...))
			if err != nil {
				t.Fatal(err)
			}
			if first, _, _ := strings.Cut(d.String(), "\n"); first != c.want || d.Equal() != (c.want == "") {
				t.Errorf("%q, not %q", first, c.want)
			}
		})
	}
	nfc := mustOf(t, screen(1, 4, "\u00e9"), Options{})
	if d, err := nfc.Compare(screen(1, 4, "e\u0301")); err != nil || !d.Equal() {
		t.Error("composed and decomposed:", err, d)
	}
}

// TestMasks: a mask hides what it matches, asserts its shape, and fails when it matches nothing.
func TestMasks(t *testing.T) {
	clock := Options{Parts: All, Masks: []Mask{mask(t, `clock /\d\d:\d\d/`)}}
	f := mustOf(t, screen(1, 20, "now 12:34 ok\r"), clock)
	if d, err := f.Compare(screen(1, 20, "now \x1b[31m23:59\x1b[0m ok\r")); err != nil || !d.Equal() {
		t.Error("another time:", err, d)
	}
	if d, err := f.Compare(screen(1, 20, "now 3:59 ok\r")); d != nil || !errors.As(err, new(*MaskError)) {
		t.Error("another shape:", err, d)
	}
	if d, err := f.Compare(screen(1, 20, "now 12:34 12:34\r")); err != nil || d.Equal() {
		t.Error("a second time:", err)
	}
	for bad, want := range map[string]string{
		"":                 "not a name",
		"Clock /x/":        "not a name",
		"c x":              "not a /pattern/",
		"c /x":             "closed by a slash",
		"c /(/":            "missing closing",
		"c /x/ y":          "after the pattern",
		"c /x/ in row x":   "not a row",
		"c /x/ in row 3-2": "not a row",
		"c rect 1,2":       "not a size",
		"c rect x 1x1":     "not a place",
	} {
		if _, err := ParseMask(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{`a-1 /x\/y\d/`, `a /x/ to end`, `a /x/ in row 0`, `a /x/ to end in rows 1-3`, `a rect 1,2 3x4`} {
		if m := mask(t, good); m.String() != good {
			t.Errorf("%q became %q", good, m)
		}
	}
}

// TestSyntax: what is wrong with a file is said with its line.
func TestSyntax(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", "line 1: not a golden screen"},
		{"screen 2\n", "line 1: \"screen 2\" is of another version"},
		{"screen 1\nsize 1x1\n", "line 2: the head has no \"--\""},
		{"screen 1\n--\n", "line 2: the head has no size"},
		{"screen 1\nsize 0x1\n", "line 2: \"0x1\" is not a size"},
		{"screen 1\nsize 9999x1\n", "line 2: \"9999x1\" is not a size"},
		{"screen 1\nsize 1x1\nsize 1x1\n", "line 3: a second \"size\""},
		{"screen 1\nhue 1x1\n", "line 2: unknown word \"hue\""},
		{"screen 1\nsize 1x2\nregion 0,1 1x2\n--\n", "line 4: region 0,1 1x2 does not lie within a screen of 1x2"},
		{"screen 1\ntitle x\n", "line 2: title \"x\" is not a quoted string"},
		{"screen 1\ncursor 1,1 round\n", "line 2: unknown word \"round\""},
		{"screen 1\nsize 1x2\n--\nab\n", "line 4: \"ab\" is not a row"},
		{"screen 1\nsize 1x2\n--\n|ab\n|\n", "line 5: more than 1 rows"},
		{"screen 1\nsize 2x2\n--\n|ab\n", "line 4: 1 rows, not 2"},
		{"screen 1\nsize 9x2\n--\n|ab\n*900000000\n", "line 5: \"*900000000\" rows do not fit"},
		{"screen 1\nsize 1x2\n--\n|ab\n~r\n--\n", "line 6: the legend does not have the letter r"},
		{"screen 1\nsize 1x2\n--\n|ab\n~r\n", "line 5: row 0 has styles"},
		{"screen 1\nsize 1x2\n--\n|ab\n~r\n--\nr fg=rot\n", "line 7: unknown style \"fg=rot\""},
		{"screen 1\nsize 1x2\n--\n<<<<<<< HEAD\n|ab\n", "line 4: a merge conflict"},
	} {
		_, err := Parse([]byte(c.file))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, not %s", c.file, err, c.want)
		}
	}
}

// FuzzParse: no file makes trouble, and what can be read is written so that it reads as the same.
func FuzzParse(f *testing.F) {
	f.Add(mustOf(f, screen(3, 9, pieces...), Options{Parts: All}).String())
	f.Add("screen 1\nsize 3x4\nmask a /x/ to end\n--\n|ab↵\n~ .\n*3\n--\nbase bold\nr fg=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse([]byte(text))
		if err != nil {
			if !errors.As(err, new(*SyntaxError)) {
				t.Fatal(err)
			}
			return
		}
		once := file.String()
		again, err := Parse([]byte(once))
		if err != nil {
			t.Fatalf("%v in\n%s", err, once)
		}
		if twice := again.String(); twice != once || !file.Equal(again) {
			t.Fatalf("\n%s\nbecame\n%s", once, twice)
		}
		if d := file.Diff(again); !d.Equal() || d.String() != "" {
			t.Fatal(d)
		}
	})
}

// recordings are real programs' output, by name.
func recordings(t testing.TB) map[string][]string {
	packed, err := os.ReadFile("../vt/testdata/recordings.txtar.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]string)
	for _, file := range txtar.Parse(raw.Bytes()).Files {
		name, ok := strings.CutSuffix(file.Name, ".cast")
		if !ok {
			continue
		}
		for line := range bytes.Lines(file.Data) {
			var event []any
			if json.Unmarshal(line, &event) == nil && len(event) == 3 && event[1] == "o" {
				all[name] = append(all[name], event[2].(string))
			}
		}
	}
	return all
}

// TestRealScreens: every screen of the recorded programs is written and read back.
func TestRealScreens(t *testing.T) {
	all := recordings(t)
	if len(all) < 10 {
		t.Fatal("recordings are missing", len(all))
	}
	for name, output := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			term := vt.New(24, 80, vt.Options{})
			var last *File
			step := len(output)/20 + 1
			for i, o := range output {
				term.Feed([]byte(o))
				if i%step != 0 && i+1 != len(output) {
					continue
				}
				s := term.Snapshot()
				last = mustOf(t, s, Options{Parts: All, Like: last})
				roundTrip(t, s, last)
			}
		})
	}
}

// BenchmarkCompare is what comparing a frame of 24x80 costs when it equals the file and when it
// does not.
func BenchmarkCompare(b *testing.B) {
	var big []string
	for _, output := range recordings(b) {
		if len(output) > len(big) {
			big = output
		}
	}
	s := screen(24, 80, big...)
	f := mustOf(b, s, Options{Parts: All, Masks: []Mask{mask(b, `first /^\s*\S/`)}})
	other := screen(24, 80, append(big, "\x1b[12;1H\x1b[7mother")...)
	for name, s := range map[string]*vt.Screen{"equal": s, "other": other} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Compare(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestBlanks: a blank is compared as it looks. Curses programs choose what cannot be seen of it by
// what takes fewer bytes.
func TestBlanks(t *testing.T) {
	screen := func(sgr string) *vt.Screen {
		term := vt.New(1, 5, vt.Options{})
		term.Feed([]byte("a\x1b[" + sgr + "m  \x1b[mb"))
		return term.Snapshot()
	}
	for _, c := range []struct {
		a, b  string
		equal bool
	}{
		{"1;37;44", "44", true}, {"2;3;5;8", "", true}, {"31", "32", true},
		{"44", "", false}, {"7", "", false}, {"7;31", "7;32", false}, {"4", "", false}, {"4;31", "4;32", false}, {"9", "", false}, {"53", "", false},
	} {
		f, err := Of(screen(c.a), Options{Parts: All})
		if err != nil {
			t.Fatal(err)
		}
		d, err := f.Compare(screen(c.b))
		if err != nil || d.Equal() != c.equal || (d.String() == "") != c.equal {
			t.Errorf("%s and %s: %v, %v", c.a, c.b, d, err)
		}
	}
}
