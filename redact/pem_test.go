package redact

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// keyLines are lines as a private key has them, of a width, and a shorter last one.
func keyLines(seed uint64, width, n int) []string {
	random := rand.New(rand.NewPCG(seed, 1))
	raw := make([]byte, width*n*3/4+20)
	for i := range raw {
		raw[i] = byte(random.UintN(256))
	}
	text := base64.StdEncoding.EncodeToString(raw)
	var lines []string
	for len(text) > width {
		lines, text = append(lines, text[:width]), text[width:]
	}
	return append(lines, text)
}

// TestKeyWithoutMarks: the second page of a pager, the middle of a file, also with its end.
func TestKeyWithoutMarks(t *testing.T) {
	r := Default
	for _, width := range []int{64, 70} {
		lines := keyLines(uint64(width), width, 12)
		for name, form := range map[string]func(i int, line string) string{
			"plain":        func(_ int, line string) string { return line },
			"indented":     func(_ int, line string) string { return "    " + line },
			"numbered":     func(i int, line string) string { return fmt.Sprintf("%4d  %s", i, line) },
			"a diff":       func(_ int, line string) string { return "+" + line },
			"a frame":      func(_ int, line string) string { return "│ " + line + " │" },
			"redrawn":      func(_ int, line string) string { return "\r\x1b[K" + line + "\x1b[m" },
			"behind a CR":  func(_ int, line string) string { return ":\r" + line },
			"in an escape": func(_ int, line string) string { return "\x1b[33m" + line[:10] + "\x1b[1m" + line[10:] + "\x1b[0m" },
		} {
			shown := make([]string, len(lines))
			for i, line := range lines {
				shown[i] = form(i, line)
			}
			text := "before it\n" + strings.Join(shown, "\n") + "\nroot@vm:~# ls\n"
			stream := NewStream(r)
			var streamed strings.Builder
			for i := 0; i < len(text); i += 37 {
				streamed.WriteString(stream.Write(text[i:min(i+37, len(text))]))
			}
			streamed.WriteString(stream.Flush())
			all := map[string]string{"text": r.String(text), "stream": streamed.String()}
			if !strings.Contains(name, "escape") && name != "redrawn" && name != "behind a CR" { // a screen has none
				var page strings.Builder
				for i, spans := range r.Page(strings.Split(text, "\n"), nil) {
					at := 0
					for _, s := range spans {
						page.WriteString(strings.Split(text, "\n")[i][at:s.Start])
						at = s.End
					}
					page.WriteString(strings.Split(text, "\n")[i][at:] + "\n")
				}
				all["page"] = page.String()
			}
			for where, got := range all {
				for _, line := range lines {
					for i := 0; i+12 <= len(line); i += 12 {
						if strings.Contains(got, line[i:i+12]) {
							t.Fatalf("%d wide, %s, %s: %q is shown in\n%s", width, name, where, line[i:i+12], got)
						}
					}
				}
				if !strings.Contains(got, "before it") || !strings.Contains(got, "root@vm:~# ls") {
					t.Errorf("%d wide, %s, %s: what is around is hidden:\n%s", width, name, where, got)
				}
			}
		}
	}
}

// TestWhatIsNoKeyIsShown: what has the width of a key's line and is none.
func TestWhatIsNoKeyIsShown(t *testing.T) {
	lines := keyLines(3, 64, 20)
	for _, text := range []string{
		"-----BEGIN CERTIFICATE-----\n" + strings.Join(lines, "\n") + "\n-----END CERTIFICATE-----\n",
		"-----BEGIN PUBLIC KEY-----\r\n" + strings.Join(lines, "\r\n") + "\r\n-----END PUBLIC KEY-----\r\n",
		strings.Repeat("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n", 3),
		strings.Join(keyLines(4, 76, 5), "\n") + "\n", // base64(1)
		"/usr/lib/x86/64/linux/gnu/Perl/5/36/Test/Builder/Tester/Color/pm\nordinary " + lines[0][:20] + " text of some more words\n",
	} {
		if got := Default.String(text); got != text {
			t.Errorf("it is hidden:\n%s", got)
		}
		if got := Default.Page(strings.Split(text, "\n"), nil); fmt.Sprint(got) != fmt.Sprint(make([][]Span, len(got))) {
			t.Errorf("on a page it is hidden: %v of\n%s", got, text)
		}
	}
}
