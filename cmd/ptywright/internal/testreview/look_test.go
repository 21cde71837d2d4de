package testreview

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/vt"
)

// window is a terminal in which a review is looked at.
func window(t testing.TB, r *reviewer) *vt.Screen {
	t.Helper()
	term := vt.New(r.rows, r.cols, vt.Options{})
	var b strings.Builder
	b.WriteString(begin)
	if err := r.draw(&b); err != nil {
		t.Fatal(err)
	}
	term.Feed([]byte(b.String()))
	return term.Snapshot()
}

// TestReviewerShows both screens in the layout that has room for them, with the cells that differ on
// a ground of their own.
func TestReviewerShows(t *testing.T) {
	folder(t)
	items, err := Find([]string{"testdata/TestA/changed.screen.new"})
	if err != nil || len(items) != 1 {
		t.Fatal(err, items)
	}
	for _, c := range []struct {
		rows, cols int
		layout     layout
		want       []string
	}{
		{24, 80, split, []string{" 1 of 1  testdata/TestA/changed.screen: 3 cells differ", "golden" + strings.Repeat(" ", 35) + "seen"}},
		{24, 30, stack, []string{"golden", "seen"}},
		{8, 30, delta, []string{"- red text", "+ red text"}},
		{1, 1, delta, nil},
	} {
		r := newReviewer(items, c.rows, c.cols)
		s := window(t, r)
		if r.layout != c.layout {
			t.Errorf("%dx%d: %v", c.rows, c.cols, r.layout)
		}
		for _, want := range c.want {
			if !strings.Contains(s.Text(), want) {
				t.Errorf("%dx%d: no %q in\n%s", c.rows, c.cols, want, s.Text())
			}
		}
	}
	// In the diff, colours that differ are to be seen, and stand where a mark says.
	s := window(t, newReviewer(items, 8, 30))
	for row, want := range map[int]vt.Color{1: vt.IndexedColor(1), 2: vt.IndexedColor(2)} {
		if c := s.Cell(row, 2); c.Text != "r" || c.Style != (vt.Style{Foreground: want}) {
			t.Errorf("row %d of the diff: %+v", row, c)
		}
	}
	if line := string(s.AppendLine(nil, 3)); line != "  ^^^" {
		t.Errorf("the mark is %q", line)
	}
	r := newReviewer(items, 24, 80)
	s = window(t, r)
	if c := s.Cell(2, 0); c.Text != "r" || c.Style.Background != oldGround || c.Style.Foreground != vt.IndexedColor(1) {
		t.Errorf("the golden's cell: %+v", c)
	}
	if c := s.Cell(2, 41); c.Text != "r" || c.Style.Background != newGround || c.Style.Foreground != vt.IndexedColor(2) {
		t.Errorf("the cell that was seen: %+v", c)
	}
	if c := s.Cell(2, 4); c.Style != (vt.Style{}) {
		t.Errorf("a cell that is the same: %+v", c)
	}
	if text := s.Text(); !strings.Contains(text, " row 0, columns 0 to 2: fg=green, not fg=red") || !strings.Contains(text, " a accept  r reject") {
		t.Errorf("%s", text)
	}
	r.press("b")
	seen := window(t, r).Text()
	if r.press(" "); !strings.Contains(seen, "\nseen\n") || !strings.Contains(window(t, r).Text(), "\ngolden\n") {
		t.Errorf("it does not blink:\n%s", seen)
	}
}

