package redact

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// parts are what texts are made of: secrets, their halves, what may stand between, and controls.
var parts = []string{
	"\x1b]52;c;", "QUJDREVG", "\\\n", "\n    ", "\\", "NDIzNDU2Nzg5MDEyMzQ1Njc4", ".GaB3dE.", "Kx7Rt2Lm4Wz8Bv3NcQp5Ys9Dk1Fg6", "b'", "string = '", "!Ref ", "!!str ", "os.getenv(\"A\", \"",
	"pw=", "PASS=", "GH_PAT=", "pwd: ", "htpasswd -b f u ", "echo u:x1y2z3 | chpasswd", "password is ", "secret: |", "sha384-", "SHA256:",
	"token", "password", "Authorization", "bearer", "Bearer", "sk-", "api_key", "secret", "=", ":", ": ", " ", "  ", "\t",
	"hunter2", "Zz9Zz9Zz9", "abcdefgh", "internal-", "42", "top", "topsecretliteral", "[REDACTED]", "REDACTED", "***", "<x>", "$X",
	"\"", "'", "\\", ",", ";", "]", "}", "&", "?", "\n", "\r\n", "\r", "\b", "é", "中", "│", "\u200b",
	"ghp_", "Xy7Kq9Rt2Lm4Wz8Bv3Nc", "5e1fa09c7d3b", "-us12", "https://u:", "@h/", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----",
	"MIIEpAIBAAKCAQEA7bq0Zr5Tn1", "word word word word word word word ", "│ ", " │", "--token ", " -u", "curl", "cookie: ", "key",
	"\x1b[5;3H", "\x1b[5;9H", "\x1b[2;1H", "\x1b[1m", "\x1b[38;5;208m", "\x1b[K", "\x1b[2D", "\x1b]0;", "\x07", "\x1b\\", "\x1b", "\x1b[", "\x00",
}

// glued are parts that mean something together.
var glued = []string{"token=hunter2", "password: x,", "https://u:hunter2@h/", "sk-Zz9Zz9Zz9Zz9Zz9Zz9", "?token=a&b=c", "api_key=\"x y\"", "DB_PASSWORD=[REDACTED]", "--token=x"}

// texts draws text of n parts at most.
func texts(n int) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(parts), 0, n), func(p []string) string { return strings.Join(p, "") })
}

func redactors(t testing.TB) []*Redactor {
	r, err := New(Policy{ExtraLiterals: []string{"topsecretliteral", "中é"}, ExtraRegexes: []string{`internal-[0-9]+`, `[Zz9]{6}`}})
	if err != nil {
		t.Fatal(err)
	}
	marked, err := New(Policy{Replacement: "<gone away>"})
	if err != nil {
		t.Fatal(err)
	}
	return []*Redactor{Default, r, marked, Default.With(knownParts())}
}

// knownParts are values that the parts make.
func knownParts() *Known {
	k := new(Known)
	k.Add("hunter2", "Zz9Zz9Zz9 42", "hunter2 hunter2", "lorem", "quux", "x dolor", "foxes: a", "42hunter2")
	return k
}

// controls are the parts of text that String may not touch.
func controls(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestProperties(t *testing.T) {
	rs := redactors(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(rs).Draw(t, "redactor")
		checkText(t, r, texts(40).Draw(t, "text"))
	})
}

// checkText holds the properties of String and Spans against text.
func checkText(t interface{ Fatalf(string, ...any) }, r *Redactor, text string) {
	once := r.String(text)
	if utf8.ValidString(text) && !utf8.ValidString(once) {
		t.Fatalf("String(%q) = %q breaks a character", text, once)
	}
	if controls(once) != controls(text) {
		t.Fatalf("String(%q) = %q loses a line end", text, once)
	}
	// The spans of a page are sorted, within their lines, and String is they applied.
	var want strings.Builder
	var lines, ends []string
	for line := range strings.Lines(text) {
		body := bodyEnd(line)
		lines, ends = append(lines, line[:body]), append(ends, line[body:])
	}
	for i, spans := range r.Page(lines, nil) {
		line := lines[i]
		want.WriteString(checkSpans(t, line, spans) + ends[i])
		checkSpans(t, line, r.Spans(line))
	}
	if want.String() != once {
		t.Fatalf("String(%q)\n     is %q\nPage says %q", text, once, want.String())
	}
	// What stands before a position is seen from behind it, and what is shown from there is a part
	// of the whole.
	at := len(text) / 2
	bare := strings.NewReplacer(r.policy().marker(""), "").Replace
	if tail := r.From(text, at); !strings.Contains(text, r.policy().marker("")) && !strings.HasSuffix(bare(once), bare(tail)) {
		t.Fatalf("From(%q, %d) = %q is no end of %q", text, at, tail, once)
	}
}

