//go:build unix

package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/app"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol/client"
)

// A block is one fenced block of commands on a page: "sh" is run by a shell, "sh tty" in a
// terminal. What a block "text" right behind it says is what it prints, on the terminal what it
// shows. There "…" stands for anything, alone on its line for any lines.
type block struct {
	line     int
	terminal bool
	commands string
	prints   string
	checked  bool // a block "text" follows
}

// A chapter is what a page has under one heading: its blocks share a shell, a folder and a home.
type chapter struct {
	title  string
	blocks []block
}

// chapters reads a page.
func chapters(t *testing.T, page string) []chapter {
	t.Helper()
	source, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all := []chapter{{title: filepath.Base(page)}}
	var fence string // the open block's kind
	var text []string
	var open, ended int // the lines where the block began, and where the last one with commands ended
	for i, line := range strings.Split(string(source), "\n") {
		now := &all[len(all)-1]
		kind, isFence := strings.CutPrefix(line, "```")
		switch {
		case fence == "" && isFence:
			fence, text, open = kind+" ", nil, i+1
		case fence == "" && strings.HasPrefix(line, "## "):
			all = append(all, chapter{title: line[3:]})
		case fence == "":
			if ended == i && strings.TrimSpace(line) == "" {
				ended++
			}
		case !isFence:
			text = append(text, line)
		default:
			body := strings.Join(text, "\n")
			switch kind := strings.TrimSpace(fence); {
			case kind == "sh" || kind == "sh tty":
				now.blocks = append(now.blocks, block{line: open, terminal: kind == "sh tty", commands: body})
				ended = i + 1
			case kind == "text" && ended == open-1 && len(now.blocks) > 0:
				b := &now.blocks[len(now.blocks)-1]
				b.prints, b.checked = body, true
			}
			fence = ""
		}
	}
	return slices.DeleteFunc(all, func(c chapter) bool { return len(c.blocks) == 0 })
}

// downloads are what the Go command tells of modules that it does not have yet.
var downloads = regexp.MustCompile(`(?m)^go: downloading .*\n`)

