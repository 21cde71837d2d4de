package reading

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/redact"
)

const secret = "ghp_k9Wz3TqLr7XvB2nM5pYd8HsJ4cFa6GeUo1Rt"

// session returns a session that shows text, once it does.
func session(t *testing.T, text string) *engine.Session {
	t.Helper()
	pty := enginetest.New()
	e := enginetest.Engine(pty)
	s, err := e.Spawn(engine.Config{Program: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	pty.Print(text)
	pty.End(0)
	t.Cleanup(func() {
		if err := e.Close(t.Context()); err != nil {
			t.Log(err) // the context of a test that is over
		}
	})
	for {
		changed := s.Changed()
		if s.View().Exit != nil {
			return s
		}
		<-changed
	}
}

// TestNothingOfASecretIsShown, in whatever way a view is read; with no redactor all is.
func TestNothingOfASecretIsShown(t *testing.T) {
	s := session(t, "\x1b]2;title "+secret+"\a"+strings.Repeat("line with token="+secret+" in it\r\n", 60)+"the end")
	all := func(v *View) map[string]string {
		lines := v.Lines()
		found, total := lines.Search(regexp.MustCompile("ghp_|end"), 100)
		text := strings.Join(lines.Read(0, lines.Len()), "\n")
		for _, f := range found {
			text += f.Text
		}
		if total < 1 || lines.Len() < 61 {
			t.Errorf("%d lines, %d found", lines.Len(), total)
		}
		since, _ := v.OutputSince(100)
		m := v.Match(&engine.Match{Kind: "screen_regex", Pattern: "(ghp_.*)", Capture: secret[:12], Parts: []*engine.Match{{Kind: "contains_text", Text: secret}}})
		return map[string]string{
			"screen": v.Screen().Text(), "lines": text, "output": v.Output(math.MaxInt), "tail": v.Tail(), "since": since,
			"title": v.Clean(v.Raw.Screen.Title), "piece": v.Piece("it said " + secret[4:20]), "match": m.Capture + m.Parts[0].Text,
		}
	}
	for where, text := range all(New(s.View(), redact.Default)) {
		if strings.Contains(text, secret[4:16]) {
			t.Errorf("%s shows %q", where, text)
		}
	}
	for where, text := range all(New(s.View(), nil)) {
		if !strings.Contains(text, secret[4:12]) {
			t.Errorf("%s hides although nobody asked for it: %q", where, text)
		}
	}
}
