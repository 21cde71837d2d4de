package redact

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// record is one line of testdata/secrets.jsonl (secret set) or benign.jsonl. Every credential in
// them is made up; the files keep their JSON escapes so that scanners of repositories stay quiet.
type record struct {
	ID, Class, Variant, Text string
	Secret                   string
	Chunks                   []string
	Hard, Debatable          bool
}

func corpus(t *testing.T, file string) (records []record) {
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

// surfaces are what leaves for a record: the text read whole, and the text read in its pieces
// with a pause after each, as slow output is.
func surfaces(r record) []string {
	whole := Default.String(r.Text)
	chunks := r.Chunks
	if chunks == nil {
		chunks = []string{r.Text}
	}
	s := NewStream(Default)
	var joined, paused strings.Builder
	for _, c := range chunks {
		joined.WriteString(s.Write(c))
	}
	joined.WriteString(s.Flush())
	s = NewStream(Default)
	for _, c := range chunks {
		paused.WriteString(s.Write(c) + s.Flush())
	}
	return []string{whole, joined.String(), paused.String()}
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
	new(scan).read(text, false, func(from, to int) { found = append(found, text[from:to]) })
	return found
}

// promised are the classes that the three rules hide wholly, in every variant of promisedIn; the
// other classes are reported only. A rule that is added moves its class here.
var promised = []string{
	"anthropic", "anthropic-oauth", "openai-legacy", "openai-project", // sk-
	"bearer-header", "basic-auth-header", "gcp-oauth-access", // headers
	"env-password", "generic-token-assign", "json-api-key", "yaml-secret", // key: value
}

var promisedIn = []string{"plain", "sgr", "softwrap80", "chunks", "repeated", "error-message", "osc-title", "scrollback", "non-ascii-near", "zero-width", "cr-overwrite"}

// maxFalsePositives is the share of benign records that may change. It is what key: value costs
// (`unexpected token: identifier`) without entropy, which comes with the wider rules.
const maxFalsePositives = 0.01

func TestCorpusRecall(t *testing.T) {
	type score struct{ hidden, total int }
	byClass, byVariant := map[string]score{}, map[string]score{}
	for _, r := range corpus(t, "secrets.jsonl") {
		leaked := slices.ContainsFunc(surfaces(r), func(s string) bool { return leaks(s, r.Secret) })
		count := func(m map[string]score, key string) {
			s := m[key]
			s.total++
			if !leaked {
				s.hidden++
			}
			m[key] = s
		}
		if !r.Hard {
			count(byVariant, r.Variant)
			count(byClass, r.Class)
		}
		if leaked && slices.Contains(promised, r.Class) && slices.Contains(promisedIn, r.Variant) {
			t.Errorf("%s leaks:\n text %q\n left %q", r.ID, r.Text, surfaces(r))
		}
		if bare := strings.TrimSpace(stripped(Default.String(r.Text))); bare == DefaultReplacement && strings.TrimSpace(stripped(r.Text)) != r.Secret {
			t.Errorf("%s: the whole line is gone: %q", r.ID, r.Text)
		}
	}
	report := func(what string, m map[string]score) {
		var rows []string
		for k, s := range m {
			rows = append(rows, k+" "+ratio(s.hidden, s.total))
		}
		slices.Sort(rows)
		t.Logf("recall by %s: %s", what, strings.Join(rows, ", "))
	}
	report("variant", byVariant)
	report("class", byClass)
}

func TestCorpusFalsePositives(t *testing.T) {
	changed, total := 0, 0
	for _, r := range corpus(t, "benign.jsonl") {
		if r.Debatable {
			continue
		}
		total++
		for _, s := range surfaces(r) {
			if s != r.Text {
				changed++
				t.Logf("%s: %q becomes %q", r.ID, r.Text, s)
				break
			}
		}
	}
	t.Logf("false positives: %s", ratio(changed, total))
	if float64(changed) > maxFalsePositives*float64(total) {
		t.Errorf("%d of %d benign records changed, more than %v", changed, total, maxFalsePositives)
	}
}

func ratio(n, of int) string { return strconv.Itoa(n) + "/" + strconv.Itoa(of) }
