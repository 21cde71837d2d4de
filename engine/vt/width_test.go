package vt

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
	"pgregory.net/rapid"
)

// TestWidths holds the tables against the module that they were made from, for every code point.
func TestWidths(t *testing.T) {
	for r := rune(0x20); r <= 0x10ffff; r++ {
		if r >= 0xd800 && r < 0xe000 || r >= 0x7f && r < 0xa0 {
			continue
		}
		want := displaywidth.Rune(r)
		switch {
		case r == 0xad, r >= 0x1f1e6 && r <= 0x1f1ff:
			want = 1
		case r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7ff:
			want = 0
		}
		if got := runeWidth(r); got != want {
			t.Errorf("%U is %d wide, want %d", r, got, want)
		}
	}
	if runeWidth(-1) != 1 || runeWidth(0x110000) != 1 {
		t.Error("what is no code point has no width")
	}
}

// clusters cuts s by the rules that the terminal uses.
func clusters(s string) []string {
	var out []string
	var j joint
	for _, r := range s {
		class := props(r) >> propClassShift & propClassMask
		joined := j.joins(class)
		j = j.after(class, joined)
		if joined && len(out) > 0 {
			out[len(out)-1] += string(r)
		} else {
			out = append(out, string(r))
		}
	}
	return out
}

// TestClusters holds the cluster rules against the implementation of UAX #29, on text made of
// characters of every class.
func TestClusters(t *testing.T) {
	chars := []string{"a", "é", "\u0301", "\u0308", "\u200d", "\u200c", "\ufe0f", "👩", "👧", "❤", "🏽", "🇩", "🇪", "🇯", "\u1100", "\u1161",
		"\u11a8", "가", "각", "\u0915", "\u094d", "\u0937", "\u093c", "\u0903", "\u0600", "\u0e33", "\u200b", "日", " ", "\u20e3", "1", "\U000e0061"}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(chars), 0, 12).Draw(t, "text"), "")
		var want []string
		for g := graphemes.FromString(s); g.Next(); {
			want = append(want, g.Value())
		}
		got := clusters(s)
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("%+q is cut into %+q, want %+q", s, got, want)
		}
	})
}

// TestClusterColumns: with mode 2027 a cluster takes as many columns as displaywidth counts.
func TestClusterColumns(t *testing.T) {
	for _, s := range []string{"a", "é", "e\u0301", "日", "👩", "👩\u200d👩\u200d👧", "👩🏽", "🇩🇪", "❤\ufe0f", "❤", "1\ufe0f\u20e3", "가", "\u1112\u1161\u11ab",
		"\u0915\u094d\u0937", "🏴\U000e0067\U000e0062\U000e007f", "☀\ufe0f", "👨\u200d💻"} {
		term := New(2, 20, Options{})
		term.Feed([]byte("\x1b[?2027h" + s))
		if got, want := term.Snapshot().Cursor.Col, displaywidth.String(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
		if got := term.Snapshot().Cell(0, 0).Text; got != s {
			t.Errorf("%+q is in the cell as %+q", s, got)
		}
	}
}

// TestSecondColumnStays: at the second column of a wide character nothing changes before something
// is printed there.
func TestSecondColumnStays(t *testing.T) {
	for out, want := range map[string]string{
		"日本\x1b[2G\xe2":     "日本",
		"日本\x1b[2G\u0301":   "日\u0301本",
		"日本\x1b[2G\u200d":   "日\u200d本",
		"日本\x1b[2Gé":        " é本",
		"日本\x1b[2G語":        " 語",
		"日本\x1b[2G\x1b[31m": "日本",
	} {
		term := New(2, 20, Options{})
		term.Feed([]byte(out))
		if got := term.Snapshot().Text(); got != want {
			t.Errorf("%q shows %q, want %q", out, got, want)
		}
	}
}
