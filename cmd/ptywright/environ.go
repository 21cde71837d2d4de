package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/caller"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine"
)

// callerEnvironment returns the environment of this command for a program that a server starts for
// it. It warns about variables that cannot be sent.
func callerEnvironment(complaints io.Writer, environ []string) (map[string]string, error) {
	env, untold, err := caller.Environment(environ)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	for _, name := range untold {
		cli.Complain(complaints, fmt.Errorf("%s is not passed to the program: not valid UTF-8", engine.Quote(name)))
	}
	return env, nil
}

// environment parses the variables given by flags.
func environment(given []string) (map[string]string, error) {
	all := map[string]string{}
	for _, g := range given {
		name, value, ok := strings.Cut(g, "=")
		switch {
		case name == "":
			return nil, cli.Usagef("--env: give NAME=VALUE or NAME")
		case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
			return nil, cli.Usagef("--env %s: the name of a variable has no blanks: give NAME=VALUE", engine.Quote(name))
		case !ok:
			if value, ok = os.LookupEnv(name); !ok {
				return nil, cli.Usagef("--env %s: no such variable to pass on; give %s=VALUE", name, name)
			}
		}
		all[name] = value
	}
	return all, nil
}
