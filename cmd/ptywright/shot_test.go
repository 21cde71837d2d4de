//go:build unix

package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShotOfASession: a picture of what a server has, covered as every read, and errors with the exit codes of its other commands.
func TestShotOfASession(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	id := s.ok("spawn", "--rows", "5", "--cols", "40", "--env", asProgram, "--", "sh", "-c", `printf '\033[32mgreen\033[0m token=Kq7abcdefgh0123456789'; read x`)
	s.ok("wait", id, "--text", "token=")
	file := filepath.Join(t.TempDir(), "now.png")
	s.ok("shot", "-o", file, "--session", id)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := png.Decode(bytes.NewReader(data)); err != nil || p.Bounds().Dx() < 100 {
		t.Errorf("a picture of 5x40: %v, %v", err, p)
	}
	if got := s.ok("shot", "-o", "-", "--format", "ansi", "--session", id); got != "\x1b[0;32mgreen\x1b[0m token=[REDACTED]" {
		t.Errorf("%q", got)
	}
	if got := s.ok("shot", "-o", "-", "--format", "ansi", "--raw", "--session", id); !strings.Contains(got, "token=Kq7") {
		t.Errorf("%q", got)
	}
	s.fails(4, "ptywright ls lists those that there are", "shot", "-o", file, "--session", "s9")
	s.fails(2, "--session and --at exclude each other", "shot", "-o", file, "--session", id, "--at", "1")
	s.fails(2, "--session and x.cast exclude each other", "shot", "-o", file, "--session", id, "x.cast")
	s.fails(2, "give one recording, --session ID, or", "shot", "-o", file)
	s.fails(1, "its folder does not exist", "shot", "-o", filepath.Join(t.TempDir(), "none", "x.png"), "--session", id)
}
