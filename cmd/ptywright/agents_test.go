//go:build unix

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptywright/ptywright/internal/lanes"
)

// agents is $PTYWRIGHT_AGENTS. The tests hide it from ptywright, which warns about variables of its
// own that are not settings.
var agents = func() string {
	folder := os.Getenv("PTYWRIGHT_AGENTS")
	_ = os.Unsetenv("PTYWRIGHT_AGENTS") // it fails only for an invalid name
	return folder
}()

// agent returns the path of an agent below $PTYWRIGHT_AGENTS, where .ci/agents installs each in a
// folder of its own, such as claude-code-2.1.328. It skips the test when there is none. Few tests
// at a time get one.
func agent(t testing.TB, name, program string) string {
	t.Helper()
	if agents == "" {
		t.Skip("PTYWRIGHT_AGENTS does not name a folder of agents: see CONTRIBUTING.md")
	}
	path := filepath.Join(agents, name, "node_modules", ".bin", program)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed: .ci/agents installs it with npm", name)
	}
	lanes.Heavy(t, "agent", 2)
	return path
}

// A world is all that an agent sees: files and variables. Nothing of the machine's user is in
// there, and nothing of what the agent writes is outside of it.
type world struct {
	home, work, temp string
	env              map[string]string
}

// isolate makes a world, in a folder that goes with the test: it must be made before the server
// that starts the agent, so that the agent has ended when the folder goes.
func isolate(t testing.TB) *world {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir()) // on macOS it is behind one, and agents show the real path
	if err != nil {
		t.Fatal(err)
	}
	w := &world{home: filepath.Join(folder, "home"), work: filepath.Join(folder, "work"), temp: filepath.Join(folder, "temp")}
	for _, d := range []string{w.home, w.work, w.temp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env = map[string]string{
		"HOME": w.home, "TMPDIR": w.temp, "PATH": "/usr/local/bin:/usr/bin:/bin", "SHELL": "/bin/bash", "TERM": "xterm-256color",
		"LANG": "C.UTF-8",
	}
	return w
}

// command is the program that starts path with nothing but this world's variables, and its
// arguments: what session.create can with clear_env, adapter.start cannot. The agent's processes
// get the mark of the server's, so that those that are left are found.
func (w *world) command(mark, path string, args ...string) (program string, all []string) {
	all = []string{"-i", asProgram + "=" + mark}
	for _, name := range slices.Sorted(maps.Keys(w.env)) {
		all = append(all, name+"="+w.env[name])
	}
	return "env", append(append(all, path), args...)
}

// write writes a file of the agent's working directory.
func (w *world) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.work, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read returns a file of the agent's working directory, "" when there is none.
func (w *world) read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.work, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}
