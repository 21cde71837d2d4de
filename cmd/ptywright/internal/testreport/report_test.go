package testreport

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/tuitest/script"
)

var began = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// screenShown writes down what a program of 8 rows and 40 columns has shown.
func screenShown(t testing.TB, output string) *script.Screen {
	t.Helper()
	term := vt.New(8, 40, vt.Options{})
	term.Feed([]byte(output))
	f, err := golden.Of(term.Snapshot(), golden.Options{Parts: golden.All})
	if err != nil {
		t.Fatal(err)
	}
	return &script.Screen{File: *f}
}

const (
	drawn = "\x1b[2J\x1b[H\x1b[1;44m Files \x1b[m\r\n \x1b[7m main.go        \x1b[m 12 kB\r\n  日本語.txt      3 kB\r\n╭──────────╮\r\n│ \x1b[32mready\x1b[m    │\r\n╰──────────╯"
	later = "\x1b[2;1H  main.go         \x1b[m 12 kB\x1b[3;1H \x1b[7m 日本語.txt     \x1b[m 3 kB\x1b[5;3H\x1b[31mfailed"
)

// failed returns the result of a script whose golden was not met, with a recording. hostile is what
// the program, the script and the golden have said besides.
func failed(t testing.TB, hostile string) script.Result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.cast")
	cast, err := record.NewCast(path, record.CastOptions{Rows: 8, Cols: 40, Start: began, Format: record.AsciicastV3, Input: true})
	if err != nil {
		t.Fatal(err)
	}
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	for _, err := range []error{
		cast.Output(at(20), []byte(drawn)), cast.Input(at(400), []byte("\x1b[B")), cast.Output(at(430), []byte(later)),
		cast.Output(at(600), []byte("\x1b[7;1H"+hostile)), cast.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want, got := screenShown(t, drawn+"\x1b[2;1H  main.go         \x1b[m 12 kB\x1b[3;1H \x1b[7m 日本語.txt     \x1b[m 3 kB"), screenShown(t, drawn+later)
	ms := func(n int) script.Millis { return script.Millis(time.Duration(n) * time.Millisecond) }
	r := script.Result{
		Script: "tests/files.ptw", Name: "files", Size: "8x40", Outcome: script.Failed, Recording: path, Began: began, Took: ms(700), Attempt: 1, Run: 1,
		Again: "ptywright test tests/files.ptw",
		Steps: []script.StepResult{
			{Line: 2, Col: 1, Text: "spawn files", Verb: "spawn", Kind: script.Start, Began: ms(0), Took: ms(10), Outcome: script.Passed},
			{Line: 3, Col: 1, Text: "expect text 'ready'", Verb: "expect", Kind: script.State, Began: ms(10), Took: ms(30), Outcome: script.Passed, Screen: "Files", Vacuous: true, Note: "it held before the program reacted"},
			{Line: 4, Col: 1, Text: "press down", Verb: "press", Kind: script.Input, Began: ms(400), Took: ms(5), Outcome: script.Passed},
			{Line: 5, Col: 1, Text: "screen below" + hostile, Verb: "screen", Kind: script.State, Began: ms(410), Took: ms(290), Outcome: script.Failed, Screen: "the last screen" + hostile,
				Failure: &script.Failure{
					Doing: "screen below" + hostile, Why: "the screen differs after 250ms: 6 cells" + hostile, Next: "if the new screen is right: --update changed", Reason: "differs",
					Evidence: "screen/below differs" + hostile,
					Golden: &script.Comparison{Name: "below", File: "tests/files.ptw", Section: "screen/below", Pending: "tests/files.ptw.new", Expected: want, Actual: got, Nearest: got,
						NearestAt: ms(430), NearestFor: ms(270), Cells: want.Diff(&got.File).Cells(), Diff: want.Diff(&got.File).String() + hostile},
				}},
		},
	}
	return r
}

