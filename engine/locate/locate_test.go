package locate

import (
	"errors"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/vt"
)

func screen(rows, cols int, output string) *vt.Screen {
	t := vt.New(rows, cols, vt.Options{})
	t.Feed([]byte(strings.ReplaceAll(output, "\n", "\r\n")))
	return t.Snapshot()
}

// TestPlaces: what a locator finds on a screen, each place as row,column+columns "text".
func TestPlaces(t *testing.T) {
	panes := "┌ Files ─────┬ Diff ──────┐\n│ a.txt   12 │ a.txt      │\n│ b.txt  340 │ + two      │\n└────────────┴────────────┘"
	table := "NAME      SIZE  MODE\na.txt       12  rw-\nbb.txt  123456  r--\n"
	dialog := "\x1b[?25l+-- Menu ---+\n| \x1b[7mCommit\x1b[0m    |\n| Cancel    |\n+-----------+\nCommit"
	for _, c := range []placeCase{
		{"a text", "one two one", "'one'", `0,0+3 "one"; 0,8+3 "one"`},
		{"the first, the last, one by number", "one two one", "first 'one'", `0,0+3 "one"`},
		{"the last", "one two one", "last 'one'", `0,8+3 "one"`},
		{"by number", "one two one one", "nth 1 'one'", `0,8+3 "one"`},
		{"case", "One ONE", "'one' nocase", `0,0+3 "One"; 0,4+3 "ONE"`},
		{"exact", "  one\none two", "'one' exact", `0,2+3 "one"`},
		{"wide characters", "你好 世界", "'世界'", `0,5+4 "世界"`},
		{"after wide characters", "你好x", "'x'", `0,4+1 "x"`},
		{"composed and not", "cafe\u0301 café", "'café'", "0,0+4 \"cafe\u0301\"; 0,5+4 \"café\""},
		{"not within a character", "e\u0301", "'e'", ``},
		{"an emoji of several", "\x1b[?2027ha👩‍🚀b", "'b'", `0,3+1 "b"`},
		{"over a wrap", strings.Repeat("x", 26) + "hello", "'hello'", `0,26+2 1,0+3 "hello"`},
		{"not over a line end", "hel\nlo", "'hello'", ``},
		{"flow", "a long\n  text", "'long text' flow", `0,2+4 1,2+4 "long\ntext"`},
		{"regex", "3 files, 14 dirs", `/(\d+) dirs/`, `0,9+2 "14"`},
		{"regex and lines", "a1\nb2", `/^b\d$/`, `1,0+2 "b2"`},
		{"style", "\x1b[31mred \x1b[1mbold\x1b[0m no", "style 'fg=red'", `0,0+8 "red bold"`},
		{"two attributes", "\x1b[31mred \x1b[1mbold\x1b[0m no", "style 'fg=red bold'", `0,4+4 "bold"`},
		{"a colour of blanks", "\x1b[44m   \x1b[0mx", "style 'bg=blue'", `0,0+3 ""`},
		{"link", "\x1b]8;;https://go.dev/a\x1b\\here\x1b]8;;\x1b\\ there", "link 'go.dev'", `0,0+4 "here"`},
		{"cursor", "ab", "cursor", `0,2+1 ""`},
		{"no cursor", dialog, "cursor", ``},
		{"lines", "a one\nb two\nc one", "lines 'one'", `0,0+5 "a one"; 2,0+5 "c one"`},
		{"rect", "abc\ndef", "rect 1,1 1x2", `1,1+2 "ef"`},
		{"rect from the end", "abc", "rect -6,0 1x2", `0,0+2 "ab"`},
		{"box", panes, "box", `1,1+12 2,1+12 " a.txt   12\n b.txt  340"; 1,14+12 2,14+12 " a.txt\n + two"`},
		{"box by title", panes, "box 'Diff'", `1,14+12 2,14+12 " a.txt\n + two"`},
		{"in a box", panes, "'a.txt' in box 'Diff'", `1,15+5 "a.txt"`},
		{"a line of a box", panes, "lines 'b.txt' in box 'Files'", `2,2+10 "b.txt  340"`},
		{"anchors within a box", panes, `/^ b\.txt +(\d+)$/ in box 'Files'`, `2,9+3 "340"`},
		{"in ASCII", dialog, "'Commit' in box 'Menu'", `1,2+6 "Commit"`},
		{"a box that has", panes, "box has '+ two'", `1,14+12 2,14+12 " a.txt\n + two"`},
		{"a box that lacks", panes, "box lacks '+ two'", `1,1+12 2,1+12 " a.txt   12\n b.txt  340"`},
		{"and", dialog, "'Commit' and style 'inverse'", `1,2+6 "Commit"`},
		{"or", "one two", "'two' or 'one'", `0,0+3 "one"; 0,4+3 "two"`},
		{"right of", "Name: joe\nAge: 7", `/\w+/ right_of 'Name:'`, `0,6+3 "joe"`},
		{"right of, within", "a  b  c", `/\w/ right_of 'a' within 3`, `0,3+1 "b"`},
		{"below", "Name\njoe", `/\w+/ below 'Name'`, `1,0+3 "joe"`},
		{"above", "Name\njoe", `/\w+/ above 'joe'`, `0,0+4 "Name"`},
		{"left of", "a b", `/\w/ left_of 'b'`, `0,0+1 "a"`},
		{"cross", table, "cross 'bb.txt' 'SIZE'", `2,8+6 "123456"`},
		{"cross of a narrow one", table, "cross 'a.txt' 'SIZE'", `1,12+2 "12"`},
		{"cross of nothing", "A    B\nx\n", "cross 'x' 'B'", `1,5+1 ""`},
		{"quotes", `it's "so"`, `"it's"`, `0,0+4 "it's"`},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, 6, 28) })
	}
}

