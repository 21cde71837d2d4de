package tape

import "strings"

// A Shell is how a tape's shell is started, so that nothing of a user's own settings shows.
type Shell struct {
	Argv []string
	Env  []string // NAME=value
	// Prompts: once it has started its prompt ends in "> ".
	Prompts bool
}

// ShellOf returns how a shell is started, by its name; of another program, its words.
func ShellOf(name string) Shell {
	switch name {
	case "bash":
		return Shell{[]string{"bash", "--noprofile", "--norc", "+o", "history"},
			[]string{"PS1=> ", "BASH_SILENCE_DEPRECATION_WARNING=1"}, true}
	case "zsh":
		return Shell{[]string{"zsh", "--histnostore", "--no-rcs"}, []string{"PROMPT=> "}, true}
	case "fish":
		return Shell{[]string{"fish", "--no-config", "--private", "-C", "function fish_greeting; end",
			"-C", `function fish_prompt; echo -n "> "; end`}, nil, true}
	case "sh":
		return Shell{[]string{"sh"}, []string{"PS1=> "}, true}
	}
	return Shell{Argv: strings.Fields(name)}
}
