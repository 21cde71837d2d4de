//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/internal/lanes"
)

// ledgerRuns is how often each script has to pass in each of its sizes.
const ledgerRuns = 100

// A ledger says how often scripts of real programs were run under --stress, and what came of it. It
// is committed, and a long run goes on where the last one stopped.
type ledger struct {
	About   string        `json:"about"`
	Scripts []*ledgerLine `json:"scripts"`
}

type ledgerLine struct {
	Script  string `json:"script"`  // below examples/testing
	Package string `json:"package"` // of Debian, whose program it drives
	Version string `json:"version"` // of the package
	Sum     string `json:"sum"`     // of the script: another one begins anew
	Sizes   int    `json:"sizes"`
	Runs    int    `json:"runs"` // in each size
	Failed  int    `json:"failed"`
	Retried int    `json:"retried"`
}

// ledgerScripts are the scripts, with the package whose program each drives.
var ledgerScripts = [][2]string{
	{"programs/mc.ptw", "mc"}, {"programs/htop.ptw", "htop"}, {"programs/vim.ptw", "vim"}, {"programs/nano.ptw", "nano"},
	{"programs/less.ptw", "less"}, {"programs/fzf.ptw", "fzf"}, {"programs/tig.ptw", "tig"}, {"programs/dialog.ptw", "dialog"},
	{"programs/whiptail.ptw", "whiptail"}, {"programs/nnn.ptw", "nnn"}, {"programs/ranger.ptw", "ranger"}, {"programs/tmux.ptw", "tmux"},
	{"shell/prompt.ptw", "bash"}, {"ncurses/menu.ptw", "libncurses-dev"}, {"fzf/pick.ptw", "fzf"},
}

const ledgerPath = "testdata/ledger.json"

func readLedger(t *testing.T) *ledger {
	t.Helper()
	l := &ledger{About: "How often the scripts of examples/testing were run with ptywright test --stress, and what came of it: see TestLedger."}
	text, err := os.ReadFile(ledgerPath)
	if errors.Is(err, fs.ErrNotExist) {
		return l
	}
	if err == nil {
		err = json.Unmarshal(text, l)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *ledger) write(t *testing.T) {
	t.Helper()
	text, err := json.MarshalIndent(l, "", "  ")
	if err == nil {
		err = os.WriteFile(ledgerPath+".new", append(text, '\n'), 0o644)
	}
	if err == nil {
		err = os.Rename(ledgerPath+".new", ledgerPath)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// find returns the line of a script; nil when it has none.
func (l *ledger) find(script string) *ledgerLine {
	for _, line := range l.Scripts {
		if line.Script == script {
			return line
		}
	}
	return nil
}

// line returns the line of a script, which begins anew when the script or the program is another.
func (l *ledger) line(script, pkg, version, sum string) *ledgerLine {
	line := l.find(script)
	if line == nil {
		line = &ledgerLine{}
		l.Scripts = append(l.Scripts, line)
	}
	if line.Version != version || line.Sum != sum {
		*line = ledgerLine{Script: script, Package: pkg, Version: version, Sum: sum, Sizes: 3}
	}
	return line
}

// versionOf returns the version of a package; "" when it is not installed, or not Debian's.
func versionOf(pkg string) string {
	out, err := exec.Command("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Version}", pkg).Output()
	version, ok := strings.CutPrefix(string(out), "ii  ")
	if err != nil || !ok {
		return ""
	}
	return version
}

// outcomes are what came of the runs of one script.
type outcomes struct{ passed, failed, retried int }

// runScripts runs scripts, and tells what came of each, by its path.
func runScripts(t *testing.T, scripts []string, more ...string) map[string]outcomes {
	t.Helper()
	args := append([]string{"test", "--json", "--update", "none"}, more...)
	p := standAlone(t, filepath.Join(onPath(t), "ptywright"), append(args, scripts...)...)
	out, _ := p.Run("")
	all := map[string]outcomes{}
	for line := range strings.Lines(out) {
		var r struct {
			Script, Outcome string
			Attempt         int
			Summary         any
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s\n%s", err, line, p.Stderr)
		}
		if r.Summary != nil {
			continue
		}
		n := all[r.Script]
		if r.Outcome == "passed" {
			n.passed++
		} else {
			n.failed++
			t.Logf("%.6000s", line)
		}
		if r.Attempt > 1 {
			n.retried++
		}
		all[r.Script] = n
	}
	return all
}

// ledgerBatch is how many runs in each size are noted at once.
const ledgerBatch = 5

// TestLedger runs the golden tests of twelve programs and three examples, in three sizes each: once,
// where the programs are those that the golden screens are of. In the long form it runs them under
// --stress until each has passed 100 times in each size, and notes that in testdata/ledger.json, where
// neither a failure nor a retry may stand. PTYWRIGHT_LEDGER, such as 10m, says after what time it
// stops; the next run goes on there.
func TestLedger(t *testing.T) {
	t.Parallel()
	long := os.Getenv("PTYWRIGHT_LONG") != ""
	l, paths := readLedger(t), map[string]*ledgerLine{}
	var once []string
	for _, s := range ledgerScripts {
		script, err := filepath.Abs(filepath.Join(root, "examples", "testing", filepath.FromSlash(s[0])))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		version := versionOf(s[1])
		known := l.find(s[0])
		if known != nil && (known.Failed != 0 || known.Retried != 0) {
			t.Errorf("%s: %d runs failed, and %d were retried", s[0], known.Failed, known.Retried)
		}
		switch {
		case version == "":
			t.Logf("%s is not run: %s is not installed", s[0], s[1])
		case long:
			paths[script] = l.line(s[0], s[1], version, fmt.Sprintf("%x", sha256.Sum256(text))[:16])
		case known == nil || known.Version != version:
			t.Logf("%s is not run: its golden screens are of another version of %s than %s", s[0], s[1], version)
		default:
			once = append(once, script)
		}
	}
	if !long {
		if len(once) == 0 {
			t.Skip("none of the programs is here in the version of testdata/ledger.json")
		}
		lanes.Heavy(t, "ledger", 1)
		for script, n := range runScripts(t, once) {
			if n != (outcomes{passed: 3}) {
				t.Errorf("%s: %+v", script, n)
			}
		}
		return
	}
	bound, _ := time.ParseDuration(os.Getenv("PTYWRIGHT_LEDGER"))
	for began := time.Now(); bound == 0 || time.Since(began) < bound; {
		var next []string
		for script, line := range paths {
			if line.Runs < ledgerRuns {
				next = append(next, script)
			}
		}
		if len(next) == 0 {
			return
		}
		slices.Sort(next)
		for script, n := range runScripts(t, next, "--stress", "--jobs", "3", "--repeat", fmt.Sprint(ledgerBatch)) {
			line := paths[script]
			line.Runs += ledgerBatch
			line.Failed += 3*ledgerBatch - n.passed
			line.Retried += n.retried
			if n != (outcomes{passed: 3 * ledgerBatch}) {
				t.Errorf("%s: %+v", script, n)
			}
		}
		l.write(t)
	}
	if bound == 0 {
		t.Error("the runs are not complete")
	}
}
