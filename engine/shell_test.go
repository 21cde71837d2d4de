//go:build unix

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// A shell is a real one with marks, in a home of its own.
type shell struct {
	*engine.Session
	t    *testing.T
	ctx  context.Context
	home string
	last uint64 // number of the last block that was looked at
}

// A start is how a shell is started in a test.
type start struct {
	program string
	args    []string
	files   map[string]string // in its home
	env     map[string]string // values may begin with ~/
	size    pty.Size
	// attended: somebody else answers what is asked of the terminal
	attended bool
}

// hang bounds what a test waits for: far more than a loaded machine needs.
const hang = 2 * time.Minute

func startShell(t *testing.T, o start) *shell {
	t.Helper()
	if _, err := exec.LookPath(o.program); err != nil {
		t.Skipf("%s is not installed: apt-get install %[1]s", o.program)
	}
	if o.program == "bash" && exec.Command("bash", "-c", "((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404))").Run() != nil {
		t.Skip("bash is older than 4.4")
	}
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	t.Cleanup(cancel)
	home := enginetest.Home(t)
	tmp := filepath.Join(home, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	env := map[string]string{"HOME": home, "PATH": os.Getenv("PATH"), "LANG": "C.UTF-8", "TMPDIR": tmp, "DEBIAN_PREVENT_KEYBOARD_CHANGES": "1"}
	for name, value := range o.env {
		if rest, ok := strings.CutPrefix(value, "~/"); ok {
			value = filepath.Join(home, rest)
		}
		env[name] = value
	}
	files := map[string]string{".zshrc": "PS1='%m%# '\n", ".config/fish/config.fish": "set -g fish_greeting\n"}
	for name, text := range o.files {
		files[name] = text
	}
	for name, text := range files {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := engine.New(engine.Options{})
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(tmp, "ptywright-*")); len(left) > 0 {
			t.Errorf("left in the folder for temporary files: %v", left)
		}
	})
	s, err := e.Spawn(t.Context(), engine.Config{
		Program: o.program, Args: o.args, Dir: home, Env: env, ClearEnv: true, Size: o.size, ShellIntegration: true, Attended: o.attended,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &shell{Session: s, t: t, ctx: ctx, home: home}
}

// await waits until what looks at the session says so.
func (s *shell) await(what string, ok func() bool) {
	s.t.Helper()
	for {
		changed := s.Changed()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
			text, _, _ := s.View().Transcript.Since(0)
			b, how := s.Blocks(0)
			s.t.Fatalf("waited for %s; blocks (%s) %+v; output %q", what, how, b, text)
		}
	}
}

func (s *shell) atPrompt() bool {
	sh := s.View().Reports.Shell
	return sh != nil && sh.Phase == engine.ShellInput
}

// keys types, as fast as it can be taken.
func (s *shell) keys(text string) {
	s.t.Helper()
	if _, err := s.Do(s.ctx, engine.Text(text)); err != nil {
		s.t.Fatal(err)
	}
}

// run waits for the prompt, types and waits for the next block's end and the prompt behind it.
func (s *shell) run(text string) engine.Block {
	s.t.Helper()
	s.await("the prompt", s.atPrompt)
	s.keys(text)
	return s.next()
}

func (s *shell) next() (b engine.Block) {
	s.t.Helper()
	s.await("a command's end", func() bool {
		all, _ := s.Blocks(s.last)
		if len(all) == 0 || all[0].Ended.IsZero() {
			return false
		}
		b = all[0]
		return true
	})
	s.last = b.Number
	return b
}

// noBlock types and waits for another prompt; no block may come of it.
func (s *shell) noBlock(text string) {
	s.t.Helper()
	s.await("the prompt", s.atPrompt)
	before := s.prompts()
	s.keys(text)
	s.await("another prompt", func() bool { return s.prompts() > before })
	if all, _ := s.Blocks(s.last); len(all) > 0 {
		s.t.Errorf("%q made a block: %+v", text, all)
	}
}

