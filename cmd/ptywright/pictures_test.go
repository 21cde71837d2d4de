//go:build unix

package main

import (
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// again is what to do about a picture that is stale; look at what comes of it.
const again = "draw it again with: just pictures"

// picturesMax bounds all pictures of the docs, in bytes: a clone has them, and a page that shows ten
// of them should still be there at once.
const picturesMax = 1_500_000

// drawing reports whether the pictures are drawn again, rather than held against what is there.
func drawing() bool { return os.Getenv("PTYWRIGHT_PICTURES") != "" }

// A recipe draws pictures of the docs from the program as it is.
type recipe struct {
	name  string
	files []string // in docs/pictures
	// draw writes the files into dir. Unless they are to be kept, those that cells cannot read may be
	// left out.
	draw func(t *testing.T, dir string)
}

// recipes are those of every picture but the charts, which bench/chart draws.
func recipes() []recipe {
	still := func(name string) recipe {
		return recipe{name, []string{name + ".svg"}, func(t *testing.T, dir string) {
			playTape(t, dir, name, filepath.Join(t.TempDir(), "a.txt"))
		}}
	}
	agent := func(state, recording string) recipe {
		file := "agent-" + state + ".svg"
		return recipe{state, []string{file}, func(t *testing.T, dir string) {
			shoot(t, filepath.Join(dir, file), recordedCast(t, "claude-code/"+recording+"-24x80"))
		}}
	}
	page := func(name string, draw func(*testing.T, string)) recipe {
		return recipe{name, []string{name + "-dark.png", name + "-light.png", name + ".txt"}, draw}
	}
	return []recipe{
		{"hero", []string{"hero.svg", "hero.gif", "hero.txt"}, drawHero},
		{"vim", []string{"vim.svg", "vim-plain.svg"}, drawVim},
		still("attach"), still("golden"),
		{"looks", []string{"look-window.svg", "look-poster.svg", "look-light.svg"}, drawLooks},
		agent("ready", "ready"), agent("thinking", "streaming-1"),
		agent("permission", "permission-edit"), agent("question", "question-second"),
		page("watch", drawWatch), page("timeline", drawTimeline),
	}
}

// TestPictures: what the pictures of README and docs show, the program shows today: each recipe is
// followed, and its cells or words are held against those of the files. With PTYWRIGHT_PICTURES=1 it
// draws the files.
func TestPictures(t *testing.T) {
	t.Parallel()
	kept, err := filepath.Abs(filepath.Join(root, "docs", "pictures"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recipes() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if drawing() {
				r.draw(t, kept)
				return
			}
			dir := t.TempDir()
			r.draw(t, dir)
			for _, file := range r.files {
				want, err := os.ReadFile(filepath.Join(kept, file))
				if err != nil {
					t.Errorf("%v: %s", err, again)
					continue
				}
				got, err := os.ReadFile(filepath.Join(dir, file))
				if os.IsNotExist(err) && !readable(file, want) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				compareCells(t, "docs/pictures/"+file, cells(string(want)), cells(string(got)))
			}
		})
	}
}

// readable reports whether cells reads a file of this name: text, and an SVG that does not move,
// whose rows stand in the order of the screen.
func readable(file string, data []byte) bool {
	switch filepath.Ext(file) {
	case ".txt":
		return true
	case ".svg":
		return !strings.Contains(string(data), "animation:")
	}
	return false
}

// compareCells says where a picture is stale.
func compareCells(t *testing.T, file, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	row := func(of []string, i int) string {
		if i < len(of) {
			return of[i]
		}
		return "(nothing)"
	}
	for i := range max(len(a), len(b)) {
		if row(a, i) != row(b, i) {
			t.Errorf("%s is stale: %s\nthe first row that differs, in the file: %s\nin the program:         %s",
				file, again, row(a, i), row(b, i))
			return
		}
	}
}

// Parts of an SVG, and numbers that no two runs share.
var (
	svgText  = regexp.MustCompile(`(?s)<text[^>]*>(.*?)</text>`)
	svgSpan  = regexp.MustCompile(`<tspan[^>]*?( fill="[^"]*"[^>]*)>([^<]*)</tspan>`)
	measured = regexp.MustCompile(`(after|quiet for|at sequence) [\d.]+(ms|s)?`)
)

