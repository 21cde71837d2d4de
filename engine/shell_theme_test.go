//go:build unix

package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// themes are prompts as starship, oh-my-zsh and tide draw them: of several lines and colours, with
// an empty line before, wide characters, the last exit code, a right prompt, a title, made anew by
// hooks before each command line.
var themes = map[string]map[string]string{
	"bash": {".bashrc": `
preexec_at=0
theme_preexec() { [ "$preexec_at" != "$HISTCMD" ] && preexec_at=$HISTCMD; }
trap theme_preexec DEBUG
theme_precmd() {
	local code=$?
	printf '\e]0;%s\a' "${PWD/#$HOME/~}"
	PS1='\n\[\e[1;36m\]  \w\[\e[m\] on \[\e[1;35m\]🌱 main\[\e[m\] [\[\e[31m\]!?\[\e[m\]]'
	PS1+='\[\e7\e[999C\e[8D\e[33m\]12:34:56\[\e8\e[m\]\n\[\e['$((code ? 31 : 32))'m\]❯\[\e[m\] '
	PS2='\[\e[90m\]∙\[\e[m\] '
}
PROMPT_COMMAND="theme_precmd; history -a"
`},
	"zsh": {".zshrc": `
setopt prompt_subst interactive_comments
autoload -Uz add-zsh-hook
theme_precmd() { local code=$?; print -Pn '\e]0;%~\a'; color=$(( code ? 31 : 32 )) }
theme_preexec() { print -Pn "\e]0;${1[1,20]}\a" }
add-zsh-hook precmd theme_precmd
add-zsh-hook preexec theme_preexec
PROMPT=$'\n%{\e[1;36m%}  %~%{\e[m%} on %F{magenta}🌱 main%f [%F{red}!?%f]\n%{\e[${color}m%}❯%{\e[m%} '
RPROMPT='%F{yellow}12:34:56%f'
PROMPT2='%F{8}∙%f '
zle-line-init() { zle reset-prompt }
zle -N zle-line-init
`},
	"fish": {".config/fish/config.fish": `
set -g fish_greeting
function fish_prompt
    set -l code $status
    printf '\n\e[1;36m  %s\e[m on \e[1;35m🌱 main\e[m [\e[31m!?\e[m]\n' (prompt_pwd)
    test $code -eq 0; and set_color green; or set_color red
    printf '❯ '
    set_color normal
end
function fish_right_prompt; set_color yellow; echo 12:34:56; set_color normal; end
function fish_title; echo themed; end
function theme_preexec --on-event fish_preexec; set -g last $argv[1]; end
`},
}

// TestThemedShells: under such a prompt commands, outputs and exit codes are as exact as without.
func TestThemedShells(t *testing.T) {
	for name, files := range themes {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, start{program: name, files: files})
			s.same(everyday)
			s.same([]line{loops[name]})
			if name != "fish" {
				s.same([]line{{typed: "cat <<X | tr a-z A-Z\rone\r two\rX\r", command: "cat <<X | tr a-z A-Z\none\n two\nX", output: "ONE\n TWO"}})
			}
			s.noBlock("\r")
			s.same([]line{
				{typed: "seq 5000\r", output: strings.Join(numbers(5000), "\n")},
				{typed: "cd /usr/bin\r"},
				{typed: "pwd; cd ~\r", output: "/usr/bin"},
				{typed: "printf 'top\\033[2J\\033[Hdrawn'; sh -c 'exit 9'\r", output: "drawn", exact: "topdrawn", code: 9},
			})
			s.keys("echo given up")
			s.settle("echo given up")
			s.noBlock("\x03")
			s.await("the prompt", s.atPrompt)
			s.keys("sh -c 'echo ready; exec sleep 1000'\r")
			s.await("it to run", func() bool { all, _ := s.Blocks(s.last); return len(all) == 1 && all[0].Output == "ready\n" })
			s.keys("\x03")
			if b := s.next(); b.ExitCode != 130 || b.ScreenText != "ready\n^C" {
				t.Errorf("interrupted: %+v", b)
			}
			s.run("sh -c 'while ! test -e go; do sleep 0.02; done' &\r")
			s.same([]line{{typed: "echo meanwhile\r", output: "meanwhile"}})
			if err := os.WriteFile(filepath.Join(s.home, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			s.run("wait\r") // what the shell says of the job's end is in here, or between
			s.same([]line{{typed: "sh -c 'exit 12'\r", code: 12}, {typed: "echo on\r", output: "on"}})
			s.await("the prompt", s.atPrompt)
			if text := s.View().Screen.Text(); !strings.Contains(text, "🌱 main") || !strings.Contains(text, "12:34:56") {
				t.Errorf("the prompt is not the user's:\n%s", text)
			}
			s.keys("exec sh -c 'echo other; exit 7'\r")
			s.await("the end", func() bool { return s.View().Exit != nil })
			if b, _ := s.Blocks(s.last); len(b) != 1 || b[0].Output != "other\n" || b[0].Exited || s.View().Exit.Code != 7 {
				t.Errorf("%+v, %+v", b, s.View().Exit)
			}
		})
	}
}
