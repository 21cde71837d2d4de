package journal

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/redact"
)

var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// logOf writes a log out of an arbitrary text: its lines are what was printed, and one that begins
// with a mark's letter and a colon is that mark.
func logOf(text string) []byte {
	kinds := map[string]string{"A:": eventPrompt, "B:": eventInput, "C:": eventOutput, "D:": eventExit, "E:": "other"}
	var log []byte
	at := midnight
	for line := range strings.SplitAfterSeq(text, "\n") {
		at = at.Add(time.Millisecond)
		kind, data := eventOut, line
		if len(line) >= 2 && kinds[line[:2]] != "" {
			kind, data = kinds[line[:2]], strings.TrimSuffix(line[2:], "\n")
		}
		log = appendLine(log, at, kind, []byte(data))
	}
	return log
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte("1\tout\taGVsbG8K\n2\tblock_exit\tMA==\nnonsense\n3\tout\tdG9y"))
	f.Add(logOf("A:\n$ B:\nls\nC:\nout\nD:0\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		var again []byte
		must(t, readLog(bytes.NewReader(log), func(e event) { again = appendLine(again, e.at, e.kind, e.data) }))
		var third []byte
		must(t, readLog(bytes.NewReader(again), func(e event) { third = appendLine(third, e.at, e.kind, e.data) }))
		if !bytes.Equal(again, third) {
			t.Errorf("%q, written %q, reads as %q", log, again, third)
		}
	})
}

// heading is the one line of a section that the program's words are in.
var heading = regexp.MustCompile("^## Block [0-9]+ — (?:`|\\(no command captured\\)$)")

// checkDocument holds a document against its form: nothing of what was recorded stands outside of a fence or a code span.
func checkDocument(t testing.TB, text string, e *entry) {
	t.Helper()
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
		t.Fatalf("not fit for a terminal: %q", text)
	}
	front, body, ok := strings.Cut(text, "\n---\n\n# Unterm session — ")
	if !ok || strings.Count(front, "\n") != 18 {
		t.Fatalf("front matter: %q", front)
	}
	open, fences, headings := "", 0, 0
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		ticks := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case open != "":
			if line == open {
				open = ""
			} else if ticks >= len(open) && strings.Trim(line, "` \t") == "" {
				t.Fatalf("%q ends a fence of %q\n%s", line, open, body)
			}
		case ticks >= 3 && ticks == len(line):
			open = line
			fences++
		case heading.MatchString(line):
			headings++
		case line != "" && !strings.HasPrefix(line, "> exit: ") && line+"\n" != noMarks && !strings.HasPrefix(line, "2000-01-01"):
			t.Fatalf("outside of a fence: %q\n%s", line, body)
		}
	}
	if want := e.BlockCount; open != "" || e.OSC133 && (headings != want || fences != want) || !e.OSC133 && (headings != 0 || fences != 1 || want > 1) {
		t.Fatalf("%d blocks, %d headings, %d fences, and %q is open\n%s", e.BlockCount, headings, fences, open, body)
	}
}

func FuzzRender(f *testing.F) {
	for _, text := range []string{"hello\n", "greeting\nA:\n$ \nB:\nls `x`\nC:\n```\n# out\n---\nD:1\n", "A:\nB:\none\ntwo\nA:\nB:\nthree", "C:a\nb\\nD:\nC:`\nD:999999999999",
		"\x1b]0;title\x07x\b\b\xff\n\x1b[31mred", "TOKEN=abc\nC:curl -u a:b\n" + ghToken + "\nD:-1\nD:2\nA:\nB:\n\n  \nC:\n"} {
		f.Add(text)
	}
	j := New(Options{Root: f.TempDir()})
	f.Fuzz(func(t *testing.T, text string) {
		e := entry{ID: "x", StartedAt: "2000-01-01T00:00:00.000000+00:00"}
		doc, err := j.render(bytes.NewReader(logOf(text)), &e)
		must(t, err)
		checkDocument(t, string(doc.text), &e)
	})
}

func FuzzStrip(f *testing.F) {
	f.Add("\x1b[1;31mred\x1b[m \x1b]0;t\x07x\x1b]8;;u\x1b\\y\x1bP1$r\x1b\\z\x1b(B\x1b=\x1b#8\r\n\te\u0301\b\b!\x9b1m\x18\x1b[\x1bc", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		var whole, cut stripper
		want := whole.append(nil, 0, []byte(text))
		var got []byte
		size = min(max(size, 1), len(text)+1)
		for from := 0; from < len(text); from += size {
			got = cut.append(got, 0, []byte(text[from:min(from+size, len(text))]))
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%q, %d bytes at a time: %q, want %q", text, size, got, want)
		}
		if bytes.ContainsFunc(want, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
			t.Errorf("%q becomes %q", text, want)
		}
	})
}

