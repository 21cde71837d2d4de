package redact

import (
	"encoding/base64"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// An edge is a case of testdata/edges.txt.
type edge struct {
	record
	secrets []string // none: it is benign
}

// edges reads testdata/edges.txt. A line `=+ id` begins a text with secrets, `=- id` a benign one.
// In ⟨⟩ stand made-up values, drawn for each case anew, so that no scanner of repositories takes
// them for live ones: ⟨kind⟩, ⟨kind/64⟩ in base64, ⟨kind:from:to⟩ a part, in which @ is where the
// screen's edge cuts it; with ~ the value is no secret. ␛ and ␇ are controls.
func edges(t testing.TB) (all []edge) {
	t.Helper()
	data, err := os.ReadFile("testdata/edges.txt")
	if err != nil {
		t.Fatal(err)
	}
	d := newDice(17)
	for part := range strings.SplitSeq("\n"+string(data), "\n=") {
		if part == "" {
			continue
		}
		head, body, _ := strings.Cut(part, "\n")
		e := edge{record: record{ID: head[2:], Variant: "edge", Cols: 120, Rows: 24}}
		if id, cols, ok := strings.Cut(e.ID, " cols="); ok {
			e.ID = id
			e.Cols, _ = strconv.Atoi(cols)
		}
		e.Class, _, _ = strings.Cut(e.ID, ".")
		e.ID = head[:1] + e.ID
		e.Text = strings.ReplaceAll(e.fill(t, d, strings.TrimSuffix(body, "\n")), "\n", "\r\n") + "\r\n"
		if (head[0] == '+') != (len(e.secrets) > 0) {
			t.Fatalf("%s: %d secrets", e.ID, len(e.secrets))
		}
		all = append(all, e)
	}
	return all
}

var madeUp = regexp.MustCompile(`⟨(~?)([a-zA-Z0-9.]+)(/64)?(?::([0-9@]+)(?::([0-9@]*))?)?⟩`)

// fill puts made-up values into a text.
func (e *edge) fill(t testing.TB, d dice, text string) string {
	values, cut := map[string]string{}, 0
	var b strings.Builder
	for _, m := range iterate(madeUp, text) {
		b.WriteString(text[m.from:m.at])
		public, kind := m.groups[0] != "", m.groups[1]+m.groups[2]
		v, known := values[kind]
		if !known || public {
			v = d.value(t, m.groups[1])
			if m.groups[2] != "" {
				v = base64.StdEncoding.EncodeToString([]byte(v))
			}
			values[kind] = v
			if !public {
				e.secrets = append(e.secrets, v)
			}
		}
		width := utf8.RuneCountInString(b.String()[strings.LastIndexByte(b.String(), '\n')+1:])
		at := func(s string, otherwise int) int {
			if s == "" {
				return otherwise
			}
			if n, err := strconv.Atoi(s); err == nil {
				return n
			}
			return cut
		}
		from, to := at(m.groups[3], 0), 0
		if m.groups[4] == "@" {
			cut = e.Cols - width
		}
		to = at(m.groups[4], len(v))
		if from > to || to > len(v) {
			t.Fatalf("%s: no part %d to %d of %d", e.ID, from, to, len(v))
		}
		b.WriteString(v[from:to])
	}
	return strings.NewReplacer("␛", "\x1b", "␇", "\a").Replace(b.String())
}

type found struct {
	from, at int // the text before the match
	groups   []string
}

// iterate returns the matches in text, and its end as one of nothing.
func iterate(re *regexp.Regexp, text string) (all []found) {
	done := 0
	for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
		f := found{from: done, at: m[0]}
		for g := 2; g < len(m); g += 2 {
			if m[g] < 0 {
				f.groups = append(f.groups, "")
			} else {
				f.groups = append(f.groups, text[m[g]:m[g+1]])
			}
		}
		all, done = append(all, f), m[1]
	}
	return append(all, found{from: done, at: len(text), groups: []string{"~", "nothing", "", "", ""}})
}

