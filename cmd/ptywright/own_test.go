//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/app"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest"
)

// onTerminal runs ptywright on a terminal of its own, with a server's home.
func (s *shared) onTerminal(t *testing.T, rows, cols int, env map[string]string, args ...string) *tuitest.TUI {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{asProgram: "1", "PTYWRIGHT_HOME": filepath.Dir(s.path), "PTYWRIGHT_CONFIG": "off"}
	maps.Copy(all, env)
	return tuitest.Config{Rows: rows, Cols: cols, Env: all, Timeout: hang}.New(t, self, args...)
}

// widths are those at which what commands print is looked at, and colours with what turns them off.
var (
	ownWidths  = []int{40, 80, 120}
	ownColours = map[string]map[string]string{"colour": {}, "plain": {"NO_COLOR": "1"}}
)

// looks runs a command on a terminal of each width, with and without colour, and compares each
// screen with a golden one.
func (s *shared) looks(t *testing.T, name string, rows int, env map[string]string, options []tuitest.ScreenOption, args ...string) {
	t.Helper()
	for _, cols := range ownWidths {
		for colour, off := range ownColours {
			t.Run(fmt.Sprintf("%s-%d-%s", name, cols, colour), func(t *testing.T) {
				with := map[string]string{}
				maps.Copy(with, env)
				maps.Copy(with, off)
				u := s.onTerminal(t, rows, cols, with, args...)
				u.Wait(matchers.Exited())
				u.ExpectScreen("screen", options...)
			})
		}
	}
}

// TestListFits: ls on terminals that are narrow and wide: no row is folded, columns go by their
// use, and colour is for terminals that want it.
func TestListFits(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	home := t.TempDir()
	folder := filepath.Join(home, "code", "a-rather-long-name", "website")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	s.ok("spawn", "--name", "site", "--cwd", folder, "--", "sh", "-c", `printf '\033]2;building\007ready\n'; cat`)
	s.ok("spawn", "--cwd", home, "--", "sh", "-c", "exit 3")
	s.ok("spawn", "--cwd", "/", "--", "true")
	s.ok("spawn", "--cwd", home, "--", "cat", "-u", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "日本語")
	s.ok("wait", "site", "--text", "ready")
	s.ok("wait", "s2", "s3", "--all", "--exit")
	env := map[string]string{"HOME": home}
	ages := []tuitest.ScreenOption{tuitest.MaskText(`age /(now|\d+[sm] ago) *(\d+[sm])?/ to end`)}
	s.looks(t, "ls", 8, env, ages, "ls")
}

// serverless is a home without a server, a config and agents.
func serverless(t *testing.T) *shared {
	t.Helper()
	return &shared{&listener{t: t, path: filepath.Join(t.TempDir(), "socket")}, t}
}

// TestHelpFits: help is wrapped at words to the terminal, to 80 columns elsewhere, and colourless.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	s := serverless(t)
	s.looks(t, "exits", 50, nil, nil, "help", "exit-codes")
	all := app.Command(cli.Stdio{})
	for _, args := range [][]string{nil, {"wait"}, {"play"}, {"spawn"}} {
		c, _, err := all.Find(args)
		if err != nil {
			t.Fatal(err)
		}
		for _, cols := range ownWidths {
			u := s.onTerminal(t, 400, cols, nil, append(args, "--help")...)
			u.Wait(matchers.Exited())
			screen := u.Session.View().Screen
			if !strings.Contains(screen.Text(), "Usage:") {
				t.Errorf("%s --help at %d columns: %s", c.CommandPath(), cols, screen.Text())
			}
			for y, line := range screen.Lines() { // examples are for copying: they are not wrapped by us
				if screen.Wrapped(y) && !strings.Contains(c.Long+"\n"+c.Example, line) {
					t.Errorf("%s --help at %d columns folds %q", c.CommandPath(), cols, line)
				}
			}
		}
	}
	each(all, func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		out, code := ptywright(t, append(strings.Fields(c.CommandPath())[1:], "--help")...).Run("")
		if code != 0 {
			t.Fatalf("%s --help: exit %d", c.CommandPath(), code)
		}
		_, examples, _ := strings.Cut(out, "\nExamples:\n")
		examples, _, _ = strings.Cut(examples, "\n\n")
		for line := range strings.Lines(out) {
			line = strings.TrimSuffix(line, "\n")
			if len([]rune(line)) > 80 && !strings.Contains(examples, line) && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: a line of %d columns: %q", c.CommandPath(), len([]rune(line)), line)
			}
		}
		if strings.Contains(out, "\x1b") {
			t.Errorf("%s: escape sequences in a pipe", c.CommandPath())
		}
	})
}

