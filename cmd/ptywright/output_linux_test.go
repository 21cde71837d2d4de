package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputThatCannotBeWritten: whatever the command, its exit code is 1 and one line says so; a
// reader that has gone ends the program without one.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "sh", "-c", "seq 1 20000; exec cat")
	s.ok("wait", "s1", "--text", "20000")
	folder := t.TempDir() // where every command works
	demo := ptywright(t, "plugin", "new", "demo")
	demo.Dir = folder
	if out, code := demo.Run(""); code != 0 {
		t.Fatalf("exit %d, %s%s", code, out, demo.Stderr)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	const lost = "ptywright: write to standard output: no space left on device"
	for _, c := range []struct{ line, before string }{
		{"", ""}, {"--help", ""}, {"help read", ""}, {"--version", ""},
		{"ls", ""}, {"ls --json", ""}, {"read s1", ""}, {"read s1 --scrollback", ""}, {"read s1 --output", ""}, {"logs s1", ""}, {"logs -f s1", ""},
		{"send s1 x", ""}, {"spawn -- true", ""}, {"wait s1 --text 20000", ""},
		{"wait s1 --text never --timeout 100ms", "; before that: "}, {"wait s1 --text never --timeout 100ms --json", "; before that: "},
		{"config", ""}, {"config --json", ""}, {"doctor", ""}, {"doctor --json", ""}, {"schema", ""},
		{"completions bash", ""}, {"completions zsh", ""}, {"completions fish", ""}, {"completions powershell", ""},
		{"plugin check demo", ""}, {"plugin test demo", ""}, {"plugin check --json demo", ""}, {"plugin new demo2", ""},
		{"repl -e print(1)", ""}, {"repl -e return(1)", ""}, {"run -- echo x", ""},
		{"kill --json s1", ""}, {"kill --json s9", "; before that: "},
	} {
		p := ptywright(t, strings.Fields(c.line)...)
		p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
		p.Stdout, p.Dir = full, folder
		code, said := exitCodeOf(t, p.Cmd.Run()), p.Stderr.String()
		if want := lost + c.before; code != 1 || !strings.HasPrefix(said, want) || strings.Count(said, "\n") != 1 || strings.Count(said, "no space") != 1 || c.before == "" && said != want+"\n" {
			t.Errorf("%q: exit %d, %s", c.line, code, said)
		}
	}
	for _, line := range []string{"--help", "ls", "read s1 --output", "logs s1", "schema", "doctor", "repl -e print(1)", "plugin check demo", "wait s1 --text never --timeout 100ms"} {
		for _, ignored := range []bool{false, true} { // as by what systemd starts
			p := ptywright(t, strings.Fields(line)...)
			if ignored {
				p = limited(t, "trap '' PIPE", strings.Fields(line)...)
			}
			p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path))
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			p.Stdout, p.Dir = w, folder
			code := exitCodeOf(t, p.Cmd.Run())
			w.Close()
			if said := p.Stderr.String(); code != 141 || said != "" {
				t.Errorf("%q: exit %d, %s", line, code, said)
			}
		}
	}
}