// value draws a value of a kind, as those who issue or choose it do.
func (d dice) value(t testing.TB, kind string) string {
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	words := func(n int) string {
		list := strings.Fields("corvid lantern maple orchard gravel thimble saffron willow cobalt harbor meadow quartz ember juniper pebble")
		var all []string
		for range n {
			all = append(all, list[d.IntN(len(list))])
		}
		return strings.Join(all, "-")
	}
	kind, count, _ := strings.Cut(kind, ".")
	n, _ := strconv.Atoi(count)
	switch kind {
	case "nothing":
		return ""
	case "b62":
		return d.of(2, upper) + d.of(2, lower) + d.of(1, digits) + d.of(n-5, base62)
	case "b64":
		return d.of(n, base62+"+/")
	case "hex":
		return d.of(n, hexes)
	case "pw": // a word with a capital, digits behind it
		return d.of(1, upper) + d.of(6, lower) + d.of(2, digits) + d.of(2, lower)
	case "pws": // and a sign
		return d.of(1, upper) + d.of(5, lower) + d.of(1, "!#%&*^") + d.of(3, digits) + d.of(2, upper)
	case "word":
		return words(3)
	case "word2":
		return words(8)
	case "ado":
		return d.of(52, lower+"234567")
	case "ghp":
		return "ghp_" + d.of(36, base62)
	case "glpat":
		return "glpat-" + d.of(20, base62)
	case "stripe":
		return "sk_live_" + d.of(24, base62)
	case "skant":
		return "sk-ant-" + "api03-" + d.of(80, base62) + "AA"
	case "discord":
		return base64.RawURLEncoding.EncodeToString([]byte("1"+d.of(17, digits))) + ".G" + d.of(5, base62) + "." + d.of(38, base62)
	case "twitter":
		return strings.Repeat("A", 22) + d.of(8, base62) + "AAAAAAA" + d.of(6, base62) + "%3D" + d.of(50, base62)
	case "e2b":
		return "e2b_" + d.of(40, hexes)
	case "flw":
		return "FLW" + "SECK-" + d.of(32, hexes) + "-X"
	case "flwtest":
		return "FLW" + "SECK_TEST-" + d.of(32, hexes) + "-X"
	case "flwenc":
		return "FLW" + "SECK_TEST" + d.of(12, hexes)
	case "fio":
		return "fio-u-" + d.of(64, base62+"-_")
	case "keydata":
		return base64.StdEncoding.EncodeToString([]byte("-----BEGIN " + "RSA PRIVATE KEY-----\n" + d.of(900, base62)))
	}
	t.Fatalf("no kind %q", kind)
	return ""
}

// scoreEdges counts what a surface shows of the secrets and hides of the benign texts, and holds
// both to the corpus's bars.
func scoreEdges(t testing.TB, all []edge, show func(record) string, same func(r record, shown string) bool) {
	t.Helper()
	missed, secrets, changed, benign := 0, 0, 0, 0
	for _, e := range all {
		shown := show(e.record)
		if len(e.secrets) == 0 {
			if benign++; !same(e.record, shown) {
				changed++
				t.Logf("%s is changed:\n%s", e.ID, shown)
			}
			continue
		}
		secrets++
		for _, s := range e.secrets {
			if leaks(shown, s) {
				missed++
				t.Logf("%s leaks %q:\n%q", e.ID, s, shown)
				break
			}
		}
	}
	t.Logf("recall %d/%d, false positives %d/%d", secrets-missed, secrets, changed, benign)
	if float64(missed) > (1-leastRecall)*float64(secrets) {
		t.Errorf("%d of %d secrets are shown", missed, secrets)
	}
	if float64(changed) > maxFalsePositives*float64(benign) {
		t.Errorf("%d of %d benign texts are changed", changed, benign)
	}
}

// The edges on the surfaces of the package.
func TestEdges(t *testing.T) {
	all := edges(t)
	for _, surface := range surfaces[:4] { // not with a pause behind each
		t.Run(surface.name, func(t *testing.T) {
			scoreEdges(t, all, surface.show, func(r record, shown string) bool { return shown == r.Text })
		})
	}
}
