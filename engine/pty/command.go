package pty

import (
	"errors"
	"fmt"
	"strings"
)

// environment checks everything about c that does not depend on the system, and returns the
// environment of the program: the last of equal keys, Mark included. Messages name keys, never
// values, which may be secrets.
func (c Command) environment() ([]string, error) {
	if c.Path == "" {
		return nil, errors.New("the program's name is empty: give a program")
	}
	for what, s := range map[string]string{"program's name": c.Path, "directory": c.Dir,
		"mark": c.Mark} {
		if strings.ContainsRune(s, 0) {
			return nil, fmt.Errorf("the %s holds a NUL byte: take it out", what)
		}
	}
	for i, a := range c.Args {
		if strings.ContainsRune(a, 0) {
			return nil, fmt.Errorf("argument %d holds a NUL byte: take it out", i+1)
		}
	}
	if (c.Size.Rows == 0) != (c.Size.Cols == 0) {
		return nil, fmt.Errorf("a terminal of %d rows and %d columns: give at least one of each",
			c.Size.Rows, c.Size.Cols)
	}

	all := c.Env
	if c.Mark != "" {
		all = append(all[:len(all):len(all)], c.Mark)
	}
	env := make([]string, 0, len(all))
	at := make(map[string]int, len(all))
	for i, kv := range all {
		// From the second byte: Windows keeps per-drive directories as "=C:=C:\dir".
		eq := strings.IndexByte(kv[min(1, len(kv)):], '=') + 1
		if eq == 0 || strings.HasPrefix(kv, "=") && !onWindows {
			return nil, fmt.Errorf("environment entry %d is not KEY=VALUE", i+1)
		}
		if strings.ContainsRune(kv, 0) {
			return nil,
				fmt.Errorf("the environment variable %q holds a NUL byte: take it out",
					clip(kv[:eq], 64))
		}
		key := kv[:eq]
		if onWindows {
			key = strings.ToUpper(key)
		}
		if j, ok := at[key]; ok {
			env[j] = kv
			continue
		}
		at[key] = len(env)
		env = append(env, kv)
	}
	return env, nil
}
