package cmdline

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/internal/ansi"
)

// TestTheLineDoesNotHoldItsMarker: in no shell's words, nor with blanks and quotes taken out, as a
// trace or a list may have it.
func TestTheLineDoesNotHoldItsMarker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sh := rapid.SampledFrom([]Shell{Sh, Bash, Zsh, Fish, PowerShell, Cmd, Unknown}).Draw(t, "shell")
		line := strings.NewReplacer("\x00", "", "\n", "").Replace(rapid.String().Draw(t, "line"))
		marker := NewMarker()
		text, begin, end, err := source(sh, line, marker, rapid.Bool().Draw(t, "broken"))
		if err != nil {
			t.Fatal(err)
		}
		for _, seen := range []string{text, strings.NewReplacer(" ", "", "'", "", `"`, "", "\n", "").Replace(text)} {
			if strings.Contains(seen, marker) || strings.Contains(seen, strings.TrimSpace(string(end))) || strings.Contains(seen, string(begin)) {
				t.Fatalf("%s: the line %q holds what it is told by", sh, text)
			}
		}
		if sh == Sh || sh == Bash || sh == Zsh || sh == Unknown {
			if i := strings.IndexFunc(text, func(c rune) bool { return c != '\n' && (c < ' ' || c >= 0x7f) }); i >= 0 {
				t.Fatalf("%s: %q has a key at %d", sh, text, i)
			}
		}
	})
	if m := NewMarker(); !regexp.MustCompile(`^__UNTERM_DONE_[0-9a-f]{32}__$`).MatchString(m) {
		t.Errorf("a marker: %s", m)
	}
	for _, bad := range []string{"x", "__UNTERM_DONE_0123__", "__UNTERM_DONE_" + strings.Repeat("G", 32) + "__"} {
		if _, _, _, err := source(Sh, "true", bad, false); err == nil {
			t.Errorf("the marker %q is taken", bad)
		}
	}
}

// TestPiecesOfASentinel: however the output comes in pieces, the same is heard.
func TestPiecesOfASentinel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, begin, end, err := source(Sh, "true", NewMarker(), false)
		if err != nil {
			t.Fatal(err)
		}
		printed := rapid.StringMatching(`([a-z \t\r]{0,9}\n){0,5}[a-z]{0,5}`).Draw(t, "printed")
		if rapid.Bool().Draw(t, "half") { // something that begins like it
			printed += string(end[:rapid.IntRange(1, len(end)-1).Draw(t, "n")])
		}
		all := "$ echo\r\n" + string(begin) + "trace" + string(begin) + strings.ReplaceAll(printed, "\n", "\r\n") + "\r" + string(end) + "42\r\n$ "
		l := &listener{count: func() uint64 { return 0 }, begin: begin, end: end, rows: 24, cols: 200}
		for rest := []byte(all); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if l.heardSoFar().done && bytes.Contains(rest, []byte("42\r")) {
				t.Fatal("it was heard too early")
			}
			_ = l.Output(time.Now(), rest[:n])
			rest = rest[n:]
		}
		h := l.heardSoFar()
		if c := code(h.status); !h.done || h.begun != 2 || c == nil || *c != 42 {
			t.Fatalf("heard: %+v", h)
		}
		if got, want := l.output(), (ansi.Text{Raw: printed, Plain: printed}); got != want {
			t.Fatalf("the output is %+v, want %+v", got, want)
		}
	})
}

// TestOpen: of a line that is complete it is never said that it is not.
func TestOpen(t *testing.T) {
	for line, want := range map[string]bool{
		"echo 'a": true, `echo "a`: true, `echo a\`: true, "echo 'a\nb": true, `echo "it's`: true, `echo \'a'`: true,
		"": false, "echo a": false, `echo 'a' "b"`: false, `echo "it's"`: false, `echo a\'b`: false, "echo a # it's": false, `echo a\\`: false,
		"cat <<E\nit's\nE": false, `echo "$(echo ")")"`: false, "echo a#'b'": false, `echo $'it\'s'`: false, "echo `echo '`": false,
	} {
		if open(line) != want {
			t.Errorf("open(%q) is %v", line, !want)
		}
	}
}
