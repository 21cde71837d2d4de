package vt

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hide masks every occurrence of word.
func hide(word, marker string) func(string) []Mask {
	return func(line string) (m []Mask) {
		for at := 0; ; {
			i := strings.Index(line[at:], word)
			if i < 0 {
				return m
			}
			m = append(m, Mask{at + i, at + i + len(word), marker})
			at += i + len(word)
		}
	}
}

func TestMaskKeepsColumns(t *testing.T) {
	for name, c := range map[string]struct{ in, word, want string }{
		"in a line, padded":        {"a secretsecret b", "secretsecret", "a [HIDDEN]     b"},
		"in a line, no room":       {"a pin b", "pin", "a ••• b"},
		"at the end, whole":        {"a pin", "pin", "a [HIDDEN]"},
		"at the edge, no room":     {strings.Repeat("x", 17) + "pin", "pin", strings.Repeat("x", 17) + "•••"},
		"over a soft wrap":         {strings.Repeat("x", 15) + "secretsecret b", "secretsecret", strings.Repeat("x", 15) + "[HIDDEN]     b"},
		"over attributes":          {"a sec\x1b[1mret\x1b[m b", "secret", "a •••••• b"},
		"wide characters":          {"a \u6f22\u5b57 b", "\u6f22\u5b57", "a •••• b"},
		"part of a wide character": {"\u6f22x", "\u6f22", "••x"},
		"drawn by cursor moves":    {"\x1b[1;6Hret b\x1b[1;1Ha sec", "secret", "a s  ret b"},
		"nothing":                  {"a b", "secret", "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			term := New(4, 20, Options{})
			term.Feed([]byte(c.in))
			before := term.Snapshot()
			text := before.Text()
			masked := before.Mask(hide(c.word, "[HIDDEN]"))
			if name == "drawn by cursor moves" {
				c.want = strings.ReplaceAll(text, "secret", "••••••")
			}
			if got := masked.Text(); got != c.want {
				t.Errorf("masked %q, want %q", got, c.want)
			}
			if before.Text() != text {
				t.Error("the screen itself was changed")
			}
			if (masked == before) != !strings.Contains(text, c.word) {
				t.Error("a copy was made for nothing, or none where one was needed")
			}
		})
	}
}

// TestMaskJudgesRowsAloneToo: rows that only seem to go on from each other must not hide each
// other's meaning.
func TestMaskJudgesRowsAloneToo(t *testing.T) {
	term := New(3, 20, Options{})
	term.Feed([]byte(strings.Repeat("a", 25) + "\rtoken=secretsecret"))
	masked := term.Snapshot().Mask(func(line string) []Mask {
		if rest, ok := strings.CutPrefix(line, "token="); ok {
			return []Mask{{6, 6 + len(rest), "[HIDDEN]"}}
		}
		return nil
	})
	if got := masked.Text(); strings.Contains(got, "secret") {
		t.Errorf("shown %q", got)
	}
}

func TestMaskSeesTheScrollbackThatGoesOn(t *testing.T) {
	term := New(2, 10, Options{})
	term.Feed([]byte("token=" + strings.Repeat("s", 30) + "\r\nx"))
	if got := term.Snapshot().Text(); got != "ssssss\nx" {
		t.Fatalf("the screen shows %q", got)
	}
	masked := term.Snapshot().Mask(func(line string) []Mask {
		if i := strings.Index(line, "token="); i >= 0 {
			return []Mask{{i + 6, len(line), "[HIDDEN]"}}
		}
		return nil
	})
	if got := masked.Text(); strings.Contains(got, "s") {
		t.Errorf("the end of a secret that began in the scrollback is shown: %q", got)
	}
}

