package help

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/vt"
)

func completionsCommand(std cli.Stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "completions bash|zsh|fish|powershell",
		Short: "Print a shell completion script",
		Long: `Print a script that completes commands, flags, their values and session ids in your shell.

The bash script needs no other package when ~/.bashrc sources it. With the package bash-completion
installed, put it into the directory of the first example instead; it is then read on demand.`,
		Example: `  ptywright completions bash > ~/.local/share/bash-completion/completions/ptywright
  echo 'source <(ptywright completions bash)' >> ~/.bashrc     # without that package
  ptywright completions zsh > "${fpath[1]}/_ptywright"
  ptywright completions fish > ~/.config/fish/completions/ptywright.fish`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(c *cobra.Command, args []string) error {
			switch root := c.Root(); args[0] {
			case "bash":
				return bashCompletion(std, root)
			case "zsh":
				return root.GenZshCompletion(std.Out)
			case "fish":
				return root.GenFishCompletion(std.Out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(std.Out)
			}
		},
	}
}

// bashStandIns are the functions of the package bash-completion that the generated script for bash
// calls, and our replacements. The package's functions are used if they exist; ours have their own
// names, since other scripts check for the package by its names.
var bashStandIns = []struct{ calls, ours string }{
	{`    _get_comp_words_by_ref "$@" cur prev words cword` + "\n", "    __ptywright_words\n"},
	{"_filedir", "__ptywright_filedir"},
}

// bashWords splits the line as the package does: at blanks, not at the = and : at which readline
// splits it.
const bashWords = `
# The words of the line, of which bash has made several where they have = or :. What is behind the cursor is left out.
__ptywright_words()
{
    local line=${COMP_LINE:0:COMP_POINT} i word glued=0
    words=() cword=-1 cur= prev=
    for ((i = 0; i <= COMP_CWORD && i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        while [[ $line == [[:space:]]* ]]; do line=${line:1}; glued=0; done
        if ((i == COMP_CWORD)) && [[ $word == "$line"* ]]; then word=$line; fi
        line=${line#"$word"}
        if ((glued)) && [[ $word == [=:]* || ${COMP_WORDS[i-1]} == *[=:] ]]; then
            words[cword]+=$word
        else
            words[++cword]=$word
        fi
        glued=1
    done
    if ((cword >= 0)); then cur=${words[cword]}; fi
    if ((cword > 0)); then prev=${words[cword-1]}; fi
}

# Files, and with -d folders, and otherwise those with an extension of the list a|b|.
__ptywright_filedir()
{
    if declare -F _filedir >/dev/null 2>&1; then
        _filedir "$@"
        return
    fi
    local path
    compopt -o filenames 2>/dev/null
    while IFS='' read -r path; do
        if [[ $1 == -d || -z $1 || -d $path || "|$1" == *"|${path##*.}|"* ]]; then COMPREPLY+=("$path"); fi
    done < <(if [[ $1 == -d ]]; then compgen -d -- "$cur"; else compgen -f -- "$cur"; fi)
}
`

// bashCompletion prints cobra's script together with what it needs from the package
// bash-completion.
func bashCompletion(std cli.Stdio, root *cobra.Command) error {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	script := b.String()
	for _, s := range bashStandIns {
		if !strings.Contains(script, s.calls) {
			return errors.New("the script for bash is not what it was when this was written: it has no " + strings.TrimSpace(s.calls))
		}
		script = strings.ReplaceAll(script, s.calls, s.ours)
	}
	_, err := io.WriteString(std.Out, script+bashWords)
	return err
}

// flagWords are flags that take one of a few words, in any command. Others are completed with
// files.
var flagWords = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"log-level":     {"debug", "info", "warn", "error"},
		"log-format":    {"text", "json"},
		"rights":        {"read", "type", "admin"},
		"framing":       {"ndjson", "lsp"},
		"profile":       {"ptywright", "terminal-mcp"},
		"theme":         {"dark", "light"},
		"shot format":   {"png", "svg", "html", "ansi"},
		"record format": {"v2", "v3", "markdown"},
		"echo-off":      {"ask", "secret", "plain"},
	}
})

// flagFiles are flags that take a file, with its extensions, and flagFolders those that take a
// folder.
var (
	flagFiles = map[string][]string{"plugin": {"toml"}, "file": nil, "output": nil,
		"log-file": nil, "audit": nil, "socket": nil, "read-only-socket": nil, "states": nil, "shell": nil}
	flagFolders = []string{"cwd", "dir", "casts", "root"}
)

// keysFirst are the keys offered before anything is typed: the full list fills a screen.
var keysFirst = []string{
	"enter", "tab", "shift_tab", "escape", "space", "backspace", "delete", "insert", "up", "down",
	"left", "right", "home", "end", "page_up", "page_down", "f1", "ctrl+", "alt+", "shift+",
}

// completeFlags adds completions of values to flags.
func completeFlags(c *cobra.Command) {
	for _, sub := range c.Commands() {
		completeFlags(sub)
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		words, known := flagWords()[c.Name()+" "+f.Name]
		if !known {
			words, known = flagWords()[f.Name]
		}
		files, isFile := flagFiles[f.Name]
		var complete cobra.CompletionFunc
		switch {
		case f.Name == "key" && f.Value.Type() == "stringArray":
			complete = keyNames
		case known:
			complete = cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
		case isFile && files != nil:
			complete = cobra.FixedCompletions(files, cobra.ShellCompDirectiveFilterFileExt)
		case isFile:
			return
		case slices.Contains(flagFolders, f.Name):
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		default: // a number or a text, not a file
			complete = cobra.NoFileCompletions
		}
		if f.Value.Type() != "bool" {
			_ = c.RegisterFlagCompletionFunc(f.Name, complete) // the error says that it has one
		}
	})
}

// keyNames completes key names: the usual ones, and after a modifier or the start of a name all
// that match.
func keyNames(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if begun == "" {
		return keysFirst, directive
	}
	modifiers := begun[:strings.LastIndexByte(begun, '+')+1]
	var all []string
	for _, modifier := range []string{"ctrl+", "alt+", "shift+"} {
		if name := modifiers + modifier; modifiers == "" && strings.HasPrefix(name, begun) {
			all = append(all, name)
		}
	}
	for _, name := range vt.KeyNames() {
		if name = modifiers + name; strings.HasPrefix(name, begun) {
			if _, err := vt.ParseKey(name); err == nil {
				all = append(all, name)
			}
		}
	}
	for letter := 'a'; letter <= 'z' && modifiers != ""; letter++ {
		if name := modifiers + string(letter); strings.HasPrefix(name, begun) {
			all = append(all, name)
		}
	}
	if slices.ContainsFunc(all, func(name string) bool { return !strings.HasSuffix(name, "+") }) {
		return all, directive
	}
	return all, directive | cobra.ShellCompDirectiveNoSpace
}

// Completing gives flags the completions of their values, and descriptions without markup.
func Completing(root *cobra.Command) {
	completeFlags(root)
	describePlainly(root)
}

// describePlainly removes markup from flags' descriptions, which shells would show as it is.
func describePlainly(c *cobra.Command) {
	for _, sub := range c.Commands() {
		describePlainly(sub)
	}
	plain := func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) }
	c.Flags().VisitAll(plain)
	c.PersistentFlags().VisitAll(plain)
}
