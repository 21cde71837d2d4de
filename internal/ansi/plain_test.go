package ansi_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/internal/ansi"
)

// plainOf is the text of output that comes in one write, with what is held back at its end.
func plainOf(output string) string {
	var p ansi.Plain
	p.Write([]byte(output))
	return string(p.Text()) + p.Held()
}

func TestPlainText(t *testing.T) {
	long := strings.Repeat("x", 4<<10+1)
	for _, c := range []struct{ name, output, text string }{
		{"lines", "a\r\nb\r\n", "a\nb\n"},
		{"a CR from the program and one from the terminal", "a\r\r\nb", "a\nb"},
		{"attributes", "\x1b[1;31mred\x1b[m \x1b[38:2::1:2:3mtrue\x1b[0m", "red true"},
		{"a title", "\x1b]0;title\x07a\x1b]2;more\x1b\\b", "ab"},
		{"a link", "\x1b]8;;http://x\x1b\\name\x1b]8;;\x1b\\", "name"},
		{"strings", "\x1bPq#0~\x1b\\a\x1b_G1\x1b\\b\x1b^x\x1b\\c\x1bXy\x1b\\d", "abcd"},
		{"BEL does not end what is no OSC", "\x1bPq\x07~\x1b\\a", "a"},
		{"a string that is broken off", "\x1b]0;ti\x18a", "a"},
		{"a sequence in a string", "\x1b]0;ti\x1b[1ma", "a"},
		{"character sets", "\x1b(0\x1b)Ba", "a"},
		{"private modes", "\x1b[?25l\x1b[?2026ha\x1b[>4;1m\x1b=\x1b7b\x1b8c", "abc"},
		{"controls inside of a sequence", "a\x1b[1\nmb", "a\nb"},
		{"C1 controls and DEL", "a\u009b1mb\x7fc\x00d\x07", "a1mbcd"},
		{"a progress bar", "10%\r20%\r100%\n", "100%\n"},
		{"what is shorter leaves the rest", "abcdef\rxy\n", "xycdef\n"},
		{"unless it is erased", "abcdef\rxy\x1b[K\nz", "xy\nz"},
		{"or all of it is", "abcdef\x1b[2K\rxy\n", "xy\n"},
		{"or its beginning", "abcd\x1b[2D\x1b[1Kz\n", "  zd\n"},
		{"characters of other sizes", "aéz\rü€x\n", "ü€x\n"},
		{"backspace", "abc\b\bX\n", "aXc\n"},
		{"backspace stops", "a\nb\b\b\bX", "a\nX"},
		{"movement to the right", "a\x1b[3Cb\x1b[10Gc", "a   b    c"},
		{"and not without end", "a\x1b[99999999Cb", "a" + strings.Repeat(" ", 200) + "b"},
		{"repetition", "-\x1b[4b|", "-----|"},
		{"tabs", "a\tb\rX\tY\n", "X\tY\n"},
		{"another row", "a\x1b[5;1Hb\x1b[2Ac\x1b[Hd", "a\nb\nc\nd"},
		{"the same row again and again", "\x1b[H\x1b[H\x1b[2Ja", "a"},
		{"NEL and IND", "a\x1bEb\x1bDc", "a\nb\nc"},
		{"form feed", "a\fb\vc", "a\nb\nc"},
		{"a long line is not written over", long + "\ry\n", long + "\ny\n"},
		{"but ended once", long + "\r\ny", long + "\ny"},
		{"an invalid byte", "a\xffb", "a\uFFFDb"},
		{"one for each maximal subpart", "\xe6\x97x\xe6\x97\xe6\x97", "\uFFFDx\uFFFD\uFFFD"},
		{"surrogates and what is too long", "\xed\xa0\x80\xc0\xaf", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"half of a character at the end", "a\xf0\x9f\x98", "a\uFFFD"},
	} {
		if got := plainOf(c.output); got != c.text {
			t.Errorf("%s: %+q gives %+q, expected %+q", c.name, c.output, got, c.text)
		}
	}
}

func TestPlainTextIsTheSameHoweverItIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := output(t)
		var p ansi.Plain
		for rest := []byte(all); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			p.Write(rest[:n])
			rest = rest[n:]
		}
		if got, want := string(p.Text())+p.Held(), plainOf(all); got != want {
			t.Fatalf("%+q in pieces gives %+q, in one %+q", all, got, want)
		}
	})
}