// TestOne: none and several are errors that say where, and what nearly was.
func TestOne(t *testing.T) {
	s := screen(4, 20, "Commit\nCancel\nCommit")
	for locator, want := range map[string]string{
		"'Commit'":           "found 2 places for text 'Commit', expected one: 0,0 \"Commit\", 2,0 \"Commit\"",
		"'Comit'":            "found nothing: text 'Comit' (nearest: \"Commit\")",
		"'Commit' in box":    "found nothing: text 'Commit' in box; nothing is box",
		"last 'Commit'":      "",
		"'Cancel' in cursor": "found nothing: text 'Cancel' in cursor",
	} {
		l, err := Parse(locator)
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.One(s)
		var not *NotOneError
		if want == "" && err != nil || want != "" && (!errors.As(err, &not) || err.Error() != want) {
			t.Errorf("%s: %v, want %s", locator, err, want)
		}
	}
}

// TestParseErrors name the place and the word.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "at byte 0: the locator ends where a place should be named",
		"txt 'a'":                              "unknown word \"txt\"",
		"'a":                                   "not closed",
		"''":                                   "an empty text",
		"/a(/":                                 "missing closing",
		"/a":                                   "closed by a slash",
		"('a'":                                 "a parenthesis is not closed",
		"'a' 'b'":                              "at byte 4: unexpected '",
		"'a' in":                               "the locator ends",
		"rect a":                               "rect wants",
		"style 'rot'":                          "unknown style",
		"nth x 'a'":                            "expected a number",
		strings.Repeat("(", 100) + "'a'":       "nested deeper",
		strings.Repeat("first ", 300) + "'a'":  "nested deeper",
		strings.Repeat("'a' or ", 300) + "'a'": "more than 256 parts",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// TestHostileScreen: a screen full of corners ends with ErrTooMuch, or soon.
func TestHostileScreen(t *testing.T) {
	s := screen(400, 400, strings.Repeat("┼", 400*400))
	for _, locator := range []string{"box", "box in box", "box has box", "'┼' right_of '┼'"} {
		l, err := Parse(locator)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.All(s); err != nil && !errors.Is(err, ErrTooMuch) {
			t.Errorf("%s: %v", locator, err)
		}
	}
}

// FuzzLocate: no words and no screen make trouble; a locator is read again from its own words, and
// places lie on the screen.
func FuzzLocate(f *testing.F) {
	f.Add("'a' in box 'x' or lines (/b/ and style 'fg=red')", "\x1b[31m┌ x ┐\n│ab │\n└───┘")
	f.Add("cross first 'a' last 'b' has cursor", "a  b\nc  d日本")
	f.Fuzz(func(t *testing.T, words, output string) {
		l, err := Parse(words)
		if err != nil {
			return
		}
		again, err := Parse(l.String())
		if err != nil || again.String() != l.String() {
			t.Fatalf("%q became %q: %v", words, l, err)
		}
		s := screen(8, 20, output)
		found, err := l.All(s)
		if err != nil {
			return
		}
		for _, p := range found {
			for _, x := range p.Spans {
				if x.Row < 0 || x.Row >= s.Rows || x.Col < 0 || x.End > s.Cols || x.Col >= x.End {
					t.Fatalf("%s: %v", l, p)
				}
			}
		}
	})
}

// TestFullScreen: a screen on which everything is a candidate is answered, or refused, with bounded
// work.
func TestFullScreen(t *testing.T) {
	term := vt.New(200, 400, vt.Options{})
	term.Feed([]byte(strings.Repeat("a", 79990)))
	s := term.Snapshot()
	for words, count := range map[string]int{
		"'a' in lines 'a'": 79990, "'a' lacks ('a' lacks 'b')": 0,
		"cross 'a' 'a'": -1, "'a' right_of 'a'": -1, "'a' and 'a'": -1, "('a' or 'a') below ('a' or 'a')": -1,
	} {
		l, err := Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		found, err := l.All(s)
		if count < 0 && !errors.Is(err, ErrTooMuch) || count >= 0 && (err != nil || len(found) != count) {
			t.Errorf("%s: %d places, %v", words, len(found), err)
		}
	}
}
