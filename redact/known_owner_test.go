package redact

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

// A value is hidden from whom it is to be hidden from, and as long as it is to be.
func TestKnownOfASession(t *testing.T) {
	var k Known
	r := Default.With(&k)
	mine, other, any := r.For("s1"), r.For("s2"), r.ForAll()
	ended := make(chan struct{})
	hides := func(what string, r *Redactor, value string, want bool) {
		t.Helper()
		if got := r.String("it is "+value+" here") == "it is [REDACTED] here"; got != want {
			t.Errorf("%s: hidden is %v, want %v", what, got, want)
		}
	}
	k.Typed("s1", ended, "swordfish77", Suspected)
	hides("suspected, in its session", mine, "swordfish77", true)
	hides("suspected, in another", other, "swordfish77", false)
	hides("suspected, of no session", r, "swordfish77", false)
	hides("suspected, of all", any, "swordfish77", true)
	k.Typed("s1", ended, "swordfish77", Cleared)
	hides("cleared", mine, "swordfish77", false)
	hides("cleared, of all", any, "swordfish77", false)
	k.Typed("s1", ended, "swordfish77", Certain)
	k.Typed("s1", ended, "swordfish77", Suspected) // once more, and that was none
	k.Typed("s1", ended, "swordfish77", Cleared)
	hides("certain", mine, "swordfish77", true)
	hides("certain, in another", other, "swordfish77", true)
	for _, word := range []string{"ab12x", "Administrator", "12345678", "postgres", "жук12"} { // short, or a word
		k.Typed("s1", ended, word, Certain)
		hides(word, mine, word, true)
		hides(word+", in another", other, word, false)
	}
	k.Typed("s1", ended, "    ", Certain)
	hides("blanks", mine, "    ", false)
	k.Typed("s1", ended, "  correct horse ", Certain)
	hides("without the blanks around it", other, "correct horse", true)

	recorded := make(chan struct{})
	mine.Hold(recorded)
	close(ended)
	hides("of a session that is recorded", mine, "swordfish77", true)
	close(recorded)
	hides("of a session that is over", other, "swordfish77", false)
	hides("of a session that is over, in what is still on its way", mine, "swordfish77", true)
	for i := range 8 * maxOver { // that ends when others are over
		end := make(chan struct{})
		k.Typed(fmt.Sprint("t", i), end, fmt.Sprintf("value-%04d", i), Certain)
		close(end)
	}
	if n := k.Len(); n > 4*maxOver {
		t.Errorf("%d values are held of sessions that are over", n)
	}
	hides("of a session that was over long ago", mine, "swordfish77", false)
	hides("of the last that was over", r.For(fmt.Sprint("t", 8*maxOver-1)), fmt.Sprintf("value-%04d", 8*maxOver-1), true)
}

// Of what is typed the oldest leaves; what came by the environment does not, nor what everybody is
// to hide.
func TestTypedIsBounded(t *testing.T) {
	var k Known
	r := Default.With(&k).For("s1")
	ended := make(chan struct{})
	k.Add("server-token-1")
	settle, err := k.Lend(map[string]string{"API_TOKEN": "tok-3f9a77b1c2", "DB_PASSWORD": "line-0007"})
	if err != nil {
		t.Fatal(err)
	}
	settle("s1", ended)
	for i := range 2000 {
		k.Typed("s1", ended, fmt.Sprintf("line-%04d", i), []Standing{Certain, Suspected}[i%2])
	}
	text := "server-token-1 tok-3f9a77b1c2 line-0007 line-1935 line-1936 line-1999"
	if got, want := r.String(text), "[REDACTED] [REDACTED] [REDACTED] line-1935 [REDACTED] [REDACTED]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n := k.Len(); n != MaxTyped+3 {
		t.Errorf("%d values are known", n)
	}
}

func secretEnv(n int, of string) map[string]string {
	env := map[string]string{"SHELL": "/bin/sh"}
	for i := range n {
		env[fmt.Sprintf("API_TOKEN_%d", i)] = fmt.Sprintf("%s-%x-token", of, i*7919+1<<20)
	}
	return env
}

func TestLend(t *testing.T) {
	var k Known
	r := Default.With(&k)
	env := map[string]string{"DB_PASSWORD": "postgres", "API_TOKEN": "tok-3f9a77b1c2", "SHELL": "/bin/sh"}
	settle, err := k.Lend(env)
	if err != nil {
		t.Fatal(err)
	}
	const text = "cannot start: tok-3f9a77b1c2 postgres"
	if got := r.String(text); got != "cannot start: [REDACTED] [REDACTED]" {
		t.Errorf("while it is being started: %q", got)
	}
	settle("", nil)
	if got := r.String(text); got != text {
		t.Errorf("nothing was started: %q", got)
	}
	settle, err = k.Lend(env)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	settle("s1", ended)
	if got := r.For("s1").String(text); got != "cannot start: [REDACTED] [REDACTED]" {
		t.Errorf("in its session: %q", got)
	}
	if got := r.For("s2").String(text); got != "cannot start: [REDACTED] postgres" {
		t.Errorf("in another: %q", got)
	}
	close(ended)
	if got := r.For("s2").String(text); got != text {
		t.Errorf("when it is over: %q", got)
	}
}

