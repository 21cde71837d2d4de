//go:build unix

package cmdline_test

import (
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
)

// BenchmarkTrue is one command line that does nothing, beside typing it and waiting for the next
// prompt by hand.
func BenchmarkTrue(b *testing.B) {
	for _, k := range kinds {
		b.Run(k.name, func(b *testing.B) {
			s := start(b, k)
			run(b, s, "true")
			for b.Loop() {
				run(b, s, "true")
			}
		})
	}
	b.Run("by-hand", func(b *testing.B) {
		s := start(b, kind{"bash", "bash", []string{"--norc"}, nil, false})
		run(b, s, "true")
		for b.Loop() {
			since := s.Sequence()
			send(b, s, engine.Text("true\r"))
			if _, err := s.Wait(b.Context(), prompted, engine.After(since), engine.Within(hang)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// prompted matches a prompt after a line's end.
var prompted engine.Func = func(v *engine.View) bool {
	text, _ := v.Output()
	return strings.Contains(string(text), "\n") && strings.HasSuffix(string(text), "$ ")
}
