//go:build unix

package tmux_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

// A mux is a tmux: the real one, or ptywright under its name.
type mux struct {
	t      *testing.T
	path   string   // of a link named tmux
	flags  []string // before every command
	env    []string
	mark   string
	socket string
}

// ours is ptywright by a link named tmux, with servers of its own.
func ours(t *testing.T) *mux {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	m := &mux{t: t, path: filepath.Join(dir, "tmux"), socket: filepath.Join(dir, "s")}
	if err := os.Symlink(self, m.path); err != nil {
		t.Fatal(err)
	}
	m.mark = programtest.Of(t, exec.Command("true")).Mark
	m.env = append(programtest.Of(t, exec.Command("true")).Env, programtest.AsProgram+"="+m.mark, "PTYWRIGHT_HOME="+filepath.Join(dir, "home"))
	t.Cleanup(func() { programtest.NoneLeft(t, m.mark) })
	m.begin(dir)
	return m
}

// real is the tmux of this machine.
func real(t *testing.T) *mux {
	t.Helper()
	path, err := exec.LookPath("tmux")
	if err != nil {
		return nil
	}
	dir := t.TempDir()
	m := &mux{t: t, path: path, socket: filepath.Join(dir, "s"), env: os.Environ()}
	m.begin(dir)
	return m
}

// begin gives both the same surroundings, and ends what they leave.
func (m *mux) begin(dir string) {
	m.flags = []string{"-f", "/dev/null", "-S", m.socket}
	m.env = append(m.env, "SHELL=/bin/sh", "TMUX=", "TMUX_PANE=", "TMUX_TMPDIR="+dir, "LC_ALL=C.UTF-8", "TERM=xterm-256color", "HOME="+dir,
		"PATH="+filepath.Dir(m.path)+":"+os.Getenv("PATH"))
	// A login shell sets PATH anew.
	profile := []byte("PATH=" + filepath.Dir(m.path) + ":$PATH\n")
	if err := os.WriteFile(filepath.Join(dir, ".profile"), profile, 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		m.run("kill-server")
		m.command(exec.Command(m.path, "kill-server")) // the default one
	})
}

// run runs one command line.
func (m *mux) run(args ...string) (stdout, stderr string, code int) {
	m.t.Helper()
	return m.command(exec.Command(m.path, append(m.flags, args...)...))
}

func (m *mux) command(c *exec.Cmd) (stdout, stderr string, code int) {
	m.t.Helper()
	var out, errs bytes.Buffer
	c.Env, c.Stdout, c.Stderr, c.Dir = m.env, &out, &errs, "/"
	code = programtest.ExitCode(m.t, c.Run())
	return out.String(), errs.String(), code
}

// ok runs one command line that has to succeed, and returns what it prints.
func (m *mux) ok(args ...string) string {
	m.t.Helper()
	out, errs, code := m.run(args...)
	if code != 0 || errs != "" {
		m.t.Fatalf("tmux %q: exit %d, %s", args, code, errs)
	}
	return out
}

// sees waits until a pane shows a text.
func (m *mux) sees(target, text string) {
	m.t.Helper()
	programtest.Poll(m.t, func() string {
		out, errs, _ := m.run("capture-pane", "-p", "-J", "-t", target)
		return programtest.Unless(strings.Contains(strings.ReplaceAll(out, "\n", ""), text), fmt.Sprintf("%s does not show %q: %s%s", target, text, out, errs))
	})
}

// words are those of a line, as a shell would part them: in single quotes all is itself, in double
// ones but for \\, \" and \n.
func words(t *testing.T, line string) (all []string) {
	t.Helper()
	var word strings.Builder
	var quote byte
	begun := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == '"' && c == '\\' && i+1 < len(line) && strings.IndexByte(`\"n`, line[i+1]) >= 0:
			i++
			word.WriteString(map[byte]string{'\\': `\`, '"': `"`, 'n': "\n"}[line[i]])
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case c == quote:
			quote = 0
		case c == ' ' && quote == 0:
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if quote != 0 {
		t.Fatalf("a quote is not closed: %s", line)
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

var (
	dates = regexp.MustCompile(`created \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}`)
	sizes = regexp.MustCompile(`\d+ bytes\]`)
)

// play runs a script and returns it with what each command printed: standard output, standard error
// behind !, and the exit code in brackets unless that is 0.
func (m *mux) play(script string) string {
	m.t.Helper()
	var b strings.Builder
	defer func() {
		if m.t.Failed() {
			m.t.Log(b.String())
		}
	}()
	lines := bufio.NewScanner(strings.NewReader(script))
	for lines.Scan() {
		line := lines.Text()
		b.WriteString(line + "\n")
		if text, ok := strings.CutPrefix(line, "~ "); ok {
			target, text, shows := strings.Cut(text, " ")
			if shows {
				m.sees(target, text)
				continue
			}
			programtest.Poll(m.t, func() string { // until it is gone, or the server
				_, errs, code := m.run("has-session", "-t", target)
				return programtest.Unless(code != 0 && (target != "server" || !strings.HasPrefix(errs, "can't find") && !strings.HasPrefix(errs, "no current")), target+" is still there")
			})
		}
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		out, errs, code := m.run(words(m.t, command)...)
		out, errs = strings.ReplaceAll(out, m.socket, "SOCKET"), strings.ReplaceAll(errs, m.socket, "SOCKET")
		if out != "" && !strings.HasSuffix(out, "\n") {
			out += "\n\\ no newline\n" // as diff says it
		}
		b.WriteString(sizes.ReplaceAllString(dates.ReplaceAllString(out, "created DATE"), "N bytes]"))
		for line := range strings.Lines(errs) {
			b.WriteString("! " + line)
		}
		if code != 0 {
			fmt.Fprintf(&b, "[%d]\n", code)
		}
	}
	return b.String()
}

// scriptOf is what a recorded script runs: its comments, commands and waits.
func scriptOf(recorded string) string {
	var b strings.Builder
	for line := range strings.Lines(recorded) {
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "~ ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestTmuxIsTmux: scripts of commands print what the real tmux printed when they were recorded, and
// where there is one, what it prints now. PTYWRIGHT_RECORD=1 records them anew.
func TestTmuxIsTmux(t *testing.T) {
	all, err := filepath.Glob("testdata/tmux/*.txt")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, path := range all {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			recorded := string(body)
			if m := real(t); m != nil && strings.HasPrefix(m.ok("-V"), "tmux 3.3a") {
				played := m.play(scriptOf(recorded))
				if os.Getenv("PTYWRIGHT_RECORD") == "1" {
					if err := os.WriteFile(path, []byte(played), 0o644); err != nil {
						t.Fatal(err)
					}
					recorded = played
				} else if played != recorded {
					t.Errorf("the real tmux differs from what was recorded:\n%s", difference(recorded, played))
				}
			}
			if played := ours(t).play(scriptOf(recorded)); played != recorded {
				t.Errorf("not as tmux:\n%s", difference(recorded, played))
			}
		})
	}
}

// difference shows the lines in which two texts differ, with the last command before each.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n$"), strings.Split(got, "\n$")
	var b strings.Builder
	for i := range max(len(w), len(g)) {
		var x, y string
		if i < len(w) {
			x = w[i]
		}
		if i < len(g) {
			y = g[i]
		}
		if x != y {
			fmt.Fprintf(&b, "expected $%s\ngot      $%s\n", x, y)
		}
	}
	return b.String()
}