// files returns what a folder has, all the way down.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFailureFolder has everything that the package's documentation lists, each in its format.
func TestFailureFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if keep := os.Getenv("PTYWRIGHT_SHOTS"); keep != "" {
		dir = filepath.Join(keep, "report")
	}
	r := failed(t, "")
	if err := WriteFailure(dir, r); err != nil {
		t.Fatal(err)
	}
	all := files(t, dir)
	for _, name := range []string{"report.html", "report.md", "report.json", "session.cast", "actual.screen", "diff.png"} {
		if all[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	if len(all) != 6 {
		t.Errorf("%d files", len(all))
	}
	var back struct {
		script.Result
		Files []string
	}
	if err := json.Unmarshal([]byte(all["report.json"]), &back); err != nil {
		t.Fatal(err)
	}
	if back.Recording != "session.cast" || len(back.Files) != 6 || !back.Steps[3].Failure.Golden.Actual.Equal(&r.Steps[3].Failure.Golden.Actual.File) {
		t.Errorf("%+v", back)
	}
	if got, err := golden.Parse([]byte(all["actual.screen"])); err != nil || !got.Equal(&r.Steps[3].Failure.Golden.Actual.File) {
		t.Errorf("%v: %s", err, all["actual.screen"])
	}
	if img, err := png.Decode(strings.NewReader(all["diff.png"])); err != nil || img.Bounds().Dx()*img.Bounds().Dy() < 2*40*8*8*16 {
		t.Errorf("%v", err)
	}
	rec, err := record.Load(strings.NewReader(all["session.cast"]))
	if err != nil || rec.Version != 3 {
		t.Fatal(err)
	}
	var labels []string
	for e := range rec.Events() {
		if e.Kind == record.EventMarker {
			labels = append(labels, fmt.Sprintf("%v %s", e.At, e.Text))
		}
	}
	if got := strings.Join(labels, "; "); got != "0s 2 spawn files; 10ms 3 expect text 'ready'; 400ms 4 press down; 410ms 5 screen below" {
		t.Errorf("markers: %s", got)
	}
	for _, want := range []string{"# failed: files\n", "`tests/files.ptw:5` at `8x40`, step `screen below`", "```sh\nptywright test tests/files.ptw\n```",
		"`ptywright test accept tests/files.ptw:screen/below`", "| 3 | `expect text 'ready'` | passed | 10ms | 30ms | vacuous: it held", "-|│ ready    │\n-~  ggggg\n+|│ failed   │\n"} {
		if !strings.Contains(all["report.md"], want) {
			t.Errorf("report.md has no %q:\n%s", want, all["report.md"])
		}
	}
	// Again over the older one, and without a recording.
	if err := WriteFailure(dir, r); err != nil {
		t.Fatal(err)
	}
	r.Recording = ""
	bare := t.TempDir()
	if err := WriteFailure(bare, r); err != nil || len(files(t, bare)) != 5 {
		t.Errorf("without a recording: %v, %d files", err, len(files(t, bare)))
	}
	if err := WriteFailure(filepath.Join(dir, "passed"), script.Result{Outcome: script.Passed}); err != nil || files(t, dir)["passed/report.md"] != "" {
		t.Errorf("a result that passed has a folder: %v", err)
	}
}

// TestPageLoadsNothing: it has no address of anything, and its policy lets only its own script and
// style run.
func TestPageLoadsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := WriteFailure(dir, failed(t, "")); err != nil {
		t.Fatal(err)
	}
	page := files(t, dir)["report.html"]
	for _, bad := range []string{"http:", "https:", "src=", "href=", "url(", "@import", " on"} {
		if _, head, _ := strings.Cut(page, "</head>"); strings.Contains(strings.Split(head, `<script type="application/json"`)[0], bad) && bad != " on" {
			t.Errorf("the page has %s", bad)
		}
	}
	for tag, directive := range map[string]string{"script": "script-src", "style": "style-src"} {
		_, text, _ := strings.Cut(page, "<"+tag+">")
		text, _, _ = strings.Cut(text, "</"+tag+">")
		sum := sha256.Sum256([]byte(text))
		if want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(page, want) {
			t.Errorf("the policy does not have the %s", tag)
		}
	}
	if !strings.Contains(page, "default-src 'none'") {
		t.Error("the page has no policy")
	}
}

// hostileText is what a program could print to get out of a report.
const hostileText = "</script><script>alert(1)</script><img src=x onerror=alert(2)>]]>--><!-- ```\n````\n::error::x\n::stop-commands::\n##[error]y\nok 7 - z\n# SKIP\n" +
	"\x1b[31m\x1b]0;title\a\x00\x07\u202e\u2028\xff | `code` \\ %0A"

