package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// BenchmarkOutput moves plain text from a child over a real terminal until a marker is matched,
// beside a reader of the same terminal that looks at nothing.
func BenchmarkOutput(b *testing.B) {
	file := filepath.Join(b.TempDir(), "plain")
	line := "the quick brown fox jumps over the lazy dog 0123456789 abcdefghijklmnopqrstuvw\n"
	text := strings.Repeat(line, 16<<20/len(line))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("bare", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			p, err := pty.Start(pty.Command{Path: "cat", Args: []string{file}, Env: os.Environ()})
			if err != nil {
				b.Fatal(err)
			}
			for err == nil {
				_, err = p.Next()
			}
			p.Wait()
			p.Close()
		}
	})
	b.Run("session", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		e := engine.New(engine.Options{})
		defer e.Close(context.Background())
		for b.Loop() {
			s, err := e.Spawn(b.Context(), engine.Config{Program: "sh", Args: []string{"-c", "cat " + file + "; printf the-end"}})
			if err != nil {
				b.Fatal(err)
			}
			m := benchMatcher(b, "the-end")
			if _, err := s.Wait(b.Context(), m); err != nil {
				b.Fatal(err)
			}
			s.Close(b.Context())
		}
	})
}

// BenchmarkView takes a look at a screen of 24x80 with a full transcript, with and without its
// text.
func BenchmarkView(b *testing.B) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	defer e.Close(context.Background())
	s, err := e.Spawn(b.Context(), engine.Config{Program: "fake"})
	if err != nil {
		b.Fatal(err)
	}
	p.Print(strings.Repeat("the quick brown fox jumps over the lazy dog 0123456789\r\n", 5000) + "full")
	if _, err := s.Wait(b.Context(), benchMatcher(b, "full")); err != nil {
		b.Fatal(err)
	}
	b.Run("same", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.View()
		}
	})
	for name, look := range map[string]func(*engine.View){"changed": func(*engine.View) {}, "changed+text": func(v *engine.View) { v.Screen.Text() }} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Resize(pty.Size{Rows: 24, Cols: 80}); err != nil {
					b.Fatal(err)
				}
				look(s.View())
			}
		})
	}
}

func benchMatcher(b *testing.B, text string) engine.Matcher {
	b.Helper()
	m, err := parse(contains(text))
	if err != nil {
		b.Fatal(err)
	}
	return m
}
