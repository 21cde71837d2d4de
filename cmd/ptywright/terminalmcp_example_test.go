//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestTerminalMCPExample starts the command of the example's configuration and calls a tool.
func TestTerminalMCPExample(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(root, "examples", "terminal-mcp", "mcp.json"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(b, &config); err != nil {
		t.Fatal(err)
	}
	terminal := config.Servers["terminal"]
	if len(config.Servers) != 1 || terminal.Command != "ptywright" {
		t.Fatalf("%s", b)
	}
	home := t.TempDir()
	p := ptywright(t, terminal.Args...)
	p.Env = append(p.Env, plainShell(home)...)
	s := startTerminal(t, p, home)
	defer s.end(0)
	s.enter("stty size")
	s.until(`(?m)^40 120$`, "")
}
