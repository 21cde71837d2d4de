//go:build unix

package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// TestBashKeepsWhatIsTheUsers: a theme of two lines that PROMPT_COMMAND makes anew each time, with
// the exit code, hooks by PROMPT_COMMAND, PS0 and DEBUG.
func TestBashKeepsWhatIsTheUsers(t *testing.T) {
	const theme = `
HISTCONTROL=ignoreboth
theme() { local code=$?; echo "before-$code"; PS1="\[\e[1m\]top \w\[\e[m\]"$'\n'"$code>\[\e7\e[50C\]right\[\e8\] "; }
PROMPT_COMMAND=theme
PS0='[ps0]\n'
count=0
trap 'case $BASH_COMMAND in say*) count=$((count + 1)) ;; esac' DEBUG
say() { echo "said $1"; }
alias printf='echo alias' local='echo alias' builtin='echo alias'
`
	s := startShell(t, start{program: "bash", files: map[string]string{".bashrc": theme}})
	s.same([]line{
		{typed: "say one\r", output: "said one"},
		{typed: "(exit 3)\r", code: 3},
		{typed: "echo $?\r", output: "3"},
		{typed: "say $count\r", output: "said 2"},
		{typed: "echo same\r", output: "same"},
		{typed: "history | tail -n 2 | sed 's/^ *[0-9]* *//'\r", output: "echo same\nhistory | tail -n 2 | sed 's/^ *[0-9]* *//'"},
	})
	s.run("false\r")
	s.await("the prompt", s.atPrompt)
	if text := s.View().Screen.Text(); !strings.Contains(text, "[ps0]\nbefore-1\ntop ~\n1>") || !strings.Contains(text, "right") {
		t.Errorf("the prompt is not the user's:\n%s", text)
	}
	s.noBlock("\r")
	s.same([]line{
		{typed: "PROMPT_COMMAND=\r", output: "before-0"}, // for the last time
		{typed: "PS1='plain> '\r"},
		{typed: "echo still\r", output: "still"},
		{typed: "echo still\r", output: "still"},
		{typed: " echo kept out\r", command: "echo kept out", output: "kept out"}, // not in the history: off the screen
		{typed: "false\r", code: 1},
		{typed: "PROMPT_COMMAND='PS1=\"new \"'; PS0=\r"},
		{typed: "echo still\r", output: "still"},
		{typed: "PROMPT_COMMAND=\"echo first; $PROMPT_COMMAND\"\r", output: "first"},
		{typed: "echo ${#PROMPT_COMMAND[@]} ${PROMPT_COMMAND[1]}\r", output: "3 echo first; PS1=\"new \""},
		{typed: "PROMPT_COMMAND+=('echo late; PS1=\"late \"')\r"},
	})
	s.keys("echo unmarked prompt\r") // made by what was put behind ours
	if b := s.next(); b.Command != "echo unmarked prompt" || b.Output != "unmarked prompt\n" {
		t.Errorf("%+v", b)
	}
	s.same([]line{
		{typed: "echo still\r", output: "still"},
		{typed: "PS1=\"(venv) $PS1\"\r"},
		{typed: "shopt -u promptvars\r"},
		{typed: "(exit 4)\r", code: 4},
		{typed: "shopt -s promptvars\r"},
		{typed: "set -o history; shopt -u cmdhist\r"},
		{typed: "echo one line\r", output: "one line"},
		{typed: "set +o history\r"},
		{typed: "echo no history\r", output: "no history"},
	})
}

