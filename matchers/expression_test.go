package matchers

import (
	"errors"
	"reflect"
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine"
)

func always() bool { return true }

// all returns the matches of an expression in a text, as hits tells them.
func all(t *rapid.T, e *expression, text string) (locs [][]int) {
	err := e.hits([]byte(text), always, func(loc []int) bool {
		locs = append(locs, append([]int(nil), loc...))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return locs
}

// TestExpressionInPieces: however little is searched at once, the first match is that of a whole evaluation, and so are all of an
// expression that spans no lines.
func TestExpressionInPieces(t *testing.T) {
	patterns := []string{
		`a`, `ab+`, `(a|b)(c)?`, `(?m)^a.*$`, `(?m)^(\w+) (\d+)$`, `\bab\b`, `a*`, `[^a]+`, `a\s+b`, `(?s)a.*b`, `^a`, `b$`, `a\z`, `\Ab`,
		`(?i)AB`, `é+`, `x?`, `(?P<n>b)a|(c)`, `ab(?m)$`, `\n`,
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom(patterns).Draw(t, "pattern")
		text := rapid.StringOf(rapid.SampledFrom([]rune("aabbc 1é\n"))).Draw(t, "text")
		e, err := compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		e.most = rapid.IntRange(0, 8).Draw(t, "most")
		got, want := all(t, e, text), regexp.MustCompile(pattern).FindAllStringSubmatchIndex(text, -1)
		if (len(got) > 0) != (len(want) > 0) || len(got) > 0 && !reflect.DeepEqual(got[0], want[0]) {
			t.Fatalf("first %v, want %v", got, want)
		}
	})
	lines := []string{`a`, `ab+`, `(a|b)(c)?`, `(?m)^a.*$`, `(?m)^(\w+) (\d+)$`, `(?i)AB`, `é+`}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom(lines).Draw(t, "pattern")
		text := rapid.StringOf(rapid.SampledFrom([]rune("aabbc 1é\n"))).Draw(t, "text")
		e, _ := compile(pattern)
		e.most = rapid.IntRange(20, 60).Draw(t, "most")
		if got, want := all(t, e, text), regexp.MustCompile(pattern).FindAllStringSubmatchIndex(text, -1); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// TestExpressionWithoutPatience: what is interrupted tells no match, and does not go on.
func TestExpressionWithoutPatience(t *testing.T) {
	text := make([]byte, 64<<10)
	for i := range text {
		text[i] = 'a'
	}
	for _, pattern := range []string{`[a-c]{400}b`, `(?s)a.{300}b`, `a.*b$`} {
		e, err := compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		e.most = 1
		asked := 0
		err = e.hits(text, func() bool { asked++; return asked < 3 }, func([]int) bool { t.Error("a match"); return false })
		if !errors.Is(err, engine.ErrInterrupted) || asked != 3 {
			t.Errorf("%s: %v after %d questions", pattern, err, asked)
		}
	}
}