// settle waits until the screen shows a text and has not changed for a while.
func (s *shell) settle(text string) {
	s.t.Helper()
	if _, err := s.Wait(s.ctx, matcher(s.t, group("all", contains(text), stable(250)))); err != nil {
		s.t.Fatal(err)
	}
}

// prompts counts the prompts that were written to their end.
func (s *shell) prompts() int {
	text, _, _ := s.View().Transcript.Since(0)
	return strings.Count(string(text), "\x1b]133;B")
}

// A line is what is typed and the block that it must make. Output is how that stands on the screen;
// exact is what was written, and "" for the same with a line feed at its end.
type line struct {
	typed, command, output, exact string
	code                          int
}

// same holds blocks against what they must be.
func (s *shell) same(lines []line) {
	s.t.Helper()
	for _, l := range lines {
		if l.command == "" && l.typed != "" {
			l.command = strings.TrimSuffix(l.typed, "\r")
		}
		s.await("the prompt", s.atPrompt)
		dir := s.View().Reports.Shell.Dir
		if l.exact == "" && l.output != "" {
			l.exact = l.output + "\n"
		}
		b := s.run(l.typed)
		if b.Command != l.command || b.Output != l.exact || b.ExitCode != l.code || !b.Exited || !b.Whole {
			s.t.Errorf("%q made the block\ncommand %q\noutput  %q\ncode    %d %t, whole %t; want\ncommand %q\noutput  %q\ncode    %d",
				l.typed, b.Command, b.Output, b.ExitCode, b.Exited, b.Whole, l.command, l.exact, l.code)
		}
		if b.ScreenText != l.output || !b.ScreenWhole {
			s.t.Errorf("%q shows %q, whole %t; want %q", l.typed, b.ScreenText, b.ScreenWhole, l.output)
		}
		if b.Dir != dir || dir == "" {
			s.t.Errorf("%q began in %q, want %q", l.typed, b.Dir, dir)
		}
	}
}

// everyday are commands that mean the same in all three.
var everyday = []line{
	{typed: "echo hello\r", output: "hello"},
	{typed: "false\r", code: 1},
	{typed: "sh -c 'exit 42'\r", code: 42},
	{typed: "printf 'no newline'\r", output: "no newline", exact: "no newline"},
	{typed: `printf 'a;b\134c\n'; echo "é 日本"` + "\r", output: "a;b\\c\né 日本"},
	{typed: "printf '\\033[31mred\\033[m   \\n\\n\\n'\r", output: "red\n\n", exact: "red   \n\n\n"},
	{typed: `sh -c 'sh -c "kill -9 \$\$"; exit $?' 2>/dev/null` + "\r", code: 137},
	{typed: "sh -c no-such-command-here 2>/dev/null\r", code: 127},
	{typed: "seq 100 | sh -c 'cat; exit 3'\r", output: strings.Join(numbers(100), "\n"), code: 3},
	{typed: "echo gone; clear; echo here\r", output: "here", exact: "gone\nhere\n"},
	{typed: "clear\r"},
	{typed: "cd /; cd /tmp\r"},
	{typed: "sh -c 'cd /; pwd; exit 5'\r", output: "/", code: 5},
}

func numbers(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(i + 1)
	}
	return out
}

var loops = map[string]line{
	"bash": {typed: "for i in 1 2\rdo echo $i\rdone\r", command: "for i in 1 2; do echo $i; done", output: "1\n2"}, // as its history has it
	"zsh":  {typed: "for i in 1 2\rdo echo $i\rdone\r", command: "for i in 1 2\ndo echo $i\ndone", output: "1\n2"},
	"fish": {typed: "for i in 1 2\recho $i\rend\r", command: "for i in 1 2\necho $i\nend", output: "1\n2"},
}

