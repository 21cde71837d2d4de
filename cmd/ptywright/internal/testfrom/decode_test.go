package testfrom

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/vt"
)

// TestTokens: what terminals send is read as what was pressed.
func TestTokens(t *testing.T) {
	t.Parallel()
	say := func(all []token) string {
		var words []string
		for _, tok := range all {
			words = append(words, fmt.Sprintf("%s%q", [...]string{"", "key ", "paste ", "mouse ", "reply ", "unknown "}[tok.kind], tok.text))
		}
		return strings.Join(words, " ")
	}
	for in, want := range map[string]string{
		"ls -l\r":                      `"ls -l" key "enter"`,
		"\x1b":                         `key "escape"`,
		"\x1b[A\x1bOA":                 `key "up" key "up"`,
		"\x1b[1;5C":                    `key "ctrl+right"`,
		"\x03\x04\x1a":                 `key "ctrl+c" key "ctrl+d" key "ctrl+z"`,
		"\x1bx":                        `key "alt+x"`,
		"\t\x1b[Z":                     `key "tab" key "shift+tab"`,
		"\x7f":                         `key "backspace"`,
		"\x1b[5~\x1b[15~\x1bOP":        `key "page_up" key "f5" key "f1"`,
		"日本\x1b[3~":                    `"日本" key "delete"`,
		"\x1b[200~a\rb\x1b[201~c":      `paste "a\rb" "c"`,
		"\x1b[?62;22c\x1b[5;10Ra":      `reply "\x1b[?62;22c" reply "\x1b[5;10R" "a"`,
		"\x1b]11;rgb:0/0/0\x1b\\b":     `reply "\x1b]11;rgb:0/0/0\x1b\\" "b"`,
		"\x1b[I\x1b[Oq":                `reply "\x1b[I" reply "\x1b[O" "q"`,
		"\x1b[<0;5;3M\x1b[<0;5;3m":     `mouse "" mouse ""`,
		"\x1b[99;99;99w":               `unknown "\x1b[99;99;99w"`,
		"\x1b[13;2u":                   `key "shift+enter"`,
		"\xff":                         `unknown "\xff"`,
		"\x1b[?1u\x1bP>|term\x1b\\ok ": `reply "\x1b[?1u" reply "\x1bP>|term\x1b\\" "ok "`,
	} {
		if got := say(tokens(in)); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
}

// TestKeysAreReadBack: each key that a terminal sends is read as a key that sends the same bytes.
func TestKeysAreReadBack(t *testing.T) {
	t.Parallel()
	for b, name := range keyBytes() {
		k, err := vt.ParseKey(name)
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		found := false
		for _, modes := range []string{"", "\x1b[?1h", "\x1b[?1h\x1b=", "\x1b[>4;2m", "\x1b[>1u"} {
			term := vt.New(1, 1, vt.Options{})
			term.Feed([]byte(modes))
			found = found || string(term.EncodeKey(k)) == b
		}
		if !found {
			t.Errorf("%s does not send %q", name, b)
		}
	}
}

// TestAnyInputIsTokens: input of any bytes is cut into pieces that are all of it, however many bytes
// come at once.
func TestAnyInputIsTokens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "\x1b", "[", "O", "<", "0;5;3M", "200~", "\x1b[201~", "\x1b]", "\a", "?", "1;2", "c", "R", "\xff", "日", "\r"})
		in := strings.Join(rapid.SliceOf(piece).Draw(t, "in"), "")
		for rest := in; rest != ""; {
			_, n := next(rest)
			if n < 1 || n > len(rest) {
				t.Fatalf("%d of %q", n, rest)
			}
			rest = rest[n:]
		}
	})
}
