package journal

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

// A terminal is a real shell with marks, and a journal.
type terminal struct {
	*Journal
	*engine.Session
	t    *testing.T
	home string
}

func newTerminal(t *testing.T, o Options, shell string, marks bool) *terminal {
	t.Helper()
	program, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("%s is not installed (Debian package %s)", shell, shell)
	}
	home := t.TempDir()
	t.Setenv("SHELL", program)
	if o.Root == "" {
		o.Root = filepath.Join(home, "root")
	}
	x := &terminal{Journal: New(o), t: t, home: enginetest.Home(t)}
	e := engine.New(engine.Options{})
	t.Cleanup(func() {
		_ = x.Journal.Close()
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for name, text := range map[string]string{".zshrc": "PS1='work%# '\n", ".config/fish/config.fish": "set -g fish_greeting\n"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(x.home, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(x.home, name), []byte(text), 0o600))
	}
	x.Session, err = e.Spawn(t.Context(), engine.Config{Program: program, Dir: x.home, ShellIntegration: marks, ClearEnv: true,
		Env: map[string]string{"HOME": x.home, "PATH": os.Getenv("PATH"), "PS1": "work$ ", "LANG": "C.UTF-8", "DEBIAN_PREVENT_KEYBOARD_CHANGES": "1"}})
	must(t, err)
	return x
}

// until waits until the session is as ok says.
func (x *terminal) until(ok func(v *engine.View) bool) {
	x.t.Helper()
	for {
		changed := x.Changed()
		v := x.View()
		if ok(v) {
			return
		}
		if v.Ended {
			x.t.Fatalf("the shell ended: %s", v.Screen.Text())
		}
		<-changed
	}
}

func (x *terminal) atPrompt() {
	x.t.Helper()
	x.until(func(v *engine.View) bool { sh := v.Reports.Shell; return sh != nil && sh.Phase == engine.ShellInput })
}

// types types a line at a prompt and waits until it is done.
func (x *terminal) types(line string) {
	x.t.Helper()
	x.atPrompt()
	before := uint64(0)
	if sh := x.View().Reports.Shell; sh != nil {
		before = sh.Commands
	}
	_, err := x.Do(x.t.Context(), engine.Text(line+"\r"))
	must(x.t, err)
	x.until(func(v *engine.View) bool {
		return v.Reports.Shell.Commands > before && v.Reports.Shell.Phase == engine.ShellInput
	})
}

// blocksOf are the sections of a document, without their times.
func blocksOf(md string) string {
	_, body, _ := strings.Cut(md, "\n## ")
	body = regexp.MustCompile(`(?m)^(> exit: (?:\d+|\?))( · \d+\.\d\ds)? · [-:0-9]{8}$`).ReplaceAllString(body, "$1")
	return strings.TrimRight("## "+body, "\n")
}

func TestBash(t *testing.T) {
	x := newTerminal(t, Options{}, "bash", true)
	must(t, os.WriteFile(filepath.Join(x.home, "evil"), []byte("before \x1b]133;D;7\a\x1b]133;A\a$ \x1b]133;B\afake\x1b]133;C\a behind\n\x1b]633;D;3\a"), 0o600))
	x.atPrompt()
	started, err := x.Start(x.Session, 0, x.home)
	must(t, err)
	x.types("echo hello")
	x.types("cat evil; (exit 5)")
	x.types("export TOKEN=abc123; echo \"is $TOKEN\"")
	x.types("for i in 1 2; do printf '%s, ' $i; done")
	x.types("echo " + strings.Repeat("long ", 40) + "end")
	got, err := x.Stop(0)
	must(t, err)
	md := read(t, got.MDPath)
	want := "## Block 1 — `echo hello`\n\n> exit: 0\n\n```\nhello\n```\n\n" +
		"## Block 2 — `cat evil; (exit 5)`\n\n> exit: 5\n\n```\nbefore $ fake behind\n```\n\n" +
		"## Block 3 — `export TOKEN= <redacted> echo \"is $TOKEN\"`\n\n> exit: 0\n\n```\nis abc123\n```\n\n" +
		"## Block 4 — `for i in 1 2; do printf '%s, ' $i; done`\n\n> exit: 0\n\n```\n1, 2,\n```\n\n" +
		"## Block 5 — `echo " + strings.Repeat("long ", 40) + "end`\n\n> exit: 0\n\n```\n" + strings.Repeat("long ", 40) + "end\n```"
	if blocksOf(md) != want {
		t.Errorf("got\n%s\nwant\n%s", blocksOf(md), want)
	}
	log := decoded(t, read(t, started.LogPath))
	if strings.Contains(log, "TOKEN=abc123") || strings.Count(log, "<block_output>") != 5 || strings.Count(log, "<block_exit>") != 5 {
		t.Errorf("the log: %q", log)
	}
}

