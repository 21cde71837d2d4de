//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Values that a plugin's manifest and a client hand to a program, and one that is no secret.
const (
	vaultRequired = "marble-otter-lantern-71"
	vaultDefault  = "basalt-finch-harbor-58"
	vaultArg      = "pewter-lynx-orchard-36"
	vaultCaller   = "copper-heron-violet-93"
	vaultOpen     = "open-meadow"
)

// vault writes a plugin whose program prints everything it was given, and returns its manifest.
func vault(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.lua": `return {
	classify = function(s) return {state = "open", evidence = s:row(0), metadata = {row = s:row(1)}} end,
	never = function() return {matched = false} end,
	wait_turn_matcher = function() return ptywright.matcher.predicate("never") end,
}`,
		"manifest.toml": `name = "vault"
kind = "adapter"
version = "1"
runtime = "lua"
entrypoint = "main.lua"
permissions = ["session.spawn", "session.kill", "screen.read", "transcript.read", "input.write", "matcher.wait"]
[default_target]
program = "sh"
args = ["-c", "printf '%s\\n' \"$DB_PASSWORD\" \"$API_TOKEN\" \"$CALLER_PASSWORD\" \"$PLAIN\"; exec cat", "sh", "--password", "` + vaultArg + `"]
env = { API_TOKEN = "` + vaultDefault + `", PLAIN = "` + vaultOpen + `" }
required_env = { DB_PASSWORD = "` + vaultRequired + `" }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "manifest.toml")
}

// checkVault looks for the secrets, and pieces of them, in what left through a door.
func checkVault(t *testing.T, left string, hidden, open int) {
	t.Helper()
	for _, secret := range []string{vaultRequired, vaultDefault, vaultArg, vaultCaller} {
		for i := 0; i+12 <= len(secret); i++ {
			if at := strings.Index(left, secret[i:i+12]); at >= 0 {
				t.Errorf("%q left: %q", secret[i:i+12], left[max(0, at-400):min(len(left), at+60)])
				break
			}
		}
	}
	if n := strings.Count(left, "[REDACTED]"); n < hidden {
		t.Errorf("only %d values are hidden, want %d: the program has not said them\n%s", n, hidden, left)
	}
	if n := strings.Count(left, vaultOpen); n < open {
		t.Errorf("%s, which is no secret, shows %d times, want %d\n%s", vaultOpen, n, open, left)
	}
}

// TestManifestSecretsAreNowhere: a secret that a manifest hands to its program is hidden as one of
// a client's is, in the manifest and in all that the program does with it.
func TestManifestSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	s := start(t, "--plugin", vault(t))
	left := everything{asked: make(chan struct{})}
	if err := s.Subscribe(s.ctx, left.event); err != nil {
		t.Fatal(err)
	}
	left.answer(s, "adapter.list", nil)
	left.answer(s, "plugin.describe", obj{"plugin": "vault"})
	checkVault(t, left.String(), 6, 2)
	left.answer(s, "adapter.start", obj{"plugin": "vault", "env": obj{"CALLER_PASSWORD": vaultCaller}})
	left.answer(s, "session.wait", obj{"session": "s1", "matcher": obj{"type": "contains_text", "value": vaultOpen}})
	left.answer(s, "session.wait", obj{"session": "s1", "timeout_ms": 1, "matcher": obj{"type": "contains_text", "value": "no such text"}})
	for _, method := range []string{"session.snapshot", "session.transcript", "session.scrollback", "session.screenshot"} {
		left.answer(s, method, obj{"session": "s1", "format": "svg"})
	}
	left.answer(s, "session.list", obj{"details": true})
	left.answer(s, "session.search", obj{"session": "s1", "regex": ".+"})
	for _, method := range []string{"state", "inspect", "snapshot", "transcript", "events", "explain"} {
		left.answer(s, "adapter."+method, obj{"adapter": "e1"})
	}
	left.answer(s, "adapter.wait", obj{"adapter": "e1", "timeout_ms": 1})
	left.answer(s, "adapter.close", obj{"adapter": "e1"})
	checkVault(t, left.String(), 40, 12)
}

// TestManifestSecretsAreInNoTool is the same of MCP.
func TestManifestSecretsAreInNoTool(t *testing.T) {
	t.Parallel()
	c := startMCP(t, "--plugin", vault(t))
	defer c.end()
	c.initialize("2025-06-18")
	var left strings.Builder
	ask := func(tool string, args obj) {
		t.Helper()
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		c.send(call(`"q"`, tool, string(text)))
		m := c.answer(`"q"`)
		left.Write(m.Result)
		if m.Error != nil {
			t.Errorf("%s: %v", tool, m.Error)
		}
	}
	ask("adapter", obj{"action": "list"})
	ask("adapter", obj{"action": "start", "plugin": "vault", "env": obj{"CALLER_PASSWORD": vaultCaller}})
	ask("wait", obj{"session": "s1", "text": vaultOpen})
	ask("wait", obj{"session": "s1", "text": "no such text", "timeout_ms": 1})
	ask("adapter", obj{"action": "state", "session": "s1"})
	for _, what := range []string{"screen", "scrollback", "changes"} {
		ask("read", obj{"session": "s1", "what": what, "since": 0})
	}
	ask("screenshot", obj{"session": "s1", "format": "svg"})
	ask("sessions", obj{})
	ask("stop", obj{"session": "s1"})
	checkVault(t, left.String(), 20, 4)
}
