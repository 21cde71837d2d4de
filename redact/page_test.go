package redact

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

func madeKey(d dice, lines int) []string {
	key := []string{"-----BEGIN OPENSSH PRIVATE KEY-----"}
	for range lines {
		key = append(key, d.of(64, base62+"+/"))
	}
	return append(key, d.of(21, base62)+"==", "-----END OPENSSH PRIVATE KEY-----")
}

// A private key is hidden to its last line, whatever its lines begin with, and no further.
func TestPrivateKeys(t *testing.T) {
	d := newDice(4)
	key := madeKey(d, 30)
	body := key[1 : len(key)-1]
	pgp := slices.Concat([]string{"-----BEGIN PGP PRIVATE KEY BLOCK-----", "Version: x", ""}, body, []string{"=Ab1c", "-----END PGP PRIVATE KEY BLOCK-----"})
	old := slices.Concat([]string{"-----BEGIN RSA PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,00", ""}, body, []string{"-----END RSA PRIVATE KEY-----"})
	putty := slices.Concat([]string{"PuTTY-User-Key-File-3: ssh-ed25519", "Private-Lines: 31"}, body, []string{"Private-MAC: 00"})
	each := func(lines []string, f func(string) string) []string {
		out := slices.Clone(lines)
		for i := range out {
			out[i] = f(out[i])
		}
		return out
	}
	for name, lines := range map[string][]string{
		"plain":     key,
		"pgp":       pgp,
		"encrypted": old,
		"putty":     putty,
		"indented":  each(key, func(s string) string { return "    " + s }),
		"logged":    each(key, func(s string) string { return "web-1  | " + s }),
		"framed":    each(key, func(s string) string { return "│ " + s + strings.Repeat(" ", max(0, 70-len(s))) + " │" }),
		"coloured":  each(key, func(s string) string { return "\x1b[32m" + s + "\x1b[0m" }),
		"in code":   each(key, func(s string) string { return `  "` + s + `\n" +` }),
		"numbered":  each(key, func(s string) string { return "    12\t" + s }),
		"cut off":   key[:20],
		"one line":  {`{"private_key": "` + strings.Join(key, `\n`) + `", "x": 1}`},
	} {
		text := "before\r\n" + strings.Join(lines, "\r\n") + "\r\nafter it all\r\n"
		s := NewStream(Default)
		var paused strings.Builder
		for rest := text; rest != ""; rest = rest[min(len(rest), 37):] {
			paused.WriteString(s.Write(rest[:min(len(rest), 37)]) + s.Flush())
		}
		for surface, got := range map[string]string{"text": Default.String(text), "paused": paused.String()} {
			for _, line := range body {
				if leaks(got, line) {
					t.Errorf("%s, %s: %q is left of\n%s", name, surface, line, got)
					break
				}
			}
			if !strings.HasPrefix(got, "before\r\n") || !strings.HasSuffix(got, "after it all\r\n") {
				t.Errorf("%s, %s: the text around it is gone:\n%s", name, surface, got)
			}
		}
	}
	// The end of one, in a text that begins within.
	text := strings.Join(key[10:], "\n") + "\nafter"
	if got := Default.String(text); leaks(got, body[12]) || !strings.HasSuffix(got, key[len(key)-1]+"\nafter") {
		t.Errorf("its end: %s", got)
	}
	// On a page that begins within, whose first lines are above.
	above := func(n int) (string, bool) {
		if n > 10 {
			return "", false
		}
		return key[10-n], true
	}
	for i, spans := range Default.Page(key[10:20], above) {
		if len(spans) != 1 || spans[0].Start != 0 || spans[0].End != len(key[10+i]) {
			t.Errorf("line %d of a page within a key: %v", i, spans)
		}
	}
	// A mark alone hides nothing.
	for _, text := range []string{
		"$ grep -l BEGIN *\nkey: -----BEGIN RSA PRIVATE KEY-----\nwords\nmore\n", "-----BEGIN CERTIFICATE-----\n" + body[0] + "\n-----END CERTIFICATE-----\n",
		"-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----\n",
	} {
		if got := Default.String(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// Where a program breaks a line, a token goes on; where lines only stand together, it does not.
func TestAcrossLines(t *testing.T) {
	d := newDice(5)
	pad := strings.Repeat("word ", 12)
	token := "glpat-" + "Rk7" + d.of(30, base62)
	for _, c := range []struct{ name, in, want string }{
		{"broken", pad + token[:20] + "\n" + token[20:] + " x", pad + "[REDACTED]\n[REDACTED] x"},
		{"broken twice", pad + token[:12] + "\n" + token[12:], pad + "[REDACTED]\n[REDACTED]"},
		{"in its literal", pad + "glp\nat-" + token[6:], pad + "glp\n[REDACTED]"},
		{"in its name", pad + "API_TOK\nEN=" + token[6:], pad + "API_TOK\nEN=[REDACTED]"},
		{"complete, a word follows", pad + token + "\nCompiling things", pad + "[REDACTED]\nCompiling things"},
		{"complete, a digest follows", pad + token + "\n5e1fa09c7d3b5e1f fix", pad + "[REDACTED]\n5e1fa09c7d3b5e1f fix"},
		{"complete, a date follows", pad + token + "\n2026-11-20T09:14:03Z go on", pad + "[REDACTED]\n2026-11-20T09:14:03Z go on"},
		{"a backslash behind it", `token=` + token + `\` + "\nmake", `token=[REDACTED]\` + "\n[REDACTED]"},
		{"a backslash behind a quote's beginning", `token="` + token + `\` + "\nmake", `token="[REDACTED]\` + "\n[REDACTED]"},
		{"indented: its rest", pad + "password=" + token[6:] + "\n  " + "Qx7Rt2Lm4Wz8Bv", pad + "password=[REDACTED]\n  [REDACTED]"},
		{"indented words: another line", pad + "password=" + token[6:] + "\n  and then Qx7Rt2Lm4Wz8Bv", pad + "password=[REDACTED]\n  and then Qx7Rt2Lm4Wz8Bv"},
		{"framed", "│ " + pad + token[:20] + " │\n│ " + token[20:] + "    │", "│ " + pad + "[REDACTED] │\n│ [REDACTED]    │"},
		{"two panes", "│ left │ " + pad + token[:20] + " │\n│ more │ " + token[20:] + "  │", "│ left │ " + pad + "[REDACTED] │\n│ more │ [REDACTED]  │"},
	} {
		if got := Default.String(c.in); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
		if again := Default.String(c.want); again != c.want {
			t.Errorf("%s, again: %q", c.name, again)
		}
		s := NewStream(Default)
		var b strings.Builder
		for i := range len(c.in) {
			b.WriteString(s.Write(c.in[i : i+1]))
		}
		if got := b.String() + s.Flush(); got != c.want {
			t.Errorf("%s, in single bytes:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestClasses(t *testing.T) {
	d := newDice(6)
	r, err := New(Policy{Classes: true, ExtraLiterals: []string{"hunter2"}, ExtraRegexes: []string{"id-[0-9]+"}})
	if err != nil {
		t.Fatal(err)
	}
	bare, err := New(Policy{Classes: true, Replacement: "gone"})
	if err != nil {
		t.Fatal(err)
	}
	token := "ghp_" + d.of(36, base62)
	for in, want := range map[string]string{
		"GITHUB_TOKEN=" + token:    "GITHUB_TOKEN=[REDACTED:github-token]",
		"password: x1":             "password: [REDACTED:password]",
		"hunter2 id-12":            "[REDACTED:literal] [REDACTED:pattern]",
		"https://me:pw1@h.example": "https://me:[REDACTED:url-password]@h.example",
	} {
		got := r.String(in)
		if got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
		if again := r.String(got); again != got {
			t.Errorf("not idempotent: %q, then %q", got, again)
		}
	}
	if got := bare.String("password=x1"); got != "password=gone:password" {
		t.Errorf("a replacement without brackets: %q", got)
	}
}

// Text from a position on is judged in sight of what is before.
func TestFrom(t *testing.T) {
	for _, c := range []struct {
		in, want string
		at       int
	}{
		{"token=abc def", "[REDACTED] def", 7},
		{"token=abc def", "ef", 11},
		{"x\ntoken=abc\ny", "=[REDACTED]\ny", 7},
		{"token=abc", "token=[REDACTED]", 0},
		{"token=abc", "", 9},
	} {
		if got := Default.From(c.in, c.at); got != c.want {
			t.Errorf("From(%q, %d) = %q, want %q", c.in, c.at, got, c.want)
		}
	}
}

func TestPageFailsClosed(t *testing.T) {
	r, err := compile(Policy{}, []rules.Rule{{Class: "faulty", Keywords: []string{"fault"}, Find: func(*rules.Text, int, int) candidate { panic("faulty") }}})
	if err != nil {
		t.Fatal(err)
	}
	got := page(r, []string{"one", "my fault", "three"})
	if want := []string{"one", "[REDACTED]", "three"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestUnseenCharactersHideNothing: what takes no cell, or stands on the character before, does not
// keep a token from being found.
func TestUnseenCharactersHideNothing(t *testing.T) {
	const token = "ghp_k9Wz3TqLr7XvB2nM5pYd8HsJ4cFa6GeUo1Rt"
	for _, c := range []rune{0xad, 0x301, 0x34f, 0x488, 0x61c, 0x115f, 0x1160, 0x180e, 0x1ab0, 0x1dc0, 0x200b, 0x202e, 0x2064, 0x20d0, 0x3164, 0xfe0f, 0xfe20, 0xfeff, 0xffa0, 0xfff9,
		0x1bca0, 0x1d173, 0xe0041, 0xe0100} {
		text := "it is " + strings.Join(strings.Split(token, ""), string(c)) + " today\n"
		got := Default.String(text)
		stream := NewStream(Default)
		if streamed := stream.Write(text) + stream.Flush(); streamed != got {
			t.Errorf("%U: a stream says %q, a text %q", c, streamed, got)
		}
		if strings.Contains(got, "R") && !strings.Contains(got, "RED") || strings.Contains(got, "Wz") || !strings.HasPrefix(got, "it is [REDACTED]") || !strings.HasSuffix(got, " today\n") {
			t.Errorf("%U: %q", c, got)
		}
	}
}