// TestHelpTellsTheExitCodesOfACommand and of no other.
func TestHelpTellsTheExitCodesOfACommand(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"ls":           "Exit codes: 0 success, 1 error, 2 usage, 5 not permitted, 130 interrupted.",
		"wait":         "Exit codes: 0 success, 1 error, 2 usage, 3 timed out, 4 no such session, 5 not permitted, 124 timed out,",
		"adapter wait": "Exit codes: 0 success, 1 error, 2 usage, 3 timed out, 4 no such session, 5 not permitted, 6 the program asks first, 130 interrupted.",
		"fleet list":   "Exit codes: 0 success, 1 error, 2 usage, 5 not permitted, 130 interrupted.",
		"fleet wait":   "Exit codes: 0 success, 1 error, 2 usage, 3 timed out, 4 no such instance, 5 not permitted, 130 interrupted.",
		"version":      "",
	} {
		out, _ := ptywright(t, append(strings.Fields(args), "--help")...).Run("")
		_, got, _ := strings.Cut(out, "\nExit codes: ")
		if got = strings.Join(strings.Fields("Exit codes: "+got), " "); want == "" && strings.Contains(out, "Exit codes") || want != "" && !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", args, got)
		}
	}
}

// TestHelpNamesWhatThereIs: each command and page that a help sends people to exists.
func TestHelpNamesWhatThereIs(t *testing.T) {
	t.Parallel()
	root := app.Command(cli.Stdio{})
	seen := 0
	each(root, func(c *cobra.Command) {
		for _, name := range strings.FieldsFunc(c.Annotations[cli.SeeNote], func(r rune) bool { return r == ',' || r == ';' }) {
			words := strings.Fields(name)
			if len(words) < 2 || words[0] != "ptywright" {
				t.Errorf("%s: see also %q", c.CommandPath(), name)
				continue
			}
			seen++
			if words[1] == "docs" {
				if _, code := ptywright(t, words[1:]...).Run(""); code != 0 {
					t.Errorf("%s: see also %q: exit %d", c.CommandPath(), name, code)
				}
			} else if sub, _, err := root.Find(words[1:2]); words[1] != "COMMAND" && (err != nil || sub == root) {
				t.Errorf("%s: see also %q: %v", c.CommandPath(), name, err)
			}
		}
	})
	if seen < 40 {
		t.Errorf("only %d are named", seen)
	}
}

// TestDocsCommand: the pages are those of docs/, whole where they go to no terminal, and found by
// topic, heading and word.
func TestDocsCommand(t *testing.T) {
	t.Parallel()
	s := serverless(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	list := s.ok("docs")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		if out, _, _ := s.run("docs", name); out != string(text) {
			t.Errorf("%s is not the page of docs/", name)
		}
		if !strings.Contains(list, "\n"+name+" ") {
			t.Errorf("%s is not listed", name)
		}
	}
	if all := objects(t, s.ok("docs", "--json")); len(all) != len(pages) || all[0]["topic"] != "acp" || all[0]["bytes"].(float64) < 1000 {
		t.Errorf("--json: %v", all)
	}
	if part := s.ok("docs", "docs/wire.md#latched-waits"); !strings.HasPrefix(part, "### Latched waits\n") || strings.Count(part, "\n#") != 0 {
		t.Errorf("a part: %q", part)
	}
	for _, line := range strings.Split(s.ok("docs", "--search", "LATCHED WAITS"), "\n") {
		if !strings.Contains(strings.ToLower(line), "latched waits") || !strings.Contains(line, ": ") {
			t.Errorf("--search: %q", line)
		}
	}
	if all := objects(t, s.ok("docs", "wire", "--search", "held_at", "--json")); len(all) == 0 || all[0]["topic"] != "wire" || all[0]["heading"] == "" {
		t.Errorf("--search --json: %v", all)
	}
	s.fails(1, "", "docs", "--search", "no page has these words")
	s.fails(2, "did you mean wire?", "docs", "wir")
	s.fails(2, "has no heading \"nowhere\"", "docs", "wire#nowhere")
	s.fails(2, "--search is empty", "docs", "--search", " ")
	s.looks(t, "fleet", 90, map[string]string{"PAGER": "cat"}, nil, "docs", "fleet")
}