// TestStrictShells: with errexit and nounset nothing of ours ends the shell, and what fails does.
func TestStrictShells(t *testing.T) {
	for _, name := range []string{"bash", "zsh"} {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, start{program: name})
			s.same([]line{
				{typed: "set -u\r"}, {typed: "echo a\r", output: "a"}, {typed: "set -e\r"}, {typed: "echo b\r", output: "b"}, {typed: "cd /\r"}, {typed: "echo c\r", output: "c"},
			})
			s.noBlock("\r")
			s.await("the prompt", s.atPrompt)
			s.keys("(exit 6)\r")
			s.await("the end", func() bool { return s.View().Exit != nil })
			if code := s.View().Exit.Code; code != 6 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// TestBashStartsAsItWould: which files are read, and what the shell is then.
func TestBashStartsAsItWould(t *testing.T) {
	files := map[string]string{
		".bashrc": "echo rc\nfalse\n", ".bash_profile": "echo profile\n", ".profile": "echo other\n", "own": "echo own\n", "env": "echo env\n",
		".bash_logout": "echo bye\n",
	}
	const look = "shopt -q login_shell && echo login; shopt -qo posix && echo posix; shopt -q inherit_errexit && echo inherit; echo ${HISTFILE##*/} ${ENV-none}; env | grep PTYWRIGHT_[^S]\r"
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		read string // in order
		is   string
	}{
		"plain":      {read: "rc", is: ".bash_history none"},
		"of its own": {args: []string{"--rcfile", "own"}, read: "own", is: ".bash_history none"},
		"with ENV":   {env: map[string]string{"ENV": "~/env"}, read: "rc", is: ".bash_history HOME/env"},
		"login":      {args: []string{"-l"}, read: "profile", is: "login\n.bash_history none"},
		"login, env": {args: []string{"--login"}, env: map[string]string{"ENV": "~/env"}, read: "profile", is: "login\n.bash_history HOME/env"},
		"bare login": {args: []string{"--noprofile", "-l"}, is: "login\n.bash_history none"},
		"bare":       {args: []string{"--norc"}, is: ".bash_history none"},
		"posix":      {args: []string{"--posix"}, env: map[string]string{"ENV": "$HOME/env"}, read: "env", is: "posix\ninherit\n.sh_history $HOME/env"},
		"posix, too": {args: []string{"-o", "posix"}, read: "", is: "posix\ninherit\n.sh_history none"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, start{program: "bash", args: c.args, env: c.env, files: files})
			s.await("the prompt", s.atPrompt)
			var read []string
			for l := range strings.Lines(s.View().Screen.Text()) {
				switch l = strings.TrimSpace(l); l {
				case "rc", "profile", "other", "own", "env":
					read = append(read, l)
				}
			}
			if got := strings.Join(read, " "); got != c.read {
				t.Errorf("read %q, want %q", got, c.read)
			}
			b := s.run(look)
			if got := strings.ReplaceAll(b.ScreenText, s.home, "HOME"); got != c.is {
				t.Errorf("it is %q, want %q", got, c.is)
			}
			s.same([]line{{typed: "echo ok\r", output: "ok"}, {typed: "(exit 2)\r", code: 2}})
		})
	}
}