// TestReviewerDecides by keys, one item after the other, and says what came of it.
func TestReviewerDecides(t *testing.T) {
	_, now := folder(t)
	items, err := Find([]string{"."})
	if err != nil {
		t.Fatal(err)
	}
	r := newReviewer(items, 24, 80)
	name := func() string { return r.items[r.at].Name }
	var seen []string
	over := false
	for n := 0; !over && n < 20; n++ {
		seen = append(seen, name())
		window(t, r)
		key := map[string]string{
			"app.ptw:screen/main": "a", "app.ptw:screen/third": "s", "testdata/TestA/changed.screen": "r",
			"testdata/TestB/conflict.screen": "a", "testdata/TestB/broken.screen": "a", "testdata/TestA/fresh.screen": "q",
		}[name()]
		if r.message != "" {
			if !strings.Contains(r.message, "cannot be accepted") {
				t.Error(r.message)
			}
			key = "r"
		}
		over = r.press(key)
	}
	if got := strings.Join(seen, " "); got != "app.ptw:screen/main app.ptw:screen/third testdata/TestA/changed.screen testdata/TestA/fresh.screen" {
		t.Errorf("%s", got)
	}
	if got := r.summary(); got != "1 accepted, 1 rejected, 4 left\n" {
		t.Error(got)
	}
	if !strings.Contains(read(t, "app.ptw"), "-- screen/main --\n"+now.String()) {
		t.Error("it was not accepted")
	}
}

// TestReviewerTakesAnyKeys: no keys and no window break it, and what is not decided stays.
func TestReviewerTakesAnyKeys(t *testing.T) {
	folder(t)
	items, err := Find([]string{"."})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := newReviewer(items, rapid.IntRange(0, 40).Draw(rt, "rows"), rapid.IntRange(0, 200).Draw(rt, "cols"))
		for range rapid.IntRange(0, 20).Draw(rt, "keys") {
			key := rapid.SampledFrom([]string{"s", "v", "b", " ", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "x", "\r", "\x1bOB"}).Draw(rt, "key")
			if r.press(key) {
				return
			}
			if n := len(r.frame()); n != r.rows {
				rt.Fatalf("%d lines in a window of %d", n, r.rows)
			}
			r.resize(rapid.IntRange(0, 40).Draw(rt, "rows"), rapid.IntRange(0, 200).Draw(rt, "cols"))
		}
	})
	if left, err := Find([]string{"."}); err != nil || len(left) != len(items) {
		t.Errorf("%d are left, %v", len(left), err)
	}
}

// TestHostileGoldenInAReview: nothing in a golden or its name reaches the person's terminal.
func TestHostileGoldenInAReview(t *testing.T) {
	t.Chdir(t.TempDir())
	hostile := "screen 1\nsize 2x20\ntitle \"\\x1b]52;c;eA==\\a\"\n--\n\"\\x1b[31m\\x07evil\\u202e\"\n|日本\x1b[2J\n--\n"
	name := "x\x1b]0;owned\a.screen"
	write(t, name+".new", hostile)
	write(t, name, strings.Replace(hostile, "evil", "good", 1))
	items, err := Find([]string{"."})
	if err != nil || len(items) != 1 {
		t.Fatal(err, items)
	}
	for l := range layouts {
		r := newReviewer(items, 24, 80)
		r.chosen, r.layout = true, l
		text := strings.Join(r.frame(), "\n")
		for _, bad := range []string{"\x1b[31m\x07", "\x1b]0;", "\x1b]52", "\u202e", "\x1b[2J", "\a"} {
			if strings.Contains(text, bad) {
				t.Errorf("%v: %q is in %q", l, bad, text)
			}
		}
	}
	out, _, _ := run(t, "review")
	if strings.ContainsAny(out, "\x1b\a") || strings.Contains(out, "\u202e") {
		t.Errorf("%q", out)
	}
}

func TestKeysOf(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a": `["a"]`, "as": `["a" "s"]`, "\x1b[A\x1b[B": `["\x1b[A" "\x1b[B"]`, "\x1bOAx": `["\x1bOA" "x"]`, "\x1b": `["\x1b"]`,
		"\x1b[5~q": `["\x1b[5~" "q"]`, "\x1b[": `["\x1b["]`, "": `[]`,
	} {
		if got := fmt.Sprintf("%q", keysOf([]byte(in))); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}