// checkSpans applies spans to line.
func checkSpans(t interface{ Fatalf(string, ...any) }, line string, spans []Span) string {
	var b strings.Builder
	done := 0
	for _, s := range spans {
		if s.Start < done || s.End <= s.Start || s.End > len(line) {
			t.Fatalf("of %q: bad range %+v after %d", line, s, done)
		}
		b.WriteString(line[done:s.Start] + s.Text)
		done = s.End
	}
	return b.String() + line[done:]
}

// Redacting again hides nothing of what is shown, but where what was hidden had kept a rule from
// matching beside it: then it is hidden, and the text comes to rest. The tables hold single secrets
// to the letter of this.
func TestSettles(t *testing.T) {
	rs := redactors(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(rs).Draw(t, "redactor")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(parts, glued...)), 0, 40).Draw(t, "parts"), " ")
		seen := []string{text}
		for range maxPasses {
			last := seen[len(seen)-1]
			next := r.String(last)
			if next == last {
				return
			}
			if shown, before := shown(r, next), shown(r, last); !isSubsequence(shown, before) {
				t.Fatalf("of %q\nafter %q\n came %q", text, last, next)
			}
			seen = append(seen, next)
		}
		t.Fatalf("never comes to rest: %q", seen)
	})
}

// maxPasses is how often a text of the parts is redacted: each pass hides something that the one
// before kept.
const maxPasses = 40

// shown is text without what stands for secrets.
func shown(r *Redactor, text string) string {
	return strings.ReplaceAll(text, r.policy().marker(""), "")
}

func isSubsequence(part, whole string) bool {
	for i := range len(part) {
		k := strings.IndexByte(whole, part[i])
		if k < 0 {
			return false
		}
		whole = whole[k+1:]
	}
	return true
}

// chunked cuts text at random places.
func chunked(t *rapid.T, text string, label string) (chunks []string) {
	for len(text) > 0 {
		n := min(len(text), rapid.IntRange(1, 1+len(text)/rapid.IntRange(1, 20).Draw(t, label)).Draw(t, label))
		chunks = append(chunks, text[:n])
		text = text[n:]
	}
	return chunks
}

func TestStreamIsString(t *testing.T) {
	rs := redactors(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(rs).Draw(t, "redactor")
		text := texts(120).Draw(t, "text") + "\n"
		if strings.Contains(text, "-----END") {
			return // String hides what is above it, a Stream has let go of that
		}
		s := NewStream(r)
		var got strings.Builder
		for _, c := range chunked(t, text, "cut") {
			got.WriteString(s.Write(c))
			if s.Pending() >= window {
				t.Fatalf("Pending = %d", s.Pending())
			}
		}
		if s.Pending() != 0 || s.Flush() != "" {
			t.Fatalf("something is pending after a line end")
		}
		if want := r.String(text); got.String() != want {
			t.Fatalf("of %q\nstream %q\nstring %q", text, got.String(), want)
		}
	})
}

// Long lines: what comes out does not depend on how the text came in, pauses included.
func TestStreamChunkingIndependent(t *testing.T) {
	rs := redactors(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(rs).Draw(t, "redactor")
		var outs [2]strings.Builder
		var streams [2]*Stream
		for i := range streams {
			streams[i] = NewStream(r)
		}
		for range rapid.IntRange(1, 3).Draw(t, "pauses") {
			text := strings.Repeat(texts(30).Draw(t, "text"), rapid.IntRange(1, 200).Draw(t, "times"))
			outs[0].WriteString(streams[0].Write(text) + streams[0].Flush())
			for _, c := range chunked(t, text, "cut") {
				outs[1].WriteString(streams[1].Write(c))
			}
			outs[1].WriteString(streams[1].Flush())
		}
		if outs[0].String() != outs[1].String() {
			t.Fatalf("whole  %q\nchunks %q", outs[0].String(), outs[1].String())
		}
	})
}