// TestShells: what each of them runs is a block, with the command as it was entered, and of what a
// command shows nothing is a mark.
func TestShells(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			x := newTerminal(t, Options{}, shell, true)
			must(t, os.WriteFile(filepath.Join(x.home, "evil"), []byte("before \x1b]133;D;7\a\x1b]133;A\a$ \x1b]133;B\afake\x1b]133;C\a behind\n\x1b]633;D;3\a"), 0o600))
			x.atPrompt()
			started, err := x.Start(x.Session, 0, x.home)
			must(t, err)
			x.types("echo hello")
			x.types("cat evil; sh -c 'exit 5'")
			x.types("printf '%s' TOKEN=abc123")
			x.types("echo " + ghToken)
			got, err := x.Stop(0)
			must(t, err)
			if got.BlockCount != 4 {
				t.Errorf("%+v", got)
			}
			want := "## Block 1 — `echo hello`\n\n> exit: 0\n\n```\nhello\n```\n\n" +
				"## Block 2 — `cat evil; sh -c 'exit 5'`\n\n> exit: 5\n\n```\nbefore $ fake behind\n```\n\n" +
				"## Block 3 — `printf '%s' TOKEN= <redacted>`\n\n> exit: 0\n\n```\nTOKEN= <redacted>\n```\n\n" +
				"## Block 4 — `echo <token:ghp_k9Wz...redacted>`\n\n> exit: 0\n\n```\n<token:ghp_k9Wz...redacted>\n```"
			md := blocksOf(read(t, got.MDPath))
			switch shell { // they put more behind an output without a line end
			case "zsh":
				md = regexp.MustCompile(`(?m)^(TOKEN= <redacted>) *%? *$`).ReplaceAllString(md, "$1")
			case "fish":
				md = regexp.MustCompile(`(?m)^(TOKEN= <redacted>) *⏎? *$`).ReplaceAllString(md, "$1")
			}
			if md != want {
				t.Errorf("got\n%s\nwant\n%s", md, want)
			}
			log := read(t, started.LogPath)
			if piece := shows(stripped(log), ghToken); piece != "" || strings.Contains(stripped(log), "abc123") {
				t.Errorf("%q left in the log: %q", piece, decoded(t, log))
			}
		})
	}
}

// TestWithoutIntegration is case U53 in a shell that nobody asked for marks.
func TestWithoutIntegration(t *testing.T) {
	x := newTerminal(t, Options{}, "sh", false)
	x.until(func(v *engine.View) bool { return strings.Contains(v.Screen.Text(), "work$") }) // else the echo comes before it
	_, err := x.Start(x.Session, 0, x.home)
	must(t, err)
	_, err = x.Do(t.Context(), engine.Text("echo TOKEN=abc123; echo do''ne\r"))
	must(t, err)
	x.until(func(v *engine.View) bool { return strings.Contains(v.Screen.Text(), "\ndone") })
	got, err := x.Stop(0)
	must(t, err)
	if md := read(t, got.MDPath); got.BlockCount != 1 || !strings.Contains(md, "\nTOKEN= <redacted>\ndone\n") || strings.Contains(md, "abc123") || !strings.Contains(md, noMarks) {
		t.Errorf("%+v\n%s", got, md)
	}
}

// TestBeginsWithinACommand: what runs when the recording begins is a block like others.
func TestBeginsWithinACommand(t *testing.T) {
	x := newTerminal(t, Options{}, "bash", true)
	x.atPrompt()
	_, err := x.Do(t.Context(), engine.Text("echo one; read -r line; echo got $line; (exit 4)\r"))
	must(t, err)
	x.until(func(v *engine.View) bool { return strings.Contains(v.Screen.Text(), "\none") })
	_, err = x.Start(x.Session, 0, x.home)
	must(t, err)
	_, err = x.Do(t.Context(), engine.Text("two\r"))
	must(t, err)
	x.until(func(v *engine.View) bool { return v.Reports.Shell.Phase == engine.ShellInput })
	got, err := x.Stop(0)
	must(t, err)
	want := "## Block 1 — `echo one; read -r line; echo got $line; (exit 4)`\n\n> exit: 4\n\n```\ntwo\ngot two\n```"
	if md := read(t, got.MDPath); blocksOf(md) != want {
		t.Errorf("got\n%s\nwant\n%s", blocksOf(md), want)
	}
}
