//go:build unix

package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/internal/ansi"
)

// anyOutput draws what a program may write: any bytes, and whatever of a terminal's words, whole or
// cut, the marks of a shell among them.
func anyOutput() *rapid.Generator[string] {
	words := []string{
		"\r\n", "\n", "\r", "\t", " ", "  \n", "\b", "\a", "\x00", "\x7f", "\x0e", "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x9b", "\xe2\x82", "\xff",
		"é", "漢字", "\x1b[1;31m", "\x1b[m", "\x1b[2J", "\x1b[3J", "\x1b[H", "\x1bc", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?2026h", "\x1b[?2026l",
		"\x1b]0;title\a", "\x1b]8;;u\x1b\\", "\x1b]133;A\a", "\x1b]133;B\a", "\x1b]133;C\a", "\x1b]133;D;9\a", "\x1b]133;D;9;t=ABC\a", "\x1b]633;E;x\a",
		"\x1b]633;C\a", "\x1b[6n", "\x1b[c", "\x05", "\x1b[100b", "\x1b[5i", "exit\n", "logout\n", "\x1b[?2004l\r", "\nfish: ", "text", "longer text, of some words",
	}
	part := rapid.OneOf(
		rapid.SampledFrom(words),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes")) }),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 20).Draw(t, "parts"), "")
	})
}

// TestOutputOfAnything: whatever a command writes in a real shell comes back byte for byte. The
// terminal answers nothing here, since what it says would be echoed into the output.
func TestOutputOfAnything(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, start{program: name, attended: true})
			file := filepath.Join(s.home, "f")
			same := func(t rapid.TB, wrote string) {
				if err := os.WriteFile(file, []byte(wrote), 0o600); err != nil {
					t.Fatal(err)
				}
				b := s.run("cat f\r")
				raw := ansi.Valid([]byte(wrote))
				if b.Raw != raw || b.Output != ansi.Strip(raw) || !b.Whole || b.ExitCode != 0 || b.Command != "cat f" {
					t.Fatalf("%q became %q, %q, whole %t, of %q", wrote, b.Raw, b.Output, b.Whole, b.Command)
				}
			}
			same(t, strings.Repeat("\x1b]133;A\a.\x1b]133;D;9\a\r\n", 5000)) // more marks than are looked at one by one
			rapid.Check(t, func(t *rapid.T) { same(t, anyOutput().Draw(t, "output")) })
		})
	}
}