// TestZshKeepsWhatIsTheUsers: start-up files, a theme that hooks make, a right prompt, a prompt
// that changes while a line is typed, options that break careless scripts.
func TestZshKeepsWhatIsTheUsers(t *testing.T) {
	files := map[string]string{
		"z/.zshenv": "echo env $ZDOTDIR\n", "z/.zprofile": "echo profile\n", "z/.zlogin": "echo login\n",
		"z/.zshrc": `
echo rc ${ZDOTDIR##*/}
alias print='echo alias' builtin='echo alias' emulate='echo alias'
setopt ksh_arrays sh_word_split prompt_subst hist_ignore_space no_unset warn_create_global
precmd() { local code=$?; echo "before-$code"; PS1="%Btop %~%b"$'\n'"$code%% "; RPS1="right" }
preexec() { echo "[pre $1]" }
precmd_functions+=(late)
late() { PS1+="late> " }
tick() { PS1="changed> "; zle reset-prompt; zle -F $1; exec {fd}<&- }
fd=
go() { exec {fd}< <(sleep 0.2; echo); zle -F $fd tick }
`,
	}
	s := startShell(t, start{program: "zsh", args: []string{"-l"}, files: files, env: map[string]string{"ZDOTDIR": "~/z"}})
	s.await("the prompt", s.atPrompt)
	s.settle("right") // it is drawn behind the prompt's mark
	if text := s.View().Screen.Text(); !strings.Contains(text, "env "+s.home+"/z\nprofile\nrc z\nlogin\nbefore-0\ntop ~\n0% late>") {
		t.Errorf("at first the screen is\n%s", text)
	}
	s.same([]line{
		{typed: "echo one\r", output: "one"},
		{typed: "(exit 3)\r", code: 3},
		{typed: "echo $?\r", output: "3"},
		{typed: "printf dangling\r", output: "dangling", exact: "dangling"},
		{typed: " echo hidden\r", command: " echo hidden", output: "hidden"},
		{typed: "env | grep -c PTYWRIGHT_Z\r", output: "0", code: 1},
		{typed: "echo ${#precmd_functions[@]} $PERIOD\r", command: "echo ${#precmd_functions[@]} $PERIOD", output: "zsh: PERIOD: parameter not set", code: 1},
		{typed: "unsetopt prompt_sp\r", output: "before-0"}, // then a function precmd comes before all hooks
		{typed: "(exit 5)\r", output: "before-5", code: 5},
		{typed: "setopt prompt_sp; unfunction precmd\r"},
		{typed: "go\r"},
	})
	s.settle("changed>")
	s.same([]line{{typed: "echo after\r", output: "after"}, {typed: "false\r", code: 1}, {typed: "precmd_functions=(late)\r"}})
	s.keys("echo on\r") // no hook has marked this prompt
	if b := s.next(); b.Command != "echo on" || b.Output != "on\n" || !b.Exited {
		t.Errorf("%+v", b)
	}
	s.same([]line{{typed: "(exit 5)\r", code: 5}})
}

func TestZshWithoutStartFiles(t *testing.T) {
	for _, args := range [][]string{{"-f"}, {"--no-rcs"}, {"-o", "no_rcs"}} {
		s := startShell(t, start{program: "zsh", args: args, files: map[string]string{".zshenv": "echo env\n", ".zshrc": "echo rc\n"}})
		s.same([]line{{typed: "[[ -o rcs ]]\r", code: 1}, {typed: "echo ok\r", output: "ok"}})
		if text := s.View().Screen.Text(); strings.Contains(text, "env") || strings.Contains(text, "\nrc") {
			t.Errorf("%v reads\n%s", args, text)
		}
	}
}

func TestFishKeepsWhatIsTheUsers(t *testing.T) {
	s := startShell(t, start{program: "fish", files: map[string]string{".config/fish/config.fish": `
set -g fish_greeting
function fish_prompt
    set -l code $status
    printf 'top %s\n%s> ' (prompt_pwd) $code
end
function fish_right_prompt; echo right; end
function mine --on-event fish_postexec; set -g seen $argv[1] $status; end
`}})
	s.same([]line{
		{typed: "echo one\r", output: "one"},
		{typed: "sh -c 'exit 3'\r", code: 3},
		{typed: "echo $status $seen\r", output: "3 sh -c 'exit 3' 3"},
		{typed: "printf dangling\r", output: "dangling", exact: "dangling"},
		{typed: "set -q PTYWRIGHT_FISH\r", code: 1},
		{typed: "sh -c 'exit 4'\r", code: 4},
	})
	s.await("the prompt", s.atPrompt)
	if text := s.View().Screen.Text(); !strings.Contains(text, "top ~\n4> ") || !strings.Contains(text, "right") {
		t.Errorf("the prompt is not the user's:\n%s", text)
	}
	s.same([]line{{typed: "function fish_prompt; echo 'new> '; end\r"}})
	s.keys("echo more\r")
	if b := s.next(); b.Command != "echo more" || b.Output != "more\n" {
		t.Errorf("%+v", b)
	}
}

