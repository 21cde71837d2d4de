// Package caller holds what a command passes on of itself: [Environment] to a program that a server
// starts for it, [User] and [Command] to other clients.
package caller

import (
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
)

// MaxEnvironment bounds an environment, in bytes of JSON: a message to a server may have 16 MiB.
// Linux gives a program 2 MiB for its arguments and its environment together, unless the stack's
// limit was raised.
const MaxEnvironment = 15 << 20

// A LargeError says that an environment is too large to be passed on.
type LargeError struct {
	Bytes int
}

func (e *LargeError) Error() string {
	return fmt.Sprintf("this environment takes %d bytes, and at most %d can be handed on: leave variables out, have the program begin with "+
		"the server's environment (--server-env), or with none (--clear-env)", e.Bytes, MaxEnvironment)
}

// Environment returns the part of an environment ("NAME=value", as os.Environ has it) that a
// program started on another terminal begins with, and the sorted names of the variables left out
// because they are not UTF-8 text. The error is a [*LargeError].
func Environment(environ []string) (env map[string]string, untold []string, err error) {
	env = engine.Inherited(environ)
	for name, value := range env {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			delete(env, name)
			untold = append(untold, name)
		}
	}
	slices.Sort(untold)
	b, err := json.Marshal(env)
	if err != nil { // text always encodes
		return nil, nil, err
	}
	if len(b) > MaxEnvironment {
		return nil, nil, &LargeError{len(b)}
	}
	return env, untold, nil
}

// Command is what a command line of ours runs, for others who read who typed: "ptywright wait". It has
// nothing of the command's arguments, which may be secret.
func Command(args []string) string {
	if len(args) == 0 {
		return ""
	}
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	if len(args) > 1 && args[1] != "" && args[1][0] != '-' {
		name += " " + args[1]
	}
	return name
}

// User is user@host, for others who read who holds a session.
func User() string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return name + "@" + host
}