func TestShellsMarkTheirCommands(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, start{program: name})
			s.same(everyday)
			if _, how := s.Blocks(0); how != engine.IntegrationOSC633 {
				t.Errorf("integration %s", how)
			}
			s.same([]line{loops[name]})
			if name != "fish" {
				s.same([]line{
					{typed: "cat <<X\rone\r two\rX\r", command: "cat <<X\none\n two\nX", output: "one\n two"},
					{typed: "(exit 9)\r", code: 9},
					map[string]line{
						"bash": {typed: "if fi\r", output: "bash: syntax error near unexpected token `fi'", code: 2},
						"zsh":  {typed: "if fi\r", output: "zsh: parse error near `fi'", code: 1},
					}[name],
				})
			}
			s.noBlock("\r")
			s.noBlock("\r")
			s.keys("echo given up")
			s.settle("echo given up") // both bash and fish may miss a signal while they draw
			s.noBlock("\x03")
			long := "echo " + strings.Repeat("long ", 300) + "end"
			s.same([]line{{typed: long + "\r", output: strings.TrimPrefix(long, "echo ")}})

			s.await("the prompt", s.atPrompt)
			s.keys("sh -c 'echo ready; exec sleep 1000'\r")
			s.await("it to run", func() bool { all, _ := s.Blocks(s.last); return len(all) == 1 && all[0].Output == "ready\n" })
			s.keys("\x03")
			if b := s.next(); b.Command != "sh -c 'echo ready; exec sleep 1000'" || b.ExitCode != 130 || b.ScreenText != "ready\n^C" {
				t.Errorf("interrupted: %+v", b)
			}
			s.same([]line{{typed: "echo again\r", output: "again"}})
		})
	}
}

func TestShellBackground(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, start{program: name})
			if name == "bash" {
				s.run("set -b\r") // tells at once, as the others do, and not at the next prompt
			}
			s.run("sh -c 'while ! test -e go; do sleep 0.02; done; echo from behind' &\r")
			s.await("the prompt", s.atPrompt)
			if err := os.WriteFile(filepath.Join(s.home, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			// What it prints, and what the shell says of its end, belongs to whatever runs then:
			// here to nothing.
			over := regexp.MustCompile(`(?m)^\[1\].*[Dd]one|has ended`)
			s.await("the shell's word of its end", func() bool { return over.MatchString(s.View().Screen.Text()) })
			s.await("the prompt", s.atPrompt)
			s.same([]line{{typed: "echo mine\r", output: "mine"}, {typed: "echo and mine\r", output: "and mine"}})
		})
	}
}

func TestShellExitEndsItsBlock(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, start{program: name})
			s.await("the prompt", s.atPrompt)
			s.keys("exec sh -c 'echo other; exit 7'\r")
			s.await("the end", func() bool { return s.View().Exit != nil })
			b, _ := s.Blocks(0)
			if len(b) != 1 || b[0].Output != "other\n" || b[0].Ended.IsZero() || b[0].Exited || s.View().Exit.Code != 7 {
				t.Errorf("%+v, %+v", b, s.View().Exit)
			}
		})
	}
}

func TestShellIntegrationIsRefused(t *testing.T) {
	e := engine.New(engine.Options{})
	defer e.Close(t.Context())
	for _, c := range [][]string{
		{"sh"}, {"/bin/cat"}, {"python3"}, {"bash", "-c", "true"}, {"bash", "script"}, {"bash", "--login", "-ec", "true"}, {"bash", "--", "x"},
		{"bash", "-l", "-p"}, {"zsh", "-c", "true"}, {"zsh", "-o", "rcs", "file"}, {"fish", "-c", "true"}, {"fish", "--init-command", "x", "file"}, {"fish", "--command=x"},
	} {
		_, err := e.Spawn(t.Context(), engine.Config{Program: c[0], Args: c[1:], ShellIntegration: true})
		var refused *engine.ShellError
		if !errors.As(err, &refused) || refused.Program != filepath.Base(c[0]) || !strings.Contains(err.Error(), "bash (4.4 or newer), zsh and fish") {
			t.Errorf("%v: %v", c, err)
		}
	}
}
