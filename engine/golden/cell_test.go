package golden

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/vt"
)

// TestScreenOfAFile: what a file says is what its screen shows, so that written down again it is the
// same file, whatever the screen was.
func TestScreenOfAFile(t *testing.T) {
	t.Parallel()
	for name, output := range map[string]string{
		"plain":   "one\r\ntwo",
		"styles":  "\x1b[1;31mred\x1b[0;48;2;1;2;3m on blue \x1b[m\x1b[4:3;58:5:9mcurly\x1b[m",
		"wide":    "日本 \x1b[7m語\x1b[m e\u0301 👩‍💻 x",
		"link":    "\x1b]8;;https://go.dev\x1b\\go\x1b]8;;\x1b\\ on",
		"boxes":   "╭──╮\r\n│  │\r\n╰──╯",
		"title":   "\x1b]2;a title\x07text\x1b[2;3H",
		"no more": "\x1b[?25lx",
	} {
		term := vt.New(6, 30, vt.Options{})
		term.Feed([]byte(output))
		f, err := Of(term.Snapshot(), Options{Parts: Styles | Cursor | Title})
		if err != nil {
			t.Fatal(err)
		}
		again, err := Of(f.Screen(nil), Options{Parts: Styles | Cursor | Title, Like: f})
		if err != nil || !f.Equal(again) {
			t.Errorf("%s: %v\n%s", name, err, f.Diff(again))
		}
	}
}

// TestCellsOfAFile: a column each, wide characters included, and nothing that was written by hand
// reaches a terminal.
func TestCellsOfAFile(t *testing.T) {
	t.Parallel()
	f, err := Parse([]byte("screen 1\nsize 3x6\ntitle \"a\\x1b]52;c;eA==\\a\"\n--\n|日a\n~r b\n\"\\x1b[2Jx\\u202e\"\n|«clock»\n~.......\n--\nb bold\nr fg=red\n"))
	if err != nil {
		t.Fatal(err)
	}
	texts := func(row int) (all []string) {
		for _, c := range f.Cells(row) {
			all = append(all, c.Text)
		}
		return all
	}
	if got, want := texts(0), []string{"日", "", "a", " ", " ", " "}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if c := f.Cells(0); c[0].Style.Foreground != vt.IndexedColor(1) || !c[2].Style.Bold {
		t.Errorf("%+v", c)
	}
	if got := strings.Join(texts(1), ""); strings.ContainsAny(got, "\x1b\u202e") || !strings.Contains(got, "[2Jx") {
		t.Errorf("%q", got)
	}
	if c := f.Cells(2); len(c) != 6 || !c[0].Masked || !c[5].Masked {
		t.Errorf("%+v", c)
	}
	if got := f.Cells(9); len(got) != 6 || got[0].Text != " " {
		t.Errorf("a row that the file does not have: %+v", got)
	}
	if s := f.Screen(nil); strings.Contains(s.Title, "\x1b") || s.Rows != 3 || s.Cols != 6 {
		t.Errorf("%q, %dx%d", s.Title, s.Rows, s.Cols)
	}
}