// looksLike says whether a text is what a page says that it is.
func looksLike(got, said string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for _, line := range strings.Split(said, "\n") {
		if line == "…" {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		for i, piece := range strings.Split(line, "…") {
			if i > 0 {
				pattern.WriteString(".*")
			}
			pattern.WriteString(regexp.QuoteMeta(piece))
		}
		pattern.WriteString(`[ \t]*\n`)
	}
	pattern.WriteString(`\z`)
	got = strings.ReplaceAll(got, "\r\n", "\n") // what a program on a terminal writes
	got = downloads.ReplaceAllString(got, "")
	return regexp.MustCompile(pattern.String()).MatchString(strings.TrimRight(got, "\n") + "\n")
}

// A reader of a page does what it says, in a folder of their own.
type pageReader struct {
	t      *testing.T
	shell  *program
	in     io.Writer
	out    *bufio.Reader
	dir    string // the folder
	inside string // the same, as the shell knows it
	steps  int
}

// newReader starts the reader's shell. ptywright is on its PATH, with the examples beside it in the folder.
func newReader(t *testing.T) *pageReader {
	t.Helper()
	p := standAlone(t, "sh")
	examples, err := filepath.Abs(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(examples, filepath.Join(p.Dir, "examples")); err != nil {
		t.Fatal(err)
	}
	p.Env = append(p.Env, "PS1=$ ", "ENV=", "LANG=C.UTF-8", "SHELL=/bin/sh")
	return startReader(t, p, p.Dir, p.Dir)
}

// startReader has a shell at hand, which finds the folder dir at inside.
func startReader(t *testing.T, p *program, dir, inside string) *pageReader {
	t.Helper()
	in, out := p.StartPiped()
	r := &pageReader{t: t, shell: p, in: in, out: bufio.NewReader(out), dir: dir, inside: inside}
	t.Cleanup(func() {
		r.do("ptywright kill --server", "/dev/null") // when a test has failed before its page did it
		in.Close()
		p.Wait()
		noneLeft(t, p.Mark)
	})
	return r
}

// do has the shell run commands, and returns what they print and the last one's exit code.
func (r *pageReader) do(commands, output string) (printed string, code int) {
	r.t.Helper()
	r.steps++
	name := fmt.Sprintf(".step%d", r.steps)
	if output == "" {
		output = filepath.Join(r.inside, name+".out")
	}
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(commands+"\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	// What is left in the background has the file, not this pipe.
	fmt.Fprintf(r.in, ". %s </dev/null >%s 2>&1; echo $?\n", filepath.Join(r.inside, name), output)
	if _, err := fmt.Fscanln(r.out, &code); err != nil {
		r.t.Fatalf("the shell has gone: %v\n%s", err, r.shell.Stderr)
	}
	text, _ := os.ReadFile(filepath.Join(r.dir, name+".out"))
	return string(text), code
}

// show runs commands in a terminal until it shows what the page says, and hangs up.
func (r *pageReader) show(b block) {
	r.t.Helper()
	cmd := exec.Command(filepath.Join(strings.Split(envOf(r.shell.Env, "PATH"), ":")[0], "ptywright"), "serve", "--stdio")
	p := programOf(r.t, cmd)
	p.Env, p.Dir, p.Mark = r.shell.Env, r.shell.Dir, r.shell.Mark
	s := launch(r.t, p)
	home, _ := r.do(`printf %s "$PTYWRIGHT_HOME"`, "") // the page may have set it
	terminal := s.with(client.Config{Program: "sh", Args: []string{"-c", b.commands}, Cwd: r.shell.Dir, Env: map[string]string{
		asProgram: p.Mark, "PTYWRIGHT_HOME": home,
	}})
	for line := range strings.Lines(b.prints) {
		line = strings.TrimSpace(line)
		if line != "…" && line != "" {
			var quoted []string
			for piece := range strings.SplitSeq(line, "…") {
				quoted = append(quoted, regexp.QuoteMeta(piece))
			}
			terminal.wait(client.Regexp(strings.Join(quoted, ".*")))
		}
	}
	terminal.close()
	if err := s.Close(); err != nil {
		r.t.Error(err)
	}
}

// envOf returns the value of a variable; the last one counts.
func envOf(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// run does one block, and compares.
func (r *pageReader) run(page string, b block) {
	r.t.Helper()
	if b.terminal {
		r.show(b)
		return
	}
	printed, code := r.do(b.commands, "")
	if code != 0 {
		r.t.Fatalf("%s:%d: exit code %d:\n%s\nprinted:\n%s", page, b.line, code, b.commands, printed)
	}
	if b.checked && !looksLike(printed, b.prints) {
		r.t.Errorf("%s:%d:\n%s\nprinted:\n%s\nthe page says:\n%s", page, b.line, b.commands, printed, b.prints)
	}
}

// pagesThatRun are those whose commands are run as they stand there.
var pagesThatRun = []string{"README.md", "docs/guide.md"}

// builds are what a page says to do in a clone, which TestNewcomer does; here the program is there already.
var builds = regexp.MustCompile(`(?m)^go (build|run|install) .*cmd/ptywright(.*)$`)

// TestPagesDoAsTheySay runs every command of these pages in the order in which it stands there, and compares what is printed.
func TestPagesDoAsTheySay(t *testing.T) {
	t.Parallel()
	for _, page := range pagesThatRun {
		for _, c := range chapters(t, filepath.Join(root, page)) {
			t.Run(filepath.Base(page)+"/"+c.title, func(t *testing.T) {
				t.Parallel()
				for _, n := range []struct{ program, debian string }{{"python3", "python3"}, {"node", "nodejs"}, {"less", "less"}, {"bash", "bash"}} {
					for _, b := range c.blocks {
						if regexp.MustCompile(`\b` + n.program + `\b`).MatchString(b.commands) {
							need(t, n.program, n.debian)
						}
					}
				}
				r := newReader(t)
				for _, b := range c.blocks {
					b.commands = builds.ReplaceAllString(b.commands, `ln -sf "$$(command -v ptywright)" ptywright`)
					r.run(page, b)
				}
			})
		}
	}
}

// TestPagesAreShort: what nobody reads to its end helps nobody.
func TestPagesAreShort(t *testing.T) {
	for _, p := range []struct {
		page  string
		words int // 260 a minute for the README, of which much is a table and a map; a page of the guide has 400
		lines int
	}{{"README.md", 1300, 200}, {"docs/guide.md", 4000, 600}} {
		text, err := os.ReadFile(filepath.Join(root, p.page))
		if err != nil {
			t.Fatal(err)
		}
		if words, lines := len(strings.Fields(string(text))), strings.Count(string(text), "\n"); words > p.words || lines > p.lines {
			t.Errorf("%s has %d words and %d lines, more than %d and %d", p.page, words, lines, p.words, p.lines)
		}
	}
}

// TestLooksLike: what tells a page from what is printed does tell.
func TestLooksLike(t *testing.T) {
	for _, c := range []struct {
		got, said string
		want      bool
	}{
		{"a\nb\n", "a\nb", true},
		{"a\n", "a\nb", false},
		{"a b c\n", "a … c", true},
		{"a b\n", "a … c", false},
		{"1\n2\n3\n", "1\n…\n3", true},
		{"1\n3\n", "1\n…\n3", true},
		{"1\n3\n4\n", "1\n…\n3", false},
		{"a.c\n", "a.c", true},
		{"abc\n", "a.c", false},
	} {
		if got := looksLike(c.got, c.said); got != c.want {
			t.Errorf("%q against %q: %t", c.got, c.said, got)
		}
	}
}

// TestHelpDoesAsItSays runs what the help shows, as it stands there, and sees that every command has a place in it.
func TestHelpDoesAsItSays(t *testing.T) {
	t.Parallel()
	help := app.Command(cli.Stdio{})
	for _, c := range help.Commands() {
		if c.IsAvailableCommand() && c.GroupID == "" {
			t.Errorf("%s is in no group", c.Name())
		}
	}
	var commands strings.Builder
	for line := range strings.Lines(help.Long) {
		if strings.HasPrefix(line, "  ") {
			commands.WriteString(line)
		}
	}
	r := newReader(t)
	r.run("--help", block{commands: strings.TrimSpace(commands.String()), checked: true, prints: `s1
…
42
… echo $((6*7))
42
…
{"jsonrpc":"2.0","id":1,"result":{"sessions":[]}}`})
}

// TestLinksLeadSomewhere: what the README, docs and examples link to exists, headings too.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchor := func(title string) string {
		return strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(title), ""), " ", "-")
	}
	pages := 0
	for _, folder := range []string{"", "docs", "examples", "bench"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(page string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() && folder == "" && page != filepath.Join(root, folder) {
				return cmp.Or(err, filepath.SkipDir)
			}
			if filepath.Ext(page) != ".md" {
				return nil
			}
			pages++
			text, err := os.ReadFile(page)
			for _, m := range link.FindAllStringSubmatch(string(text), -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				file, part, _ := strings.Cut(m[1], "#")
				to := page
				if file != "" {
					to = filepath.Join(filepath.Dir(page), file)
				}
				there, err := os.ReadFile(to)
				if info, serr := os.Stat(to); serr != nil || err != nil && !info.IsDir() {
					t.Errorf("%s links to %s, which is not there", page, m[1])
					continue
				}
				if part != "" && !slices.ContainsFunc(heading.FindAllStringSubmatch(string(there), -1), func(h []string) bool { return anchor(h[1]) == part }) {
					t.Errorf("%s links to %s, and there is no such heading", page, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if pages < 15 {
		t.Errorf("only %d pages were looked at", pages)
	}
}
