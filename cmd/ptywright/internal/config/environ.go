package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/internal/nearest"
)

// An EnvError says what is wrong with an environment variable.
type EnvError struct {
	Name, Value string
	Err         error
}

func (e *EnvError) Error() string {
	return fmt.Sprintf("%s in the environment is %q: %v", e.Name, clip32(e.Value), e.Err)
}

func (e *EnvError) Unwrap() error { return e.Err }

// prefix begins the names of our variables.
const prefix = "PTYWRIGHT_"

// others are our variables that are not settings, some of them only for our children.
var others = []string{
	PathVariable, "PTYWRIGHT_HOME", "PTYWRIGHT_MCP_TOKEN", "PTYWRIGHT_SESSION",
	"PTYWRIGHT_START", "PTYWRIGHT_FILE", "PTYWRIGHT_ENV", "PTYWRIGHT_ZDOTDIR", "PTYWRIGHT_NO_RCS", "PTYWRIGHT_FISH", // of shells that mark their commands
}

// A Stray is a variable that is named like ours but is not read by anything.
type Stray struct {
	Name  string
	Meant string // the variable it may be meant to be, or ""
}

func (s Stray) String() string {
	text := clip32(s.Name) + " in the environment is not a variable of ptywright's"
	if s.Meant != "" {
		text += ": did you mean " + s.Meant + "?"
	}
	return text
}

// Strays returns the variables of an environment, as [os.Environ] returns it, that look like
// settings but are not.
func Strays(environ []string) []Stray {
	known := slices.Clone(others)
	for _, s := range Settings {
		known = append(known, s.Env())
	}
	var all []Stray
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		rest, ours := strings.CutPrefix(name, prefix)
		if !ours || slices.Contains(known, name) {
			continue
		}
		all = append(all, Stray{name, variable(rest)})
	}
	slices.SortFunc(all, func(a, b Stray) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// variable guesses which variable was meant by a name without the prefix: a misspelt one, a flag's
// name, or one without its table.
func variable(rest string) string {
	bare := make([]string, len(Settings)) // without underscores, so that LOGLEVEL matches
	for i, s := range Settings {
		bare[i] = strings.ReplaceAll(strings.TrimPrefix(s.Env(), prefix), "_", "")
		if upper := strings.ToUpper(strings.ReplaceAll(s.Flag, "-", "_")); rest == upper ||
			strings.HasSuffix(s.Env(), "_"+rest) {
			return s.Env()
		}
	}
	if i := slices.Index(bare, nearest.Of(strings.ReplaceAll(rest, "_", ""), bare)); i >= 0 {
		return Settings[i].Env()
	}
	var names []string
	for _, name := range others[:4] { // those that a person may set
		if strings.HasSuffix(name, "_"+rest) {
			return name
		}
		names = append(names, strings.TrimPrefix(name, prefix))
	}
	if near := nearest.Of(rest, names); near != "" {
		return prefix + near
	}
	return ""
}
