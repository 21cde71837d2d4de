//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestTypedSecretIsNowhere types a password where programs ask for one, has the program print it, and looks for it in the screen,
// the transcript, a recording with input, the transcript on disk and the log.
func TestTypedSecretIsNowhere(t *testing.T) {
	const password = "correct-horse-battery" // of no known shape
	for name, c := range map[string]struct {
		program, debian string
		args            []string
		prompt          string
	}{
		"read -s": {"bash", "bash", []string{"--norc", "--noprofile", "-c", `read -rsp "Secret please? " x; echo; echo "you said $x"; echo "and ${x} it was"; read y`}, "Secret please\\?"},
		"getpass": {"python3", "python3", []string{"-c", `import getpass; x = getpass.getpass("Secret please? "); print("you said", x); input()`}, "Secret please\\?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, c.program, c.debian)
			s := start(t)
			b := s.with(client.Config{Program: c.program, Args: c.args})
			dir := t.TempDir()
			for _, format := range []string{"asciicast-v2", "markdown"} {
				s.call("session.record_start", map[string]any{"session": b.ID, "dir": dir, "format": format, "input": format != "markdown"}, nil)
			}
			b.wait(client.Screen(c.prompt))
			s.call("session.wait", map[string]any{"session": b.ID, "matcher": map[string]any{"type": "screen_stable", "value": map[string]any{"min_ms": 200}}}, nil)
			var shot struct {
				SecretInput bool `json:"secret_input"`
			}
			s.call("session.snapshot", map[string]any{"session": b.ID, "cells": "none"}, &shot)
			if !shot.SecretInput {
				t.Error("the snapshot does not say that a secret is read")
			}
			b.text(password + "\n")
			b.wait(client.Screen("you said"))
			var all strings.Builder
			for method, params := range map[string]map[string]any{
				"session.snapshot": {"cells": "none"}, "session.transcript": {}, "session.scrollback": {}, "session.blocks": {},
				"session.screenshot": {"format": "svg"}, "session.search": {"text": "said"},
			} {
				params["session"] = b.ID
				var raw map[string]any
				s.call(method, params, &raw)
				for _, v := range raw {
					if text, ok := v.(string); ok {
						all.WriteString(text + "\n")
					}
				}
			}
			b.text("\n")
			b.exited()
			s.call("session.close", map[string]any{"session": b.ID}, nil)
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			if len(files) != 2 {
				t.Errorf("recordings: %q", files)
			}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				all.Write(text)
			}
			all.WriteString(s.program.stderr.String())
			if got := all.String(); strings.Contains(got, password) || !strings.Contains(got, "you said [REDACTED]") {
				t.Errorf("the password is in, or the answer is not in:\n%s", got)
			}
		})
	}
}
