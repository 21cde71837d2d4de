package reading

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/redact"
)

// linesOf are the lines of a session of 24 rows and 80 columns that has shown text.
func linesOf(t *testing.T, text string, hide *redact.Redactor) *Lines {
	t.Helper()
	return New(session(t, text, 0).View(), hide).Lines()
}

// TestSearchGoesOverRows: a line that wraps is searched as one, on the screen and above it, with the
// blanks at the ends of its rows, and a match tells where it begins and ends.
func TestSearchGoesOverRows(t *testing.T) {
	x := strings.Repeat("x", 69)
	text := x + " the quick brown fox\r\n" + // a blank stands in the last column
		strings.Repeat("x", 79) + "日本\r\n" + // a wide character has no room in it
		"one\r\n"
	for where, after := range map[string]string{"screen": "", "scrollback": strings.Repeat("\r\n", 40)} {
		n := linesOf(t, text+after, redact.Default)
		for pattern, want := range map[string][]Found{
			"quick brown": {{Line: 0, Col: 74, EndLine: 1, EndCol: 5, Text: x + " the quick brown fox"}},
			"quick":       {{Line: 0, Col: 74, EndLine: 0, EndCol: 79, Text: x + " the quick "}},
			"fox$":        {{Line: 1, Col: 6, EndLine: 1, EndCol: 9, Text: "brown fox"}},
			"x日":          {{Line: 2, Col: 78, EndLine: 3, EndCol: 1, Text: strings.Repeat("x", 79) + "日本"}},
			"^brown|^日":   nil, // no line begins there
			"^one$":       {{Line: 4, Col: 0, EndLine: 4, EndCol: 3, Text: "one"}},
		} {
			got, total := n.Search(regexp.MustCompile(pattern), 10)
			if diff := cmp.Diff(want, got); diff != "" || total != len(want) {
				t.Errorf("%s: %s: %d in all\n%s", where, pattern, total, diff)
			}
		}
	}
}

// TestSearchOfALineWithoutEnd: a line over more rows than are judged together is one line, too: no
// match is lost or counted twice where its pieces meet.
func TestSearchOfALineWithoutEnd(t *testing.T) {
	const rows = 3*maxJoined + 7
	// Over the end of each row but the last stands a word.
	text := strings.Repeat("x", 77) + strings.Repeat("needle"+strings.Repeat("x", 74), rows-1)
	n := linesOf(t, text, nil)
	found, total := n.Search(regexp.MustCompile("needle"), 5*rows)
	if total != rows-1 || len(found) != total {
		t.Fatalf("%d found, %d in all, of %d", len(found), total, rows-1)
	}
	for i, f := range found {
		text := 160 // two rows
		if i == rows-2 {
			text = 157
		}
		if f.Line != i || f.Col != 77 || f.EndLine != i+1 || f.EndCol != 3 || len(f.Text) != text {
			t.Fatalf("match %d is %+v", i, f)
		}
	}
	if _, total := n.Search(regexp.MustCompile("^.|.$"), 10); total != 2 {
		t.Errorf("one line has %d beginnings and ends", total)
	}
}

// TestSearchOnTheAlternateScreen: its first row continues nothing.
func TestSearchOnTheAlternateScreen(t *testing.T) {
	n := linesOf(t, strings.Repeat("x", 80*30)+"\x1b[?1049h\x1b[Hzero", nil)
	if found, total := n.Search(regexp.MustCompile("xzero"), 10); total != 0 {
		t.Errorf("found %+v", found)
	}
	if _, total := n.Search(regexp.MustCompile("^zero$"), 10); total != 1 {
		t.Errorf("found %d times", total)
	}
}

// TestSecretBehindABlankAtTheEndOfARow is hidden: with the row's blank it is known for one.
func TestSecretBehindABlankAtTheEndOfARow(t *testing.T) {
	const word = "Kq7zWv93Lm"
	head := "Authorization: Bearer "
	for _, after := range []string{"", strings.Repeat("\r\n", 40)} {
		text := strings.Repeat("y", 80-len(head)-1) + " " + head + word + "\r\n" + after
		n := linesOf(t, text, redact.Default)
		if got := strings.Join(n.Read(0, n.Len()), "\n"); strings.Contains(got, word) || !strings.Contains(got, "Bearer") {
			t.Errorf("read %q", got)
		}
		if found, total := n.Search(regexp.MustCompile(word), 10); total != 0 {
			t.Errorf("found %+v", found)
		}
	}
}

// BenchmarkSearch of five thousand lines that wrap once each.
func BenchmarkSearch(b *testing.B) {
	s := sessionOf(b, strings.Repeat(strings.Repeat("line ", 20)+"\r\n", 5000), engine.Config{Program: "fake"})
	n := New(s.View(), redact.Default).Lines()
	re := regexp.MustCompile("(?i)no such text")
	for b.Loop() {
		n.Search(re, 10)
	}
}
