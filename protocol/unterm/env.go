package unterm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ptywright/ptywright/internal/lazy"
)

// An environment has the variables that session.set_env has set in a pane's shell, on top of those
// that its program was started with.
type environment struct {
	mu sync.Mutex
	// protects the field below
	values map[string]*string // nil: unset
}

// over returns the resulting variables.
func (e *environment) over(spawned []string) map[string]string {
	all := map[string]string{}
	for _, kv := range spawned {
		name, value, _ := strings.Cut(kv, "=")
		all[name] = value
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, value := range e.values {
		if value == nil {
			delete(all, name)
		} else {
			all[name] = *value
		}
	}
	return all
}

func (e *environment) put(name string, value *string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.values == nil {
		e.values = map[string]*string{}
	}
	e.values[name] = value
}

type envResult struct {
	Value   *string           `json:"value"`
	Env     map[string]string `json:"env,omitzero"` // without a name: all
	Message string            `json:"message,omitempty"`
}

// envPane returns a variable of a pane, or all: those that its program was started with, and those
// set by session.set_env since. Variables that were exported by hand are known only to the shell.
// Without a pane the answer is that of Unterm, which can read none: no value, and why.
func envPane(_ context.Context, s *reader, p params) (any, error) {
	if !p.namesPane() {
		return envResult{Message: "no variable was read: name a session with 'id'"}, nil
	}
	at, err := s.pane(p)
	if err != nil {
		return nil, err
	}
	all := s.look(at.session).Env(at.set.over(at.session.Environ()))
	const known = "as the program was started, and as session.set_env has set since"
	name, ok := p.text("name")
	if !ok {
		return envResult{Env: all, Message: known}, nil
	}
	if value, ok := all[name]; ok {
		return envResult{Value: &value, Message: known}, nil
	}
	return envResult{Message: "not set, " + known}, nil
}

// variable is a name that every shell accepts.
var variable = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// maxValue bounds a variable's value, in bytes: the line that sets it is typed.
const maxValue = 2 << 10

// assignment is the command line that sets a variable in a shell, or unsets it with value nil.
func assignment(shell, name string, value *string) (string, error) {
	double := func(quote string) string { return strings.ReplaceAll(*value, quote, quote+quote) }
	switch shell {
	case "bash", "zsh", "unknown":
		if value == nil {
			return "unset " + name, nil
		}
		return "export " + name + "='" + strings.ReplaceAll(*value, "'", `'\''`) + "'", nil
	case "fish":
		if value == nil {
			return "set -e " + name, nil
		}
		return "set -gx " + name + " '" +
			strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(*value) + "'", nil
	case "nushell":
		if value == nil {
			return "hide-env " + name, nil
		}
		if strings.Contains(*value, "'") {
			return "", errors.New("a value with a single quote cannot be written for nushell")
		}
		return "$env." + name + " = '" + *value + "'", nil
	case "powershell":
		if value == nil {
			return "Remove-Item Env:" + name, nil
		}
		return "$env:" + name + " = '" + double("'") + "'", nil
	}
	return "", fmt.Errorf("this server does not know how %s sets a variable: type it with exec.run", shell)
}

// setEnvPane sets a variable in the shell of a pane, by a command that it runs there: there is no
// other way. Without a value it unsets it. Without a pane it does nothing and answers as Unterm
// does, whose method does nothing.
func setEnvPane(ctx context.Context, s *reader, p params) (any, error) {
	if !p.namesPane() {
		return done{Status: "ok", Message: "nothing was set: name a session with 'id'"}, nil
	}
	at, err := s.pane(p)
	if err != nil {
		return nil, err
	}
	name, err := p.needText("name", "Missing 'name'")
	if err != nil {
		return nil, err
	}
	if !variable().MatchString(name) {
		return nil, errors.New("'name' is a variable's: letters, digits and underscores, and no digit first")
	}
	var value *string
	if v, ok := p.text("value"); ok {
		value = &v
	} else if v, ok := p["value"]; ok && v.Kind() != 'n' {
		return nil, errors.New("'value' is a string, or null to unset the variable")
	}
	if value != nil &&
		(len(*value) > maxValue ||
			strings.ContainsFunc(*value, func(c rune) bool { return c < ' ' || c == 0x7f })) {
		return nil, fmt.Errorf("'value' is typed into the shell: at most %d bytes, without control characters", maxValue)
	}
	process, err := at.session.Foreground()
	if err != nil {
		return nil, err
	}
	if !process.Leader || !idle(at.session, at.session.View(), process) {
		return nil, fmt.Errorf("Session %d runs %s: a variable can be set in a shell that waits for a command", at.number, clip(process.Name))
	}
	line, err := assignment(shellType(process), name, value)
	if err != nil {
		return nil, err
	}
	if err := s.mayRun("session.set_env", at, line); err != nil {
		return nil, err
	}
	if value != nil {
		if err := s.Known.LendTo(string(at.session.ID()), at.session.Closed(),
			map[string]string{name: *value}); err != nil {
			return nil, err
		}
	}
	r, err := s.run(ctx, at, line, runOptions{bound: runBound})
	switch {
	case err != nil:
		return nil, err
	case r.Status != "completed" || r.ExitCode == nil || *r.ExitCode != 0:
		return nil, fmt.Errorf("the shell of session %d has not set %s: %s", at.number, name,
			clip(r.Output))
	}
	at.set.put(name, value)
	return statusOK, nil
}
