//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// TestFlagsSayWhatTheyAreFor, and what to do where they cannot be meant.
func TestFlagsSayWhatTheyAreFor(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"serve", "--help"}, 0, "with --mcp-http and --profile terminal-mcp: columns"},
		{[]string{"serve", "--help"}, 0, "with --mcp-http: let clients request output"},
		{[]string{"mcp", "--help"}, 0, "with --profile terminal-mcp: rows"},
		{[]string{"run", "--help"}, 0, "getpass"},
		{[]string{"shot", "-o", filepath.Join(dir, "n.png"), "ls"}, 2, "to draw a program use -- ls"},
		{[]string{"shot", "-o", filepath.Join(dir, "n.png"), "ls", "-l"}, 2, ""},
		{[]string{"shot", "-o", "-", "x.cast"}, 2, "-o \"-\" does not say what to draw: give --format"},
		{[]string{"shot", "-o", "t1.py", "x.cast"}, 2, "not a picture's extension"},
		{[]string{"shot", "-o", "n.png", "--at", "soon", "x.cast"}, 2, "give seconds, such as 2.5"},
		{[]string{"record", "-o", "x.md", "--format", "v3", "--", "true"}, 2, "named as a Markdown document"},
		{[]string{"record", "-o", "x.md", "--input", "--", "true"}, 2, "are for an asciicast"},
		{[]string{"record", "-o", "x.cast", "--format", "v9", "--", "true"}, 2, "give v2, v3 or markdown"},
	} {
		p := ptywright(t, c.args...)
		said, code := p.run("")
		if said += p.stderr.String(); code != c.code || !strings.Contains(strings.Join(strings.Fields(said), " "), c.want) {
			t.Errorf("%q: exit %d, %q, want %d, %q", c.args, code, said, c.code, c.want)
		}
	}
	each(command(cli.Stdio{}), func(c *cobra.Command) {
		if said := c.Flags().FlagUsages(); strings.Contains(said, "(default )") {
			t.Errorf("%s: a default that is empty is told:\n%s", pathOf(c), said)
		}
	})
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestRecordFormats: by the wire's word, and by the file's name.
func TestRecordFormats(t *testing.T) {
	dir := t.TempDir()
	cast, doc := filepath.Join(dir, "a.cast"), filepath.Join(dir, "a.md")
	for _, args := range [][]string{{"-o", cast, "--format", "asciicast-v3"}, {"-o", doc}} {
		p := ptywright(t, append(append([]string{"record"}, args...), "--", "echo", "token=Kq7abcdefgh")...)
		if _, code := p.run(""); code != 0 {
			t.Fatalf("%q: exit %d, %s", args, code, p.stderr)
		}
	}
	if b, err := os.ReadFile(cast); err != nil || !strings.HasPrefix(string(b), `{"version":3`) && !strings.HasPrefix(string(b), `{"version": 3`) {
		t.Errorf("%.60q, %v", b, err)
	}
	if b, err := os.ReadFile(doc); err != nil || !strings.Contains(string(b), "token=[REDACTED]") || strings.Contains(string(b), "Kq7") || !strings.Contains(string(b), "exit_code: 0") {
		t.Errorf("%s, %v", b, err)
	}
	p := ptywright(t, "shot", "-o", "-", "--format", "svg", "--at", "0.001", cast)
	if svg, code := p.run(""); code != 0 || !strings.Contains(svg, "<svg") {
		t.Errorf("exit %d, %.60q, %s", code, svg, p.stderr)
	}
}
