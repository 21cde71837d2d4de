//go:build unix

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the repository's folder, seen from this package.
const root = "../.."

// TestPromisesNameTestsThatExist holds docs/promises.md to the tests that there are.
func TestPromisesNameTestsThatExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "promises.md"))
	if err != nil {
		t.Fatal(err)
	}
	exist := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(source), -1) {
			exist[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, numbers := 0, map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| R-") {
			continue
		}
		rows++
		number := strings.Fields(line)[1]
		if numbers[number] {
			t.Errorf("two promises are %s", number)
		}
		numbers[number] = true
		named := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)\\w*)`").FindAllStringSubmatch(line, -1)
		if len(named) == 0 && !strings.Contains(line, "`go run ./bench`") {
			t.Errorf("no test is named: %s", line)
		}
		for _, m := range named {
			if !exist[m[1]] {
				t.Errorf("%s does not exist: %s", m[1], line)
			}
		}
		for _, m := range regexp.MustCompile("`([\\w-]+\\.txtar)`").FindAllStringSubmatch(line, -1) {
			if _, err := os.Stat(filepath.Join("testdata", "script", m[1])); err != nil {
				t.Errorf("%v: %s", err, line)
			}
		}
	}
	if rows == 0 {
		t.Error("the page holds no promise")
	}
	security, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range regexp.MustCompile(`R-\d+\w?`).FindAllString(string(security), -1) {
		if !numbers[number] {
			t.Errorf("SECURITY.md rests on %s, which docs/promises.md does not have", number)
		}
	}
}

// TestArchitectureNamesWhatExists holds the files and folders that docs/architecture.md names to
// the tree, and the functions to the files they are said to be in.
func TestArchitectureNamesWhatExists(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z][\\w./-]*(?:\\.(?:go|lua|md|json|txt)|/))`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 20 {
		t.Errorf("the page names %d files and folders", len(named))
	}
	for _, m := range named {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Error(err)
		}
	}
	// A line of a walk: a file, and the functions that a byte or a request passes in it.
	steps := 0
	for line := range strings.Lines(string(page)) {
		file, rest, ok := strings.Cut(strings.TrimSpace(line), ".go ")
		if !ok || strings.ContainsAny(file, " `|") {
			continue
		}
		steps++
		source, err := os.ReadFile(filepath.Join(root, file+".go"))
		if err != nil {
			t.Error(err)
			continue
		}
		functions, _, _ := strings.Cut(strings.TrimSpace(rest), "  ")
		for _, name := range strings.Split(functions, ", ") {
			if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + regexp.QuoteMeta(name) + `[\[(]`).Match(source) {
				t.Errorf("%s.go has no function %s", file, name)
			}
		}
	}
	if steps < 10 {
		t.Errorf("the page's walks have %d steps", steps)
	}
}

// TestMapMatchesTheTree holds the map of docs/architecture.md to the folders that there are.
func TestMapMatchesTheTree(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "## The tree\n\n```\n")
	tree, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("the page has no map under the heading The tree")
	}
	mapped := map[string]bool{}
	parent := ""
	for line := range strings.Lines(tree) {
		name := strings.TrimSuffix(strings.Fields(line)[0], "/")
		if strings.HasPrefix(line, "  ") {
			name = parent + "/" + name
		} else {
			parent = name
		}
		mapped[name] = true
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("the map names %s: %v", name, err)
		}
	}
	for name := range mayImport {
		if !mapped[name] && !mapped[path.Dir(name)] {
			t.Errorf("%s is not in the map of docs/architecture.md", name)
		}
	}
}

// TestMCPPageNamesEveryTool holds the table of docs/mcp.md to the tools that there are.
func TestMCPPageNamesEveryTool(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "mcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "## The tools\n\n")
	table, _, ok2 := strings.Cut(rest, "\n\n")
	if !ok || !ok2 {
		t.Fatal("the page has no table under the heading The tools")
	}
	for tool, err := range goClient(t, nil).Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(table, "`"+tool.Name+"`") {
			t.Errorf("docs/mcp.md does not name %s", tool.Name)
		}
	}
}

