package vt

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// dirty says what is in s that plain text must not hold.
func dirty(s string, limit int) string {
	if len(s) > limit {
		return fmt.Sprintf("%d bytes, at most %d", len(s), limit)
	}
	if !utf8.ValidString(s) {
		return "not UTF-8"
	}
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029 {
			return fmt.Sprintf("holds %U", r)
		}
	}
	return ""
}

// TestStringsAreClean: whatever bytes a program puts into a title, a link or any other string, what
// comes out holds no control and no bidi characters and is no longer than its bound.
func TestStringsAreClean(t *testing.T) {
	var inputs []string
	for b := range 256 {
		inputs = append(inputs, "a"+string([]byte{byte(b)})+"b")
	}
	for _, r := range []rune{0x80, 0x9b, 0x9d, 0x9f, 0xad, 0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e,
		0x2066, 0x2067, 0x2068, 0x2069, 0xfeff, 0xfffd, 0x1f600} {
		inputs = append(inputs, "a"+string(r)+"b")
	}
	inputs = append(inputs, strings.Repeat("x", 100_000), strings.Repeat("日", 50_000), strings.Repeat("\u202e", 5000)+"x")
	for _, in := range inputs {
		for _, end := range []string{"\x07", "\x1b\\"} {
			term := New(4, 20, Options{})
			var all outcome
			for _, form := range []string{"0", "2", "7", "9", "777", "99", "133;C", "633;E", "633;P", "7501"} {
				all.feed(term, []byte("\x1b]"+form+";"+in+end+"\x1b\\"))
			}
			all.feed(term, []byte("\x1b]8;id="+in+";http://x/"+in+end+"\x1b\\\x1b[Hlink"))
			s := term.Snapshot()
			if why := dirty(s.Title, titleMax); why != "" {
				t.Errorf("title from %.20q: %s", in, why)
			}
			s.EachCell(0, func(_ int, c Cell) {
				if why := dirty(c.Style.Link, linkMax); why != "" {
					t.Errorf("link from %.20q: %s", in, why)
				}
			})
			for _, e := range all.events {
				if why := dirty(e.Text, stringMax); why != "" {
					t.Errorf("event %d from %.20q: %s", e.Kind, in, why)
				}
			}
			if why := verifyReply(all.reply); why != "" {
				t.Errorf("%.20q: %s", in, why)
			}
		}
	}
}

// TestSettingsReports: each setting that DECRQSS knows, and reports that need a state.
func TestSettingsReports(t *testing.T) {
	term := New(24, 80, Options{})
	term.Resize(24, 80, 960, 480)
	for _, c := range [][2]string{
		{"\x1b[1;2;3;4;5;7;8;9;53;31;102;58;5;7m\x1bP$qm\x1b\\", "\x1bP1$r0;1;2;3;5;7;8;9;53;4;31;102;58:5:7m\x1b\\"},
		{"\x1b[m\x1bP$qm\x1b\\", "\x1bP1$r0m\x1b\\"},
		{"\x1b[1\"q\x1bP$q\"q\x1b\\", "\x1bP1$r1\"q\x1b\\"},
		{"\x1b[0\"q\x1bP$q\"q\x1b\\", "\x1bP1$r0\"q\x1b\\"},
		{"\x1bP$q\"p\x1b\\", "\x1bP1$r62;1\"p\x1b\\"},
		{"\x1bP$qt\x1b\\", "\x1bP1$r24t\x1b\\"},
		{"\x1bP$q" + strings.Repeat("m", 20_000) + "\x1b\\", ""},
		{"\x1b[?15n\x1b[?25n\x1b[?26n\x1b[?99n", "\x1b[?13n\x1b[?21n\x1b[?27;1;0;0n"},
		{"\x1b[14t\x1b[16t\x1b[18t", "\x1b[4;480;960t\x1b[6;20;12t\x1b[8;24;80t"},
		{"\x1b[x\x1b[1x\x1b[2x", "\x1b[2;1;1;128;128;1;0x\x1b[3;1;1;128;128;1;0x"},
		{"\x1b[?1049$p\x1b[?1003h\x1b[?1003$p\x1b[?1000$p\x1b[?1006$p", "\x1b[?1049;2$y\x1b[?1003;1$y\x1b[?1000;2$y\x1b[?1006;2$y"},
	} {
		var got outcome
		got.feed(term, []byte(c[0]))
		if string(got.reply) != c[1] {
			t.Errorf("%.40q: %q, want %q", c[0], got.reply, c[1])
		}
		if s := verifyReply(got.reply); s != "" {
			t.Error(s)
		}
	}
}