// A secret never escapes a Stream, whatever is before it, wherever it is cut, with or without
// pauses, also in a line without an end.
func TestStreamNeverLeaks(t *testing.T) {
	r := redactors(t)[1]
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[A-Z][a-z0-9]{20,60}`).Draw(t, "value")
		secret := rapid.SampledFrom([]string{
			"token=" + value, "password: \"" + value + "\"", "Authorization: Bearer " + value, "sk-" + value, "{\\\"secret\\\":\\\"" + value + "\\\"}",
		}).Draw(t, "secret")
		pad := strings.Repeat(rapid.SampledFrom([]string{".", "word ", "\x1b[1ma\x1b[m", "é", "line\n"}).Draw(t, "pad"), rapid.IntRange(0, 6000).Draw(t, "length"))
		text := pad + " " + secret + " after it"
		if rapid.Bool().Draw(t, "literal") {
			value = "topsecretliteral"
			text = pad + " " + value + " after it"
		}
		s := NewStream(r)
		var got strings.Builder
		pauses := rapid.Bool().Draw(t, "pauses")
		for _, c := range chunked(t, text, "cut") {
			got.WriteString(s.Write(c))
			if pauses {
				got.WriteString(s.Flush())
			}
		}
		got.WriteString(s.Flush())
		if leaks(got.String(), value) {
			t.Fatalf("%q leaks of %q: %q", value, text[len(pad):], got.String()[min(len(pad), got.Len()):])
		}
		if !strings.HasPrefix(got.String(), pad) || !strings.HasSuffix(got.String(), "after it") {
			t.Fatalf("text around the secret is lost: %q", got.String())
		}
	})
}

// A value longer than any window stays hidden to its end, and no further.
func TestStreamLongSecret(t *testing.T) {
	long := strings.Repeat("Zy8", 20000)
	for _, c := range []struct{ in, want string }{
		{"x token=" + long + " y\n", "x token=[REDACTED] y\n"},
		{`{"token":"` + long + ` a b","n":1}` + "\n", `{"token":"[REDACTED]","n":1}` + "\n"},
		{"sk-" + long + " y", "[REDACTED] y"},
		{"Bearer " + long + "\nBearer", "Bearer [REDACTED]\nBearer"},
		{"token=" + strings.Repeat("\x1b[31mab\x1b[m", 3000) + " y", "token=\x1b[31m[REDACTED]\x1b[m" + strings.Repeat("\x1b[31m\x1b[m", 2999) + " y"},
	} {
		for _, size := range []int{1, 7, 1000, 4096, 1 << 20} {
			s := NewStream(Default)
			var got strings.Builder
			for rest := c.in; rest != ""; rest = rest[min(size, len(rest)):] {
				got.WriteString(s.Write(rest[:min(size, len(rest))]))
			}
			got.WriteString(s.Flush())
			if got.String() != c.want {
				t.Errorf("of %.20q... in pieces of %d: %.200q", c.in, size, got.String())
			}
		}
	}
}

// Typed slowly, with the timer's Flush after each key: the prompt shows, the answer does not.
func TestStreamPauses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Password: hunter2\r\n$ ls\r\n", "Password: [REDACTED]\r\n$ ls\r\n"},
		{"export API_KEY=hunter2 x\n", "export API_KEY=[REDACTED] x\n"},
		{"token=ab\x1b[1mcd\x1b[0m e\n", "token=[REDACTED]\x1b[1m\x1b[0m e\n"},
		{"$ echo é中 \x1b]0;title\x07ok\n", "$ echo é中 \x1b]0;title\x07ok\n"},
		{`"token": "ab\"cd e", 1` + "\n", `"token": "[REDACTED]", 1` + "\n"},
		{"sk-SK.UTF-8\n", "sk-SK.UTF-8\n"},
		// What was taken for a token is a name: its value is hidden all the same.
		{"secret_key_base: Rk7euvC4gKKAH8axVxsz x\n", "secret_ke[REDACTED] [REDACTED] x\n"},
		{"sk-abcdefgh.x\n", "sk-abcdef[REDACTED]\n"}, // could have become one; stays hidden to its end
	} {
		s := NewStream(Default)
		var got strings.Builder
		for _, r := range c.in {
			got.WriteString(s.Write(string(r)) + s.Flush())
			if s.Pending() != 0 {
				t.Errorf("Pending = %d after Flush", s.Pending())
			}
		}
		if got.String() != c.want {
			t.Errorf("of %q: %q, want %q", c.in, got.String(), c.want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{"token=abc", "Bearer abcdefgh\x1b[1mij", "\x1b]0;sk-aaaaaaaaaaaaaaaaaaaaaa\x07", "a\b\b\r\xff\xe2\x80", `"secret": "x\"y`} {
		f.Add(s, uint16(3))
	}
	f.Add("\r"+strings.Repeat("\x9f", 5000)+"0", uint16(29)) // continues no character
	rs := redactors(f)
	f.Fuzz(func(t *testing.T, text string, cut uint16) {
		for _, r := range rs {
			checkText(t, r, text)
			whole, pieces := NewStream(r), NewStream(r)
			want := whole.Write(text) + whole.Flush()
			at := int(cut) % (len(text) + 1)
			if got := pieces.Write(text[:at]) + pieces.Write(text[at:]) + pieces.Flush(); got != want {
				t.Fatalf("of %q cut at %d\n got %q\nwant %q", text, at, got, want)
			}
		}
	})
}

// A rule that panics hides its line, and so shows in no other test: here nothing catches it.
func TestNoRulePanics(t *testing.T) {
	pieces := append([]string{"''", `""`, "[", "(", "=''", `: ""`, "pwd", "pass", "_PAT=", "%", "{", "$", "!", "!!", "<", "h1:", "new ", "env(", " -P", " -p"}, parts...)
	rapid.Check(t, func(t *rapid.T) {
		var m memory
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "text"), "")
		for line := range strings.Lines(text) {
			Default.now().scan(line[:bodyEnd(line)]).judge(needLook, &m, true)
		}
	})
}
