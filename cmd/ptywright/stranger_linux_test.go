package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWithoutAHome: what needs no folder works, and what does says what to set.
func TestWithoutAHome(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	for _, c := range []struct {
		line string
		code int
		says string
	}{
		{"serve --stdio", 0, ""},
		{"mcp", 0, ""},
		{"schema", 0, `"session.wait"`},
		{"completions bash", 0, "__start_ptywright"},
		{"ls --socket " + s.path, 0, ""},
		{"config", 0, "# no file: neither PTYWRIGHT_HOME nor a home folder is set\n"},
		{"doctor", 1, "set HOME, or PTYWRIGHT_HOME"},
		{"ls", 1, "set PTYWRIGHT_HOME or give --socket"},
		{"spawn -- true", 1, "set PTYWRIGHT_HOME or give --socket"},
	} {
		p := ptywright(t, strings.Fields(c.line)...)
		p.Env = slices.DeleteFunc(append(p.Env, "PTYWRIGHT_CONFIG="), func(e string) bool { return strings.HasPrefix(e, "HOME=") || strings.HasPrefix(e, "PTYWRIGHT_HOME=") })
		out, code := p.Run("")
		if said := out + p.Stderr.String(); code != c.code || !strings.Contains(said, c.says) || c.code == 0 && p.Stderr.String() != "" {
			t.Errorf("%s: exit %d, %.300s", c.line, code, said)
		}
	}
}

// TestOddWords are refused where they cannot be meant: an empty one is of a variable that is not
// set, and JSON has no bytes.
func TestOddWords(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "cat")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--text is empty, which every screen contains", []string{"wait", "s1", "--text", ""}},
		{"--regex is empty, which every screen matches", []string{"wait", "s1", "--regex", ""}},
		{"ID is empty: ptywright read [flags] ID", []string{"read", ""}},
		{"ID is empty: ptywright kill", []string{"kill", ""}},
		{"PROGRAM is empty: ptywright spawn", []string{"spawn", "--", ""}},
		{`"\xff" is not UTF-8 text`, []string{"send", "s1", "\xff"}},
		{"--text is not UTF-8 text", []string{"wait", "s1", "--text", "\xff"}},
		{"invalid regular expression: missing closing )", []string{"wait", "s1", "--regex", "("}},
		{`--key "Entr": unknown key: did you mean enter? known are single characters, enter, `, []string{"send", "s1", "--key", "Entr"}},
		{`--key "hyper": unknown key: known are single characters, enter, `, []string{"send", "s1", "--key", "hyper"}},
	} {
		if out := s.fails(2, "ptywright: "+c.says, c.args...); out != "" {
			t.Errorf("%q: %q", c.args, out)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.fails(1, "no server listens there, and none can: not a socket", "ls", "--socket", file)
	s.fails(1, "no server listens there, and none can: not a socket", "spawn", "--socket", file, "--", "true")
	if got := s.ok("read", "s1", "--output"); got != "" {
		t.Errorf("something was typed: %q", got)
	}
}
