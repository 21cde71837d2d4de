//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestACPNpm speaks with peers written with @agentclientprotocol/sdk: an agent that uses terminals,
// directly and through the proxy, and an editor that has none.
func TestACPNpm(t *testing.T) {
	t.Parallel()
	need(t, "node", "nodejs")
	modules, _ := peers(t, "acp")
	source, err := os.ReadFile(filepath.Join("testdata", "acp", "peer.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	peer := filepath.Join(dir, "peer.mjs")
	if err := os.WriteFile(peer, source, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
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
			if out, code := p.Run(""); code != 0 || out != role+": ok\n" {
				t.Errorf("exit code %d, output %q, standard error %s", code, out, p.Stderr)
			}
			noneLeft(t, p.Mark)
		})
	}
}
