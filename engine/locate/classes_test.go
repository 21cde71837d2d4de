package locate

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
)

// A placeCase is what a locator finds on a screen of 8x30, each place as row,column+columns "text".
type placeCase struct{ name, screen, locator, want string }

const (
	clustered = "\x1b[?2027h" // clusters of characters are one
	astronaut = "👩‍🚀"
	family    = "👨‍👩‍👧"
)

// overlapping are two windows, the second of which stands before the first, as mc and dialogs have.
const overlapping = "┌ Main ──────────────┐\n" +
	"│ open    ┌ Ask ───────┐\n" +
	"│ save    │ save it?   │\n" +
	"│ quit    │ [yes] [no] │\n" +
	"│         └────────────┘\n" +
	"└────────────────────┘"

// nested are boxes within a box, with a title of their own each.
const nested = "╭ Outer ───────────────────╮\n" +
	"│ ╭ Left ────╮ ╭ Right ──╮ │\n" +
	"│ │ a        │ │ a       │ │\n" +
	"│ ╰──────────╯ ╰─────────╯ │\n" +
	"│ a                        │\n" +
	"╰──────────────────────────╯"

// wideBox has wide characters before and within its frame.
const wideBox = "日本 ┌ 設定 ────┐\n" +
	"日本 │ 言語  日 │\n" +
	"     │ 色    赤 │\n" +
	"     └──────────┘"

// tables of several looks.
const (
	markdown = "| name | size |\n|------|------|\n| a.go |   12 |\n| b.go |  340 |"
	cjkTable = "名前      大小  \n文書.txt    12  \n絵.png  123456  "
	ls       = "-rw-r--r-- 1 root   12 a.go\ndrwxr-xr-x 2 root 4096 doc"
)