// cells are the rows of an SVG as text with its colours and attributes, or a text without what
// differs from run to run. Where on the picture a row stands is not compared: that is how it is
// drawn, not what.
func cells(data string) string {
	if !strings.HasPrefix(data, "<svg") {
		return measured.ReplaceAllString(data, "$1 N")
	}
	var rows []string
	for _, text := range svgText.FindAllStringSubmatch(data, -1) {
		row := html.UnescapeString(text[1])
		if spans := svgSpan.FindAllStringSubmatch(text[1], -1); spans != nil {
			row = ""
			for _, s := range spans {
				row += "{" + strings.TrimSpace(s[1]) + "}" + html.UnescapeString(s[2])
			}
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, "\n")
}

// TestCells: a row of another text or colour is told, one that stands elsewhere is not.
func TestCells(t *testing.T) {
	const one = `<svg width="9"><text y="14"><tspan x="9" textLength="18" fill="#fff">ab</tspan></text></svg>`
	for name, c := range map[string]struct {
		old, with string
		same      bool
	}{
		"the same":        {"", "", true},
		"moved":           {`y="14"`, `y="15"`, true},
		"wider cells":     {`textLength="18"`, `textLength="20"`, true},
		"another text":    {"ab", "ax", false},
		"another colour":  {"#fff", "#eee", false},
		"bold":            {`fill="#fff"`, `fill="#fff" font-weight="bold"`, false},
		"a row is gone":   {one[strings.Index(one, "<text"):strings.Index(one, "</svg>")], "", false},
		"an escaped text": {"ab", "&lt;b", false},
	} {
		if same := cells(one) == cells(strings.Replace(one, c.old, c.with, 1)); same != c.same {
			t.Errorf("%s: told apart: %v", name, !same)
		}
	}
	if a, b := "waited: no match after 1.2s\n", "waited: no match after 1s\n"; cells(a) != cells(b) {
		t.Errorf("%q and %q", cells(a), cells(b))
	}
}

// TestPicturesAreUsed: each file of docs/pictures has a recipe, a page shows or links it, and all of
// them are small.
func TestPicturesAreUsed(t *testing.T) {
	t.Parallel()
	made := []string{"peers-dark.svg", "peers-light.svg"} // TestChartsAreFresh
	for _, r := range recipes() {
		made = append(made, r.files...)
	}
	var pages strings.Builder
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(found, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		pages.Write(text)
	}
	files, err := os.ReadDir(filepath.Join(root, "docs", "pictures"))
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
		if !slices.Contains(made, f.Name()) {
			t.Errorf("docs/pictures/%s has no recipe: add it to recipes, or remove it", f.Name())
		}
		if filepath.Ext(f.Name()) != ".txt" && !strings.Contains(pages.String(), "pictures/"+f.Name()) {
			t.Errorf("no page shows docs/pictures/%s", f.Name())
		}
	}
	if sum > picturesMax {
		t.Errorf("the pictures have %d bytes together, more than %d", sum, picturesMax)
	}
}

// playTape runs examples/tapes/NAME.tape with this program as ptywright. What the tape writes into
// docs/pictures goes into dir; output takes the place of its Outputs, unless it is "".
func playTape(t *testing.T, dir, name, output string) {
	t.Helper()
	need(t, "bash", "bash")
	need(t, "make", "make")
	source, err := os.ReadFile(filepath.Join(root, "examples", "tapes", name+".tape"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name+".tape")
	text := strings.ReplaceAll(string(source), "docs/pictures", dir)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"tape", "--hermetic", file}
	if output != "" {
		args = append(args, "-o", output)
	}
	p := ptywright(t, args...)
	p.Dir = root
	p.Env = append(p.Env, "PATH="+asItself(t, p.Mark)+":"+os.Getenv("PATH"))
	if out, err := p.Output(); err != nil {
		t.Fatalf("%v: %s%s", err, out, p.Stderr)
	}
	noneLeft(t, p.Mark)
}

// shoot draws what the arguments name, in a window.
func shoot(t *testing.T, file string, args ...string) {
	t.Helper()
	p := ptywright(t, append([]string{"shot", "-o", file, "--frame", "window"}, args...)...)
	if _, code := p.Run(""); code != 0 {
		t.Fatalf("exit code %d: %s", code, p.Stderr)
	}
}

