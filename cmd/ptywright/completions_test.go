//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestCompletionScripts are taken by the shells that they are for.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for shell, check := range map[string][]string{
		"bash": {"bash", "-n"}, "zsh": {"zsh", "-n"}, "fish": {"fish", "--no-execute"}, "powershell": nil,
	} {
		out, code := ptywright(t, "completions", shell).run("")
		if code != 0 || !strings.Contains(out, "ptywright") {
			t.Errorf("%s: exit %d, %.100q", shell, code, out)
		}
		if check == nil {
			continue
		}
		if _, err := exec.LookPath(check[0]); err != nil {
			t.Logf("%s is not installed: apt-get install %s", check[0], check[0])
			continue
		}
		path := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(check[0], append(check[1:], path)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, said)
		}
	}
	if _, code := ptywright(t, "completions", "tcsh").run(""); code != 2 {
		t.Errorf("exit %d", code)
	}
}

// TestRemoteCompletion completes ids by asking the server.
func TestRemoteCompletion(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "cat")
	s.ok("spawn", "--", "sh", "-c", "exit 3")
	s.ok("wait", "s2", "--exit")
	lines := func(args ...string) []string {
		out, _, code := s.run(append([]string{"__complete"}, args...)...)
		if code != 0 {
			t.Errorf("%q: exit %d", args, code)
		}
		return strings.Split(out, "\n")
	}
	if got := lines("read", ""); !slices.Contains(got, "s1\tcat, running") || !slices.Contains(got, "s2\tsh, exit 3") {
		t.Errorf("%q", got)
	}
	if got := lines("plugin", "explain", ""); got[0] != ":4" {
		t.Errorf("without an adapter there is %q to explain", got)
	}
	s.ok("repl", "--socket", s.path, "-e", `adapter.start("repl", {program = "cat"})`)
	if got := lines("plugin", "explain", ""); len(got) < 3 || got[2] != ":4" || !strings.HasSuffix(got[0], "\trepl") || got[1] != "s3\trepl" {
		t.Errorf("explain is offered %q", got)
	}
	if got := lines("send", "s1", ""); slices.Contains(got, "s1\tcat, running") {
		t.Errorf("text is completed: %q", got)
	}
	if got := lines("kill", "s1", "s2"); !slices.Contains(got, "s2\tsh, exit 3") || slices.Contains(got, "s1\tcat, running") {
		t.Errorf("%q", got)
	}
}

// TestCompletionOfFlags: what flags take is offered, and described without marks.
func TestCompletionOfFlags(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for line, want := range map[string]string{
		"send s1 --key ":           "enter\ntab\nshift_tab\n",
		"send s1 --key pa":         "page_down\npage_up\npause\n:",
		"send s1 --key ctrl+p":     "ctrl+page_down\nctrl+page_up\nctrl+pause\nctrl+print_screen\nctrl+p\n:",
		"send s1 --key al":         "alt+\n:38\n",
		"send s1 -k shift+f1":      "shift+f1\nshift+f10\n",
		"serve --log-level ":       "debug\ninfo\nwarn\nerror\n:4\n",
		"serve --framing l":        "lsp\n:4\n",
		"mcp --profile t":          "terminal-mcp\n:4\n",
		"shot --format ":           "png\nsvg\nhtml\nansi\n:4\n",
		"record --format ":         "v2\nv3\nmarkdown\n:4\n",
		"serve --plugin ":          "toml\n:8\n",
		"spawn --cwd ":             ":16\n",
		"wait s1 --timeout ":       ":4\n",
		"wait s1 --text":           "--text\tuntil the screen, or a line that scrolls off it meanwhile, contains this TEXT\n",
		"help wai":                 "wait\tWait until",
		"completions z":            "zsh\n",
		"attach --de":              "--detach-key\t",
		"plugin explain --follow ": ":4\n",
	} {
		p := ptywright(t, append([]string{"__complete"}, strings.Split(line, " ")...)...)
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+home)
		if out, code := p.run(""); code != 0 || !strings.Contains(out, want) || strings.Contains(out, "`") {
			t.Errorf("%q: exit %d, %q, expected %q", line, code, out, want)
		}
	}
}

// TestCompletionInShells presses Tab in real ones, as they come: without a start-up file, and bash without its package.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		load string
	}{
		"bash": {[]string{"--norc", "--noprofile"}, `PS1='> '; declare -F _get_comp_words_by_ref; COMP_WORDBREAKS="${COMP_WORDBREAKS//[=:]}=:"; source <(ptywright completions bash); echo lo''aded`},
		"zsh":  {[]string{"-f"}, `PS1='> '; autoload -U compinit; compinit -u -D; source <(ptywright completions zsh); echo lo''aded`},
		"fish": {[]string{"--no-config"}, `function fish_prompt; echo '> '; end; ptywright completions fish | source; echo lo''aded`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, name, name)
			s := newShared(t)
			s.ok("spawn", "--", "cat")
			home, bin := t.TempDir(), t.TempDir()
			if err := os.Symlink(self, filepath.Join(bin, "ptywright")); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(home, "a folder"), 0o700); err != nil {
				t.Fatal(err)
			}
			shell := start(t).with(client.Config{Program: name, Args: c.args, Rows: 50, Cols: 100, Cwd: home, Env: map[string]string{
				"HOME": home, "ZDOTDIR": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "HISTFILE": "", "LC_ALL": "C.UTF-8",
				"PATH": bin + ":" + os.Getenv("PATH"), "PTYWRIGHT_HOME": filepath.Dir(s.path), "PTYWRIGHT_CONFIG": "off",
			}})
			shell.waitSince(shell.text(c.load+"\r"), client.Screen(`(?m)^loaded\n> *`))
			for _, press := range []struct{ typed, want string }{
				{"ptywright wai", `> ptywright wait X$`},
				{"ptywright wait s", `> ptywright wait s1 X$`},
				{"ptywright serve --log-level=w", `> ptywright serve --log-level=warn X$`},
				{"ptywright send s1 --key esc", `> ptywright send s1 --key escape X$`},
				{"ptywright spawn --cwd ./a", `> ptywright spawn --cwd \./a\\? folder/X$`},
				{"ptywright read s1 --scro", `> ptywright read s1 --scrollback X$`},
			} {
				since := shell.text(press.typed)
				shell.waitSince(since, client.Contains(press.typed))
				shell.text("\tX") // fish shows what it would complete before it does, but not in front of more
				shell.waitSince(since, client.Screen(`(?m)^`+press.want))
				shell.keys("ctrl+u")
				shell.wait(client.Screen(`(?:^|\n)>$`))
			}
			shell.text("exit\r")
			shell.exited()
		})
	}
}
