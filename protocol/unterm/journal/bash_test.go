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
)

// A terminal is a real bash with marks, and a journal.
type terminal struct {
	*Journal
	*engine.Session
	t    *testing.T
	home string
	last uint64
}

func newTerminal(t *testing.T, o Options, integration bool) *terminal {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed (Debian package bash)")
	}
	home := t.TempDir()
	t.Setenv("SHELL", bash)
	if o.Root == "" {
		o.Root = filepath.Join(home, "root")
	}
	x := &terminal{Journal: New(o), t: t, home: filepath.Join(home, "work")}
	must(t, os.Mkdir(x.home, 0o700))
	e := engine.New(engine.Options{})
	t.Cleanup(func() {
		_ = x.Journal.Close()
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	x.Session, err = e.Spawn(engine.Config{Program: bash, Args: []string{"--noprofile", "--norc"}, Dir: x.home, ShellIntegration: integration, ClearEnv: true,
		Env: map[string]string{"HOME": x.home, "PATH": os.Getenv("PATH"), "PS1": "work$ ", "LANG": "C.UTF-8"}})
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
	_, err := x.Do(x.t.Context(), engine.Text(line+"\r"), engine.DoOptions{})
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
	x := newTerminal(t, Options{}, true)
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

// TestBeginsWithinACommand: what runs when the recording begins is a block like others.
func TestBeginsWithinACommand(t *testing.T) {
	x := newTerminal(t, Options{}, true)
	x.atPrompt()
	_, err := x.Do(t.Context(), engine.Text("echo one; read -r line; echo got $line; (exit 4)\r"), engine.DoOptions{})
	must(t, err)
	x.until(func(v *engine.View) bool { return strings.Contains(v.Screen.Text(), "\none") })
	_, err = x.Start(x.Session, 0, x.home)
	must(t, err)
	_, err = x.Do(t.Context(), engine.Text("two\r"), engine.DoOptions{})
	must(t, err)
	x.until(func(v *engine.View) bool { return v.Reports.Shell.Phase == engine.ShellInput })
	got, err := x.Stop(0)
	must(t, err)
	want := "## Block 1 — `echo one; read -r line; echo got $line; (exit 4)`\n\n> exit: 4\n\n```\ntwo\ngot two\n```"
	if md := read(t, got.MDPath); blocksOf(md) != want {
		t.Errorf("got\n%s\nwant\n%s", blocksOf(md), want)
	}
}
