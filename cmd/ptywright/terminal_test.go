//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// asksColours is a program that asks the terminal for the colour of its paper and for its name, and
// then shows both answers at once.
const asksColours = `stty raw -echo
printf '\033]11;?\033\\'; paper=$(dd bs=1 count=25 2>/dev/null | cat -v)
printf '\033[>q'; name=$(dd bs=1 count=14 2>/dev/null | cat -v)
stty cooked; printf '%s\n%s\ndone\n' "$paper" "$name"; read x`

// TestThemeOfASession: what a program learns of its terminal's colours is what a picture of it is
// drawn with.
func TestThemeOfASession(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	for theme, told := range map[string][2]string{
		"": {"1818/1818/1818", "#181818"}, "dark": {"1818/1818/1818", "#181818"}, "light": {"ffff/ffff/ffff", "#fff"},
	} {
		args := []string{"spawn", "--env", asProgram}
		if theme != "" {
			args = append(args, "--theme", theme)
		}
		id := s.ok(append(args, "--", "sh", "-c", asksColours)...)
		s.ok("wait", id, "--text", "done")
		wants(t, s.ok("read", id), "^[]11;rgb:"+told[0]+`^[\`, "^[P>|ptywright(")
		wants(t, s.ok("shot", "-o", "-", "--format", "html", "--session", id), told[1])
	}
	s.fails(2, `--theme is "pink": give dark or light`, "spawn", "--theme", "pink", "--", "true")
}

// TestShotTellsItsTheme: a program that is drawn in a theme is told that theme.
func TestShotTellsItsTheme(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, told, paper string }{
		{"--theme=light", "ffff/ffff/ffff", "#fff"}, {"--theme=dark", "1818/1818/1818", "#181818"},
	} {
		file := filepath.Join(t.TempDir(), "x.html")
		p := ptywright(t, "shot", c.flag, "-o", file, "--", "sh", "-c", asksColours)
		if _, code := p.run(""); code != 0 {
			t.Fatalf("%s: %d %s", c.flag, code, p.stderr)
		}
		b, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(b), c.told) || !strings.Contains(string(b), c.paper) {
			t.Errorf("%s: %v\n%.600s", c.flag, err, b)
		}
	}
}

// TestVimLearnsTheTheme: vim chooses colours for the paper that it is told of. What is typed is
// behind the answer in its input.
func TestVimLearnsTheTheme(t *testing.T) {
	t.Parallel()
	need(t, "vim", "vim")
	s := start(t)
	for _, theme := range []string{"dark", "light"} {
		vim := s.with(client.Config{Program: "vim", Args: []string{"--clean"}, Theme: theme})
		vim.wait(client.Transcript(`\x1b\]11;\?`))
		vim.text(":set background?\r")
		vim.wait(client.Contains("background=" + theme))
		vim.close()
	}
}

// TestNarrowedAlternateScreen: a program that does not draw again shows all its columns once there
// is room for them again.
func TestNarrowedAlternateScreen(t *testing.T) {
	t.Parallel()
	s := start(t)
	at := s.sh(`printf '\033[?1049h\033[Hleft%60sright' ''; read x`)
	at.wait(client.Contains("right"))
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
