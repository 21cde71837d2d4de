//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTerminalMCPWithTheNpmSDK drives a REPL, an editor, a recording and a picture through the
// client of the npm SDK.
func TestTerminalMCPWithTheNpmSDK(t *testing.T) {
	t.Parallel()
	need(t, "python3", "python3")
	need(t, "vim", "vim")
	modules, node := peers(t, "mcp")
	dir := t.TempDir()
	path, env := self(t)
	out := output(t, append(env, plainShell(dir)...), node, filepath.Join("testdata", "terminalmcp_client.mjs"),
		filepath.Join(modules, "@modelcontextprotocol", "sdk"), dir, path, "mcp", "--profile", "terminal-mcp", "--cols", "100", "--rows", "30")
	steps := map[string]map[string]any{}
	for line := range strings.Lines(out) {
		var step map[string]any
		if err := json.Unmarshal([]byte(line), &step); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		steps[step["step"].(string)] = step
	}
	names, _ := steps["tools"]["names"].([]any)
	if len(names) != 10 || !slices.Contains(names, any("takeScreenshot")) || steps["tools"]["server"] != "terminal-mcp" {
		t.Errorf("%v", steps["tools"])
	}
	for step, want := range map[string]map[string]any{
		"picture":   {"type": "image/png", "magic": "PNG"},
		"recording": {"saved": true, "stopReason": "explicit"},
		"unknown":   {"isError": true, "text": "Error: Unknown tool: zzz"},
		"prompt":    {"role": "user"},
	} {
		for name, v := range want {
			if steps[step][name] != v {
				t.Errorf("%s: %v", step, steps[step])
			}
		}
	}
	if screen, _ := steps["repl"]["screen"].(string); !strings.Contains(screen, "\n42\n") {
		t.Errorf("%q", screen)
	}
}
