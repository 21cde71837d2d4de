package record

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

// What a cast says is what the stream makes of the whole output, whatever else happens in between.
func TestCastIsRedacted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"token=abcdef0123456789abcdef", "héllo ", "\r\n", "password: ", "hunter2hunter2",
			" plain ", "\x1b[1m", "Bearer abcdefghijklmnop", "\n", "日本語"}), 0, 30), func(p []string) string { return strings.Join(p, "") }).Draw(t, "text")
		m := &mem{left: -1}
		c, err := newCast(m, "m", CastOptions{Start: t0, Input: true})
		if err != nil {
			t.Fatal(err)
		}
		rest, when := text, 0
		for rest != "" {
			n := rapid.IntRange(1, min(40, len(rest))).Draw(t, "n")
			when++
			err = c.Output(after(when), []byte(rest[:n]))
			rest = rest[n:]
			switch rapid.IntRange(0, 5).Draw(t, "else") {
			case 0:
				err = errors.Join(err, c.Resize(after(when), 24, 80))
			case 1:
				err = errors.Join(err, c.Input(after(when), []byte("k")))
			case 2:
				err = errors.Join(err, c.Marker(after(when), "m"))
			}
		}
		if err := errors.Join(err, c.Close()); err != nil {
			t.Fatal(err)
		}
		rec, err := Load(bytes.NewReader(m.data))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for e := range rec.Events() {
			if e.Kind == EventOutput {
				got.WriteString(e.Text)
			}
		}
		s := redact.NewStream(redact.Default)
		if want := s.Write(text) + s.Flush(); got.String() != want {
			t.Fatalf("got  %q\nwant %q", got.String(), want)
		}
	})
}

