package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Annotations of commands, for their schema and their help.
const (
	ExitsNote  = "exit codes"      // the digits of the exit codes beyond 2
	StatusNote = "exit status"     // of a command that returns another program's exit code: whose
	LeastNote  = "least arguments" // that some flags allow fewer arguments than the usage line says
	firstNote  = "flags first"     // that flags precede the first argument; see [FlagsFirst]
)

// ArgsOf parses the arguments of a usage line: words in brackets are optional, those before dots
// may repeat, and parentheses hold alternatives.
func ArgsOf(c *cobra.Command) (usage string, least, most int) {
	_, usage, _ = strings.Cut(c.Use, " ")
	usage = strings.TrimSpace(strings.TrimPrefix(usage, "[flags]"))
	if inner, ok := strings.CutPrefix(usage, "("); ok {
		for i, one := range strings.Split(strings.TrimSuffix(inner, ")"), " | ") {
			l, m := countArgs(one)
			if i == 0 {
				least, most = l, m
			}
			if least = min(least, l); m < 0 || most < 0 {
				most = -1
			} else {
				most = max(most, m)
			}
		}
		return usage, least, most
	}
	least, most = countArgs(usage)
	return usage, least, most
}

// countArgs counts the arguments of one alternative. A flag is followed by its value.
func countArgs(usage string) (least, most int) {
	words, depth := strings.Fields(usage), 0 // nesting of brackets
	for i, word := range words {
		optional := depth > 0 || strings.HasPrefix(word, "[")
		depth += strings.Count(word, "[") - strings.Count(word, "]")
		if word == "--" || word == "[--]" || strings.HasPrefix(word, "--") || i > 0 && strings.HasPrefix(words[i-1], "--") && words[i-1] != "--" {
			continue
		}
		if !optional {
			least++
		}
		if most >= 0 {
			most++
		}
		if strings.HasSuffix(strings.TrimRight(word, "]"), "...") {
			most = -1
		}
	}
	return least, most
}