// TestGoVersion: who builds it is told to have the Go version that go.mod asks for, and not a later
// release of it.
func TestGoVersion(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	wants := regexp.MustCompile(`(?m)^go (\d+\.\d+)(?:\.0)?$`).FindSubmatch(mod)
	if wants == nil || regexp.MustCompile(`(?m)^toolchain`).Match(mod) {
		t.Fatalf("go.mod asks for more than a Go version's first release:\n%s", mod)
	}
	for _, page := range []string{"README.md", "docs/guide.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		said := regexp.MustCompile(`\bGo (\d[\d.]*\d)`).FindAllSubmatch(text, -1)
		if len(said) == 0 {
			t.Errorf("%s does not say which Go it needs", page)
		}
		for _, m := range said {
			if string(m[1]) != string(wants[1]) {
				t.Errorf("%s says %s, go.mod asks for %s", page, m[0], wants[1])
			}
		}
	}
}

// TestWireReferenceNamesEveryMethod holds docs/wire.md to the method table.
func TestWireReferenceNamesEveryMethod(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "wire.md"))
	if err != nil {
		t.Fatal(err)
	}
	out, code := ptywright(t, "serve", "--stdio").Run(`{"jsonrpc":"2.0","id":1,"method":"server.capabilities","params":{"schema":true}}` + "\n")
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	for _, list := range []string{"methods", "actions", "matchers", "reasons", "notifications"} {
		_, rest, ok := strings.Cut(out, `"`+list+`":[`)
		items, _, _ := strings.Cut(rest, "]")
		if !ok {
			t.Errorf("server.capabilities does not print %s", list)
		}
		for _, item := range strings.Split(items, ",") {
			if name := strings.Trim(item, `"`); !strings.Contains(string(page), "`"+name) {
				t.Errorf("docs/wire.md does not name %s of %s", name, list)
			}
		}
	}
}

// TestLibraryExample runs the example that docs/guide.md shows, of which the guide shows twelve
// lines.
func TestLibraryExample(t *testing.T) {
	t.Parallel()
	need(t, "python3", "python3")
	out, err := exec.Command("go", "run", filepath.Join(root, "examples", "library")).CombinedOutput()
	if err != nil || string(out) != "python says 42\n" {
		t.Errorf("%s%v", out, err)
	}
	guide, err := os.ReadFile(filepath.Join(root, "docs", "guide.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(root, "examples", "library", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "```go\n")
	shown, _, ok := strings.Cut(rest, "```")
	if !ok || strings.Count(shown, "\n") != 12 || !strings.Contains(strings.ReplaceAll(string(source), "\n\t", "\n"), shown) {
		t.Errorf("the guide does not show twelve lines of the program:\n%s", shown)
	}
}

// TestSessionsExample runs the one with two programs, and reads what it has left.
func TestSessionsExample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := exec.Command("go", "run", filepath.Join(root, "examples", "sessions"), dir).CombinedOutput()
	const want = "the server is listening\nthe client greets the world\nno goodbye on \"name? world\\nhello world\"\n"
	if err != nil || string(out) != want {
		t.Errorf("%s%v", out, err)
	}
	for name, holds := range map[string]string{"server.cast": "listening", "client.svg": "<svg"} {
		kept, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(kept), holds) {
			t.Errorf("%s: %.200s %v", name, kept, err)
		}
	}
}