func TestStrip(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[1;31mb\x1b[?25lc\x1b[mx":                               "abcx",
		"\x1b]0;title\ax\x1b]8;;http://x\x1b\\y":                      "xy",
		"\x1bPq#0\x1b\\a\x1bXsos\x1b\\b\x1b^pm\x1b\\c\x1b_apc\x1b\\d": "abcd",
		"\x1b(Ba\x1b)0b\x1b%Gc\x1b#8d":                                "abcd",
		"\x1b=a\x1b>b\x1b7c\x1b8d\x1bMe\x1bcf":                        "abcdef",
		"10%\r20%\r\nbell\a":                                          "10%20%\nbell",
		"abc\b\bX\n\bY":                                               "aX\nY",
		"日本\b語":                                                       "日語",
		"e\u0301\bx":                                                  "ex",
		"a\tb\x00\x0e\x7fc":                                           "a\tbc",
		"\x1b[12\x18a\x1b[3\x1b[4mb":                                  "ab",
		"\x1b]never\x1b[1mended\x1b]133;A\a!":                         "ended!",
		"\x1b[1\nm2":                                                  "\n2",
	} {
		var s stripper
		if got := string(s.append(nil, 0, []byte(text))); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestAnyChunking of a shell's session, its marks and secrets anywhere, makes the same document, and no secret is in the log.
func TestAnyChunking(t *testing.T) {
	j := New(Options{Root: t.TempDir(), Redactor: redact.Default.With(knows("swordfish-77-known"))})
	secrets := []string{ghToken, "swordfish-77-known"}
	piece := rapid.SampledFrom([]string{"word ", "\r\n", "line\r\n", "TOKEN=", "\x1b[1m", "\x1b[m", "é日", "\b", "\t", "```\r\n", "---\r\n", "\xff", "\x1b]0;t\a", "password: ", " \r", " " + ghToken, secrets[1],
		strings.Repeat("long", 300)})
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		var marks []engine.Mark // where they end in all of the text
		for range rapid.IntRange(1, 30).Draw(t, "pieces") {
			if kind := rapid.SampledFrom([]byte{0, 0, 'A', 'B', 'C', 'D'}).Draw(t, "mark"); kind != 0 {
				text = fmt.Appendf(text, "\x1b]133;%c\a", kind)
				m := engine.Mark{End: len(text), Kind: kind, Exited: kind == 'D', Exit: 3}
				if kind == 'C' {
					m.Command = rapid.SampledFrom([]string{"", "ls -l", "export TOKEN=abc123", "echo " + ghToken, "a\nb"}).Draw(t, "command")
				}
				marks = append(marks, m)
			}
			text = append(text, piece.Draw(t, "piece")...)
		}
		make := func(cuts []int) (log []byte, md string) {
			d := &disk{left: 1 << 30}
			w := newLogWriter(d, midnight, func() {})
			tap := w.attach(nil, j.hider).(engine.MarkTap)
			from, rest := 0, marks
			for _, to := range append(cuts, len(text)) {
				var here []engine.Mark
				for len(rest) > 0 && rest[0].End <= to {
					m := rest[0]
					m.End -= from
					here, rest = append(here, m), rest[1:]
				}
				if err := tap.Marked(midnight, text[from:to], here); err != nil {
					t.Fatal(err)
				}
				from = to
			}
			if err := tap.Close(); err != nil {
				t.Fatal(err)
			}
			if err := w.finish(); err != nil {
				t.Fatal(err)
			}
			e := entry{ID: "x", StartedAt: "2000-01-01T00:00:00.000000+00:00"}
			doc, err := j.render(bytes.NewReader(d.data), &e)
			if err != nil {
				t.Fatal(err)
			}
			return d.data, string(doc.text)
		}
		var cuts []int
		for at := 0; at < len(text); {
			at += rapid.IntRange(1, 60).Draw(t, "size")
			cuts = append(cuts, min(at, len(text)))
		}
		wholeLog, whole := make(nil)
		cutLog, cut := make(cuts)
		if whole != cut {
			t.Fatalf("%q with %v, cut at %v:\n%s\nwant\n%s", text, marks, cuts, cut, whole)
		}
		for _, secret := range secrets {
			for _, all := range []string{stripped(string(wholeLog)), stripped(string(cutLog)), whole} {
				if strings.Contains(all, secret) {
					t.Fatalf("%q left: %q", secret, all)
				}
			}
		}
	})
}

// BenchmarkLog is what a recording costs, beside its session: output of programs with colours,
// redacted and written.
func BenchmarkLog(b *testing.B) {
	batch := []byte(strings.Repeat("\x1b[32mok\x1b[m  \tgithub.com/some/package/name\t0.012s\r\n", 1200))
	for name, hider := range map[string]*redact.Redactor{"redacted": New(Options{}).hider, "raw": nil} {
		b.Run(name, func(b *testing.B) {
			w := newLogWriter(&sink{}, midnight, func() {})
			w.limit = 1 << 60
			tap := w.attach(nil, hider)
			b.SetBytes(int64(len(batch)))
			for b.Loop() {
				if err := tap.Output(midnight, batch); err != nil {
					b.Fatal(err)
				}
			}
			_ = tap.Close()
		})
	}
}

// A sink takes everything and keeps nothing.
type sink struct{ disk }

func (*sink) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkRender of logs whose sizes differ by eight: time per byte is the same.
func BenchmarkRender(b *testing.B) {
	line := "\x1b[32mok\x1b[m  \tgithub.com/some/package/name\t0.012s TOKEN=abc123\r\n"
	j := New(Options{Root: b.TempDir()})
	for _, lines := range []int{2_000, 16_000, 128_000} {
		log := logOf(strings.Repeat(line, lines))
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				e := entry{}
				if _, err := j.render(bytes.NewReader(log), &e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
