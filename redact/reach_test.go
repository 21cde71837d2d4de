package redact

import (
	"strings"
	"testing"
)

// TestReachIsBounded however long the lines above are, and begins at a line's beginning where it
// can.
func TestReachIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		want   int
	}{
		"nothing":       {"", 0},
		"a line":        {"one", 0},
		"few lines":     {"1\n2\n3\n4\n5\n6", 2},
		"key above":     {"0\n-----BEGIN X PRIVATE KEY-----\n" + strings.Repeat("line\n", 100), 2},
		"PuTTY's":       {"0\nPrivate-Lines: 14\n" + strings.Repeat("line\n", 100), 2},
		"far above":     {"0\n-----BEGIN X PRIVATE KEY-----\n" + strings.Repeat("line\n", 2000), -1},
		"long lines":    {strings.Repeat("x", 1<<20) + "\n" + "line", 1<<20 + 1 - ReachBytes},
		"one long line": {strings.Repeat("x", 1<<20), 0},
	} {
		got := Reach([]byte(c.before))
		if name == "far above" {
			c.want = got // by its lines
			if n := strings.Count(c.before[got:], "\n"); n > ReachLines+1 {
				t.Errorf("%s: %d lines", name, n)
			}
		}
		if got != c.want {
			t.Errorf("%s: from %d, want %d", name, got, c.want)
		}
	}
}
