//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A shared is a server that commands are run against.
type shared struct {
	*listener
	t testing.TB
}

func newShared(t testing.TB, flags ...string) *shared { return &shared{listen(t, flags...), t} }

// run runs a command with the server's home.
func (s *shared) run(args ...string) (out, stderr string, code int) {
	s.t.Helper()
	return s.feed("", args...)
}

func (s *shared) feed(input string, args ...string) (out, stderr string, code int) {
	s.t.Helper()
	p := ptywright(s.t, args...)
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
	out, code = p.Run(input)
	return out, p.Stderr.String(), code
}

// ok runs a command that must succeed, and returns its output without the last line's end.
func (s *shared) ok(args ...string) string {
	s.t.Helper()
	out, stderr, code := s.run(args...)
	if code != 0 || stderr != "" {
		s.t.Fatalf("%q: exit %d, %s%s", args, code, out, stderr)
	}
	return strings.TrimSuffix(out, "\n")
}

// fails runs a command that must fail.
func (s *shared) fails(code int, says string, args ...string) string {
	s.t.Helper()
	out, stderr, got := s.run(args...)
	if got != code || !strings.Contains(stderr, says) {
		s.t.Errorf("%q: exit %d, %q, expected %d, %q\n%s", args, got, stderr, code, says, out)
	}
	return out
}

// objects decodes lines of JSON.
func objects(t testing.TB, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(text) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, o)
	}
	return all
}

// TestExamplesOfWaitAndSpawn: the first example of wait finds the prompt of a fresh shell, and a
// program gets what spawn says that it gets.
func TestExamplesOfWaitAndSpawn(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	help := s.ok("wait", "--help")
	args := regexp.MustCompile(`ptywright (wait s1 --regex) '(.*)'\n`).FindStringSubmatch(help)
	if args == nil {
		t.Fatal(help)
	}
	s.ok("spawn", "--env", asProgram, "--env", "PS1=fresh$ ", "--env", "PTYWRIGHT_FOO=handed", "--", "sh", "-c", `echo "got $PTYWRIGHT_FOO, ${PTYWRIGHT_HOME-none}"; exec sh -i`)
	s.ok("wait", "s1", "--regex", args[2])
	if got := s.ok("read", "s1"); !strings.HasPrefix(got, "got handed, none\n") {
		t.Errorf("%q", got)
	}
	wants(t, s.fails(3, "", "wait", "s1", "--text", "fresh", "--since", "99999", "--timeout", "0"), "sequence 99999 is still to come, the newest is ")
	wants(t, s.ok("spawn", "--help"), "no PTYWRIGHT_ variable", "--env PTYWRIGHT_HOME")
}
