package redact_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

// look is what a record leaves on a screen: 80 columns, or as many as it says, or so many that
// nothing wraps.
func look(r redact.Record) *vt.Screen {
	rows, cols := r.Rows, r.Cols
	if rows == 0 {
		rows = 24
	}
	if cols == 0 {
		cols = 500
	}
	term := vt.New(rows, cols, vt.Options{})
	for _, c := range r.Pieces() {
		term.Feed([]byte(c))
	}
	return term.Snapshot()
}

// hidden is a screen under redaction, its lines seen together.
func hidden(s *vt.Screen) *vt.Screen {
	return s.MaskPage(func(lines []string, above func(int) (string, bool)) [][]vt.Mask {
		out := make([][]vt.Mask, len(lines))
		for i, spans := range redact.Default.Page(lines, above) {
			for _, s := range spans {
				out[i] = append(out[i], vt.Mask(s))
			}
		}
		return out
	})
}

// shown is the text of what leaves of a screen: its lines, its title, its links.
func shown(s *vt.Screen, hide func(string) string) string {
	var b strings.Builder
	b.WriteString(s.Text() + "\n" + hide(s.Title) + "\n")
	for row := range s.Rows {
		s.EachRun(row, func(r vt.Run) { b.WriteString(hide(r.Style.Link)) })
	}
	return b.String()
}

// The corpus, through a terminal: what is on the screen, once its lines are redacted together.
func TestCorpusOnScreen(t *testing.T) {
	type score struct{ hidden, total int }
	all, hard := score{}, map[string]score{}
	variants := map[string]score{}
	for _, r := range redact.Corpus(t, "secrets.jsonl") {
		s := look(r)
		text := shown(hidden(s), redact.Default.String)
		miss := redact.Leaks(text, r.Secret)
		if miss {
			t.Logf("%s:\n text %q\n left %q", r.ID, r.Text, text)
		}
		into := variants
		if r.Hard {
			into = hard
		} else {
			all.total++
		}
		v := into[r.Variant]
		v.total++
		if !miss {
			v.hidden++
			if !r.Hard {
				all.hidden++
			}
		}
		into[r.Variant] = v
	}
	t.Logf("recall: %v, by variant %v, hard ones %v", all, variants, hard)
	if float64(all.hidden) < redact.LeastRecall*float64(all.total) {
		t.Errorf("%v of the secrets are hidden", all)
	}
}

func TestBenignCorpusOnScreen(t *testing.T) {
	changed, total := 0, 0
	for _, r := range redact.Corpus(t, "benign.jsonl") {
		s := look(r)
		before := shown(s, func(s string) string { return s })
		after := shown(hidden(s), redact.Default.String)
		if r.Debatable {
			continue
		}
		total++
		if before != after {
			changed++
			t.Logf("%s: %q becomes %q", r.ID, before, after)
		}
	}
	t.Logf("false positives: %d/%d", changed, total)
	if float64(changed) > redact.MaxFalsePositives*float64(total) {
		t.Errorf("%d of %d benign records changed", changed, total)
	}
}

// The edges on a screen, and in a recording that is read back.
func TestEdgesOnScreen(t *testing.T) {
	redact.ScoreEdges(t, func(r redact.Record) string { return shown(hidden(look(r)), redact.Default.String) },
		func(r redact.Record, text string) bool {
			return text == shown(look(r), func(s string) string { return s })
		})
}

func TestEdgesInRecording(t *testing.T) {
	dir, n := t.TempDir(), 0
	redact.ScoreEdges(t, func(r redact.Record) string {
		n++
		path := filepath.Join(dir, fmt.Sprint(n, ".cast"))
		c, err := record.NewCast(path, record.CastOptions{Rows: r.Rows, Cols: r.Cols})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range r.Pieces() {
			if err := c.Output(time.Now().Add(time.Duration(i)*time.Second), []byte(p)); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rec, err := record.Load(f)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for e := range rec.Events() {
			if e.Kind == record.EventOutput {
				b.WriteString(e.Text)
			}
		}
		return b.String()
	}, func(r redact.Record, text string) bool { return text == r.Text })
}

// The same on screens, where long values wrap and markers are padded to the columns they stand for.
func TestNamesStayOnScreen(t *testing.T) {
	padded := regexp.MustCompile(`(\[REDACTED\]) +`)
	for want, r := range redact.Environments(t) {
		for _, cols := range []int{80, 120, 500} {
			r.Cols = cols
			got := padded.ReplaceAllString(hidden(look(r)).Text(), "$1")
			if got != strings.TrimSuffix(strings.ReplaceAll(want, "\r", ""), "\n") {
				t.Errorf("%d columns:\n%q becomes\n%q", cols, r.Text, got)
			}
		}
	}
}

// A private key that is longer than the screen is hidden on it while its first line is in the
// scrollback, and when that has left it, too.
func TestKeyLongerThanTheScreen(t *testing.T) {
	body := "MIIEpAIBAAKCAQEA7bq0Zr5Tn1" + strings.Repeat("q7Rt2Lm4Wz8Bv3Nc", 2)
	key := "$ cat key.pem\r\n-----BEGIN RSA PRIVATE KEY-----\r\n" + strings.Repeat(body+"\r\n", 40)
	for name, in := range map[string]string{
		"whole":     key + "-----END RSA PRIVATE KEY-----\r\n$ ",
		"going on":  key,
		"end only":  strings.Repeat(body+"\r\n", 40) + "-----END RSA PRIVATE KEY-----\r\n$ ",
		"in a pane": strings.ReplaceAll(key, "\r\n", " │\r\n"),
	} {
		term := vt.New(10, 80, vt.Options{})
		term.Feed([]byte(in))
		if got := hidden(term.Snapshot()).Text(); strings.Contains(got, "MIIE") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// snapshot200x50 is a large screen of prose, with n secrets on it.
func snapshot200x50(n int) *vt.Screen {
	term := vt.New(50, 200, vt.Options{})
	for i := range 50 {
		line := strings.Repeat("The quick brown fox jumps over the lazy dog, 42 times. ", 4)[:199]
		if i%5 == 0 && i/5 < n {
			line = line[:100] + " GITHUB_TOKEN=" + "ghp_" + strings.Repeat("Zq7", 12) + fmt.Sprint(i)
		}
		term.Feed([]byte(line))
		if i < 49 {
			term.Feed([]byte("\r\n"))
		}
	}
	return term.Snapshot()
}

// What a snapshot costs to redact, cells and all.
func BenchmarkSnapshot200x50(b *testing.B) {
	for _, n := range []int{0, 10} {
		s := snapshot200x50(n)
		s.Text() // is there already, for whoever else looks
		b.Run(fmt.Sprintf("secrets=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if (hidden(s) == s) != (n == 0) {
					b.Fatal("hidden or not")
				}
			}
		})
	}
}
