//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
)

// cliBlocks are the examples of docs/cli.md in one language.
func cliBlocks(t *testing.T, language string) (page string, blocks []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(b), "```"+language+"\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		blocks = append(blocks, text)
	}
	if len(blocks) == 0 {
		t.Fatal("the page has no example")
	}
	return string(b), blocks
}

// TestCLIExamples runs what docs/cli.md shows as it stands there.
func TestCLIExamples(t *testing.T) {
	t.Parallel()
	need(t, "bash", "bash")
	need(t, "python3", "python3")
	_, blocks := cliBlocks(t, "sh")
	for i, want := range []string{`(?s)^[$#]\n42\n.*42\n[$#] ?\n$`,
		`^s1\nexit 3\nbuilt\nID +NAME [^\n]*\ns1 +build +sh [^\n]*\n$`,
		`(?s)^exit 1\n== 1 exit 1: ls /nowhere; false\nls: .*/nowhere.*\n$`,
		`^BLUE IN /TMP\n0\ngrep says 1\n$`,
		`^s1\ns2\nID +TAGS +[^\n]*\ns1 +test +sh [^\n]*\ns2 +test +sh [^\n]*\ns1 exit 0\ns2 exit 3\n$`, `^exit 7\nexit 7\nit returned 7\n$`,
		`^(\w+ \(max-time\)\n)ID [^\n]*\n\w+ +sh [^\n]*\(max-time\)[^\n]*\n\w+ \(max-time\)\n$`,
	} {
		if out := runExample(t, blocks[i]+"\nptywright kill --server"); !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("example %d: %q", i, out)
		}
	}
}

// TestCLIPage names every command, flag, exit code and setting.
func TestCLIPage(t *testing.T) {
	t.Parallel()
	page, blocks := cliBlocks(t, "toml")
	p, home := configured(t, blocks[0], "config", "--json")
	out, code := p.Run("")
	set := 0
	for _, o := range objects(t, out) {
		if strings.HasPrefix(o["source"].(string), home) {
			set++
		}
	}
	if code != 0 || set != 9 {
		t.Errorf("exit %d, %d settings of the page's file: %s%s", code, set, out, p.Stderr)
	}
	for _, name := range []string{
		"ls", "spawn", "send", "exec", "wait", "read", "search", "find", "click", "logs", "events", "resize", "mouse", "kill", "doctor", "config", "completions", "schema",
		"adapter list", "adapter ask", "adapter state", "adapter approve", "adapter choose", "adapter send", "adapter wait", "adapter events",
	} {
		if !strings.Contains(page, "| `"+name) {
			t.Errorf("%s is not on the page", name)
		}
		help, _ := ptywright(t, append(strings.Fields(name), "--help")...).Run("")
		for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`).FindAllStringSubmatch(help, -1) {
			if m[1] != "--help" && !strings.Contains(page, m[1]) {
				t.Errorf("%s %s is not on the page", name, m[1])
			}
		}
	}
	for _, code := range []string{"0", "1", "2", "3", "4", "5"} {
		if !strings.Contains(page, "\n| "+code+" | ") {
			t.Errorf("exit code %s is not on the page", code)
		}
	}
	for _, s := range config.Settings {
		if s.Shared && !strings.Contains(page, "`"+s.Key+"`") {
			t.Errorf("%s is not on the page", s.Key)
		}
	}
	if cli.ExitTimeout != 3 || cli.ExitMissing != 4 || cli.ExitPermission != 5 {
		t.Error("exit codes have changed, on which scripts rely")
	}
}
