package redact

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
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

// TestKnownGiveUpFormsFirst: as many values as there may be are hidden as they are; the newest in every form.
func TestKnownGiveUpFormsFirst(t *testing.T) {
	var k Known
	d := newDice(9)
	var values []string
	for range MaxKnown {
		values = append(values, d.of(16, base62))
		k.Add(values[len(values)-1])
	}
	r := Default.With(&k)
	last := values[len(values)-1]
	for in, want := range map[string]string{
		values[0]: "[REDACTED]", last: "[REDACTED]", hex.EncodeToString([]byte(last)): "[REDACTED]", hex.EncodeToString([]byte(values[0])): hex.EncodeToString([]byte(values[0])),
	} {
		if got := r.String(in); got != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
	if k.forgot > 0 || k.Len() != MaxKnown || k.states > maxKnownStates {
		t.Errorf("%d forgotten, %d known, %d states", k.forgot, k.Len(), k.states)
	}
}

func TestKnownIsBounded(t *testing.T) {
	var k Known
	k.Add(strings.Repeat("x", MaxLiteralLen+1))
	for i := range MaxKnown + 10 {
		k.Add(fmt.Sprintf("value-%04d", i))
	}
	k.Add(fmt.Sprintf("value-%04d", MaxKnown)) // again: the newest
	if n := k.Len(); n != MaxKnown {
		t.Errorf("holds %d values, want %d", n, MaxKnown)
	}
	r := Default.With(&k)
	if got := r.String(fmt.Sprintf("value-0009 value-0010 value-%04d", MaxKnown+9)); got != "value-0009 [REDACTED] [REDACTED]" {
		t.Errorf("kept: %q", got)
	}
	if k.forgot != 10 {
		t.Errorf("%d were forgotten, want 10", k.forgot)
	}
}

// TestKnownOfTheLivingStay: what a session that runs has been told stays hidden however many values others bring that are gone.
func TestKnownOfTheLivingStay(t *testing.T) {
	var k Known
	r := Default.With(&k)
	alive, gone := make(chan struct{}), make(chan struct{})
	close(gone)
	k.AddUntil(alive, "of a session")
	k.AddUntil(gone, "of two of them")
	k.AddUntil(alive, "of two of them")
	k.Add("for good")
	k.AddUntil(gone, "for good")
	for i := range 3 * MaxKnown {
		ended := make(chan struct{})
		k.AddUntil(ended, fmt.Sprintf("value-%04d", i))
		close(ended)
	}
	if got := r.String("of a session; of two of them; for good"); got != "[REDACTED]; [REDACTED]; [REDACTED]" {
		t.Errorf("%q", got)
	}
	if n := k.forgot; n > 0 || k.Len() > MaxKnown {
		t.Errorf("%d were forgotten, %d are known", n, k.Len())
	}
}

// TestKnownFitTheAutomaton: at every bound at once, and in every form, the automaton has a number for each state.
func TestKnownFitTheAutomaton(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	drawn := func() string {
		b := make([]byte, 12)
		for i := range b {
			b[i] = "<>&+%=/?#[]{}^|~"[rng.IntN(16)]
		}
		return string(b)
	}
	var p Policy
	for range MaxLiterals {
		p.ExtraLiterals = append(p.ExtraLiterals, drawn())
	}
	r, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	var k Known
	var last string
	for range 2 * MaxKnown {
		last = drawn()
		k.Add(last)
	}
	r = r.With(&k)
	if got := r.String("a " + last + " z"); got != "a [REDACTED] z" {
		t.Errorf("%q", got)
	}
	if n := len(r.now().words.out); n >= marked {
		t.Errorf("%d states, numbers for %d", n, marked)
	}
	if k.Len() < 256 || k.states > maxKnownStates {
		t.Errorf("%d values with %d states", k.Len(), k.states)
	}
}

// BenchmarkKnownAdded is the first text after a value came, with as many known as there may be.
func BenchmarkKnownAdded(b *testing.B) {
	var k Known
	r := Default.With(&k)
	for i := range MaxKnown {
		k.Add(fmt.Sprintf("%x-value", i*7919))
	}
	for i := range b.N {
		k.Add(fmt.Sprintf("%d-other", i))
		_ = r.String("some text")
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

// TestLentValuesLeaveFirst: what was lent to programs that are gone makes room for what is needed, and nobody is told of that.
func TestLentValuesLeaveFirst(t *testing.T) {
	var k Known
	k.Forgot = func(n int) { t.Errorf("told of a value that was forgotten, %d are known", n) }
	k.Add("typed where echo was off")
	r := Default.With(&k)
	for i := range 2 * MaxKnown {
		value := fmt.Sprintf("lent%dValue", i)
		settle := k.Lend(map[string]string{"DB_PASSWORD": value, "SHELL": "/bin/sh"})
		if i < 3 && strings.Contains(r.String("it says "+value), value) {
			t.Errorf("%s shows while its program is being started", value)
		}
		ended := make(chan struct{})
		if i%2 == 0 {
			settle(ended)
			close(ended)
		} else {
			settle(nil)
		}
	}
	if got := r.String("it was typed where echo was off"); strings.Contains(got, "typed where") {
		t.Errorf("a value that is needed for good was forgotten: %q", got)
	}
}