// TestNestedShells: what a shell without marks does within one with them is one command's output.
func TestNestedShells(t *testing.T) {
	s := startShell(t, start{program: "bash"})
	s.await("the prompt", s.atPrompt)
	s.keys("PS1='inner> ' bash --norc\r")
	s.settle("inner>")
	s.keys("echo deep; exit 8\r")
	b := s.next()
	if b.Command != "PS1='inner> ' bash --norc" || b.ExitCode != 8 || !strings.Contains(b.ScreenText, "inner> echo deep; exit 8\ndeep\n") {
		t.Errorf("%+v", b)
	}
	s.same([]line{{typed: "echo back\r", output: "back"}})
	s.await("the prompt", s.atPrompt)
	s.keys("PS1='fresh> ' exec bash --norc\r")
	s.settle("fresh>")
	s.keys("echo unmarked; exit 9\r")
	s.await("the end", func() bool { return s.View().Exit != nil })
	all, _ := s.Blocks(s.last)
	if len(all) != 1 || all[0].Exited || all[0].Ended.IsZero() || !strings.Contains(all[0].Output, "unmarked") {
		t.Errorf("%+v", all)
	}
}

// TestPastedCommands: two lines at once are two commands.
func TestPastedCommands(t *testing.T) {
	for _, name := range []string{"bash", "zsh"} {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, start{program: name})
			s.await("the prompt", s.atPrompt)
			s.keys("echo one; sh -c 'exit 3'\recho two\r")
			if b := s.next(); b.Output != "one\n" || b.ExitCode != 3 {
				t.Errorf("%+v", b)
			}
			if b := s.next(); b.Command != "echo two" || b.Output != "two\n" || b.ExitCode != 0 {
				t.Errorf("%+v", b)
			}
		})
	}
}

// TestResizedBlock: a change of width while a command runs loses nothing of it.
func TestResizedBlock(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, start{program: name, size: pty.Size{Rows: 10, Cols: 60}})
			s.same([]line{{typed: "seq 30\r", output: strings.Join(numbers(30), "\n")}})
			s.await("the prompt", s.atPrompt)
			s.keys("echo " + strings.Repeat("x", 100) + "; sh -c 'read x; echo end; exit 2'\r")
			s.await("its output", func() bool {
				all, _ := s.Blocks(s.last)
				return len(all) == 1 && strings.HasSuffix(all[0].Output, "x\n")
			})
			for _, cols := range []uint16{35, 90} {
				if err := s.Resize(pty.Size{Rows: 10, Cols: cols}); err != nil {
					t.Fatal(err)
				}
			}
			s.keys("in\r")
			if b := s.next(); b.Output != strings.Repeat("x", 100)+"\nin\nend\n" || b.ExitCode != 2 || !b.Whole {
				t.Errorf("%+v", b)
			}
			s.same([]line{{typed: "seq 30\r", output: strings.Join(numbers(30), "\n")}})
		})
	}
}

func TestMarksOfTwoScripts(t *testing.T) {
	blocksOf(t, func(print func(string), s *engine.Session) {
		for range 2 {
			print("\x1b]633;A\a\x1b]133;A\a$ \x1b]133;B\a\x1b]633;B\als\r\n\x1b]133;C\a\x1b]633;E;ls\\x3b\a\x1b]633;C\aout\r\n\x1b]133;D;1\a\x1b]633;D;1\a")
		}
		print(markA + "$ " + markB + "if x\r\n\x1b]133;A;k=s\a> fi\r\n" + markC + "x\r\n" + markD(2))
		b, _ := s.Blocks(0)
		if len(b) != 3 || b[0].Command != "ls;" || b[0].Output != "out\n" || b[1].Command != "ls;" || b[1].ExitCode != 1 || b[2].Command != "if x\n> fi" || s.View().Reports.Shell.Commands != 3 {
			t.Errorf("%+v, %+v", b, s.View().Reports.Shell)
		}
	})
}

