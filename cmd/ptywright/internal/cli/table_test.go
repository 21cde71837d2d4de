package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"

	"github.com/ptywright/ptywright/internal/ansi"
)

// sample is a table of each kind of column.
func sample() *Table {
	t := &Table{Columns: []Column{
		{Title: "ID"}, {Title: "NAME", Spare: true}, {Title: "WHAT", Least: 6},
		{Title: "WHERE", Least: 8, Path: true, Drop: 1}, {Title: "N", Right: true, Drop: 2},
	}}
	t.Row(Cell{"s1", Bold}, "", "short", "/home/anna/code/site", 7)
	t.Row("s10", "", "日本語 and \x1b[31mred\nlines", "", 12345)
	return t
}

func printed(t *testing.T, table *Table, on Terminal) string {
	t.Helper()
	var b strings.Builder
	if err := table.PrintFor(&b, on); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTableIsWholeElsewhere: what is no terminal gets each cell as it is, and no colour.
func TestTableIsWholeElsewhere(t *testing.T) {
	t.Setenv("HOME", "/home/anna")
	want := `ID   WHAT                           WHERE                     N
s1   short                          /home/anna/code/site      7
s10  日本語 and \x1b[31mred\nlines  -                     12345
`
	if diff := cmp.Diff(want, printed(t, sample(), Terminal{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTableFitsTerminals: cells are cut before columns are dropped, the least useful first, and no
// row is wider than the terminal, however narrow.
func TestTableFitsTerminals(t *testing.T) {
	t.Setenv("HOME", "/home/anna")
	for cols, want := range map[int]string{
		80: "ID   WHAT                           WHERE            N\n" +
			"s1   short                          ~/code/site      7\n" +
			"s10  日本語 and \\x1b[31mred\\nlines  -            12345\n",
		40: "ID   WHAT             WHERE            N\n" +
			"s1   short            ~/code/site      7\n" +
			"s10  日本語 and \\x1…  -            12345\n",
		25: "ID   WHAT      WHERE\n" +
			"s1   short     …code/site\n" +
			"s10  日本語 …  -\n",
		16: "ID   WHAT\n" +
			"s1   short\n" +
			"s10  日本語 and…\n",
	} {
		if diff := cmp.Diff(want, printed(t, sample(), Terminal{Cols: cols, Moves: true, UTF8: true})); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", cols, diff)
		}
	}
	for cols := 1; cols < 120; cols++ {
		for _, on := range []Terminal{{Cols: cols, UTF8: true}, {Cols: cols, Style: true}} {
			for line := range strings.Lines(printed(t, sample(), on)) {
				bare := ansi.Strip(strings.TrimSuffix(line, "\n"))
				if w := displaywidth.String(bare); w > max(cols, 7) {
					t.Errorf("%d columns: %d in %q", cols, w, bare)
				}
				if !on.UTF8 && strings.Contains(bare, "…") {
					t.Errorf("%d columns: an ellipsis in %q", cols, bare)
				}
			}
		}
	}
}

// TestTableColours on terminals that want it, and nothing else.
func TestTableColours(t *testing.T) {
	t.Parallel()
	got := printed(t, sample(), Terminal{Cols: 80, Style: true, UTF8: true})
	if !strings.Contains(got, "\x1b[2mID\x1b[m") || !strings.Contains(got, "\x1b[1ms1\x1b[m") || !strings.Contains(got, "\x1b[2m-\x1b[m") || strings.Contains(got, "\x1b[31m") {
		t.Errorf("%q", got)
	}
}

// TestAgo is in one unit, rounded down.
func TestAgo(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Hour: "now", 999 * time.Millisecond: "now", time.Second: "1s ago", 59999 * time.Millisecond: "59s ago",
		time.Minute: "1m ago", time.Hour - 1: "59m ago", 23*time.Hour + 59*time.Minute: "23h ago", 24 * time.Hour: "1d ago", 800 * time.Hour: "33d ago",
	} {
		if got := Ago(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
