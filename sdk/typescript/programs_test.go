package typescript

import (
	"os"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/internal/lanes"
)

// lanesOfLoad lets few tests run that keep a processor busy.
func lanesOfLoad(t testing.TB) {
	t.Helper()
	lanes.Heavy(t, "sdk", 1)
}

// TestPrograms drives ten programs, once; in the long form 50 times beside busy loops. Nothing is
// tried twice.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for program, debian := range map[string]string{
		"bash": "bash", "python3": "python3", "vim": "vim", "less": "less", "fzf": "fzf", "htop": "htop", "sqlite3": "sqlite3", "gdb": "gdb",
		"ssh": "openssh-client", "/usr/sbin/sshd": "openssh-server", "ssh-keygen": "openssh-client",
	} {
		need(t, program, debian)
	}
	if os.Getuid() == 0 { // sshd of root wants the folder that its service makes
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := newProject(t, "", "programs.test.ts", "kit.ts")
	p.compile(t)
	var env []string
	if long() {
		lanesOfLoad(t)
		env = []string{"REPEATS=50", "BUSY=2"}
	}
	p.test(t, env, "programs.test.js")
}

// TestNodePty runs what docs/typescript.md says of node-pty beside what it says of this package.
func TestNodePty(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", "nodepty.test.ts", "kit.ts")
	p.compile(t)
	p.test(t, nil, "nodepty.test.js")
}

// TestOverhead: the benchmark runs. Its table is for people: no time is asserted.
func TestOverhead(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", "bench.ts")
	p.compile(t)
	turns := "TURNS=50"
	if long() {
		lanesOfLoad(t)
		turns = "TURNS=4000"
	}
	out := p.node(t, []string{turns}, "bench.js")
	if !strings.Contains(out, "| turn |") {
		t.Error(out)
	}
	t.Log("\n" + out)
}