func TestBlockOverAChangeOfWidth(t *testing.T) {
	blocksOf(t, func(print func(string), s *engine.Session) {
		print(markA + "$ " + markB + "x\r\n" + markC + strings.Repeat("a", 70) + "\r\nb\r\n")
		for _, cols := range []uint16{20, 33, 100} {
			if err := s.Resize(pty.Size{Rows: 24, Cols: cols}); err != nil {
				t.Fatal(err)
			}
			print("more\r\n")
		}
		print(markD(0))
		b, _ := s.Blocks(0)
		if want := strings.Repeat("a", 70) + "\nb\nmore\nmore\nmore"; len(b) != 1 || b[0].ScreenText != want || b[0].Output != want+"\n" || !b[0].Whole || !b[0].ScreenWhole {
			t.Errorf("%+v, want %q", b, want)
		}
	})
}

// TestShellFolder: it is private, of this session alone, and gone when the shell is; also when
// there never was one.
func TestShellFolder(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	list := func() []string {
		found, _ := filepath.Glob(filepath.Join(tmp, "*"))
		return found
	}
	p := enginetest.New()
	var seen pty.Command
	e := engine.New(engine.Options{Start: func(c pty.Command) (engine.PTY, error) {
		if seen = c; c.Path != "bash" {
			return nil, os.ErrNotExist
		}
		return p, nil
	}})
	defer e.Close(t.Context())
	if _, err := e.Spawn(t.Context(), engine.Config{Program: "zsh", ShellIntegration: true}); err == nil || len(list()) != 0 {
		t.Errorf("%v, left %v", err, list())
	}
	s, err := e.Spawn(t.Context(), engine.Config{Program: "bash", Args: []string{"--noediting", "-i"}, ShellIntegration: true})
	if err != nil {
		t.Fatal(err)
	}
	made := list()
	if len(made) != 1 {
		t.Fatalf("made %v", made)
	}
	if info, err := os.Stat(made[0]); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if got := strings.Join(seen.Args, " "); got != "--noediting --init-file "+made[0]+"/bash -i" || len(s.Config().Args) != 2 {
		t.Errorf("arguments %s, told as %q", got, s.Config().Args)
	}
	p.End(0)
	for ctx, s := t.Context(), s; ; {
		changed := s.Changed()
		if s.View().Ended {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("not ended")
		case <-time.After(hang):
			t.Fatal("not ended")
		}
	}
	if left := list(); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	t.Setenv("TMPDIR", filepath.Join(tmp, "none"))
	if _, err := e.Spawn(t.Context(), engine.Config{Program: "bash", ShellIntegration: true}); err == nil || !strings.Contains(err.Error(), "make a folder for shell integration in") {
		t.Errorf("without a folder: %v", err)
	}
}

// TestShellOddities: a command longer than a mark holds, and standard output that is no longer the
// terminal.
func TestShellOddities(t *testing.T) {
	for _, name := range []string{"bash", "zsh"} {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, start{program: name})
			if b := s.run(": " + strings.Repeat("0123456789", 1000) + "\r"); len(b.Command) < 8000 || !strings.HasPrefix(b.Command, ": 0123") || !strings.HasSuffix(b.Command, "…") || !b.Exited {
				t.Errorf("%d bytes, %.20q", len(b.Command), b.Command)
			}
			s.same([]line{{typed: "exec >file\r"}, {typed: "echo unseen\r"}, {typed: "(exit 3)\r", code: 3}, {typed: "exec >/dev/tty\r"}, {typed: "cat file\r", output: "unseen"}})
		})
	}
}

// TestMarksOfACommandAreNotTheShells: what a command prints may hold marks, as a file that is
// looked at may. It ends neither the command nor begins another, and its exit code is the shell's
// word.
func TestMarksOfACommandAreNotTheShells(t *testing.T) {
	for _, program := range []string{"bash", "zsh", "fish"} {
		t.Run(program, func(t *testing.T) {
			s := startShell(t, start{program: program})
			print := `printf '\033]133;D;0\007\033]633;D;0\007\033]133;A\007$ \033]133;B\007\033]633;E;rm\007\033]133;C\007fake\033]133;D;0\007'`
			s.same([]line{
				{typed: "echo one\r", output: "one"},
				{typed: print + "; echo; false\r", command: print + "; echo; false", output: "$ fake", code: 1},
				{typed: "echo two\r", output: "two"},
			})
		})
	}
}
