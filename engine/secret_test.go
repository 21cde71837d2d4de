package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// An inputTap notes what is typed.
type inputTap struct {
	tap
	typed string
}

func (t *inputTap) Input(_ time.Time, p []byte) error {
	t.typed += string(p)
	return nil
}

// secretSession returns a session of a fake terminal, what acts on it, and what the engine has told
// of lines: each with ? while it is suspected, ! when it is certain, and - when it is cleared.
func secretSession(t *testing.T, p *enginetest.PTY, taps ...engine.Tap) (s *engine.Session, do func(engine.Action), told func() []string) {
	t.Helper()
	var mu sync.Mutex
	var lines []string
	e := engine.New(engine.Options{
		Start: func(pty.Command) (engine.PTY, error) { return p, nil },
		Asks:  asks,
		Typed: func(_ *engine.Session, line string, is engine.Standing) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line+standings[is])
		},
	})
	t.Cleanup(func() { e.Close(context.Background()) })
	s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Taps: taps})
	if err != nil {
		t.Fatal(err)
	}
	do = func(a engine.Action) {
		t.Helper()
		if _, err := s.Do(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	told = func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(lines)
	}
	return s, do, told
}

var standings = map[engine.Standing]string{engine.Suspected: "?", engine.Certain: "!", engine.Cleared: "-"}

// asks knows one word.
func asks(line, above, _ string) bool { return strings.Contains(line+above, "Password") }

func TestSecretInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		rec := &inputTap{}
		s, do, told := secretSession(t, p, rec)
		p.SetLineMode(pty.LineMode{Canonical: true, Echo: true})
		p.Print("Code: ")
		synctest.Wait()
		do(engine.Text("shown\n"))
		if s.View().Secret {
			t.Error("a secret is read although the terminal echoes")
		}
		// The question first, then no echo: seen when output has stopped.
		p.Print("Code: ")
		synctest.Wait()
		p.SetLineMode(pty.LineMode{Canonical: true, CRToNL: true, Erase: 0x7f})
		changed := s.Changed()
		<-changed
		if !s.View().Secret {
			t.Error("nobody saw that echo is off")
		}
		do(engine.Text("hunter2\n"))
		for _, key := range "pazs" { // key by key, with a mistake
			do(engine.Text(string(key)))
		}
		for range 2 {
			do(engine.Text("\x7f"))
		}
		do(engine.Text("ss"))
		do(engine.Key{Rune: '!'})
		do(engine.Text("\r"))
		p.SetLineMode(pty.LineMode{Canonical: true, Echo: true})
		p.Print("\r\nwelcome\r\n")
		synctest.Wait()
		if s.View().Secret {
			t.Error("a secret is read although the terminal echoes again")
		}
		do(engine.Text("more\n"))
		// A program in raw mode reads everything itself.
		p.SetLineMode(pty.LineMode{})
		p.Print("x")
		synctest.Wait()
		do(engine.Text("raw"))
		if rec.typed != "shown\nmore\nraw" {
			t.Errorf("the recording has %q", rec.typed)
		}
		if told := told(); !slices.Equal(told, []string{"hunter2?", "pass!?", "hunter2!", "pass!!"}) {
			t.Errorf("told of %q", told)
		}
	})
}

func TestSecretLine(t *testing.T) {
	mode := pty.LineMode{Canonical: true, CRToNL: true, Signals: true, EOF: 4, Interrupt: 3, Quit: 28, Suspend: 26, Erase: 0x7f, WordErase: 23, Kill: 21}
	bare := pty.LineMode{Canonical: true}
	for _, c := range []struct {
		name  string
		mode  pty.LineMode
		typed []string // each the answer to one question more, where it begins with "?"
		want  []string
	}{
		{"in one piece", mode, []string{"hunter2\n"}, []string{"hunter2"}},
		{"key by key", mode, []string{"h", "u", "n", "t", "\r"}, []string{"hunt"}},
		{"a character is taken back", mode, []string{"pazü", "\x7f", "\x7fss\n"}, []string{"pass"}},
		{"more than there are", mode, []string{"a\x7f\x7f\x7fpass\n"}, []string{"pass"}},
		{"what does not erase here", bare, []string{"a\x7f\x15\x03\r\x04b\n"}, []string{"a\x7f\x15\x03\r\x04b"}},
		{"the line", mode, []string{"wrong\x15right\n"}, []string{"right"}},
		{"a word", mode, []string{"two words--\x17three\n"}, []string{"two three"}},
		{"several lines", mode, []string{"one\ntwo\x04three"}, []string{"one", "two"}},
		{"given up", mode, []string{"abc\x03", "?hunter2\n"}, []string{"hunter2"}},
		{"asked again before the end", mode, []string{"abc", "?hunter2\n", "?more\n"}, []string{"abchunter2", "hunter2", "more"}},
		{"asked again, and taken back", mode, []string{"abc", "?d\x7f\x7fe\n"}, []string{"abe", "e"}},
	} {
		var l engine.SecretLine
		var got []string
		asked := 1
		for _, typed := range c.typed {
			if rest, again := strings.CutPrefix(typed, "?"); again {
				asked, typed = asked+1, rest
			}
			l.Type([]byte(typed), c.mode, asked, func(ways ...string) { got = append(got, ways...) })
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSecretBegunBeforeEchoIsOff: the answer to a question that was read quickly is known all the
// same.
func TestSecretBegunBeforeEchoIsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		_, do, told := secretSession(t, p)
		p.SetLineMode(pty.LineMode{Canonical: true, Echo: true, CRToNL: true})
		do(engine.Text("sudo ls\r"))
		p.Print("Password: ")
		synctest.Wait()
		do(engine.Text("corrX\x7fect"))
		p.SetLineMode(pty.LineMode{Canonical: true, CRToNL: true})
		do(engine.Text("horse"))
		do(engine.Text("\r"))
		p.SetLineMode(pty.LineMode{Canonical: true, Echo: true, CRToNL: true})
		do(engine.Text("ls\r"))
		if told := told(); !slices.Contains(told, "correcthorse!") || slices.ContainsFunc(told, func(l string) bool { return strings.Contains(l, "ls") }) {
			t.Errorf("told %q", told)
		}
	})
}
