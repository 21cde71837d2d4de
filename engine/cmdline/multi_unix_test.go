//go:build unix

package cmdline_test

import (
	"testing"

	"github.com/ptywright/ptywright/engine"
)

// TestSeveralLines: of one text all is run, what is printed is all of it, and the exit code is the
// last one's.
func TestSeveralLines(t *testing.T) {
	t.Parallel()
	posix(t, func(t *testing.T, k kind, s *engine.Session) {
		expect(t, k, s, "f() {\n echo in f\n}\nf", 0, "in f")
		exactly(t, k, s, "printf '%s|' -j2 \\\n  all", 0, "-j2|all|")
		expect(t, k, s, "echo a \\\n b", 0, "a b")
		expect(t, k, s, "cat <<'E'\nhello\nE\nfalse", 1, "hello")
		expect(t, k, s, "for x in 1 2; do\n echo $x\ndone\necho z", 0, "1\n2\nz")
		expect(t, k, s, "echo 'a\nb'\necho c", 0, "a\nb\nc")
		expect(t, k, s, "g() {\n return 3\n}", 0, "")
		expect(t, k, s, "g", 3, "")
		expect(t, k, s, "echo $(\n echo sub\n)", 0, "sub")
		expect(t, k, s, "x=$(\n echo one\n echo two\n)\necho \"$x\"\n(exit 9)", 9, "one\ntwo")
		expect(t, k, s, "echo one\n\n\necho two\nexit_with() { return $1; }\nexit_with 4", 4, "one\ntwo")
		expect(t, k, s, "if true; then\n\techo tab\nfi", 0, "tab")
		expect(t, k, s, "case x in\n x) echo yes;;\nesac\ntrue && \\\nfalse", 1, "yes")
		expect(t, k, s, "{\n echo a\n echo b\n} | cat\nwhile read l; do\n echo \"<$l>\"\ndone <<E\n1\n2\nE", 0, "a\nb\n<1>\n<2>")
		expect(t, k, s, "sleep 0.1\necho late\nsleep 0.1\nsh -c 'exit 6'", 6, "late")
		expect(t, k, s, "echo after", 0, "after")
	})
}
