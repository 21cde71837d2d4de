//go:build unix

package main

import (
	"encoding/json"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// TestShellBlocks drives a real shell with marks over the wire: a wait for each command, then all
// that were run.
func TestShellBlocks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			need(t, name, name)
			home := enginetest.Home(t)
			s := start(t)
			var created struct{ Session string }
			s.call("session.create", map[string]any{
				"program": name, "cwd": "/", "shell_integration": true,
				"env": map[string]string{"HOME": home, "ZDOTDIR": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "ENV": "", "TERM": "xterm"},
			}, &created)
			for _, c := range []struct {
				line string
				code int
			}{{"echo one; sh -c 'exit 3'", 3}, {"cat /nowhere", 1}, {"printf two", 0}} {
				var sent struct{ Sequence uint64 }
				s.call("session.input", map[string]any{"session": created.Session, "action": map[string]any{"type": "text", "value": c.line + "\r"}}, &sent)
				var waited struct {
					Sequence uint64
					Outcome  struct {
						Command  string
						ExitCode *int `json:"exit_code"`
					}
				}
				s.call("session.wait", map[string]any{"session": created.Session, "since": sent.Sequence, "matcher": map[string]any{"type": "command_finished"}}, &waited)
				if o := waited.Outcome; o.Command != c.line || o.ExitCode == nil || *o.ExitCode != c.code {
					t.Errorf("%q: waited for %+v", c.line, o)
				}
			}
			var got struct {
				Integration string
				Blocks      []struct {
					Number               uint64
					Command, Output, Cwd string
					Whole                bool
					ExitCode             int `json:"exit_code"`
				}
			}
			s.call("session.blocks", map[string]any{"session": created.Session}, &got)
			b, _ := json.Marshal(got.Blocks)
			const want = `[{"Number":1,"Command":"echo one; sh -c 'exit 3'","Output":"one\n","Cwd":"/","Whole":true,"exit_code":3},` +
				`{"Number":2,"Command":"cat /nowhere","Output":"cat: /nowhere: No such file or directory\n","Cwd":"/","Whole":true,"exit_code":1},` +
				`{"Number":3,"Command":"printf two","Output":"two","Cwd":"/","Whole":true,"exit_code":0}]`
			if string(b) != want || got.Integration != "osc633" {
				t.Errorf("%s, %s\nwant %s", got.Integration, b, want)
			}
		})
	}
}
