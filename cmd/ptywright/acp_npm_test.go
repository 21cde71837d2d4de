//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// npmSet returns the folder in which a set of npm packages of .ci/npm is installed, as its lock says, and skips the test
// when it is not.
func npmSet(t testing.TB, name string) string {
	t.Helper()
	need(t, "node", "nodejs")
	sets := os.Getenv("PTYWRIGHT_NPM")
	if sets == "" {
		cache := os.Getenv("XDG_CACHE_HOME")
		if cache == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				t.Skip("no home folder, so no npm packages")
			}
			cache = filepath.Join(home, ".cache")
		}
		sets = filepath.Join(cache, "ptywright", "npm")
	}
	want, err := os.ReadFile(filepath.Join("..", "..", ".ci", "npm", name, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(sets, name, "package-lock.json")); err != nil || !bytes.Equal(got, want) {
		t.Skipf("the npm packages of %s are not installed: .ci/npm/install", name)
	}
	return filepath.Join(sets, name)
}

// TestACPNpm speaks with peers written with @agentclientprotocol/sdk: an agent that uses terminals, directly and through the
// proxy, and an editor that has none.
func TestACPNpm(t *testing.T) {
	set := npmSet(t, "acp")
	source, err := os.ReadFile(filepath.Join("testdata", "acp", "peer.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	peer := filepath.Join(dir, "peer.mjs")
	if err := os.WriteFile(peer, source, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(set, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"direct", "editor"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			p := programOf(t, exec.Command("node", peer, role, self))
			if out, code := p.run(""); code != 0 || out != role+": ok\n" {
				t.Errorf("exit code %d, output %q, standard error %s", code, out, p.stderr)
			}
			noneLeft(t, p.mark)
		})
	}
}
