package enginetest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/vt"
)

// DiffCells says where two screens show different cells. A cell that was never written and a space
// are equal.
func DiffCells(a, b *vt.Screen) string {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return fmt.Sprintf("%dx%d and %dx%d", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	for y := range a.Rows {
		for x := range a.Cols {
			p, q := a.Cell(y, x), b.Cell(y, x)
			for _, c := range []*vt.Cell{&p, &q} {
				if c.Text == "" && !c.Continuation {
					c.Text = " "
				}
			}
			if p != q {
				return fmt.Sprintf("row %d column %d: %+v and %+v", y, x, p, q)
			}
		}
	}
	return ""
}

// Anything is output of a program that uses everything that shows in cells.
func Anything(rows, cols int) *rapid.Generator[string] {
	chunk := rapid.OneOf(
		rapid.StringMatching(`[a-z ]{1,12}`),
		rapid.SampledFrom([]string{"日本", "界", "👩‍👩‍👧", "🇩🇪", "🇩", "é", "e\u0301", "가", "\u1100",
			"\u1161", "क्ष", "\u0600", "\u200d", "👍", "🏽",
			"\ufe0f", "☁", "│", "█", "⣿", "\u0301", "กำ", "\u0e33", "א", "\r\n", "\n", "\r", "\b",
			"\t", " "}),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"0", "1", "2", "3", "4", "4:3", "5",
			"7", "8", "9", "21", "22", "31", "97", "104", "38;5;200",
			"48;2;1;2;3", "58:5:9", "58:2::4:5:6", "53"}), 1, 3),
			func(p []string) string { return "\x1b[" + strings.Join(p, ";") + "m" }),
		rapid.Map(rapid.IntRange(1, rows),
			func(n int) string { return fmt.Sprintf("\x1b[%dd", n) }),
		rapid.Map(rapid.IntRange(1, cols),
			func(n int) string { return fmt.Sprintf("\x1b[%dG", n) }),
		rapid.SampledFrom([]string{"\x1b[K", "\x1b[1K", "\x1b[J", "\x1b[2X", "\x1b[P", "\x1b[@",
			"\x1b[L", "\x1b[M", "\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l",
			"\x1b]8;;https://example.org/\x1b\\", "\x1b]8;;\x1b\\", "\x1b[?5h", "\x1b[?1049h",
			"\x1b[?25l", "\x1b[3 q", "\x1b#8", "\x1b(0", "\x1b(B", "\x1b[3b"}),
	)
	return rapid.Map(rapid.SliceOfN(chunk, 0, 40),
		func(p []string) string { return strings.Join(p, "") })
}
