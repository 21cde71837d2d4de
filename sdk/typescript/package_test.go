package typescript

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// packed is the package as it is published, but for its version.
func packed(t *testing.T) *project {
	t.Helper()
	p := newProject(t, "")
	dir := filepath.Join(p.dir, "packed")
	if err := copyTree(filepath.Join(pack(t), "dist"), filepath.Join(dir, "dist")); err != nil {
		t.Fatal(err)
	}
	if err := copyTree("src", filepath.Join(dir, "src")); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"package.json": "package.json", filepath.Join(root, "LICENSE"): "LICENSE", "README.md": "README.md"} {
		if err := copyFile(from, filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestPackageIsClean: publint and attw find nothing wrong with what is published.
func TestPackageIsClean(t *testing.T) {
	t.Parallel()
	p := packed(t)
	bin := func(name string) string { return filepath.Join(p.modules, ".bin", name) }
	if out, err := p.run(t, nil, bin("publint"), "--strict", "--pack=npm", "packed"); err != nil || !strings.Contains(out, "All good!") {
		t.Errorf("publint: %v\n%s", err, out)
	}
	if out, err := p.run(t, nil, bin("attw"), "--pack", "packed", "--profile", "esm-only", "--no-color", "--no-emoji"); err != nil {
		t.Errorf("attw: %v\n%s", err, out)
	}
}

// TestPackageHasItsTypes: each entry has types and source maps, whose sources are there.
func TestPackageHasItsTypes(t *testing.T) {
	t.Parallel()
	dir := pack(t)
	var manifest struct {
		Exports map[string]json.RawMessage `json:"exports"`
		Deps    map[string]string          `json:"dependencies"`
		Scripts map[string]string          `json:"scripts"`
	}
	text, err := os.ReadFile("package.json")
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Deps) != 0 || manifest.Scripts["postinstall"] != "" {
		t.Errorf("dependencies %v, scripts %v", manifest.Deps, manifest.Scripts)
	}
	for name, entry := range manifest.Exports {
		var paths map[string]string
		if json.Unmarshal(entry, &paths) != nil {
			continue // package.json itself
		}
		for what, path := range paths {
			body, err := os.ReadFile(filepath.Join(dir, path))
			if err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if !strings.Contains(string(body), "//# sourceMappingURL=") {
				t.Errorf("%s has no source map", path)
			}
			var m struct{ Sources []string }
			text, err := os.ReadFile(filepath.Join(dir, path+".map"))
			if err == nil {
				err = json.Unmarshal(text, &m)
			}
			if err != nil {
				t.Error(err)
			}
			for _, source := range m.Sources {
				if _, err := os.Stat(filepath.Join(dir, "dist", source)); err != nil {
					t.Errorf("the map of %s: %v", path, err)
				}
			}
		}
	}
}

// TestTypesAlone: the types are checked themselves, for a project that has no types of Node or
// whose library knows nothing of await using.
func TestTypesAlone(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]string{
		"old library": `"lib": ["ES2022"], "skipLibCheck": false`,
		"new library": `"lib": ["ESNext"], "skipLibCheck": false`,
		"bundler":     `"lib": ["ESNext", "DOM"], "skipLibCheck": false, "module": "ESNext", "moduleResolution": "bundler"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newProject(t, options, "types.ts").compile(t)
		})
	}
}

// vitest runs a file with vitest, which has to pass.
func (p *project) vitest(t testing.TB, env []string, file string) {
	t.Helper()
	p.node(t, env, filepath.Join(p.modules, "vitest", "vitest.mjs"), "run", "--reporter=verbose", file)
}

// TestKeeps: what is needed to see why a test failed is kept, and of a test that passes nothing.
func TestKeeps(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", "keeps.ts")
	p.compile(t)
	source, err := os.ReadFile(filepath.Join("test", "keeps.vitest"))
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "keeps.test.ts", string(source))
	for name, command := range map[string][]string{
		"node":   {"--test", "keeps.js"},
		"vitest": {filepath.Join(p.modules, "vitest", "vitest.mjs"), "run", "keeps.test.ts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out, err := p.run(t, []string{"PTYWRIGHT_ARTIFACTS=" + dir}, "node", command...)
			if err == nil {
				t.Fatalf("a test that fails passes:\n%s", out)
			}
			kept := filepath.Join(dir, "fails-with-a-screen")
			for file, has := range map[string]string{
				"session-1.cast": `"version":2`, "session-1.png": "PNG", "session-1.txt": "- contains_text \"never\"", "session-2.cast": "second",
			} {
				text, err := os.ReadFile(filepath.Join(kept, file))
				if err != nil || !strings.Contains(string(text), has) {
					t.Errorf("%s: %v, %.300q", file, err, text)
				}
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 1 {
				t.Errorf("of the test that passes is left: %v, %v", entries, err)
			}
			if !strings.Contains(out, kept) || !strings.Contains(out, `- contains_text "never"`) {
				t.Errorf("the report says neither why nor where:\n%s", out)
			}
			if !strings.Contains(out, "expected exit code 4, and the program ended with exit code 3") {
				t.Errorf("no word of the exit code:\n%s", out)
			}
		})
	}
}
