package journal

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/redact"
)

// everything is all that is in files below a folder, their names, and the texts of logs.
func everything(t testing.TB, dirs ...string) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range dirs {
		must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if rel, rerr := filepath.Rel(dir, path); rerr == nil {
				all.WriteString(rel + "\n")
			}
			if err != nil || d.IsDir() {
				return err
			}
			text := read(t, path)
			all.WriteString(text + "\n")
			if strings.HasSuffix(path, ".log") {
				all.WriteString(stripped(text) + "\n")
			}
			return nil
		}))
	}
	return all.String()
}

// stripped is what a log shows to who reads it without its escape sequences.
func stripped(log string) string {
	var text []byte
	var s stripper
	_ = readLog(strings.NewReader(log), func(e event) {
		text = s.append(text, 0, e.data)
	})
	return string(text)
}

// shows reports a piece of a secret in a text; the first eight characters of a GitHub token are
// shown.
func shows(text, secret string) string {
	for i := max(0, 9-len(secret)); i+9 <= len(secret); i++ {
		if strings.Contains(text, secret[i:i+9]) {
			return secret[i : i+9]
		}
	}
	return ""
}

// TestPlantedSecrets: in commands, output, titles, the working directory and what clients note,
// however it is cut, nothing of a secret is in any file, its name, or an answer.
func TestPlantedSecrets(t *testing.T) {
	const known = "swordfish-in-the-env-77"
	secrets := map[string]string{"github": ghToken, "known": known, "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"}
	var key strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for range 12 {
		for range 64 {
			key.WriteByte(digits[r.IntN(len(digits))])
		}
		key.WriteString("\r\n")
	}
	for name, secret := range secrets {
		for _, size := range []int{1 << 20, 1, 3, 17, 40} {
			inBubble(t, Options{Redactor: redact.Default.With(knows(known))}, func(f *fixture) {
				f.cwd = filepath.Join(filepath.Dir(f.cwd), "of-"+secret)
				must(t, os.Mkdir(f.cwd, 0o700))
				started := f.start(0)
				text := "\x1b]133;A\a$ \x1b]133;B\a\x1b]0;curl " + secret + "\acurl -H 'Authorization: Bearer " + secret + "'\r\n\x1b]633;E;curl -H 'Authorization: Bearer " + secret + "'\a\x1b]133;C\a" +
					"one " + secret[:10] + "\x1b[1m" + secret[10:] + "\x1b[m\r\n" + secret + "\x1b]133;D;0\a\x1b]133;A\a$ \x1b]133;B\acat key\r\n\x1b]133;C\a" +
					"-----BEGIN RSA PRIVATE KEY-----\r\n" + key.String() + "-----END RSA PRIVATE KEY-----\r\nafter the key\r\n\x1b]133;D;0\a\x1b]133;A\a$ "
				for from := 0; from < len(text); from += size {
					f.says(text[from:min(from+size, len(text))])
				}
				_, err := f.AttachTrace(0, "trace "+secret)
				must(t, err)
				live, err := f.Read(started.SessionID)
				must(t, err)
				one, err := f.Export(f.Session, 0, f.cwd, "")
				must(t, err)
				stopped, md := f.stop(0)
				two, err := f.Export(f.Session, 0, f.cwd, "")
				must(t, err)
				list, err := f.List("")
				must(t, err)
				answers, err := json.Marshal([]any{started, live, one, stopped, two, list})
				must(t, err)
				all := everything(t, f.root, f.cwd) + string(answers)
				if piece := shows(all, secret); piece != "" {
					at := strings.Index(all, piece)
					t.Errorf("%s, %d bytes at a time: %q left: %q", name, size, piece, all[max(0, at-200):min(len(all), at+60)])
				}
				for line := range strings.SplitSeq(key.String(), "\r\n") {
					if line != "" && strings.Contains(all, line[:24]) {
						t.Errorf("%s, %d bytes at a time: a line of the key left", name, size)
					}
				}
				if !strings.Contains(md, "\nafter the key\n") || !strings.Contains(md, "project_path: ") || strings.Contains(md, f.cwd) {
					t.Errorf("%s, %d bytes at a time:\n%s", name, size, md)
				}
			})
		}
	}
}

func knows(values ...string) *redact.Known {
	k := new(redact.Known)
	k.Add(values...)
	return k
}