// compose is what vim shows. Its secrets are made up: nobody has ever used them.
const compose = `# compose.yaml
services:
  web:
    image: nginx:1.27
    ports:
      - "8080:80"
    depends_on: [db]
  db:
    image: postgres:17
    environment:
      POSTGRES_USER: app
      POSTGRES_PASSWORD: "made-up-Qm4t7Zx81w"
      GITHUB_TOKEN: made-up-9fK2vRbW3nTq
    volumes:
      - data:/var/lib/postgresql/data

volumes:
  data:
`

// drawVim draws a file with two secrets in vim, as it is on the terminal and as it leaves.
func drawVim(t *testing.T, dir string) {
	need(t, "vim", "vim")
	w := watchedServer(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "compose.yaml"), []byte(compose), 0o600); err != nil {
		t.Fatal(err)
	}
	// Silent: each version of vim words the message about a file in its own way.
	s := w.with(client.Config{Program: "vim", Args: []string{"--clean", "-n", "-c", "set number laststatus=2",
		"-c", "silent edit compose.yaml"}, Cwd: folder, Rows: 20, Cols: 72})
	// It asks for the terminal's colours, and may draw once more with the answer.
	s.wait(client.All(client.Regexp(`(?m)^compose\.yaml +1,1 +All$`), client.Stable(300*time.Millisecond)))
	at := []string{"--socket", w.socket, "--session", s.ID, "--title", "vim compose.yaml"}
	shoot(t, filepath.Join(dir, "vim.svg"), at...)
	shoot(t, filepath.Join(dir, "vim-plain.svg"), append(at, "--raw")...)
}

// drawLooks draws one screen as shot can make it look.
func drawLooks(t *testing.T, dir string) {
	cast := recordedCast(t, "git/log-graph-24x80")
	shoot(t, filepath.Join(dir, "look-window.svg"), "--title", "git log --graph", cast)
	shoot(t, filepath.Join(dir, "look-poster.svg"), "--frame", "poster", "--theme", "nord", "--title", "git log --graph", cast)
	shoot(t, filepath.Join(dir, "look-light.svg"), "--frame", "none", "--padding", "8", "--theme", "light", cast)
}

// drawHero draws the picture at the top of the README. Only its text is needed to see whether it is
// stale.
func drawHero(t *testing.T, dir string) {
	output := filepath.Join(dir, "hero.txt")
	if drawing() {
		output = "" // those of the tape
	}
	playTape(t, dir, "hero", output)
}

// onPicture are the sessions of the README's picture of the page: agents at work, one of which is
// stuck, a build that failed, and a prompt for a password.
var onPicture = []struct{ name, script, waits string }{
	{"api-tests", `printf 'ok    parser  0.21s\nok    engine  0.38s\nok    wire    0.17s\n12 passed in 0.76s\n\033[1m$\033[0m '; exec cat`, ""},
	{"migration", `printf '\033[1mApply 3 migrations to production?\033[0m\n\n  \033[33m0041\033[0m add_index_on_events\n  \033[33m0042\033[0m drop_column_legacy\n  \033[33m0043\033[0m backfill_tenants\n\nProceed? [y/N] '; exec cat`, "applied"},
	{"build", `printf '\033[32mok\033[0m    parser\n\033[31mFAIL\033[0m  engine: want 3 rows, got 2\n\033[31m1 failed\033[0m, 11 passed\n'; exit 1`, ""},
	{"indexer", `i=0; while :; do i=$((i+1)); printf '\r\033[36mindexing\033[0m %d of 400 files' $i; sleep 1; done`, "400 of 400"},
	{"deploy", `stty -echo; printf 'Deploying to eu-west-1\nPassword: '; read -r x`, ""},
	{"review", `printf '\033[1mReview of #1482\033[0m\n\n\033[32m+ if err != nil {\n+ \treturn fmt.Errorf("load: %%w", err)\n+ }\033[0m\n\033[31m- _ = load()\033[0m\n'; exec cat`, ""},
}

