package typescript

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A snippet is a block of code of the page, with the output that the page shows below it.
type snippet struct {
	kind string // ts, js or ts vitest
	code string
	want string
}

var fence = regexp.MustCompile("(?ms)^```([a-z ]+)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?")

// snippets are those of the page, in its order.
func snippets(t *testing.T) (all []snippet) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "typescript.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fence.FindAllSubmatch(text, -1) {
		all = append(all, snippet{string(m[1]), string(m[2]), string(m[3])})
	}
	if n := strings.Count(string(text), "```"); n%2 != 0 || len(all) < 16 {
		t.Fatalf("%d fences and %d snippets", n, len(all))
	}
	return all
}

// TestDocs runs every snippet of the page as it stands there. One without output of its own prints
// nothing.
func TestDocs(t *testing.T) {
	t.Parallel()
	need(t, "python3", "python3")
	need(t, "vim", "vim")
	need(t, "fzf", "fzf")
	p := newProject(t, "")
	all := snippets(t)
	for i, s := range all {
		switch s.kind {
		case "ts":
			p.write(t, fmt.Sprintf("snippet%d.ts", i), s.code)
		case "js":
			p.write(t, fmt.Sprintf("snippet%d.js", i), s.code)
		case "ts vitest":
			p.write(t, fmt.Sprintf("snippet%d.ts", i), s.code)
			p.write(t, fmt.Sprintf("vitest/snippet%d.test.ts", i), s.code)
		default:
			t.Errorf("what is to be done with a snippet of %s?", s.kind)
		}
	}
	p.compile(t)
	for i, s := range all {
		name := fmt.Sprintf("snippet%d", i)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := *p
			one.dir = t.TempDir()
			p.linkInto(t, one.dir)
			switch {
			case s.kind == "ts vitest":
				p.vitest(t, []string{"CI="}, "vitest/"+name+".test.ts")
			case strings.Contains(s.code, `"node:test"`):
				one.test(t, []string{"CI="}, name+".js") // golden screens are written
			default:
				if got := one.node(t, nil, name+".js"); !shown(s.want).MatchString(got) {
					t.Errorf("%s\nprints\n%s\nand the page says\n%s", s.code, got, s.want)
				}
			}
		})
	}
}

// linkInto puts what has been compiled into another folder, in which a program may write.
func (p *project) linkInto(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		to := filepath.Join(dir, e.Name())
		if strings.HasSuffix(e.Name(), ".js") { // a link would be followed to the folder it is in
			if err := copyFile(filepath.Join(p.dir, e.Name()), to); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if e.Name() == "package.json" || e.Name() == "node_modules" {
			p.link(t, filepath.Join(p.dir, e.Name()), to)
		}
	}
}

// shown is what output has to look like: the page has … for what differs from time to time.
func shown(want string) *regexp.Regexp {
	lines := strings.Split(strings.TrimRight(want, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
	}
	return regexp.MustCompile(`^` + strings.Join(lines, `\n`) + `\n*$`)
}

// TestShown: the page's output is held against what is printed.
func TestShown(t *testing.T) {
	t.Parallel()
	if !shown("a … c\nb\n").MatchString("a 12 c\nb\n") || shown("a\n").MatchString("b\n") || shown("").MatchString("x\n") || !shown("").MatchString("") {
		t.Error("shown is wrong")
	}
}
