//go:build unix

package main

import (
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// showsKeys is a program that shows what is typed as cat -v does, without echo, and says when it is ready.
const showsKeys = `stty raw -echo; printf ready; exec cat -v`

// TestKeysAsHandsSpellThem presses keys by the names that other tools have for them, from the shell and over the wire.
func TestKeysAsHandsSpellThem(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	id := s.ok("spawn", "--cols", "200", "--", "sh", "-c", showsKeys)
	s.ok("wait", id, "--text", "ready")
	s.ok("send", id, "-k", "Up", "-k", "PgUp", "-k", "C-c", "-k", "^C", "-k", "ctrl-c", "-k", "Ctrl+C", "-k", "control+c",
		"-k", "Return", "-k", "Enter", "-k", "M-x", "-k", "G", "-k", "C-G")
	s.ok("wait", id, "--text", `^[[A^[[5~^C^C^C^C^C^M^M^[xG^G`)

	w := start(t)
	over := w.sh(showsKeys)
	over.wait(client.Contains("ready"))
	over.keys("Esc", "ArrowUp", "BTab", "S-Up", "C-M-x", "KP5", "Space", "Del")
	over.wait(client.Contains(`^[^[[A^[[Z^[[1;2A^[^X5 ^[[3~`))
	w.refused(-32602, "invalid_action", "session.input", map[string]any{"session": over.ID, "action": map[string]string{"type": "key", "value": "Entr"}})
}
