package redact

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// record is one line of testdata/secrets.jsonl (secret set) or benign.jsonl. Every credential in
// them is made up; the files keep their JSON escapes so that scanners of repositories stay quiet.
type record struct {
	ID, Class, Variant, Text string
	Secret                   string
	Chunks                   []string
	Cols, Rows               int
	Hard, Debatable          bool
}

func corpus(t testing.TB, file string) (records []record) {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var r record
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		records = append(records, r)
	}
	if err := sc.Err(); err != nil || len(records) == 0 {
		t.Fatalf("%s: %d records, %v", file, len(records), err)
	}
	return records
}

// A surface is one way that a record's text leaves.
type surface struct {
	name string
	show func(record) string
}

// surfaces are the package's own: a text read whole, in the pieces it came in, in single bytes,
// and in its pieces with a pause after each, as slow output is.
var surfaces = []surface{
	{"text", func(r record) string { return Default.String(r.Text) }},
	{"lines", func(r record) string {
		lines := strings.Split(strings.ReplaceAll(r.Text, "\r\n", "\n"), "\n")
		return strings.Join(page(Default, lines), "\r\n")
	}},
	{"stream", func(r record) string {
		s := NewStream(Default)
		var b strings.Builder
		for _, c := range r.pieces() {
			b.WriteString(s.Write(c))
		}
		return b.String() + s.Flush()
	}},
	{"bytes", func(r record) string {
		s := NewStream(Default)
		var b strings.Builder
		for i := range len(r.Text) {
			b.WriteString(s.Write(r.Text[i : i+1]))
		}
		return b.String() + s.Flush()
	}},
	{"paused", func(r record) string {
		s := NewStream(Default)
		var b strings.Builder
		for _, c := range r.pieces() {
			b.WriteString(s.Write(c) + s.Flush())
		}
		return b.String()
	}},
}

func (r record) pieces() []string {
	if r.Chunks == nil {
		return []string{r.Text}
	}
	return r.Chunks
}

// page is lines as Page leaves them.
func page(r *Redactor, lines []string) []string {
	out := slices.Clone(lines)
	for i, spans := range r.Page(lines, nil) {
		for _, s := range slices.Backward(spans) {
			out[i] = out[i][:s.Start] + s.Text + out[i][s.End:]
		}
	}
	return out
}

// leaks reports whether 12 consecutive characters of secret are left in surface, or more than
// half of one under 24. Control sequences, line ends and box drawing do not count.
func leaks(surface, secret string) bool {
	bare := strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x2500 && c < 0x2580 {
			return -1
		}
		return c
	}, stripped(surface))
	for _, p := range payloads(surface) {
		bare += "\n" + p
	}
	secret = strings.Map(func(c rune) rune {
		if c < ' ' {
			return -1
		}
		return c
	}, secret)
	n := 12
	if len(secret) < 24 {
		n = len(secret)/2 + 1
	}
	for i := 0; i+n <= len(secret); i++ {
		if strings.Contains(bare, secret[i:i+n]) {
			return true
		}
	}
	return false
}

func payloads(text string) (found []string) {
	(&scan{line: text}).read(false, func(from, to int) { found = append(found, text[from:to]) })
	return found
}

// gone reports whether a line that held more than the secret is nothing but the replacement.
func gone(r record, shown string) bool {
	return strings.TrimSpace(stripped(shown)) == DefaultReplacement && strings.TrimSpace(stripped(r.Text)) != r.Secret
}

// whole are the variants in which no provider's token may be missed; hints are the classes that
// are no provider's, but a name's.
var (
	whole = []string{"plain", "softwrap80", "chunks", "repeated", "error-message"}
	hints = []string{
		"env-password", "generic-token-assign", "json-api-key", "yaml-secret", "basic-auth-header", "bearer-header", "x-api-key-header",
		"cli-password-flag", "netrc-password", "password-prompt-typed", "url-userinfo-password", "mongodb-dsn-password",
		"postgres-dsn-password", "redis-dsn-password",
	}
)

const (
	leastRecall       = 0.98 // of all records but hard ones
	maxFalsePositives = 0.01 // of benign records but debatable ones
)

type score struct{ hidden, total int }

func (s score) String() string { return fmt.Sprintf("%d/%d", s.hidden, s.total) }

type scores map[string]score

func (m scores) count(key string, hidden bool) {
	s := m[key]
	s.total++
	if hidden {
		s.hidden++
	}
	m[key] = s
}

func (m scores) String() string {
	var rows []string
	for k, s := range m {
		rows = append(rows, k+" "+s.String())
	}
	slices.Sort(rows)
	return strings.Join(rows, ", ")
}

// The corpus, scored as its README says, on every surface of the package.
func TestCorpusRecall(t *testing.T) {
	records := corpus(t, "secrets.jsonl")
	for _, surface := range surfaces {
		t.Run(surface.name, func(t *testing.T) {
			all, hard, byClass, byVariant := scores{}, scores{}, scores{}, scores{}
			for _, r := range records {
				shown := surface.show(r)
				hidden := !leaks(shown, r.Secret) && !gone(r, shown)
				if !hidden {
					t.Logf("%s:\n text %q\n left %q", r.ID, r.Text, shown)
				}
				if r.Hard {
					hard.count(r.Variant, hidden)
					continue
				}
				all.count("all", hidden)
				byVariant.count(r.Variant, hidden)
				byClass.count(r.Class, hidden)
				if !hidden && surface.name != "paused" && slices.Contains(whole, r.Variant) && !slices.Contains(hints, r.Class) {
					t.Errorf("%s leaks, a provider's token", r.ID)
				}
			}
			t.Logf("recall: %v", all)
			t.Logf("recall by variant: %v", byVariant)
			t.Logf("recall of hard ones: %v", hard)
			t.Logf("recall by class: %v", byClass)
			if a := all["all"]; float64(a.hidden) < leastRecall*float64(a.total) {
				t.Errorf("%v of the secrets are hidden, less than %v", a, leastRecall)
			}
		})
	}
}

func TestCorpusFalsePositives(t *testing.T) {
	for _, surface := range surfaces {
		t.Run(surface.name, func(t *testing.T) {
			byClass, changed, total, debatable := scores{}, 0, 0, score{}
			for _, r := range corpus(t, "benign.jsonl") {
				shown := surface.show(r)
				same := shown == r.Text || surface.name == "lines" && shown == strings.ReplaceAll(r.Text, "\r\n", "\n") || strings.ReplaceAll(shown, "\r\n", "\n") == strings.ReplaceAll(r.Text, "\r\n", "\n")
				if r.Debatable {
					debatable.total++
					if !same {
						debatable.hidden++
					}
					continue
				}
				total++
				if !same {
					changed++
					byClass.count(r.Class, true)
					t.Logf("%s: %q becomes %q", r.ID, r.Text, shown)
				}
			}
			t.Logf("false positives: %d/%d (%v), of the debatable %v", changed, total, byClass, debatable)
			if float64(changed) > maxFalsePositives*float64(total) {
				t.Errorf("%d of %d benign records changed, more than %v", changed, total, maxFalsePositives)
			}
		})
	}
}
