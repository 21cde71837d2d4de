package matchers

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
)

// TestScreen: a golden screen is waited for; a wait that ends without it tells of the frame that
// came nearest, when it was shown and in what it differed; what is compared is what may be shown.
func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close(context.Background())
		const want = "screen 1\nsize 24x80\nmask pid /pid (\\d+)/\n--\n|pid «pi» ok\n~    ....\n|\n*23\n--\n"
		parse := func(o Options, more map[string]any) Matcher {
			t.Helper()
			value := map[string]any{"screen": want}
			for k, v := range more {
				value[k] = v
			}
			m, err := Parse(map[string]any{"type": "screen", "value": value}, o)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		go func() {
			time.Sleep(time.Second)
			p.Print("pid 1234 o")
			time.Sleep(time.Second)
			p.Print("k, and more")
		}()
		m := parse(Options{}, nil)
		out, err := s.Wait(t.Context(), m, engine.Within(time.Minute))
		if err == nil {
			t.Fatal("another screen matched")
		}
		x := m.Explain(out.View, Everything(out.View))
		const why = `the nearest screen, shown 59s before the end: row 0, column 10: " ", not "k"`
		if !strings.HasPrefix(x.Why, why) || strings.Contains(x.Why, "\n") || !strings.Contains(x.Diff, "-|pid «pi» ok\n") || x.Value != nil {
			t.Errorf("%q\n%s\n%v", x.Why, x.Diff, x.Value)
		}
		p.Print("\r\x1b[9Cok\x1b[K")
		synctest.Wait()
		for name, c := range map[string]struct {
			m    Matcher
			held bool
		}{
			"the frame":                  {parse(Options{}, nil), true},
			"another mask":               {parse(Options{}, map[string]any{"masks": []any{`pid /pid (\w+)/`}}), true},
			"a mask that covers nothing": {parse(Options{}, map[string]any{"masks": []any{`pid /nothing/`}}), false},
			"a region":                   {parse(Options{}, map[string]any{"region": "0,0 1x4"}), false},
			"what may be shown": {parse(Options{Screen: func(v *engine.View) *vt.Screen {
				return v.Screen.Mask(func(line string) []vt.Mask { return []vt.Mask{{Start: 0, End: 3, Text: "•••"}} })
			}}, nil), false},
		} {
			if held := c.m.Check(s.View()).Match != nil; held != c.held {
				t.Errorf("%s: %v", name, held)
			}
		}
	})
}
