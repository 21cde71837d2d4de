package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagsFirst makes a command's flags precede its first argument: the rest belongs to a program or a
// script.
func FlagsFirst(c *cobra.Command) {
	c.Flags().SetInterspersed(false)
	c.Annotations = map[string]string{firstNote: "yes"}
}

// oneDash finds a flag's long name after a single dash, which would be parsed as that many
// one-letter flags: -key as -k ey. c is the flag's command; nil: there is no such flag.
func oneDash(root *cobra.Command, args []string) (c *cobra.Command, err error) {
	c, rest, err := root.Find(args)
	if err != nil || c == root || c.DisableFlagParsing {
		return nil, nil
	}
	fs := c.Flags()
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		switch {
		case a == "--":
			return nil, nil
		case len(a) < 2 || a[0] != '-':
			if c.Annotations[firstNote] != "" {
				return nil, nil
			}
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if strings.HasPrefix(a, "--") {
			if f := fs.Lookup(name); f != nil && !given && f.NoOptDefVal == "" {
				i++ // its value
			}
			continue
		}
		if f := fs.Lookup(name); f != nil && len(name) > 1 {
			said := "--" + name
			if given {
				said += "=" + value
			} else if f.NoOptDefVal == "" && i+1 < len(rest) {
				said += " " + ShellWord(rest[i+1])
			}
			return c, Usagef("-%s has one dash, and a name of more than one letter has two: %s", name, said)
		}
		if takesNext(fs, a[1:]) {
			i++
		}
	}
	return nil, nil
}

// takesNext reports whether the last of a group of one-letter flags takes its value from the next
// argument.
func takesNext(fs *pflag.FlagSet, letters string) bool {
	for i := range len(letters) {
		f := fs.ShorthandLookup(letters[i : i+1])
		if f == nil {
			return false
		}
		if f.NoOptDefVal == "" { // the rest is its value
			return i == len(letters)-1
		}
	}
	return false
}