// classes are the kinds of screens on which locators of terminals go wrong.
var classes = map[string][]placeCase{
	"CJK": {
		{"in the middle", "你好 世界 你好", "'世界'", `0,5+4 "世界"`},
		{"each time", "你好 世界 你好", "'你好'", `0,0+4 "你好"; 0,10+4 "你好"`},
		{"one of two characters", "世界", "'界'", `0,2+2 "界"`},
		{"a regex of any characters", "价格 100 元", `/(\d+) 元/`, `0,5+3 "100"`},
		{"a class of a script", "abc 漢字 def", `/\p{Han}+/`, `0,4+4 "漢字"`},
		{"over a wrap that leaves a column", strings.Repeat("x", 29) + "日本", "'日本'", `1,0+4 "日本"`},
		{"over a wrap between two", strings.Repeat("x", 28) + "日本", "'日本'", `0,28+2 1,0+2 "日本"`},
		{"fullwidth is not halfwidth", "ＡＢ AB", "'AB'", `0,5+2 "AB"`},
		{"Hangul composed and not", "한 \u1112\u1161\u11ab", "'한'", "0,0+2 \"한\"; 0,3+2 \"\u1112\u1161\u11ab\""},
		{"a style", "\x1b[31m你好\x1b[0m 世界", "'你好' and style 'fg=red'", `0,0+4 "你好"`},
		{"the cursor on its second column", "你好\x1b[1;4H", "cursor", `0,2+2 "好"`},
		{"exact", "你好\n你好吗", "'你好' exact", `0,0+4 "你好"`},
	},
	"emoji": {
		{"a simple one", "ok 🚀 go", "'🚀'", `0,3+2 "🚀"`},
		{"joined by ZWJ", clustered + "a " + astronaut + " b", "'" + astronaut + "'", "0,2+2 " + strconv.Quote(astronaut)},
		{"a part of a joined one is none", clustered + "a " + astronaut + " b", "'🚀'", ``},
		{"three joined", clustered + family + "!", "'!'", `0,2+1 "!"`},
		{"a flag", clustered + "🇩🇪 🇫🇷", "'🇫🇷'", `0,3+2 "🇫🇷"`},
		{"half of a flag is none", clustered + "🇩🇪", "'🇩'", ``},
		{"a skin tone", clustered + "👍🏽 👍", "'👍'", `0,3+2 "👍"`},
		{"a variation selector", clustered + "❤️ x", "'x'", `0,3+1 "x"`},
		{"a keycap", clustered + "1️⃣ 1", "'1'", `0,3+1 "1"`},
		{"without clusters each is its own", "👩\u200d🚀x", "'x'", `0,4+1 "x"`},
		{"between emoji", "🔥name🔥", "'name'", `0,2+4 "name"`},
	},
	"combining marks": {
		{"the mark is asked for", "cafe\u0301", "'café'", "0,0+4 \"cafe\u0301\""},
		{"composed on the screen", "café", "'cafe\u0301'", `0,0+4 "café"`},
		{"the letter alone is none", "cafe\u0301", "'cafe'", ``},
		{"two marks", "a\u0323\u0302 x", "'ậ'", "0,0+1 \"a\u0323\u0302\""},
		{"marks of Devanagari", clustered + "नमस्ते x", "'x'", `0,4+1 "x"`},
		{"nocase folds what is composed", "CAFE\u0301", "'café' nocase", "0,0+4 \"CAFE\u0301\""},
		{"a regex after a mark", "e\u0301 = 42", `/= (\d+)/`, `0,4+2 "42"`},
	},
	"right to left": { // cells are in the order in which the program wrote them
		{"Hebrew", "שלום עולם", "'עולם'", `0,5+4 "עולם"`},
		{"Arabic between Latin", "abc مرحبا def", "'مرحبا'", `0,4+5 "مرحبا"`},
		{"right of it", "שם: joe", "'joe' right_of 'שם:'", `0,4+3 "joe"`},
		{"with points", "שָׁלוֹם x", "'x'", `0,5+1 "x"`},
		{"numbers within", "גרסה 12 ok", `/\d+/ in lines 'גרסה'`, `0,5+2 "12"`},
	},
	"panes side by side": {
		{"not across the border", "one │ two\nmore│ less", "'one two'", ``},
		{"a line of one pane", "┌─A───┬─B───┐\n│ x 1 │ x 2 │\n└─────┴─────┘", "/x \\d/ in box 'B'", `1,8+3 "x 2"`},
		{"right of, in the same row", "a: 1 │ a: 2\nb: 3 │ b: 4", `/\d/ right_of 'b:'`, `1,3+1 "3"; 1,10+1 "4"`},
		{"only the nearest", "a: 1 │ a: 2", `/\d/ right_of first 'a:' within 2`, `0,3+1 "1"`},
		{"whole lines of a pane", "┌─A───┬─B───┐\n│ x   │ y   │\n└─────┴─────┘", "lines 'y' in box 'B'", `1,8+1 "y"`},
		{"a pane without a title", "┌─────┬─────┐\n│ x   │ y   │\n└─────┴─────┘", "box has 'y'", `1,7+5 " y"`},
		{"wide characters before the border", wideBox, "'日' in box '設定'", `1,13+2 "日"`},
	},
	"tables": {
		{"columns by heading", cjkTable, "cross '文書' '大小'", `1,12+2 "12"`},
		{"under a wide heading", cjkTable, "cross '絵' '大小'", `2,8+6 "123456"`},
		{"a row of markdown", markdown, "cross 'b.go' 'size'", `3,10+3 "340"`},
		{"a cell with one blank within", "NAME     WHO\na b c    me", "cross 'a b' 'NAME'", `1,0+5 "a b c"`},
		{"below a heading", markdown, `/\d+/ below 'size'`, `2,11+2 "12"; 3,10+3 "340"`},
		{"no heading", ls, `/\d+/ left_of 'doc' within 2`, `1,18+4 "4096"`},
		{"rows that hold a style", "a \x1b[32mok\x1b[0m\nb no\nc \x1b[32mok\x1b[0m", "lines style 'fg=green'", `0,0+4 "a ok"; 2,0+4 "c ok"`},
	},
	"wraps": {
		{"a word over two rows", strings.Repeat(".", 27) + "wrapped", "'wrapped'", `0,27+3 1,0+4 "wrapped"`},
		{"over three rows", strings.Repeat("ab", 32), "/^(?:ab)+$/",
			`0,0+30 1,0+30 2,0+4 "` + strings.Repeat("ab", 32) + `"`},
		{"a regex over two rows", strings.Repeat(".", 28) + "a1b2", `/\w\d\w\d/`, `0,28+2 1,0+2 "a1b2"`},
		{"a whole line over two", strings.Repeat("y", 33), "lines 'yy'", `0,0+30 1,0+3 "` + strings.Repeat("y", 33) + `"`},
		{"hard ends stay", strings.Repeat("x", 28) + "va\nlue", "'value'", ``},
		{"flow joins hard ends", "the end of\na sentence", "'of a' flow", `0,8+2 1,0+1 "of\na"`},
		{"flow over a frame's blanks", "one   \n   two", "'one two' flow", `0,0+3 1,3+3 "one\ntwo"`},
		{"a link that wraps is one", strings.Repeat(".", 28) + "\x1b]8;;https://x.y\x1b\\here\x1b]8;;\x1b\\", "link 'x.y'", `0,28+2 1,0+2 "here"`},
		{"cut by a rectangle", strings.Repeat(".", 28) + "abcd", "'ab' in rect 0,20 1x10", `0,28+2 "ab"`},
	},
	"overlapping boxes": {
		{"the one in front", overlapping, "box 'Ask'", `2,11+12 3,11+12 " save it?\n [yes] [no]"`},
		{"what it covers is no box", overlapping, "box 'Main'", ``},
		{"a text in front", overlapping, "'save' in box 'Ask'", `2,12+4 "save"`},
		{"a text behind", overlapping, "'save' left_of box 'Ask'", `2,2+4 "save"`},
		{"a button in front", overlapping, "/\\[no\\]/ in box 'Ask'", `3,18+4 "[no]"`},
		{"the innermost first", nested, "first (box has 'a')", `2,16+9 " a"`},
		{"by title, within another", nested, "'a' in box 'Left'", `2,4+1 "a"`},
		{"each box of a box", nested, "box in box 'Outer'", `2,16+9 " a"; 2,3+10 " a"`},
		{"in the outer alone", nested, "'a' lacks 'b' in rect 4,0 1x30", `4,2+1 "a"`},
	},
}