// TestSecretOverRows: one that the shell or the terminal wraps, with its own line ends.
func TestSecretOverRows(t *testing.T) {
	for name, wrapped := range map[string]string{
		"terminal": "GITHUB_TOKEN=" + ghToken,
		"readline": "GITHUB_TOKEN=" + ghToken[:20] + " \r" + ghToken[20:],
		"broken":   "token: " + ghToken[:30] + "\r\n" + ghToken[30:],
	} {
		inBubble(t, Options{}, func(f *fixture) {
			must(t, f.Resize(pty.Size{Rows: 24, Cols: 33}))
			f.start(0)
			f.says("$ " + wrapped + "\r\nthe end\r\n")
			f.stop(0)
			if piece := shows(everything(t, f.cwd, f.root), ghToken); piece != "" {
				t.Errorf("%s: %q left", name, piece)
			}
		})
	}
}

// TestBegunWithinASecret: of one that began before the recording, the rest is hidden.
func TestBegunWithinASecret(t *testing.T) {
	for _, cut := range []int{8, 12, 20} {
		inBubble(t, Options{}, func(f *fixture) {
			const secret = "Kq7xW2mZ9rT4"
			text := "early\r\nTOKEN=" + secret + " and more\r\nthe end"
			f.says(text[:8+cut])
			f.start(0)
			f.says(text[8+cut:])
			_, md := f.stop(0)
			if piece := shows(everything(t, f.cwd, f.root), secret); piece != "" || strings.Contains(md, secret[8:]) || strings.Contains(md, "early") || !strings.Contains(md, "the end\n") {
				t.Errorf("cut at %d, %q left:\n%s", cut, piece, md)
			}
		})
	}
}

// TestRawKeepsTheLog: with Raw the log is as it was, and the document has Unterm's own rules only.
func TestRawKeepsTheLog(t *testing.T) {
	inBubble(t, Options{Raw: true}, func(f *fixture) {
		started := f.start(0)
		f.says("TOKEN=abc123\r\n" + ghToken + "\r\npassword is hunter2\r\n")
		_, md := f.stop(0)
		if log := decoded(t, read(t, started.LogPath)); log != "<out>TOKEN=abc123\r\n"+ghToken+"\r\npassword is hunter2\r\n" {
			t.Errorf("the log: %q", log)
		}
		if !strings.Contains(md, "```\nTOKEN= <redacted>\n<token:ghp_k9Wz...redacted>\npassword is hunter2\n```") || !strings.Contains(md, "\nredaction_active: true\nredaction_count: 2\n") {
			t.Errorf("%s", md)
		}
	})
}

