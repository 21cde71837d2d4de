//go:build unix

package main

import (
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestVimLearnsTheTheme: vim chooses colours for the paper that it is told of. What is typed is
// behind the answer in its input.
func TestVimLearnsTheTheme(t *testing.T) {
	t.Parallel()
	need(t, "vim", "vim")
	s := start(t)
	for _, theme := range []string{"dark", "light"} {
		vim := s.with(client.Config{Program: "vim", Args: []string{"--clean"}, Theme: theme})
		vim.wait(client.Output(`\x1b\]11;\?`))
		vim.text(":set background?\r")
		vim.wait(client.Text("background=" + theme))
		vim.close()
	}
}

// TestNarrowedAlternateScreen: a program that does not draw again shows all its columns once there
// is room for them again.
func TestNarrowedAlternateScreen(t *testing.T) {
	t.Parallel()
	s := start(t)
	at := s.sh(`printf '\033[?1049h\033[Hleft%60sright' ''; read x`)
	at.wait(client.Text("right"))
	before := at.snapshot("none").PlainText
	at.resize(24, 40)
	if got := at.snapshot("none").PlainText; got != "left" {
		t.Errorf("narrow: %q", got)
	}
	at.resize(24, 80)
	if got := at.snapshot("none").PlainText; got != before {
		t.Errorf("%q, was %q", got, before)
	}
}
