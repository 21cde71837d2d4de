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

// TestExpressionInPieces: however little is searched at once, the matches are those of a whole
// evaluation: what stands before a piece still decides what matches in it.
func TestExpressionInPieces(t *testing.T) {
	patterns := []string{
		`a`, `ab+`, `(a|b)(c)?`, `(?m)^a.*$`, `(?m)^(\w+) (\d+)$`, `\bab\b`, `a*`, `[^a]+`, `a\s+b`, `(?s)a.*b`, `^a`, `b$`, `a\z`, `\Ab`,
		`(?i)AB`, `é+`, `x?`, `(?P<n>b)a|(c)`, `ab(?m)$`, `\n`, `\Ba`, `(?m)^`, `\b`, `(?m)^[ab]`, `a|\Ab`, `^`, `$`, `(?m)$`, `(^a)|b`, ``,
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom(patterns).Draw(t, "pattern")
		text := rapid.StringOf(rapid.SampledFrom([]rune("aabbc 1é\n"))).Draw(t, "text")
		e, err := compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		e.most = rapid.IntRange(0, 60).Draw(t, "most")
		if got, want := all(t, e, text), regexp.MustCompile(pattern).FindAllStringSubmatchIndex(text, -1); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// TestManyMatchesWithoutPatience: neither does a search go on that finds one match after the other.
func TestManyMatchesWithoutPatience(t *testing.T) {
	text := make([]byte, 64<<10)
	for i := range text {
		text[i] = 'a'
	}
	e, err := compile("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []query{e, contained("a")} {
		found := 0
		err := q.hits(text, func() bool { return found < 3 }, func([]int) bool { found++; return true })
		if !errors.Is(err, engine.ErrInterrupted) || found != 3 {
			t.Errorf("%T: %v after %d matches", q, err, found)
		}
	}
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