// TestMaskLooksAtTheLinesOfText holds the quick look against one that walks the cells.
func TestMaskLooksAtTheLinesOfText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		term := New(rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 12).Draw(t, "cols"), Options{})
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bb", " ", "\u6f22", "e\u0301", "\r\n", "\x1b[2;2H", "\x1b[K", "\x1b[1m", "\t", "\x1b[?1049h"}), 0, 40)
		for _, p := range pieces.Draw(t, "pieces") {
			term.Feed([]byte(p))
		}
		s := term.Snapshot()
		if s.Text() == "" {
			return // nothing to cover, whatever it continues
		}
		var quick []string
		s.Mask(func(line string) []Mask {
			if strings.TrimSpace(line) != "" {
				quick = append(quick, line)
			}
			return nil
		})
		var slow []string
		var m masker
		for first := 0; first < s.Rows; {
			last := first
			for last < s.Rows-1 && s.Wrapped(last) {
				last++
			}
			m.join(s, first, last)
			if line := string(m.text); strings.TrimSpace(line) != "" {
				slow = append(slow, line)
			}
			first = last + 1
		}
		for _, line := range slow { // beside them, rows of a joined line are looked at alone
			if !slices.Contains(quick, line) {
				t.Fatalf("looked at %q, the cells say %q", quick, slow)
			}
		}
	})
}

// TestMaskPageSeesLinesTogether: all logical lines at once, what is above them, and the rows by
// themselves where some were joined.
func TestMaskPageSeesLinesTogether(t *testing.T) {
	term := New(3, 10, Options{})
	term.Feed([]byte("one\r\ntwo" + strings.Repeat("o", 12) + "\r\nthree\r\n" + strings.Repeat("x", 15)))
	var calls [][]string
	masked := term.Snapshot().MaskPage(func(lines []string, above func(int) (string, bool)) [][]Mask {
		calls = append(calls, slices.Clone(lines))
		if len(calls) == 1 {
			for n, want := range []string{"twooooooooooooo", "one", ""} {
				if got, ok := above(n + 1); got != want || ok != (want != "") {
					t.Errorf("%d above the page: %q, %v, want %q", n+1, got, ok, want)
				}
			}
		}
		out := make([][]Mask, len(lines))
		out[len(out)-1] = []Mask{{12, 15, "#"}}
		return out
	})
	if want := [][]string{{"three", strings.Repeat("x", 15)}, {"three", strings.Repeat("x", 10), "xxxxx"}}; !slices.EqualFunc(calls, want, slices.Equal) {
		t.Errorf("find saw %q, want %q", calls, want)
	}
	if got, want := masked.Text(), "three\nxxxxxxxxxxxx#  "; strings.TrimRight(got, " ") != strings.TrimRight(want, " ") {
		t.Errorf("masked %q, want %q", got, want)
	}
}

// TestWithTexts: title and links are replaced, each asked about once, and the screen they came from
// stays as it is.
func TestWithTexts(t *testing.T) {
	term := New(3, 10, Options{})
	term.Feed([]byte("\x1b]2;title\a\x1b]8;;http://a/\aone\x1b]8;;http://b/\atwo\x1b]8;;http://a/\a\r\n\x1b[4mx\x1b]8;;\ay"))
	s := term.Snapshot()
	asked := map[string]int{}
	got := s.WithTexts(func(text string) string {
		asked[text]++
		if text == "http://b/" {
			return text
		}
		return "other"
	})
	if len(asked) != 3 || asked["title"] != 1 || asked["http://a/"] != 1 {
		t.Errorf("asked %v", asked)
	}
	for _, c := range []struct {
		s     *Screen
		title string
		links [3]string
	}{{got, "other", [3]string{"other", "http://b/", "other"}}, {s, "title", [3]string{"http://a/", "http://b/", "http://a/"}}} {
		links := [3]string{c.s.Cell(0, 0).Style.Link, c.s.Cell(0, 3).Style.Link, c.s.Cell(1, 0).Style.Link}
		if c.s.Title != c.title || links != c.links || c.s.Text() != "onetwo\nxy" || c.s.Cell(1, 1).Style.Link != "" {
			t.Errorf("%q %q %q", c.s.Title, links, c.s.Text())
		}
	}
	if same := s.WithTexts(func(text string) string { return text }); same != s {
		t.Error("what does not change is a new screen")
	}
}
