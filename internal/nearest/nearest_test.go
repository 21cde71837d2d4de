package nearest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	flags := []string{"timeout", "text", "regex", "since", "stable", "exit", "all", "json"}
	for name, want := range map[string]string{
		"tiemout": "timeout", "timout": "timeout", "jsno": "json", "JSON": "", "sinc": "since", "exits": "exit", "quiet": "", "": "", "a": "", "x": "",
		strings.Repeat("timeout", 40): "",
	} {
		if got := Of(name, flags); got != want {
			t.Errorf("%.20q: %q, want %q", name, got, want)
		}
	}
}

// TestDistance is that of a metric, but for the triangle, which swaps do not keep.
func TestDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching(`[ab]{0,70}`).Draw(t, "a"), rapid.StringMatching(`[ab]{0,70}`).Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) || len(a) <= most && distance(a, a) != 0 || len(a) <= most && len(b) <= most && (d == 0) != (a == b) || d > most {
			t.Fatalf("%q and %q are %d apart", a, b, d)
		}
	})
}
