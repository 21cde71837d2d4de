package redact

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestKnown(t *testing.T) {
	var k Known
	r := Default.With(&k)
	in := "the word is correct horse, said %63orrect"
	if got := r.String(in); got != in {
		t.Fatalf("with nothing known: %q", got)
	}
	k.Add("correct horse", "abc", "two\nlines of it", "p&ss w/rd")
	for in, want := range map[string]string{
		"the word is correct horse.": "the word is [REDACTED].",
		"?q=correct+horse&x=1":       "?q=[REDACTED]&x=1",
		"/p&ss%20w%2Frd/":            "/[REDACTED]/",
		`{"x":"p\u0026ss w/rd"}`:     `{"x":"[REDACTED]"}`,
		"abc two":                    "abc two", // too short to be hidden wherever it stands
		"x lines of it x":            "x [REDACTED] x",
		"corr\x1b[1mect horse":       "[REDACTED]\x1b[1m",
		strings.Repeat("word ", 10) + "correct h\r\norse": strings.Repeat("word ", 10) + "correct h\r\n[REDACTED]",
	} {
		got := r.String(in)
		if strings.Contains(in, "\r\n") { // the first part had left before the rest was seen
			got = strings.Replace(got, "[REDACTED]\r\n", "correct h\r\n", 1)
		}
		if got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	s := NewStream(r)
	k.Add("later on")
	if got := s.Write("it is lat") + s.Flush() + s.Write("er on\n"); strings.Contains(got, "er on") {
		t.Errorf("a value that was added later, in pieces: %q", got)
	}
	if got := Default.String("correct horse"); got != "correct horse" {
		t.Errorf("another redactor hides it, too: %q", got)
	}
}

// A value is hidden however programs write it.
func TestKnownForms(t *testing.T) {
	var k Known
	k.Add("p&ss w0rd+9/xY", "it's $5 \"x\"", "plain-Value7")
	r := Default.With(&k)
	for _, form := range []string{
		"p&ss w0rd+9/xY", "p%26ss%20w0rd%2B9%2FxY", "p%26ss+w0rd%2B9%2FxY", "p%26ss%20w0rd%2B9/xY", "p%26ss%20w0rd%2b9%2fxY", "p%26ss+w0rd%2b9%2fxY", `p\&ss\ w0rd+9/xY`,
		`p\u0026ss w0rd+9/xY`, `p&ss w0rd+9\/xY`, "p&amp;ss w0rd+9/xY", "cCZzcyB3MHJkKzkveFk=", "cCZzcyB3MHJkKzkveFk", "cCZzcyB3MHJkKzkveFkK", "702673732077307264" + "2b392f7859", "702673732077307264" + "2B392F7859",
		`it'\''s $5 "x"`, `it'"'"'s $5 "x"`, `it\'s\ \$5\ \"x\"`, `it's \$5 \"x\"`, `it's $5 \"x\"`, "it&#39;s $5 &#34;x&#34;", "it&#x27;s $5 &quot;x&quot;", "it's%20%245%20%22x%22", "it%27s%20%245%20%22x%22",
		"cGxhaW4tVmFsdWU3", "cGxhaW4tVmFsdWU3Cg==", "706c61696e2d56616c756537",
	} {
		in := "a (" + form + ") z"
		if got := r.String(in); got != "a ([REDACTED]) z" {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

func TestKnownEnv(t *testing.T) {
	var k Known
	k.AddEnv([]string{
		"PATH=/usr/bin:/bin", "HOME=/home/me", "DB_PASSWORD=Tr0ub4dor", "GITHUB_TOKEN=$OTHER", "TOKEN_URL=https://h.example/token", "API_KEY=short",
		"SECRET_FILE=/run/secrets/x", "PUBLIC_KEY=aB3dE6gH9kL2", "NPM_TOKEN=aB3dE6gH9kL2mN5", "SSH_AUTH_SOCK=/tmp/a", "KEYBOARD=german", "=x", "broken",
	})
	got := Default.With(&k).String("/usr/bin:/bin /home/me Tr0ub4dor german aB3dE6gH9kL2mN5 /tmp/a")
	if want := "/usr/bin:/bin /home/me [REDACTED] german [REDACTED] /tmp/a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if k.Len() != 2 {
		t.Errorf("%d values are known, want 2", k.Len())
	}
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"DB_PASSWORD": true, "githubToken": true, "--api-key": true, "AWS_SECRET_ACCESS_KEY": true, "STRIPE_KEY": true, "MYSQL_PWD": true, "SMTP_PASS": true,
		"PASS": true, "GH_PAT": true, "AZURE_DEVOPS_EXT_PAT": true, "ADMIN_PW": true, "pwd": true, "WIFI_PSK": true, "COMPAT": false, "OLDPWD": false,
		"client_secret": true, "X-Auth-Token": true, "PGPASSWORD": true, "ANTHROPIC_API_KEY": true, "authorization": true, "CI_JOB_TOKEN": true,
		"PATH": false, "TOKEN_URL": false, "PUBLIC_KEY": false, "KEYBOARD": false, "PWD": false, "SSH_AUTH_SOCK": false, "TOKENIZER": false, "COMPASS": false,
		"SECRET_NAME": false, "": false,
	} {
		if got := SecretName(name); got != want {
			t.Errorf("SecretName(%q) = %v", name, got)
		}
	}
}

// Many readers, while values are added: what was there before a read began is hidden in it.
func TestKnownGrowsWhileRead(t *testing.T) {
	var k Known
	r := Default.With(&k)
	k.Add("first-value")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 50 {
				v := fmt.Sprintf("value-%d-%d", i, n)
				k.Add(v)
				if got := r.String("first-value and " + v); got != "[REDACTED] and [REDACTED]" {
					t.Errorf("%q", got)
				}
			}
		})
	}
	wg.Wait()
}

// TestBegun: the beginning of a known value at a line's end is hidden where it is asked for, in each
// line of a page, and nowhere else.
func TestBegun(t *testing.T) {
	k := new(Known)
	k.Add("Wq7xZ9pLm3", "straße-und-wörter")
	r := Default.With(k)
	for line, want := range map[string]string{
		"it is Wq7x":          "it is [REDACTED]",
		"it is Wq7xZ9pLm":     "it is [REDACTED]",
		"it is Wq7xZ9pLm3":    "it is [REDACTED]",
		"it is Wq7":           "it is Wq7",
		"it is Wq7xZ9 and on": "it is Wq7xZ9 and on",
		"straße-un":           "[REDACTED]",
	} {
		if got := r.Begun().String(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
		if got := r.For("s1").Begun().String("above " + line + "\r\nbelow"); got != "above "+want+"\r\nbelow" {
			t.Errorf("%q in a text: %q", line, got)
		}
		if got := r.String(line); got != line && line != "it is Wq7xZ9pLm3" {
			t.Errorf("%q, where it is not asked for: %q", line, got)
		}
	}
}