// TestPluginExample pipes in what docs/plugins.md shows, with the plugin that it points to.
func TestPluginExample(t *testing.T) {
	t.Parallel()
	need(t, "less", "less")
	page, err := os.ReadFile(filepath.Join(root, "docs", "plugins.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "ptywright serve --stdio --plugin examples/plugins/less/manifest.toml <<'EOF'\n")
	requests, _, ok2 := strings.Cut(rest, "EOF\n")
	if !ok || !ok2 {
		t.Fatal("docs/plugins.md shows no session")
	}
	p := ptywright(t, "serve", "--stdio", "--plugin", "examples/plugins/less/manifest.toml")
	p.Dir = root
	out, code := p.Run(requests)
	if code != 0 {
		t.Errorf("exit code %d: %s", code, p.Stderr)
	}
	replies := strings.Split(strings.TrimSpace(out), "\n")
	if len(replies) != strings.Count(requests, "\n") {
		t.Fatalf("%d replies:\n%s", len(replies), out)
	}
	for _, r := range replies {
		if strings.Contains(r, `"error"`) {
			t.Errorf("%s", r)
		}
	}
	if search, quit := replies[2], replies[4]; !strings.Contains(search, `"submitted":true`) || !strings.Contains(quit, `"submitted":true`) {
		t.Errorf("search: %s\nquit: %s", search, quit)
	}
}

// TestPluginTutorial puts the pieces of "Twenty minutes" in docs/plugins.md together as a reader
// would, and drives a program with what comes of it.
func TestPluginTutorial(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "plugins.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## Twenty minutes")
	part, _, ok := strings.Cut(rest, "\n## ")
	if !ok {
		t.Fatal("the page has no such part")
	}
	blocks := func(kind string) string {
		var all strings.Builder
		for _, piece := range strings.Split(part, "```"+kind+"\n")[1:] {
			text, _, _ := strings.Cut(piece, "```")
			for line := range strings.Lines(text) {
				all.WriteString(strings.TrimPrefix(line, "   "))
			}
		}
		return all.String()
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"manifest.toml": blocks("toml"), "main.lua": blocks("lua")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, "--plugin", filepath.Join(dir, "manifest.toml"))
	var started struct{ Adapter string }
	s.call("adapter.start", map[string]any{
		"plugin": "mine", "program": "sh", "rows": 10, "cols": 60,
		// It asks, with the pointer on No; any key moves the pointer, Enter answers.
		"args": []string{"-c", `while printf '> '; read -r line; do
			stty -icanon -icrnl -echo; printf 'Continue?\n\033[2K  Yes\n❯ No\033[A\r'
			dd bs=3 count=1 2>/dev/null >/dev/null; printf '❯ Yes\n  No \033[A\r'
			dd bs=1 count=1 2>/dev/null >/dev/null; stty icanon icrnl echo; printf '\033[A\r\033[Jdone with %s\n' "$line"; done`},
	}, &started)
	type result struct {
		State struct {
			State    string
			Metadata map[string]any
		}
		Receipt struct {
			Echoed, Submitted *bool
			Evidence          string
		}
	}
	var r result
	send := func(method string, params map[string]any) result {
		t.Helper()
		params["adapter"] = started.Adapter
		r = result{}
		s.call(method, params, &r)
		return r
	}
	send("adapter.wait", map[string]any{})
	send("adapter.explain", map[string]any{}) // needs that count on earlier ones do not fail it
	send("adapter.send", map[string]any{"intent": "send_prompt", "params": map[string]any{"prompt": "hello"}})
	if r.Receipt.Submitted == nil || !*r.Receipt.Submitted || !*r.Receipt.Echoed {
		t.Fatalf("the prompt: %+v", r)
	}
	s.call("session.wait", map[string]any{"session": "s1", "matcher": map[string]any{"type": "contains_text", "value": "❯ No"}}, nil)
	if send("adapter.state", map[string]any{}); r.State.State != "waiting_for_permission" || r.State.Metadata["on"] != "No" {
		t.Fatalf("the question: %+v", r)
	}
	send("adapter.turn", map[string]any{"send": map[string]any{"intent": "approve"}})
	if r.State.State != "ready" {
		t.Errorf("afterwards: %+v", r)
	}
}