// TestRowMemory: a row that is written again and again keeps what it shows and not what it showed.
func TestRowMemory(t *testing.T) {
	term := New(2, 20, Options{})
	for i := range 20_000 {
		term.Feed(fmt.Appendf(nil, "\x1b[1;%dH\x1b]8;;http://%d\x07e\u0301%c\x1b]8;;\x07", i%18+1, i, 'a'+i%26))
	}
	r := term.grid.rows[0]
	if len(r.extras) > 200 || cap(r.arena) > 4096 {
		t.Errorf("%d links, %d bytes of text", len(r.extras), cap(r.arena))
	}
	if s := verify(term); s != "" {
		t.Error(s)
	}
	s := term.Snapshot()
	last := 19_999 % 18
	if c := s.Cell(0, last); c.Text != "e\u0301" || c.Style.Link != "http://19999" {
		t.Errorf("%+v", c)
	}
	// All in one feed: nothing is given back in between.
	var all strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&all, "\x1b[2;%dH\x1b]8;;http://%d\x07日\u0301\u0302\x1b]8;;\x07", i%18+1, i)
	}
	term.Feed([]byte(all.String()))
	if r := term.grid.rows[1]; len(r.extras) > 200 || cap(r.arena) > 8192 {
		t.Errorf("in one feed: %d links, %d bytes of text", len(r.extras), cap(r.arena))
	}
	if s := verify(term); s != "" {
		t.Error(s)
	}
}

func TestHistoryCells(t *testing.T) {
	term := New(1, 12, Options{})
	term.Feed([]byte("a\x1b[1;38;2;1;2;3m日\x1b[m\x1b]8;;u:x\x07e\u0301\x1b[58;5;3;4:3mz\x1b[m\x1b]8;;\x07"))
	var want, got []Cell
	term.Snapshot().EachCell(0, func(_ int, c Cell) { want = append(want, c) })
	term.Feed([]byte("\r\n"))
	h := term.Snapshot().History()
	h.EachCell(0, func(_ int, c Cell) { got = append(got, c) })
	for i, c := range got {
		if c != want[i] {
			t.Errorf("column %d: %+v, want %+v", i, c, want[i])
		}
	}
	if len(got) != 5 || h.Line(0) != "a日e\u0301z" {
		t.Errorf("%d cells, line %q", len(got), h.Line(0))
	}
	h.EachCell(7, func(int, Cell) { t.Error("there is no such line") })
}

func TestKittyStack(t *testing.T) {
	term := New(1, 10, Options{})
	for i := range 20 {
		term.Feed(fmt.Appendf(nil, "\x1b[>%du", i%31+1))
	}
	for _, c := range [][2]string{
		{"\x1b[?u", "\x1b[?20u"}, {"\x1b[<2u\x1b[?u", "\x1b[?18u"}, {"\x1b[=3u\x1b[?u", "\x1b[?3u"}, {"\x1b[=4;2u\x1b[?u", "\x1b[?7u"},
		{"\x1b[=1;3u\x1b[?u", "\x1b[?6u"}, {"\x1b[<99u\x1b[?u", "\x1b[?0u"}, {"\x1b[>255u\x1b[?u", "\x1b[?31u"},
	} {
		if got := string(term.Feed([]byte(c[0])).Reply); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}

// TestEraseIsTold: whoever follows what a command prints must know when it begins anew at the top.
func TestEraseIsTold(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\x1b[2J":              "3,0",
		"a\r\nb\x1b[H\x1b[J":         "3,0",
		"a\r\nb\x1bc":                "3,0",
		"a\r\nb\x1b[J\x1b[1J\x1b[3J": "",
	} {
		term := New(2, 10, Options{})
		term.Feed([]byte("1\r\n2\r\n3\r\n"))
		got := ""
		for _, e := range term.Feed([]byte(in)).Events {
			if e.Kind == EventErase {
				got = fmt.Sprintf("%d,%d", e.Line, e.Col)
			}
		}
		if got != want {
			t.Errorf("%q: erased at %q, want %q", in, got, want)
		}
	}
}

// TestCommandLineIsWhole: of its control characters tabs and line feeds are text.
func TestCommandLineIsWhole(t *testing.T) {
	for in, want := range map[string]string{
		`cat <<X\x0a\x09a\x3b\x0d\x0aX`: "cat <<X\n\ta;\n\nX",
		`a\x1b[31mb\x00\x7f`:            "a[31mb",
	} {
		e := New(2, 10, Options{}).Feed([]byte("\x1b]633;E;" + in + "\a")).Events
		if len(e) != 1 || e[0].Text != want || e[0].Cut {
			t.Errorf("%q: %+v, want %q", in, e, want)
		}
	}
	e := New(2, 10, Options{}).Feed([]byte("\x1b]633;E;" + strings.Repeat("x", 10_000) + "\a")).Events
	if len(e) != 1 || !e[0].Cut || len(e[0].Text) < 8000 {
		t.Errorf("a long one: %d events", len(e))
	}
}