// TestHostileFailure: whatever a program, a script and a golden say, every file stays what it is.
func TestHostileFailure(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "report")
	r := failed(t, hostileText)
	r.Name, r.Script, r.Again = "../"+hostileText, "../../"+hostileText+".ptw", hostileText
	w := New(Flags{Dir: dir, Format: "github"}, &bytes.Buffer{}, func(string) string { return "" })
	if _, err := w.Result(r); err != nil {
		t.Fatal(err)
	}
	if err := w.End(time.Second); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Fatalf("a folder beside the report's: %v, %v", entries, err)
	}
	for name, text := range files(t, dir) {
		if strings.HasSuffix(name, ".png") {
			continue
		}
		if strings.ContainsAny(text, "\x00\x07\x1b") || strings.Contains(text, "\u202e") && !strings.HasSuffix(name, ".cast") && !strings.HasSuffix(name, ".json") {
			t.Errorf("%s has control characters", name)
		}
		if strings.HasSuffix(name, ".html") {
			if n := strings.Count(text, "<script"); n != 2 {
				t.Errorf("%s has %d scripts", name, n)
			}
			if strings.Contains(text, "<img") {
				t.Errorf("%s has an element of the program's", name)
			}
		}
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(text)) {
			t.Errorf("%s is not JSON", name)
		}
		if strings.HasSuffix(name, ".xml") {
			var suites junitSuites
			if err := xml.Unmarshal([]byte(text), &suites); err != nil || len(suites.Suite.Cases) != 1 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if strings.HasSuffix(name, ".md") {
			fences(t, name, text)
		}
	}
}

// fences checks that each block of a document ends where it should: text outside of them has no
// markup of the program's.
func fences(t *testing.T, name, text string) {
	t.Helper()
	open := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case open == "" && len(ticks) >= 3 && !strings.Contains(line[len(ticks):], "`"):
			open = ticks
		case open != "" && line == open:
			open = ""
		case open == "" && regexp.MustCompile(`^[^`+"`"+`]*<(script|img)`).MatchString(line):
			t.Errorf("%s: %s", name, line)
		}
	}
	if open != "" {
		t.Errorf("%s: a block does not end", name)
	}
}

// TestNothingLeaks: nothing of the environment, and nothing that looks like a secret on a screen, is
// in any file.
func TestNothingLeaks(t *testing.T) {
	t.Setenv("PTYWRIGHT_TEST_CANARY", "canary-of-the-environment-7Gq2")
	t.Setenv("GITHUB_TOKEN", "ghp_abcdefghijklmnopqrstuvwxyz0123456789")
	dir := t.TempDir()
	w := New(Flags{Dir: dir}, &bytes.Buffer{}, os.Getenv)
	// The program shows a secret that no step knows of: the rules see it.
	r := failed(t, "password=correcthorse99")
	for n := range r.Steps { // a result is redacted by who makes it
		if f := r.Steps[n].Failure; f != nil {
			r.Steps[n].Text, r.Steps[n].Screen = "screen below", ""
			f.Doing, f.Why, f.Evidence, f.Golden.Diff = "screen below", "differs", "", ""
		}
	}
	if _, err := w.Result(r); err != nil {
		t.Fatal(err)
	}
	if err := w.End(time.Second); err != nil {
		t.Fatal(err)
	}
	for name, text := range files(t, dir) {
		for _, secret := range []string{"canary-of-the-environment", "ghp_abcdef", "correcthorse99", os.Getenv("HOME") + "/"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s", name, secret)
			}
		}
	}
}

// TestFolders: each result has a folder of its own within the report's, whatever it is called.
func TestFolders(t *testing.T) {
	t.Parallel()
	w := New(Flags{}, &bytes.Buffer{}, nil)
	rapid.Check(t, func(t *rapid.T) {
		r := script.Result{Script: rapid.String().Draw(t, "script"), Name: rapid.String().Draw(t, "name"), Run: rapid.IntRange(0, 3).Draw(t, "run"), Attempt: 1}
		before := len(w.folders)
		name := w.name(&r)
		if !filepath.IsLocal(name) || strings.ContainsAny(name, "/\\\n\x00") || len(name) > 200 || len(w.folders) != before+1 || strings.HasPrefix(name, ".") {
			t.Fatalf("%q", name)
		}
	})
}

// TestFramesAreBounded: a recording of many screens has a page of so many, steps' ends among them.
func TestFramesAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"version":2,"width":20,"height":3}` + "\n")
	for n := range 5000 {
		fmt.Fprintf(&b, "[%d.0, \"o\", \"\\r%d\"]\n", n, n)
	}
	rec, err := record.Load(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	pins := []time.Duration{1234*time.Second + 500*time.Millisecond, 77*time.Second + 500*time.Millisecond}
	all, err := framesOf(rec, pins)
	if err != nil || len(all) > maxFrames || len(all) < maxFrames/4 {
		t.Fatalf("%d frames, %v", len(all), err)
	}
	found := 0
	for _, s := range all {
		if s.at == 1234*time.Second || s.at == 77*time.Second {
			found++
		}
	}
	if found != len(pins) || all[len(all)-1].at != 4999*time.Second {
		t.Errorf("%d of %d steps' ends are there, and the last is at %v", found, len(pins), all[len(all)-1].at)
	}
}
