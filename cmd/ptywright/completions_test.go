//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestCompletionInShells presses Tab in real ones, as they come: without a start-up file, and bash
// without its package.
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
			shell.waitSince(shell.text(c.load+"\r"), client.Regexp(`(?m)^loaded\n> *`))
			for _, press := range []struct{ typed, want string }{
				{"ptywright wai", `> ptywright wait X$`},
				{"ptywright wait s", `> ptywright wait s1 X$`},
				{"ptywright serve --log-level=w", `> ptywright serve --log-level=warn X$`},
				{"ptywright send s1 --key esc", `> ptywright send s1 --key escape X$`},
				{"ptywright spawn --cwd ./a", `> ptywright spawn --cwd \./a\\? folder/X$`},
				{"ptywright read s1 --scro", `> ptywright read s1 --scrollback X$`},
			} {
				since := shell.text(press.typed)
				shell.waitSince(since, client.Text(press.typed))
				shell.text("\tX") // fish shows what it would complete before it does, but not in front of more
				shell.waitSince(since, client.Regexp(`(?m)^`+press.want))
				shell.keys("ctrl+u")
				shell.wait(client.Regexp(`(?:^|\n)>$`))
			}
			shell.text("exit\r")
			shell.exited()
		})
	}
}