func TestRules(t *testing.T) {
	rules := &rules{enabled: true, custom: []*regexp.Regexp{regexp.MustCompile(`cust-\d+`)}}
	for text, want := range map[string]string{
		"TOKEN=abc":                   "TOKEN= <redacted>",
		"Token: abc def":              "Token: <redacted> def",
		"my api-key = x1, ok":         "my api-key = <redacted> ok",
		"APIKEYS=x":                   "APIKEYS= <redacted>",
		"MY_SECRET=x":                 "MY_SECRET= <redacted>",
		"passwords:x credential=y":    "passwords: <redacted> credential= <redacted>",
		"monkey=banana keyboard: x":   "monkey=banana keyboard: x",
		"TOKEN=<redacted>":            "TOKEN= <redacted>",
		"token=\nnext":                "token=\nnext",
		"a " + ghToken + " b":         "a <token:ghp_k9Wz...redacted> b",
		"<ghp_k9Wz...redacted>":       "<token:ghp_k9Wz...redacted>",
		"key=<ghp_k9Wz...redacted>":   "key= <redacted>",
		strings.Repeat("a", 39):       strings.Repeat("a", 39),
		strings.Repeat("a", 40) + ".": "<token:e33cdf9c...redacted>.",
		"cust-12 cust-x":              "<redacted> cust-x",
	} {
		if got := rules.apply(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	rules.enabled = false
	if got := rules.apply("TOKEN=abc cust-1"); got != "TOKEN=abc cust-1" {
		t.Errorf("switched off: %q", got)
	}
}

// TestRulesAsWritten: what is looked for by hand is what the expressions find.
func TestRulesAsWritten(t *testing.T) {
	piece := rapid.SampledFrom([]string{"token", "KEY", "apiKey", "api-key", "_", "s", "S", "x", " ", "\t", "\n", ":", "=", "=<redacted>", ghToken, ghToken[:39], "gho_", strings.Repeat("a", 20), strings.Repeat("0/", 10), "-", "+", ".", "é", "key=v"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")
		want := assignments().ReplaceAllString(text, "$1 "+redacted)
		if got := hideAssigned(text); got != want {
			t.Fatalf("%q becomes %q, want %q", text, got, want)
		}
		want = longRuns().ReplaceAllStringFunc(tokens().ReplaceAllStringFunc(want, markedToken), hashed)
		if got := (&rules{enabled: true}).apply(text); got != want {
			t.Fatalf("%q becomes %q, want %q", text, got, want)
		}
	})
}

// TestConfiguration is read anew for each document; one that cannot be understood hides nothing and
// is no document's.
func TestConfiguration(t *testing.T) {
	inBubble(t, Options{}, func(f *fixture) {
		started := f.start(0)
		f.says("cust-12 TOKEN=abc123 key=x\r\n")
		f.stop(0)
		path := filepath.Join(f.root, "recording.json")
		for config, want := range map[string]string{
			`{"recording":{"enabled":true},"redaction":{"enabled":true,"custom_patterns":["cust-\\d+"]},"idle_rotate_minutes":5}`: "\n<redacted> TOKEN= <redacted> key= <redacted>\n",
			`{"redaction":{"enabled":false}}`: "\ncust-12 TOKEN=<redacted> key=x\n",
			`{}`:                              "\ncust-12 TOKEN= <redacted> key= <redacted>\n",
		} {
			must(t, os.WriteFile(path, []byte(config), 0o600))
			if got, err := f.Read(started.SessionID); err != nil || !strings.Contains(got.Markdown, want) {
				t.Errorf("%s: %v\n%s", config, err, got.Markdown)
			}
		}
		for config, want := range map[string]string{
			`{"redaction":{"custom_patterns":["ok","("]}}`:                            "custom_patterns[1]: missing closing )",
			`{"redaction":{"custom_patterns":["x*"]}}`:                                "custom_patterns[0] matches nothing",
			`{"redaction":{"custom_patterns":"x"}}`:                                   "cannot unmarshal",
			`nonsense`:                                                                "invalid character",
			`{"redaction":{"custom_patterns":["` + strings.Repeat("x", 2000) + `"]}}`: "has 2000 bytes",
		} {
			must(t, os.WriteFile(path, []byte(config), 0o600))
			if got, err := f.Read(started.SessionID); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\n%s", config, err, got.Markdown)
			}
		}
		f.start(0)
		f.says("more")
		if got, err := f.Stop(0); err == nil || !strings.Contains(err.Error(), "what was recorded is in ") {
			t.Errorf("stopped with rules that nobody understands: %+v %v", got, err)
		}
		if list, err := f.List(""); err != nil || len(list) != 2 || list[1].EndedAt == nil {
			t.Errorf("%+v %v", list, err)
		}
	})
}

// TestFrontMatterHoldsAnything: no value ends its line, or the front matter.
func TestFrontMatterHoldsAnything(t *testing.T) {
	j := New(Options{Root: t.TempDir(), Raw: true, Version: "1"})
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"null", "true", "12", "1.5", "a: b", "- x", "#c", "---", "x\n---\n", "\"q\"", "'", "é", "a:", "0x1f", "2026-11-20", "~", "", "\u2028", "\xff\x1b[2J"}))
		project, trace, slug := any.Draw(t, "project"), any.Draw(t, "trace"), any.Draw(t, "slug")
		e := entry{ID: newUUID(), Project: &project, Slug: slug, StartedAt: "2026-11-20T00:00:00.000000+00:00", Traces: []string{trace, "b"}}
		doc, err := j.render(strings.NewReader(""), &e)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(doc.text), "\n")
		if len(lines) < 20 || lines[0] != "---" || lines[19] != "---" || strings.ContainsFunc(string(doc.text), func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x2028 }) {
			t.Fatalf("%q", lines)
		}
		for i, key := range []string{"unterm_session_id", "tab_id", "project_path", "project_slug", "shell", "hostname", "unterm_version", "started_at", "ended_at", "exit_reason",
			"osc133_active", "block_count", "total_lines", "bytes_raw", "trace_ids", "redaction_active", "redaction_count", "parent_session_id"} {
			name, value, ok := strings.Cut(lines[i+1], ": ")
			if !ok || name != key || value == "" {
				t.Fatalf("line %d: %q", i+1, lines[i+1])
			}
			if value[0] == '"' {
				var s string
				if err := json.Unmarshal([]byte(value), &s); err != nil {
					t.Fatalf("%s: %v", lines[i+1], err)
				}
			} else if !plainScalar().MatchString(value) && key != "trace_ids" {
				t.Fatalf("%q", lines[i+1])
			}
		}
		var ids []string
		if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[15], "trace_ids: ")), &ids); err != nil || len(ids) != 2 {
			t.Fatalf("%q: %v", lines[15], err)
		}
	})
}
