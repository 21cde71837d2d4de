package matchers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

// TestIncrementalSearchFindsWhatAWholeOneWould feeds text in random pieces and holds each look of
// the transcript matchers against a search of everything so far.
func TestIncrementalSearchFindsWhatAWholeOneWould(t *testing.T) {
	patterns := []string{`ab`, `a+b$`, `(?m)^b\w*a$`, `\Aa`, `^b`, `b\na`, `(?s)a.*c`, `a[^x]c`, `\bcab\b`, `(?m)^\s*$`}
	const alphabet = "aaabbbcc \n\n\r"
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		synctest.Test(t, func(t *testing.T) {
			p := enginetest.New()
			e := enginetest.Engine(p)
			s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close(context.Background())
			pattern := patterns[random.IntN(len(patterns))]
			re := regexp.MustCompile(pattern)
			m, _ := Parse(map[string]any{"type": "transcript_regex", "value": pattern}, Options{})
			text := strings.Repeat("c", 1+random.IntN(3))
			c, _ := Parse(map[string]any{"type": "transcript_contains", "value": text}, Options{})
			all, foundRegex, foundText := "", false, false
			for range 12 {
				piece := make([]byte, 1+random.IntN(6))
				for i := range piece {
					piece[i] = alphabet[random.IntN(len(alphabet))]
				}
				p.Print(string(piece))
				all += string(piece)
				synctest.Wait()
				v := s.View()
				foundRegex = foundRegex || re.MatchString(all)
				foundText = foundText || strings.Contains(all, text)
				if got := m.Check(v).Match != nil; got != foundRegex {
					t.Fatalf("%q in %q: %v, want %v", pattern, all, got, foundRegex)
				}
				if got := c.Check(v).Match != nil; got != foundText {
					t.Fatalf("%q in %q: %v, want %v", text, all, got, foundText)
				}
			}
		})
	}
}

func TestCheckAndExplainAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close(context.Background())
		p.Print("\x1b]0;editor\a\a  hello world\r\n")
		synctest.Wait()
		v := s.View()
		text := func(kind, s string) any { return map[string]any{"type": kind, "value": s} }
		golden := func(row string) any {
			text := "screen 1\nsize 24x80\n--\n|" + row + "\n|\n*23\n"
			return map[string]any{"type": "screen", "value": map[string]any{"screen": text}}
		}
		for _, c := range []struct {
			tree any
			held bool
		}{
			{text("contains_text", "hello"), true}, {text("contains_text", "Hello"), false},
			{text("screen_regex", `h\w+o`), true}, {text("screen_regex", `^hello`), false},
			{text("transcript_contains", "\x1b]0;"), true}, {text("transcript_contains", "bye"), false},
			{text("transcript_regex", `world\r\n$`), true}, {text("transcript_regex", `bye`), false},
			{text("title_contains", "edit"), true}, {text("title_contains", "shell"), false},
			{text("title_regex", "^editor$"), true}, {text("title_regex", "^e$"), false},
			{map[string]any{"type": "cursor_at", "value": map[string]any{"row": 1.0, "col": 0.0}}, true},
			{map[string]any{"type": "cursor_at", "value": map[string]any{"row": 0.0, "col": 0.0}}, false},
			{map[string]any{"type": "screen_stable", "value": map[string]any{"min_ms": 0.0}}, true},
			{map[string]any{"type": "screen_stable", "value": map[string]any{"min_ms": 5.0}}, false},
			{golden("  hello world"), true}, {golden("  hello worl"), false},
			{map[string]any{"type": "process_exited"}, false}, {map[string]any{"type": "bell"}, false},
			{map[string]any{"type": "not", "value": text("contains_text", "bye")}, true},
			{map[string]any{"type": "not", "value": text("contains_text", "hello")}, false},
			{map[string]any{"type": "any", "value": []any{}}, false}, {map[string]any{"type": "all", "value": []any{}}, true},
			{map[string]any{"type": "any", "value": []any{text("contains_text", "bye"), text("contains_text", "hello")}}, true},
			{map[string]any{"type": "all", "value": []any{text("contains_text", "bye"), text("contains_text", "hello")}}, false},
		} {
			m, err := Parse(c.tree, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Check(v).Match != nil; got != c.held {
				t.Errorf("%v: matched %v, want %v", c.tree, got, c.held)
			}
			x := m.Explain(v, Shown{Screen: v.Screen, Output: v.Transcript.String, Title: v.Screen.Title})
			if x.Held != c.held || x.Why == "" || x.Type != c.tree.(map[string]any)["type"] {
				t.Errorf("%v is explained as %+v", c.tree, x)
			}
			// What is not given to be shown is not shown, nor said to be blank.
			if x := m.Explain(v, Shown{}); x.Held != c.held || x.Why == "" || strings.Contains(fmt.Sprintf("%+v", x), "blank") || x.Nearest != "" {
				t.Errorf("%v is explained with nothing to show as %+v", c.tree, x)
			}
		}
	})
}

func TestCommandFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		defer e.Close(t.Context())
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		run := func(code string) {
			p.Print("\x1b]133;C\aout\r\n\x1b]133;D" + code + "\a\x1b]133;A\a$ \x1b]133;B\a")
			synctest.Wait()
		}
		holds := func(tree map[string]any, since *uint64, do func()) *engine.Match {
			t.Helper()
			m, err := Parse(tree, Options{})
			if err != nil {
				t.Fatal(err)
			}
			check := func() *engine.Match {
				v := s.View()
				if since != nil {
					v.Since = engine.Since{Set: true, Position: *engine.After(*since)}
				}
				match := m.Check(v).Match
				if x := m.Explain(v, Shown{Screen: v.Screen}); x.Held != (match != nil) || x.Why == "" {
					t.Errorf("%+v explains a check that gave %v", x, match)
				}
				return match
			}
			if match := check(); match != nil && since == nil {
				t.Errorf("%v held before anything was run", tree)
			}
			do()
			return check()
		}
		anyCode := map[string]any{"type": "command_finished"}
		one := map[string]any{"type": "command_finished", "value": map[string]any{"exit_code": 1.0}}
		if holds(anyCode, nil, func() {}) != nil {
			t.Error("held without a mark")
		}
		run(";0")
		before := s.Sequence()
		if m := holds(anyCode, nil, func() { run(";3") }); m == nil || *m.Exit != 3 {
			t.Errorf("any command: %+v", m)
		}
		if m := holds(anyCode, &before, func() {}); m == nil {
			t.Error("did not hold since before the command")
		}
		after := s.Sequence()
		if m := holds(anyCode, &after, func() {}); m != nil {
			t.Errorf("held since after the command: %+v", m)
		}
		for _, c := range []struct {
			since engine.Since
			why   string
		}{
			{engine.Since{}, "no command has ended since the wait began; "},
			{engine.Since{Set: true, Position: *engine.After(after)}, fmt.Sprintf("no command has ended since sequence %d", after)},
		} {
			m, err := Parse(anyCode, Options{})
			if err != nil {
				t.Fatal(err)
			}
			v := s.View()
			v.Since = c.since
			m.Check(v)
			if x := m.Explain(v, Shown{Screen: v.Screen}); !strings.HasPrefix(x.Why, c.why) {
				t.Errorf("%q, want %q", x.Why, c.why)
			}
		}
		if m := holds(one, nil, func() { run(";3") }); m != nil {
			t.Errorf("exit code 3 for 1: %+v", m)
		}
		if m := holds(one, nil, func() { run("") }); m != nil {
			t.Errorf("no exit code for 1: %+v", m)
		}
		if m := holds(one, nil, func() { run(";1") }); m == nil || *m.Exit != 1 {
			t.Errorf("exit code 1: %+v", m)
		}
	})
}

// TestParseMakesWhatTheConstructorsDo: they answer alike, and explain themselves alike.
func TestParseMakesWhatTheConstructorsDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close(context.Background())
		p.Print("\x1b]0;editor\a\a  hello world\r\n")
		synctest.Wait()
		re := regexp.MustCompile
		for text, m := range map[string]Matcher{
			`{"type":"contains_text","value":"hello"}`:                                          Text("hello"),
			`{"type":"contains_text","value":""}`:                                               Text(""),
			`{"type":"contains_text","value":"bye","scope":"screen"}`:                           Text("bye").In(OnScreen),
			`{"type":"screen_regex","value":"h(\\w+)o"}`:                                        Regexp(re(`h(\w+)o`)),
			`{"type":"screen_regex","value":"^hello","scope":"screen"}`:                         Regexp(re(`^hello`)).In(OnScreen),
			`{"type":"transcript_regex","value":"w.*d"}`:                                        Output(re(`w.*d`)),
			`{"type":"title_regex","value":"^e"}`:                                               Title(re(`^e`)),
			`{"type":"cursor_at","value":{"row":1,"col":0}}`:                                    Cursor(1, 0),
			`{"type":"cursor_at","value":{"row":0,"col":3}}`:                                    Cursor(0, 3),
			`{"type":"screen_stable","value":{"min_ms":0}}`:                                     Stable(0),
			`{"type":"screen_stable","value":{"min_ms":250}}`:                                   Stable(250 * time.Millisecond),
			`{"type":"process_exited"}`:                                                         Exited(),
			`{"type":"bell"}`:                                                                   Bell(),
			`{"type":"command_finished"}`:                                                       Command(),
			`{"type":"command_finished","value":{"exit_code":3}}`:                               CommandExit(3),
			`{"type":"any","value":[{"type":"bell"},{"type":"contains_text","value":"hello"}]}`: Any(Bell(), Text("hello")),
			`{"type":"all","value":[]}`:                                                         All(),
			`{"type":"not","value":{"type":"any","value":[{"type":"contains_text","value":"bye","scope":"seen"},{"type":"not","value":{"type":"screen_regex","value":"hello"}}]}}`: Not(
				Any(Text("bye"), Not(Regexp(re("hello"))))),
		} {
			parsed, err := parseJSON(t, text)
			if err != nil {
				t.Fatal(err)
			}
			v := s.View()
			if got, want := m.Check(v), parsed.Check(v); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, parsed %+v", text, got, want)
			}
			if got, want := m.Explain(v, Everything(v)), parsed.Explain(v, Everything(v)); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, parsed %+v", text, got, want)
			}
		}
	})
}

// TestRegexpWantsTheUsualSyntax: of POSIX's an expression that means something else is refused.
func TestRegexpWantsTheUsualSyntax(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a** was taken")
		}
	}()
	Regexp(regexp.MustCompilePOSIX("a**"))
}