// An environment with more secrets than are hidden is refused, and none of it is known.
func TestLendIsBounded(t *testing.T) {
	var k Known
	var too *EnvLimitError
	if _, err := k.Lend(secretEnv(MaxEnv+1, "a")); !errors.As(err, &too) || too.Count != MaxEnv+1 || too.Limit != MaxEnv || too.All || k.Len() > 0 {
		t.Errorf("one too many: %v, %d known", err, k.Len())
	}
	ended := make(chan struct{})
	for i := range maxEnvs / MaxEnv {
		settle, err := k.Lend(secretEnv(MaxEnv, fmt.Sprint("b", i)))
		if err != nil {
			t.Fatal(err)
		}
		settle(fmt.Sprint("s", i), ended)
	}
	if err := k.LendTo("s0", ended, secretEnv(1, "c")); !errors.As(err, &too) || too.All {
		t.Errorf("one more for a session: %v", err)
	}
	if _, err := k.Lend(secretEnv(1, "d")); !errors.As(err, &too) || !too.All || too.Limit != maxEnvs {
		t.Errorf("one more in all: %v", err)
	}
	first := fmt.Sprintf("b0-%x-token", 1<<20)
	if got := Default.With(&k).String("x " + first); got != "x [REDACTED]" {
		t.Errorf("%q", got)
	}
	close(ended)
	if err := k.LendTo("s9", make(chan struct{}), secretEnv(MaxEnv, "e")); err != nil {
		t.Errorf("when these are over: %v", err)
	}
}

// Wherever a line's end breaks a value, its rest is hidden; and a text may end in it, in pieces.
func TestKnownBroken(t *testing.T) {
	var k Known
	const value = "correct horse"
	k.Add(value)
	k.Typed("s2", make(chan struct{}), "stapl", Certain) // of another session, and short
	r := Default.With(&k)
	lead := strings.Repeat("word ", 10)
	for i := leastCut; i < len(value); i++ {
		if value[i-1] == ' ' || value[i] == ' ' {
			continue // what blanks part is not one word
		}
		if got := r.String(lead + value[:i] + "\r\n" + value[i:] + " x\n"); !strings.Contains(got, "\r\n[REDACTED] x\n") {
			t.Errorf("broken behind %q: %q", value[:i], got)
		}
	}
	for i := 1; i < len(value); i++ {
		s := NewStream(r)
		got := s.Write("a "+value[:i]) + s.Flush() + s.Write(value[i:]+" z\n")
		if i >= rules.MaxLeastPart && (strings.Contains(got, value[:i]) || strings.Contains(got, value[i:]+" z")) {
			t.Errorf("in pieces behind %q: %q", value[:i], got)
		}
	}
	s := NewStream(r.For("s1"))
	if got := s.Write("a stap") + s.Flush(); got != "a stap" {
		t.Errorf("the beginning of another session's: %q", got)
	}
}

// The tree and its gate find what a plain search finds, whatever came and went.
func TestKnownFindsAll(t *testing.T) {
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("abA%é")), 4, 14, -1)
	rapid.Check(t, func(t *rapid.T) {
		var k Known
		ended := map[string]chan struct{}{"s1": make(chan struct{}), "s2": make(chan struct{})}
		is := map[string]map[string]Standing{"s1": {}, "s2": {}}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			s := rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "session")
			v := letters.Draw(t, "value")
			if len(is[s]) > 0 && rapid.Bool().Draw(t, "again") {
				v = rapid.SampledFrom(slices.Sorted(maps.Keys(is[s]))).Draw(t, "which")
			}
			st := rapid.SampledFrom([]Standing{Suspected, Certain, Cleared}).Draw(t, "is")
			k.Typed(s, ended[s], v, st)
			if was, had := is[s][v]; st != Cleared && !(had && was == Certain) {
				is[s][v] = st
			} else if st == Cleared && had && was == Suspected {
				delete(is[s], v)
			}
		}
		if rapid.Bool().Draw(t, "over") {
			close(ended["s2"])
			is["s2"] = nil
		}
		r := Default.With(&k).For("s1")
		for range 20 {
			text := rapid.StringOfN(rapid.SampledFrom([]rune("abA%é. ")), 0, 40, -1).Draw(t, "text")
			want := false
			for s, all := range is {
				for v, st := range all {
					for _, form := range formsOf(v) {
						seen := s == "s1" || st == Certain && len([]rune(v)) >= minShared
						want = want || seen && strings.Contains(text+"|", form)
					}
				}
			}
			if got := strings.Contains(r.String(text+"|"), DefaultReplacement); got != want {
				t.Fatalf("%q: hidden is %v, want %v; known: %q", text, got, want, is)
			}
		}
	})
}
