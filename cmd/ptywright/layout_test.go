package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ptywright/ptywright"

// mayImport says which of our packages each of our packages may import, in code that is not a test.
// Changing the structure means changing this table in the same commit.
var mayImport = map[string][]string{
	"engine/vt":                       {"internal/nearest"},
	"engine/pty":                      {},
	"engine":                          {"engine/vt", "engine/pty", "engine/locate", "internal/lazy", "internal/ansi", "internal/pulse", "internal/tree"},
	"engine/reading":                  {"engine", "engine/locate", "engine/vt", "internal/ansi", "matchers", "redact"},
	"engine/cmdline":                  {"engine", "engine/vt", "internal/lazy", "internal/ansi"},
	"engine/golden":                   {"engine/locate", "engine/vt"},
	"engine/locate":                   {"engine/vt", "internal/nearest", "internal/tree"},
	"engine/picture":                  {"engine/vt"},
	"engine/record":                   {"engine", "engine/picture", "engine/vt", "redact", "internal/ansi"},
	"engine/enginetest":               {"engine", "engine/pty", "engine/vt"},
	"matchers":                        {"engine", "engine/golden", "engine/locate", "engine/vt", "internal/nearest", "internal/tree"},
	"redact":                          {"internal/ansi", "redact/internal/rules"},
	"plugins":                         {"internal/sandbox", "internal/pulse", "internal/tree", "engine", "engine/locate", "engine/pty", "engine/vt", "matchers", "redact"},
	"tuitest":                         {"engine", "engine/golden", "engine/locate", "engine/picture", "engine/reading", "engine/record", "engine/vt", "matchers", "tuitest/internal/driver"},
	"tuitest/internal/driver":         {"engine", "engine/golden", "engine/locate", "engine/pty", "engine/reading", "engine/vt", "matchers", "redact"},
	"tuitest/tape":                    {"engine/vt", "internal/nearest"},
	"tuitest/script":                  {"tuitest/tape", "engine", "engine/golden", "engine/locate", "engine/picture", "engine/pty", "engine/reading", "engine/record", "engine/vt", "internal/lazy", "internal/nearest", "matchers", "redact", "tuitest/internal/driver"},
	"redact/internal/rules":           {},
	"internal/lazy":                   {},
	"internal/lanes":                  {},                // how many tests run side by side
	"internal/npm":                    {},                // what .ci/npm installed
	"internal/pulse":                  {},                // what wakes all who wait for a change
	"internal/tree":                   {},                // trees as JSON and Lua give them
	"internal/sandbox":                {"internal/lazy"}, // Lua that is bounded: a plugin's all of it, the REPL's its strings
	"internal/ansi":                   {},                // escape sequences cut without a grid
	"internal/nearest":                {},                // the word that a mistyped one stands for
	"protocol":                        {},
	"protocol/client":                 {},
	"internal/sockdiag":               {},
	"protocol/loopback":               {"internal/sockdiag"},
	"protocol/protocoltest":           {"protocol"},
	"internal/host":                   {"engine", "engine/reading", "engine/record", "redact", "plugins"},
	"protocol/native":                 {"protocol", "internal/host", "internal/lazy", "internal/nearest", "engine", "engine/locate", "engine/cmdline", "engine/golden", "engine/vt", "engine/pty", "engine/reading", "engine/record", "matchers", "redact", "plugins", "engine/picture"},
	"protocol/far":                    {"protocol"},
	"protocol/mcp":                    {"protocol", "protocol/loopback", "internal/host", "plugins", "redact"},
	"protocol/mcp/tools":              {"protocol", "internal/host", "protocol/loopback", "protocol/mcp", "engine", "engine/cmdline", "engine/locate", "engine/vt", "engine/pty", "engine/reading", "engine/record", "matchers", "redact", "plugins", "internal/lazy", "internal/ansi", "engine/picture"},
	"protocol/mcp/terminalmcp":        {"protocol", "internal/host", "protocol/mcp", "engine", "engine/vt", "engine/pty", "engine/reading", "engine/record", "redact", "engine/picture"},
	"protocol/acp":                    {"protocol", "internal/host", "engine", "engine/pty", "redact", "internal/ansi"},
	"protocol/unterm/instance":        {"internal/sockdiag", "protocol/unterm/internal/shared"},
	"protocol/unterm":                 {"protocol", "internal/host", "protocol/loopback", "protocol/unterm/instance", "protocol/unterm/journal", "protocol/unterm/proxy", "protocol/unterm/internal/shared", "engine", "engine/cmdline", "engine/pty", "engine/reading", "engine/record", "redact", "internal/lazy", "engine/picture"},
	"protocol/unterm/proxy":           {"protocol/unterm/internal/shared"},
	"protocol/unterm/journal":         {"protocol/unterm/internal/shared", "engine", "engine/vt", "engine/record", "redact", "internal/lazy", "internal/ansi"},
	"protocol/unterm/internal/shared": {},
	"bench":                           {"engine/vt"}, // a bare terminal beside the server
	"bench/chart":                     {"internal/lazy"},
	"bench/side":                      {"internal/npm"},
	"examples/library":                {"engine", "matchers"},
	"examples/sessions":               {"engine", "engine/picture", "engine/record", "matchers", "redact"},
	"release":                         {},
	"docs":                            {},
	"sdk/gen":                         {"protocol/native"},
	"sdk/python":                      {},
	"sdk/typescript":                  {}, // its tests

	"cmd/ptywright": {"cmd/ptywright/internal/app"},
	"cmd/ptywright/internal/app": {
		"cmd/ptywright/internal/attach", "cmd/ptywright/internal/cli", "cmd/ptywright/internal/config", "cmd/ptywright/internal/doctor",
		"cmd/ptywright/internal/fleet", "cmd/ptywright/internal/help", "cmd/ptywright/internal/hostscmd", "cmd/ptywright/internal/plugin", "cmd/ptywright/internal/recordings",
		"cmd/ptywright/internal/remote", "cmd/ptywright/internal/repl", "cmd/ptywright/internal/run", "cmd/ptywright/internal/serve",
		"cmd/ptywright/internal/tapecmd", "cmd/ptywright/internal/testcmd", "cmd/ptywright/internal/testfrom", "cmd/ptywright/internal/testreview", "cmd/ptywright/internal/tmux", "cmd/ptywright/internal/watch",
	},
	// What the commands share, and the commands, each group in a package with what it does.
	"cmd/ptywright/internal/caller":   {"engine"},
	"cmd/ptywright/internal/cli":      {"engine", "engine/pty", "engine/vt", "internal/lazy", "internal/nearest", "redact"},
	"cmd/ptywright/internal/daemon":   {"cmd/ptywright/internal/caller", "protocol", "protocol/client", "protocol/unterm/instance"},
	"cmd/ptywright/internal/ending":   {},
	"cmd/ptywright/internal/progress": {"cmd/ptywright/internal/cli"},
	"cmd/ptywright/internal/metrics":  {},
	"cmd/ptywright/internal/scratch":  {},
	"cmd/ptywright/internal/unknown":  {"internal/nearest"},
	"cmd/ptywright/internal/attach":   {"cmd/ptywright/internal/caller", "cmd/ptywright/internal/cli", "cmd/ptywright/internal/daemon", "cmd/ptywright/internal/ending", "cmd/ptywright/internal/remote", "engine/vt", "engine/picture", "protocol/client", "engine/record", "internal/ansi"},
	"cmd/ptywright/internal/config":   {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/daemon", "internal/nearest", "protocol/far", "protocol/loopback", "internal/lazy", "redact"},
	"cmd/ptywright/internal/doctor":   {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/config", "cmd/ptywright/internal/daemon", "cmd/ptywright/internal/serve", "protocol/loopback", "engine", "engine/pty", "internal/lazy", "plugins", "redact"},
	"cmd/ptywright/internal/fleet":    {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/progress", "cmd/ptywright/internal/daemon", "cmd/ptywright/internal/remote", "protocol/client", "protocol/unterm/instance"},
	"cmd/ptywright/internal/help":     {"docs", "internal/lazy", "internal/nearest", "cmd/ptywright/internal/cli", "cmd/ptywright/internal/daemon", "cmd/ptywright/internal/serve", "engine", "engine/vt", "internal/host", "protocol", "protocol/client", "protocol/native", "redact"},
	"cmd/ptywright/internal/hosts":    {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/config", "protocol", "protocol/far", "protocol/native", "redact"},
	"cmd/ptywright/internal/hostscmd": {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/config", "cmd/ptywright/internal/daemon", "cmd/ptywright/internal/hosts", "cmd/ptywright/internal/remote", "protocol", "protocol/client"},
	"cmd/ptywright/internal/plugin": {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/daemon", "cmd/ptywright/internal/remote", "cmd/ptywright/internal/serve", "internal/nearest", "engine", "engine/golden", "engine/pty", "engine/record", "matchers", "plugins",
		"protocol/client", "redact", "internal/lazy"},
	"cmd/ptywright/internal/recordings": {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/progress", "cmd/ptywright/internal/ending", "cmd/ptywright/internal/remote", "engine", "engine/picture", "engine/pty", "engine/record", "engine/vt", "internal/ansi", "matchers", "protocol/client", "redact"},
	"cmd/ptywright/internal/remote":     {"cmd/ptywright/internal/caller", "cmd/ptywright/internal/cli", "cmd/ptywright/internal/config", "cmd/ptywright/internal/daemon", "cmd/ptywright/internal/unknown", "engine", "engine/locate", "engine/pty", "engine/record", "engine/vt", "protocol/client", "internal/lazy", "internal/ansi"},
	"cmd/ptywright/internal/repl": {"cmd/ptywright/internal/attach", "cmd/ptywright/internal/caller", "cmd/ptywright/internal/cli", "cmd/ptywright/internal/unknown", "cmd/ptywright/internal/daemon", "cmd/ptywright/internal/ending", "internal/nearest",
		"cmd/ptywright/internal/repl/edit", "internal/sandbox", "engine/vt", "protocol/client", "redact", "internal/lazy", "internal/ansi"},
	"cmd/ptywright/internal/repl/edit": {"internal/ansi"},
	"cmd/ptywright/internal/run":       {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/ending", "cmd/ptywright/internal/remote", "cmd/ptywright/internal/serve", "engine", "engine/pty", "engine/reading", "engine/record", "engine/vt", "redact"},
	"cmd/ptywright/internal/serve": {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/config", "cmd/ptywright/internal/hosts", "cmd/ptywright/internal/daemon", "cmd/ptywright/internal/ending", "cmd/ptywright/internal/metrics", "engine", "engine/pty", "engine/record", "internal/host", "internal/pulse", "matchers", "plugins",
		"protocol", "protocol/acp", "protocol/client", "protocol/loopback", "protocol/mcp", "protocol/mcp/terminalmcp", "protocol/mcp/tools", "protocol/native", "protocol/unterm", "protocol/unterm/instance", "redact"},
	"cmd/ptywright/internal/tapecmd":    {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/ending", "cmd/ptywright/internal/progress", "cmd/ptywright/internal/scratch", "cmd/ptywright/internal/serve", "engine", "engine/picture", "engine/pty", "engine/record", "engine/vt", "redact", "tuitest/script", "tuitest/tape"},
	"cmd/ptywright/internal/testcmd":    {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/progress", "cmd/ptywright/internal/ending", "cmd/ptywright/internal/scratch", "cmd/ptywright/internal/serve", "cmd/ptywright/internal/testreport", "engine/golden", "engine/pty", "engine/record", "redact", "tuitest/script"},
	"cmd/ptywright/internal/testfrom":   {"cmd/ptywright/internal/cli", "engine/golden", "engine/record", "engine/vt", "internal/ansi", "internal/lazy", "redact", "tuitest/script", "tuitest/tape"},
	"cmd/ptywright/internal/testreport": {"cmd/ptywright/internal/cli", "engine/golden", "engine/picture", "engine/record", "engine/vt", "internal/ansi", "redact", "tuitest/script"},
	"cmd/ptywright/internal/testreview": {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/ending", "engine/golden", "engine/pty", "engine/vt", "internal/lazy", "tuitest/script"},
	"cmd/ptywright/internal/tmux":       {"internal/lazy", "cmd/ptywright/internal/attach", "cmd/ptywright/internal/caller", "cmd/ptywright/internal/cli", "cmd/ptywright/internal/config", "cmd/ptywright/internal/daemon", "cmd/ptywright/internal/remote", "protocol", "protocol/client"},
	"cmd/ptywright/internal/watch":      {"cmd/ptywright/internal/caller", "cmd/ptywright/internal/cli", "cmd/ptywright/internal/daemon", "cmd/ptywright/internal/ending", "protocol", "protocol/client", "protocol/loopback", "engine/vt", "engine/picture", "engine/record", "redact"},

	"cmd/ptywright/internal/mockmodel":   {},
	"cmd/ptywright/internal/programtest": {"internal/lanes"},
}

// forTests are what only tests may import, and each other.
var forTests = []string{"cmd/ptywright/internal/mockmodel", "cmd/ptywright/internal/programtest", "internal/lanes"}

// commands are the packages that make commands.
var commands = append([]string{"cmd/ptywright/internal/app"}, mayImport["cmd/ptywright/internal/app"]...)

// thirdParty says who may import what from outside. A module that is not here may not be imported
// at all, but by tests.
var thirdParty = map[string][]string{
	"github.com/creack/pty":                  {"engine/pty"},
	"github.com/charmbracelet/x/conpty":      {"engine/pty"},
	"golang.org/x/image":                     {"engine/picture"},
	"codeberg.org/go-fonts/dejavu":           {"engine/picture"},
	"github.com/HugoSmits86/nativewebp":      {"engine/picture"},
	"golang.org/x/sys":                       {"protocol/client", "engine/pty", "protocol", "protocol/unterm/proxy", "protocol/unterm/instance", "cmd/ptywright/internal/config", "cmd/ptywright/internal/serve", "cmd/ptywright/internal/attach", "cmd/ptywright/internal/daemon", "bench", "cmd/ptywright/internal/repl", "cmd/ptywright/internal/programtest", "cmd/ptywright/internal/cli"},
	"golang.org/x/term":                      {"protocol/client", "cmd/ptywright/internal/recordings", "cmd/ptywright/internal/tmux", "cmd/ptywright/internal/testreview", "cmd/ptywright/internal/cli", "cmd/ptywright/internal/plugin", "cmd/ptywright/internal/remote", "cmd/ptywright/internal/run", "cmd/ptywright/internal/serve", "cmd/ptywright/internal/attach", "cmd/ptywright/internal/repl"},
	"github.com/go-json-experiment/json":     {"protocol", "protocol/far", "protocol/native", "protocol/acp", "protocol/protocoltest", "protocol/mcp", "protocol/mcp/tools", "protocol/mcp/terminalmcp", "protocol/unterm"},
	"github.com/google/jsonschema-go":        {"protocol/native", "protocol/mcp/tools"},
	"github.com/modelcontextprotocol/go-sdk": {"protocol/mcp", "protocol/mcp/tools", "protocol/mcp/terminalmcp", "bench"},
	"github.com/gofrs/flock":                 {"internal/lanes", "protocol", "protocol/unterm/internal/shared", "cmd/ptywright/internal/tmux", "cmd/ptywright/internal/scratch"},
	"github.com/BurntSushi/toml":             {"plugins", "cmd/ptywright/internal/config", "release"},
	"github.com/fsnotify/fsnotify":           {"plugins", "cmd/ptywright/internal/tapecmd"},
	"github.com/Microsoft/go-winio":          {"protocol", "protocol/client"},
	"github.com/coder/websocket":             {"cmd/ptywright/internal/watch"},
	"github.com/spf13/cobra":                 commands,
	"github.com/spf13/pflag":                 append([]string{"cmd/ptywright/internal/testreport"}, commands...),
	"pgregory.net/rapid":                     {"engine/enginetest"},
	"github.com/yuin/gopher-lua":             {"plugins", "internal/sandbox", "cmd/ptywright/internal/repl"},
	"github.com/clipperhouse/displaywidth":   {"cmd/ptywright/internal/cli", "cmd/ptywright/internal/help", "cmd/ptywright/internal/progress", "cmd/ptywright/internal/testreview", "engine/golden", "engine/vt", "cmd/ptywright/internal/repl/edit"},
	"github.com/rogpeppe/go-internal":        {"engine/golden"},
	"golang.org/x/text":                      {"engine/golden", "engine/locate"},
	"github.com/clipperhouse/uax29":          {"engine/vt"},
	"go.uber.org/goleak":                     {"protocol/protocoltest", "cmd/ptywright/internal/programtest"},
}

// platforms are those whose files the rule is held against.
var platforms = []string{"linux", "darwin", "windows"}

func TestLayout(t *testing.T) {
	t.Parallel()
	for _, goos := range platforms {
		for name, imports := range packages(t, goos) {
			allowed, known := mayImport[name]
			if !known {
				t.Errorf("%s: package %s is not in the table of layout_test.go", goos, name)
				continue
			}
			for _, i := range imports {
				if ours, ok := strings.CutPrefix(i, module+"/"); ok {
					if !slices.Contains(allowed, ours) || slices.Contains(forTests, ours) && !slices.Contains(forTests, name) {
						t.Errorf("%s: %s imports %s, which the layout does not allow", goos, name, ours)
					}
				} else if strings.Contains(strings.Split(i, "/")[0], ".") && !mayImportThirdParty(name, i) {
					t.Errorf("%s: %s imports %s, which the layout does not allow", goos, name, i)
				}
			}
		}
	}
}

func mayImportThirdParty(name, imported string) bool {
	for prefix, who := range thirdParty {
		if imported == prefix || strings.HasPrefix(imported, prefix+"/") {
			return slices.Contains(who, name)
		}
	}
	return false
}

// packages lists our packages with their imports as built for an operating system.
func packages(t *testing.T, goos string) map[string][]string {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...")
	list.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v", goos, err)
	}
	found := map[string][]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		found[name] = p.Imports
	}
}

// promised are the packages that other modules may build on.
var promised = []string{"engine", "engine/vt", "matchers", "redact", "protocol/client", "tuitest"}

// TestPackagesSayWhatTheyPromise: one that others could import, and should not build on, says so in
// its first line.
func TestPackagesSayWhatTheyPromise(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}} {{.Doc}}", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		name, rest, _ := strings.Cut(line, " ")
		path, doc, _ := strings.Cut(rest, " ")
		path = strings.TrimPrefix(path, module+"/")
		if name == "main" || strings.Contains("/"+path, "/internal/") {
			continue
		}
		if says := strings.Contains(doc, "(no stability promise"); says == slices.Contains(promised, path) {
			t.Errorf("%s: %s", path, doc)
		}
	}
}