// TestClasses: places are found on screens of each kind that is hard for others.
func TestClasses(t *testing.T) {
	total := 0
	for class, cases := range classes {
		if total += len(cases); len(cases) < 5 {
			t.Errorf("%s has %d cases", class, len(cases))
		}
		for _, c := range cases {
			t.Run(class+"/"+c.name, func(t *testing.T) { c.check(t, 8, 30) })
		}
	}
	if total < 60 {
		t.Errorf("%d cases", total)
	}
}

// A difference is a text that Microsoft's tui-test, as its sources document it, answers otherwise: it
// takes one character a cell, maps the second cell of a wide character to a space, and joins rows
// without line ends.
type difference struct {
	screen, text string
	flow         bool
	here, there  bool // found
}

var differences = []difference{
	{"你好 世界", "世界", false, true, false},
	{"e\u0301", "é", false, true, false},
	{clustered + astronaut, astronaut, false, true, false},
	{clustered + "🇩🇪 🇫🇷", "🇫🇷", false, true, false},
	{clustered + "1️⃣ 2", "1", false, false, true},
	{clustered + "👍🏽", "👍", false, false, true},
	{"cafe\u0301", "cafe", false, false, true},
	{"한글 메뉴", "메뉴", false, true, false},
	{"ＯＫ", "ＯＫ", false, true, false},
	{strings.Repeat("x", 28) + "日本", "日本", false, true, false},
	{strings.Repeat(".", 27) + "hel\nlo", "hello", false, false, true},
	{"end of the first row,        \nand", "row, and", true, true, false},
}

// flattened is the screen as that documentation searches it.
func flattened(s *vt.Screen) string {
	var b strings.Builder
	for y := range s.Rows {
		s.EachCell(y, func(_ int, c vt.Cell) {
			first, _ := utf8.DecodeRuneInString(c.Text)
			if c.Text == "" {
				first = ' '
			}
			b.WriteRune(first)
		})
	}
	return b.String()
}

// TestDifferences: what the page says of tui-test follows from what it documents, and each text of
// the table is found here as the page says.
func TestDifferences(t *testing.T) {
	page, err := os.ReadFile("../../docs/locators.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "## Beside other tools")
	if !ok {
		t.Fatal("the page has no table")
	}
	for _, d := range differences {
		s := screen(8, 30, d.screen)
		found, err := Text(d.text, TextOptions{Flow: d.flow}).All(s)
		if err != nil || (len(found) > 0) != d.here {
			t.Errorf("%q: found %v, %v", d.text, found, err)
		}
		if got := strings.Contains(flattened(s), d.text); got != d.there {
			t.Errorf("%q: as documented there %v", d.text, got)
		}
		if !strings.Contains(table, "`'"+d.text+"'") {
			t.Errorf("docs/locators.md has no row for %q", d.text)
		}
	}
}

// check looks for the places.
func (c placeCase) check(t *testing.T, rows, cols int) {
	t.Helper()
	l, err := Parse(c.locator)
	if err != nil {
		t.Fatal(err)
	}
	found, err := l.All(screen(rows, cols, c.screen))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range found {
		var cells []string
		for _, s := range p.Spans {
			cells = append(cells, fmt.Sprintf("%d,%d+%d", s.Row, s.Col, s.End-s.Col))
		}
		got = append(got, fmt.Sprintf("%s %q", strings.Join(cells, " "), p.Text))
	}
	if s := strings.Join(got, "; "); s != c.want {
		t.Errorf("%s\nfound %s\nwant  %s", c.locator, s, c.want)
	}
	again, err := Parse(l.String())
	if err != nil || again.String() != l.String() {
		t.Errorf("%s became %s, %v", c.locator, l, err)
	}
}
