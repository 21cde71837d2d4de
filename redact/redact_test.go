package redact

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

// The built-in rules: what goes, and that the key stays.
func TestString(t *testing.T) {
	key := "sk-" + strings.Repeat("Zz9", 8) // no scanner of repositories takes it for a live one
	for _, c := range []struct{ name, in, want string }{
		{"equals sign", "api_key=abc123", "api_key=[REDACTED]"},
		{"colon", "token: xyz789", "token: [REDACTED]"},
		{"nothing secret", "ls -l /tmp\r\ntotal 0\r\n", "ls -l /tmp\r\ntotal 0\r\n"},
		{"empty", "", ""},
		{"only a line end", "\r\n", "\r\n"},
		{"case", "PassWord = hunter2", "PassWord = [REDACTED]"},
		{"part of a key", "DB_PASSWORD=hunter2 x", "DB_PASSWORD=[REDACTED] x"},
		{"camel case", "clientSecret: hunter2", "clientSecret: [REDACTED]"},
		{"no part of a word", "secretary: J. Roe, tokens: 18, bypass: off", "secretary: J. Roe, tokens: 18, bypass: off"},
		{"json", `{"token": "x", "n": 1}`, `{"token": "[REDACTED]", "n": 1}`},
		{"json with blanks and an escaped quote", `{"password":"a b\"c","u":"v"}`, `{"password":"[REDACTED]","u":"v"}`},
		{"json in a string", `"{\"token\":\"x y\",\"n\":1}"`, `"{\"token\":\"[REDACTED]\",\"n\":1}"`},
		{"json, number", `{"token":123456}`, `{"token":[REDACTED]}`},
		{"query", "GET /?token=abc&page=2 200", "GET /?token=[REDACTED]&page=2 200"},
		{"ampersand outside a query", "password=ab&cd x", "password=[REDACTED] x"},
		{"commas in a value", "password=a,b,c d", "password=[REDACTED] d"},
		{"commas between pairs", "{password=a, token=b,user=c}", "{password=[REDACTED], token=[REDACTED],user=c}"},
		{"index", `config['token'] = 'x'`, `config['token'] = '[REDACTED]'`},
		{"go and ruby", `token := "x"; :password => "y"`, `token := "[REDACTED]"; :password => "[REDACTED]"`},
		{"path", "use token::Kind", "use token::Kind"},
		{"file", `cat: /etc/passwd: Permission denied, open "/run/secrets/token": no such file`,
			`cat: /etc/passwd: Permission denied, open "/run/secrets/token": no such file`},
		{"url path with a value", "GET /token=abc1 /passwd=abc2", "GET /token=[REDACTED] /passwd=[REDACTED]"},
		{"unterminated quote", `password: "a b c`, `password: "[REDACTED]`},
		{"bearer", "Bearer abcdefgh,x", "Bearer [REDACTED],x"},
		{"bearer header", "Authorization: Bearer abcdefgh12", "Authorization: Bearer [REDACTED]"},
		{"basic header in a command", "curl -H 'Authorization: Basic QUJD' https://h/", "curl -H 'Authorization: Basic [REDACTED]' https://h/"},
		{"bare header", "authorization: abc", "authorization: [REDACTED]"},
		{"digest header", `Authorization: Digest username="u", response="r"`, "Authorization: Digest [REDACTED]"},
		{"sk", "key " + key + ".", "key [REDACTED]."},
		{"sk within a word", "ask-me-anything-about-this-branch", "ask-me-anything-about-this-branch"},
		{"short sk", "sk-SK.UTF-8", "sk-SK.UTF-8"},
		{"placeholders", "token=$TOKEN secret: ${{ secrets.X }} password: **** apikey=<none> token: null",
			"token=$TOKEN secret: ${{ secrets.X }} password: **** apikey=<none> token: null"},
		{"prompt", "Password: ", "Password: "},
		{"two on a line", "token=a1 token=b2", "token=[REDACTED] token=[REDACTED]"},
		{"nested keys", "token=token=token=abc x", "token=[REDACTED] x"},
		{"colour inside the value", "token=ab\x1b[1;31mcd\x1b[0m e", "token=[REDACTED]\x1b[1;31m\x1b[0m e"},
		{"colour inside the key", "tok\x1b[1men\x1b[0m=abc", "tok\x1b[1men\x1b[0m=[REDACTED]"},
		{"zero width", "token=ab\u200bcd", "token=[REDACTED]"},
		{"title", "\x1b]0;token=abc\x07$ ", "\x1b]0;token=[REDACTED]\x07$ "},
		{"link", "\x1b]8;;https://h/?token=abc\x1b\\open\x1b]8;;\x1b\\", "\x1b]8;;https://h/?token=[REDACTED]\x1b\\open\x1b]8;;\x1b\\"},
		{"title inside a secret", "token=ab\x1b]0;secret=x1\x07cd", "token=[REDACTED]\x1b]0;secret=[REDACTED]\x07"},
		{"overwritten", "tokex\b" + "n=abc", "tokex\bn=[REDACTED]"},
		{"progress, then a secret", "50%\rtoken=abc\r\n", "50%\rtoken=[REDACTED]\r\n"},
		{"wrapped by bash", "$ TOKEN=abcx\rxyz0 more", "$ TOKEN=[REDACTED] more"},
		{"wrapped by zsh", "$ TOKEN=abcw \r\x1b[Kx\rxyz0 more", "$ TOKEN=[REDACTED]\x1b[K more"},
		{"two lines", "token:\nabc", "token:\nabc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Default.String(c.in)
			if got != c.want {
				t.Errorf("String(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
			if again := Default.String(got); again != got {
				t.Errorf("not idempotent:\n once %q\ntwice %q", got, again)
			}
		})
	}
}

func TestSpans(t *testing.T) {
	got := Default.Spans("a token=b\x1b[mc d")
	want := []Span{{8, 9, "[REDACTED]"}, {12, 13, ""}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := Default.Spans("nothing here"); got != nil {
		t.Errorf("Spans = %v, want nil", got)
	}
}

func TestExtraRules(t *testing.T) {
	r, err := New(Policy{
		Replacement:   "[$1]",
		ExtraLiterals: []string{"", "hunter2", "hunter2-long", "line one\r\nline two"},
		ExtraRegexes:  []string{"internal-([0-9]+)"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"internal-123 public":       "[$1] public",
		"hunter2-long, hunter2":     "[$1], [$1]",
		"HUNTER2":                   "HUNTER2",
		"line two line one":         "[$1] [$1]",
		"token: internal-1":         "token: [$1]",
		"in\x1b[1mternal-1\x1b[0m.": "[$1]\x1b[1m\x1b[0m.",
	} {
		if got := r.String(in); got != want {
			t.Errorf("String(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	long := strings.Repeat("a", 2000)
	for _, c := range []struct {
		name   string
		policy Policy
		field  string
		index  int
		text   string
	}{
		{"regex", Policy{ExtraRegexes: []string{"a+", "(\x1b[oops"}}, "extra_regexes", 1, "RE2"},
		{"empty match", Policy{ExtraRegexes: []string{"a*"}}, "extra_regexes", 0, "empty string"},
		{"empty match at a boundary", Policy{ExtraRegexes: []string{`\b|^`}}, "extra_regexes", 0, "empty string"},
		{"empty match of an option", Policy{ExtraRegexes: []string{`(?:x?y{0,3})+`}}, "extra_regexes", 0, "empty string"},
		{"long regex", Policy{ExtraRegexes: []string{long}}, "extra_regexes", 0, "2000 bytes"},
		{"explosive regex", Policy{ExtraRegexes: []string{"((a{100}){100}){100}"}}, "extra_regexes", 0, "repeat count"},
		{"many regexes", Policy{ExtraRegexes: make([]string, 65)}, "extra_regexes", -1, "65 entries"},
		{"long literal", Policy{ExtraLiterals: []string{long}}, "extra_literals", 0, "2000 bytes"},
		{"many literals", Policy{ExtraLiterals: make([]string, 257)}, "extra_literals", -1, "257 entries"},
		{"blank replacement", Policy{Replacement: "  "}, "replacement", -1, "blank"},
		{"control in the replacement", Policy{Replacement: "a\x1b[m"}, "replacement", -1, "control character"},
		{"long replacement", Policy{Replacement: long}, "replacement", -1, "2000 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(c.policy)
			var pe *PolicyError
			if !errors.As(err, &pe) {
				t.Fatalf("New = %v, want a *PolicyError", err)
			}
			if pe.Field != c.field || pe.Index != c.index || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %+v: %v", pe, err)
			}
			if m := err.Error(); strings.Contains(m, strings.Repeat("a", 33)) || strings.Contains(m, "\x1b") {
				t.Errorf("quotes too much: %q", m)
			}
		})
	}
}

// A rule that fails hides; it never shows.
func TestFailsClosed(t *testing.T) {
	for name, find := range map[string]func(*rules.Text, int, int) candidate{
		"panic":   func(*rules.Text, int, int) candidate { var p *candidate; return *p },
		"overrun": func(s *rules.Text, _, _ int) candidate { s.Spend(1 << 30); return candidate{} },
	} {
		t.Run(name, func(t *testing.T) {
			r, err := compile(Policy{}, []rules.Rule{{Class: "faulty", Keywords: []string{"fault"}, Find: find}})
			if err != nil {
				t.Fatal(err)
			}
			in, want := "one\nmy fault hidden\nthree\n", "one\n[REDACTED]\nthree\n"
			if got := r.String(in); got != want {
				t.Errorf("String = %q, want %q", got, want)
			}
			s := NewStream(r)
			if got := s.Write(in[:10]) + s.Write(in[10:]) + s.Flush(); got != want {
				t.Errorf("Stream = %q, want %q", got, want)
			}
			s = NewStream(r)
			if got := s.Write("my fault") + s.Flush() + s.Write(" hidden") + s.Flush() + s.Write("\nthree") + s.Flush(); got != "[REDACTED]\nthree" {
				t.Errorf("Stream with pauses = %q", got)
			}
			s = NewStream(r)
			got := s.Write(strings.Repeat("fault ", 5000)) + s.Flush()
			if got != "[REDACTED]" {
				t.Errorf("long line = %.40q", got)
			}
		})
	}
}

const hostileSize = 1 << 18 // bytes

// A line made of beginnings costs time in proportion to its length, and is not given up on.
func TestHostileLinesAreLinear(t *testing.T) {
	for _, unit := range []string{"token=", "sk-", "token=$", `"token":"`, `token:\"`, "bearer ", "password=,", "token=process.env.",
		"authorization: digest ", "\x1b]0;token=", "token\b=", "a \r", "\u200b", "(", "]", "token=a]", "?token=a&", "\x1b[3;3Htoken=ab\x1b[3;1Htoken=cd"} {
		in := strings.Repeat(unit, hostileSize/len(unit)) + " visible"
		Default.now().scan(in).judge(needLook, new(memory), true) // panics on overrun
	}
}

func TestMarking(t *testing.T) {
	known := new(Known)
	r, err := Default.With(known).Marking("<redacted>", func(class, secret string) string {
		if class == "github-token" && len(secret) >= 40 {
			return "<" + secret[:8] + "...>"
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	known.Add("swordfish77")
	const token = "ghp_k9Wz3TqLr7XvB2nM5pYd8HsJ4cFa6GeUo1Rt"
	text := "TOKEN=abc123\nit is " + token[:9] + "\x1b[1m" + token[9:] + " here\nswordfish77 swims\n"
	const want = "TOKEN=<redacted>\nit is <ghp_k9Wz...>\x1b[1m here\n<redacted> swims\n"
	if got := r.String(text); got != want || r.String(got) != want {
		t.Errorf("%q, and again %q; want %q", got, r.String(got), want)
	}
	for i := range len(text) {
		s := NewStream(r)
		if got := s.Write(text[:i]) + s.Write(text[i:]) + s.Flush(); got != want {
			t.Errorf("cut at %d: %q", i, got)
		}
	}
	if got := Default.With(known).String("TOKEN=abc123"); got != "TOKEN=[REDACTED]" {
		t.Errorf("the one it was made of: %q", got)
	}
	if _, err := r.Marking(" ", nil); err == nil {
		t.Error("a blank replacement is taken")
	}
}

// Of a secret that begins before a position, the rest is replaced, also past a control sequence.
func TestFromWithinASecret(t *testing.T) {
	const text = "TOKEN=hunt\x1b[1mer2x9y2k7 is it\n"
	for at, want := range map[int]string{
		6:  "[REDACTED]\x1b[1m is it\n",
		8:  "[REDACTED]\x1b[1m is it\n",
		11: "[1m[REDACTED] is it\n",
		16: "[REDACTED] is it\n",
		24: "is it\n",
	} {
		if got := Default.From(text, at); got != want {
			t.Errorf("from %d it is %q, want %q", at, got, want)
		}
	}
}
