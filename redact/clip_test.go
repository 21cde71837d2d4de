package redact

import (
	"encoding/base64"
	"strings"
	"testing"
)

// What a program puts on the clipboard is hidden, whatever it is, however long, wherever it is cut,
// and nothing else.
func TestClipboardIsHidden(t *testing.T) {
	d := newDice(31)
	for _, size := range []int{3, 60, 900, 5000, 40_000} {
		secret := base64.StdEncoding.EncodeToString([]byte(d.of(size, base62+" \n")))
		var lines []string
		for rest := secret; rest != ""; rest = rest[min(76, len(rest)):] {
			lines = append(lines, rest[:min(76, len(rest))])
		}
		for name, c := range map[string][2]string{
			"BEL":         {"a\x1b]52;c;" + secret + "\ab\r\nc\r\n", "a\x1b]52;c;[REDACTED]\ab\r\nc\r\n"},
			"ST":          {"a\x1b]52;p;" + secret + "\x1b\\b\r\n", "a\x1b]52;p;[REDACTED]\x1b\\b\r\n"},
			"tmux":        {"\x1bPtmux;\x1b\x1b]52;c;" + secret + "\a\x1b\\b\r\n", "\x1bPtmux;\x1b\x1b]52;c;[REDACTED]\a\x1b\\b\r\n"},
			"no line end": {"a\x1b]52;c;" + secret, "a\x1b]52;c;[REDACTED]"},
			"in lines":    {"\x1b]52;c;" + strings.Join(lines, "\r\n") + "\ab\r\nordinary\r\n", ""},
			"in a secret": {"token=ab\x1b]52;c;" + secret + "\acd e\r\n", "token=[REDACTED]\x1b]52;c;[REDACTED]\a e\r\n"},
		} {
			if name == "in a secret" && size > 900 {
				continue // the rest of the secret is hidden with the BEL
			}
			want := c[1]
			if want == "" {
				want = "\x1b]52;c;[REDACTED]" + strings.Repeat("\r\n[REDACTED]", len(lines)-1) + "\ab\r\nordinary\r\n"
			}
			if got := Default.String(c[0]); got != want {
				t.Errorf("%s, %d bytes: %.300q, want %.300q", name, size, got, want)
			}
			for _, n := range []int{1, 7, 1000, 4096} {
				if n < 1000 && size > 5000 {
					continue
				}
				for _, pause := range []bool{false, true} {
					s := NewStream(Default)
					var b strings.Builder
					for rest := c[0]; rest != ""; rest = rest[min(n, len(rest)):] {
						b.WriteString(s.Write(rest[:min(n, len(rest))]))
						if pause && len(rest) < 2000 {
							b.WriteString(s.Flush())
						}
					}
					got := b.String() + s.Flush()
					for i := 0; i+12 <= len(secret); i += 12 {
						if strings.Contains(got, secret[i:i+12]) {
							t.Fatalf("%s, %d bytes in pieces of %d, pauses %v: %q is in %.200q", name, size, n, pause, secret[i:i+12], got)
						}
					}
					if !pause && got != want {
						t.Errorf("%s, %d bytes in pieces of %d: %.300q, want %.300q", name, size, n, got, want)
					}
				}
			}
		}
	}
	for _, text := range []string{"\x1b]52;c;?\a$ ", "\x1b]52;c;!\a$ ", "\x1b]52;c;\a$ ", "\x1b]0;52;c;QUJD\a$ ", "52;c;QUJDREVG", "\x1b]52;c;\nordinary words\n"} {
		if got := Default.String(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