// A password that is typed slowly is hidden, and what is around it keeps its time.
func TestTimesAroundASecret(t *testing.T) {
	c, m := memCast(t, CastOptions{})
	for i, p := range []string{"a", "b\r\n", "password=", "hunter2", "hunter2", "\r\n", "c"} {
		must(t, c.Output(after(100*i), []byte(p)))
	}
	must(t, c.Close())
	var got []string
	for e := range load(t, m.data).Events() {
		got = append(got, fmt.Sprintf("%v %s", e.At, e.Text))
	}
	want := []string{"0s a", "100ms b\r\n", "200ms password=", "400ms [REDACTED]", "500ms \r\n", "600ms c"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestSetRedactorInTheMiddleOfALine(t *testing.T) {
	c, m := memCast(t, CastOptions{})
	must(t, c.Output(after(1), []byte("you typed corr")))
	r, err := redact.New(redact.Policy{ExtraLiterals: []string{"correcthorse"}})
	must(t, err)
	must(t, c.SetRedactor(r))
	must(t, c.Output(after(2), []byte("ecthorse\r\nand correcthorse\r\n")))
	must(t, c.Close())
	if bytes.Contains(m.data, []byte("correcthorse")) || strings.Count(string(m.data), "REDACTED") < 1 {
		t.Errorf("%s", m.data)
	}
}

// Wherever a pause, another event, new rules or a bound cut a secret, no part of it is in the file
// at any moment.
func TestSecretCutByAPause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[A-Z][a-z][0-9][A-Za-z0-9]{33}`).Draw(t, "value")
		secret := rapid.SampledFrom([]string{"token=%s", "password: \"%s\"", "Authorization: Bearer %s", "ghp_%s", "https://me:%s@example.org/"}).Draw(t, "form")
		text := strings.Repeat(rapid.SampledFrom([]string{".", "word ", "\x1b[1ma\x1b[m", "中", "line\r\n", "\x1b[5;9Hx"}).Draw(t, "pad"), rapid.IntRange(0, 2000).Draw(t, "times")) +
			" " + fmt.Sprintf(secret, value) + " behind it"
		m := &mem{left: -1}
		c, err := newCast(m, "m", CastOptions{Start: t0, Input: true})
		if err != nil {
			t.Fatal(err)
		}
		at, flooded, mayFlood := strings.Index(text, value), false, rapid.IntRange(0, 4).Draw(t, "may flood") == 0
		for from, when := 0, 0; from < len(text); {
			n := rapid.IntRange(1, 200).Draw(t, "n")
			if from >= at-20 { // near the secret in small pieces
				n = rapid.IntRange(1, 20).Draw(t, "few")
			} else {
				n = min(20*n, at-20-from+1)
			}
			n = min(n, len(text)-from)
			when += 10_000
			err = c.Output(after(when), []byte(text[from:from+n]))
			from += n
			switch rapid.IntRange(0, 7).Draw(t, "cut by") {
			case 0:
				err = errors.Join(err, c.SetRedactor(redact.Default))
			case 1:
				err = errors.Join(err, c.Resize(after(when), 24, 80), c.Marker(after(when), "m"))
			case 2:
				if from <= at || flooded || !mayFlood {
					break
				}
				flooded = true
				for range queueItems + 1 {
					if err := c.Input(after(when), []byte("k\r")); err != nil {
						t.Fatal(err)
					}
				}
				shows(t, m.data, value)
			}
			if err != nil {
				t.Fatal(err)
			}
			if from > at && !flooded { // a long file takes long to read
				shows(t, m.data, value)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if shown := shows(t, m.data, value); !strings.HasSuffix(shown, "behind it") {
			t.Fatalf("what is behind the secret is lost: %q", shown)
		}
	})
}

// shows returns the output in a cast, which is to show no eight characters of value together.
func shows(t *rapid.T, data []byte, value string) string {
	rec, err := Load(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for e := range rec.Events() {
		if e.Kind == EventOutput {
			b.WriteString(e.Text)
		}
	}
	for i := 0; i+8 <= len(value); i++ {
		if strings.Contains(b.String(), value[i:i+8]) {
			t.Fatalf("%q of %q is in %q", value[i:i+8], value, b.String()[max(0, b.Len()-200):])
		}
	}
	return b.String()
}

// What waits behind text that is held back is bounded.
func TestHeldBackIsBounded(t *testing.T) {
	c, m := memCast(t, CastOptions{Input: true})
	must(t, c.Output(after(0), []byte("no end of line")))
	for i := range 3 * queueItems {
		must(t, c.Input(after(i), []byte("k\r")))
		if n := len(c.queue.items); n > queueItems+1 {
			t.Fatalf("%d events are held", n)
		}
	}
	must(t, c.Input(after(99999), []byte("begun"))) // held until the line ends
	for range 100 {
		must(t, c.Output(after(99999), bytes.Repeat([]byte("0123456789\n"), 1000)))
		if c.queue.ready > queueBytes {
			t.Fatalf("%d bytes are held", c.queue.ready)
		}
	}
	must(t, c.Close())
	n := 0
	for e := range load(t, m.data).Events() {
		if e.Kind == EventInput {
			n++
		}
	}
	if n != 3*queueItems+1 {
		t.Errorf("%d inputs", n)
	}
}

// A recording that begins while a secret is being printed shows none of its rest, and on its first
// screen none that is there.
func TestBegunWithinASecret(t *testing.T) {
	key := func(i int) string {
		return fmt.Sprintf("MIIEpAIBAAKCAQEA%04dq8Zr5tYw0uVbNn1m2Lk3Jh4Gg5Ff6Dd7Ss8Aa9Pp0OoIi\r\n", i)
	}
	for _, format := range []Format{AsciicastV2, AsciicastV3} {
		for _, lines := range []int{0, 1, 3, 20, 400} { // of a screen of 5
			live := vt.New(5, 80, vt.Options{})
			live.Feed([]byte("$ cat key\r\n-----BEGIN RSA PRIVATE KEY-----\r\n"))
			for i := range lines {
				live.Feed([]byte(key(i)))
			}
			live.Feed([]byte(key(lines)[:33]))
			c, m := memCast(t, CastOptions{Format: format, Rows: 5, Cols: 80, Screen: live.Snapshot()})
			must(t, c.Output(after(1), []byte(key(lines)[33:])))
			for i := range 5 {
				must(t, c.Output(after(i+2), []byte(key(i))))
			}
			must(t, c.Output(after(30), []byte("-----END RSA PRIVATE KEY-----\r\nthe end MIIE\r\n")))
			must(t, c.Close())
			if got := string(m.data); strings.Contains(got, "q8Zr5tYw0u") || strings.Contains(got, "Ss8Aa9") || !strings.Contains(got, "the end MIIE") {
				t.Errorf("%s, %d lines in: %s", format, lines, got)
			}
		}
		live := vt.New(5, 80, vt.Options{})
		live.Feed([]byte("one\r\npassword=hunter2"))
		c, m := memCast(t, CastOptions{Format: format, Rows: 5, Cols: 80, Screen: live.Snapshot()})
		must(t, c.Output(after(1), []byte("Zebra99\r\nthe end\r\n")))
		must(t, c.Close())
		if got := string(m.data); strings.Contains(got, "unter2") || strings.Contains(got, "Zebra99") || !strings.Contains(got, "the end") {
			t.Errorf("%s: %s", format, got)
		}
	}
}
