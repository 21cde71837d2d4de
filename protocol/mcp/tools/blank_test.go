package tools

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestBlankEnds: what ends in blanks is found at a row's end and before blanks, nowhere else, and
// is told as it was asked for.
func TestBlankEnds(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		text, screen string
		found        bool
	}{
		{">>> ", ">>>", true}, {">>> ", "6*7\n>>>\n", true}, {">>> ", ">>> 6*7", true}, {">>> ", ">>>x", false},
		{"$ ", "user@host:~$", true}, {"# ", "# ls", true}, {"a  ", "a b", false}, {"one \ntwo ", "one\ntwo", true},
	} {
		pattern, ok := blankEnds(x.text)
		if !ok || regexp.MustCompile(pattern).MatchString(x.screen) != x.found {
			t.Errorf("%q in %q: %q", x.text, x.screen, pattern)
		}
	}
	for _, text := range []string{"", "Done", " ", "  ", "a\n", " a"} {
		if pattern, ok := blankEnds(text); ok {
			t.Errorf("%q became %q", text, pattern)
		}
	}
	for _, pattern := range []string{"(?m)^>>>(?:$| )", "(?m)a.*(?:$| )", "(?m)(?:$| )", "x"} {
		if text, ok := blankEnded(pattern); ok {
			t.Errorf("%q is taken for %q", pattern, text)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~é]*[!-~é] {1,3}`).Draw(t, "text")
		pattern, _ := blankEnds(text)
		if back, ok := blankEnded(pattern); !ok || back != text {
			t.Fatalf("%q became %q and then %q", text, pattern, back)
		}
		re := regexp.MustCompile(pattern)
		if !re.MatchString(strings.TrimRight(text, " ")) || !re.MatchString(text+"x") {
			t.Fatalf("%q is not found by %q", text, pattern)
		}
	})
}
