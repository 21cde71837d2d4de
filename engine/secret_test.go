package engine_test

import (
	"context"
	"slices"
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

func TestSecretInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		var mu sync.Mutex
		var told []string
		e := engine.New(engine.Options{
			Start: func(pty.Command) (engine.PTY, error) { return p, nil },
			Secret: func(line string) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, line)
			},
		})
		defer e.Close(context.Background())
		rec := &inputTap{}
		s, err := e.Spawn(engine.Config{Program: "fake", Taps: []engine.Tap{rec}})
		if err != nil {
			t.Fatal(err)
		}
		do := func(a engine.Action) {
			t.Helper()
			if _, err := s.Do(t.Context(), a, engine.DoOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		p.SetLineMode(pty.LineMode{Canonical: true, Echo: true})
		p.Print("Password: ")
		synctest.Wait()
		do(engine.Text("shown\n"))
		if s.View().Secret {
			t.Error("a secret is read although the terminal echoes")
		}
		// The question first, then no echo: seen when output has stopped.
		p.Print("Password: ")
		synctest.Wait()
		p.SetLineMode(pty.LineMode{Canonical: true})
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
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(told, []string{"hunter2", "pass!"}) {
			t.Errorf("told of %q", told)
		}
	})
}