// drawWatch draws the page with six sessions.
func drawWatch(t *testing.T, dir string) {
	b := chromium(t)
	w := watchedServer(t)
	scripts := t.TempDir()
	for _, p := range onPicture {
		if err := os.WriteFile(filepath.Join(scripts, p.name), []byte(p.script), 0o600); err != nil {
			t.Fatal(err)
		}
		s := w.with(client.Config{Program: "sh", Args: []string{p.name}, Cwd: scripts, Name: p.name, Rows: 12, Cols: 48})
		if p.waits != "" {
			go s.Wait(w.ctx, client.Text(p.waits), client.Within(hang))
		}
		if p.name == "review" {
			if err := s.Lease(w.ctx, "Ada", false); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := b.open(w.address)
	p.size(1280, 830, false)
	p.until(`document.querySelector('.tile[data-level=still], .tile[data-level=stuck]') && [...document.querySelectorAll('.tile .screen')].filter((s) => s.textContent.trim()).length === 6`)
	p.eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`) // what is in sight is laid out
	p.photograph(dir, "watch", "#grid-summary, .tile")
}

// drawTimeline draws what has happened to a session: commands with their exit codes, a lease, a wait
// that timed out and one that is pending.
func drawTimeline(t *testing.T, dir string) {
	need(t, "bash", "bash")
	need(t, "make", "make")
	b := chromium(t)
	w := watchedServer(t)
	makefile, err := filepath.Abs(filepath.Join(root, "examples", "tapes", "hero", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	w.call("server.set_client", map[string]any{"name": "ci"}, nil)
	s := w.with(client.Config{Program: "bash", Args: []string{"--noprofile", "--norc"}, Name: "build",
		Cwd: "/", Env: map[string]string{"PS1": "$ ", "HOME": t.TempDir(), "MAKEFILES": makefile},
		ShellIntegration: true, Rows: 16})
	finished := func(command string) (sequence uint64) {
		sequence = s.text(command + "\r")
		s.waitSince(sequence, client.Matcher{Type: "command_finished"})
		return sequence
	}
	s.wait(client.Text("$"))
	tested := finished("make test")
	if err := s.Lease(w.ctx, "Ada", false); err != nil {
		t.Fatal(err)
	}
	finished("make deploy")
	if err := s.Release(w.ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(w.ctx, client.Text("13 passed"), client.After(tested), client.Within(2*time.Second)); err == nil {
		t.Fatal("the wait matched")
	}
	go s.Wait(w.ctx, client.Text("deployed"), client.Within(10*time.Minute)) // it ends with the test
	p := b.open(w.address)
	p.size(1400, 840, false)
	p.until(`!!document.querySelector('.tile')`) // the page has read the token behind the #
	p.eval(`location.hash = '#/session/build'`)
	const told = `document.querySelector('#term-panels').textContent`
	p.until(`/timed out/.test(` + told + `) && /"deployed"/.test(` + told + `) && ` + screenText + `.includes('12 passed')`)
	p.photograph(dir, "timeline", "#term-panels") // the rows of a screen are drawn by and by
}

// changing are the figures of the page that no two runs share.
var changing = regexp.MustCompile(`\d+:\d\d:\d\d|\d+(\.\d+)?s\b|\d+ of 400`)

// photograph writes the words in elements of a page, a line for each piece of text, whether it has been
// painted yet or not, and pictures of the page, dark and light, when they are to be drawn.
func (p *tab) photograph(dir, name, selector string) {
	p.t.Helper()
	words := fmt.Sprint(p.eval(fmt.Sprintf(`[...document.querySelectorAll(%q)].flatMap((e) => {
		const all = [], walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
		while (walk.nextNode()) if (!walk.currentNode.parentElement.closest('[hidden]')) all.push(walk.currentNode.data);
		return all;
	}).join('\n')`, selector)))
	lines := strings.Split(changing.ReplaceAllString(words, "N"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \u00a0")
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	file := filepath.Join(dir, name)
	p.must(os.WriteFile(file+".txt", []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	if !drawing() {
		return
	}
	for _, theme := range []string{"dark", "light"} {
		p.until(fmt.Sprintf(`(() => { const b = document.querySelector('#theme'); if (document.documentElement.dataset.theme !== %q) b.click(); return document.documentElement.dataset.theme === %[1]q; })()`, theme))
		p.eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`) // what has changed is drawn
		var shot struct {
			Data string `json:"data"`
		}
		p.do("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
		data, err := base64.StdEncoding.DecodeString(shot.Data)
		p.must(err)
		p.must(os.WriteFile(file+"-"+theme+".png", data, 0o644))
	}
}