// TestDocsPages shows a page on a terminal by the person's pager, who may leave it early.
func TestDocsPages(t *testing.T) {
	t.Parallel()
	need(t, "less", "less")
	u := serverless(t).onTerminal(t, 12, 60, nil, "docs", "wire")
	u.Expect(matchers.Text("The native wire"))
	u.Expect(matchers.Regexp(regexp.MustCompile(`(?m)^:$`)))
	u.Press("G")
	u.Expect(matchers.Text("(END)"))
	u.Press("q")
	u.Exit(0)
}

// TestVersionCommand tells what the build is, to people and to programs.
func TestVersionCommand(t *testing.T) {
	t.Parallel()
	s := serverless(t)
	if a, b := s.ok("version"), s.ok("--version"); a != b || !strings.Contains(a, "go1.") || !strings.Contains(a, "commit ") {
		t.Errorf("%q, and --version %q", a, b)
	}
	if o := objects(t, s.ok("version", "--json"))[0]; o["go"] == "" || o["version"] == "" || !strings.Contains(o["platform"].(string), "/") {
		t.Errorf("%v", o)
	}
}

// TestPlayOnATerminal plays with the keys of a person, and gives the terminal back as it was.
func TestPlayOnATerminal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "steps.cast")
	cast := `{"version":2,"width":30,"height":4}` + "\n" + `[0.1,"o","one "]` + "\n" + `[3600,"o","two "]` + "\n" + `[7200,"o","three "]` + "\n"
	if err := os.WriteFile(path, []byte(cast), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cols := range ownWidths {
		t.Run(fmt.Sprint(cols), func(t *testing.T) {
			u := serverless(t).onTerminal(t, 8, cols, nil, "play", path)
			u.Expect(matchers.Text("one"))
			u.Send(" ")
			u.Expect(matchers.Text("paused at "))
			u.Send(".")
			u.Expect(matchers.Text("two"))
			u.Send("?")
			u.ExpectScreen("keys")
			u.Send("q")
			u.Exit(0)
		})
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	u := tuitest.Config{Rows: 8, Cols: 60, Env: map[string]string{asProgram: "1", "PTYWRIGHT_CONFIG": "off"}, Timeout: hang}.New(t,
		"sh", "-c", `before=$(stty -g); "$0" play "$1"; test "$before" = "$(stty -g)" && echo as it was`, self, path)
	u.Expect(matchers.Text("one"))
	u.Send("q")
	u.Expect(matchers.Text("as it was"))
	u.Exit(0)
}

// TestWaitSpeaksPlainly: wait says what held, or what lacked, in words and not as the wire has it.
func TestWaitSpeaksPlainly(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--name", "it", "--", "sh", "-c", "echo ready; exec cat")
	s.ok("wait", "it", "--text", "ready")
	if got, want := s.ok("wait", "it", "--stable", "50"), "an unchanged screen for 50ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := s.ok("wait", "it", "--matcher", `{"type":"cursor_at","value":{"row":1,"col":0}}`), "the cursor at row 1, column 0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	out := s.fails(3, "timed out", "wait", "it", "--all", "--stable", "3600000", "--exit", "--finished", "--text", "gone", "--regex", "x+", "--output", "y", "--matcher", `{"type":"not","value":{"type":"title_contains","value":"z"}}`, "--timeout", "0")
	for _, want := range []string{
		"- all: ", "\n-   an unchanged screen for 1h0m0s: the screen has been as it is for ", "\n-   the program's end: the program is running\n",
		"\n-   the end of a command: ", "\n-   the text \"gone\": ", "\n-   the expression \"x+\": ", "\n-   the output \"y\": ", "\n-   not: held\n-     the title \"z\": ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.ContainsAny(out, "{}_") {
		t.Errorf("the wire's words are in\n%s", out)
	}
}

// TestReplHelps: what people type for help is answered, and NO_COLOR leaves no colour at all.
func TestReplHelps(t *testing.T) {
	t.Parallel()
	for colour, env := range ownColours {
		u := newShared(t).onTerminal(t, 60, 80, env, "repl")
		u.Expect(matchers.Text("pty>"))
		u.Send("help\n")
		u.Expect(matchers.Text(":sessions"))
		u.Expect(matchers.Text("last value."))
		coloured := false
		screen := u.Session.View().Screen
		for y := range 60 {
			screen.EachCell(y, func(_ int, c vt.Cell) { coloured = coloured || c.Style.Foreground != vt.Style{}.Foreground })
		}
		if want := colour == "colour"; coloured != want {
			t.Errorf("%s: coloured is %t", colour, coloured)
		}
		u.Send("help = 1\nhelp\n") // a person's own
		u.Expect(matchers.Regexp(regexp.MustCompile(`(?m)^1$`)))
		u.Press("ctrl+d")
		u.Exit(0)
	}
}
