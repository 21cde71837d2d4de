package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// A pyproject is what is read of the Python SDK's pyproject.toml, the one place for its name, its
// words and its entry points.
type pyproject struct {
	Project struct {
		Name           string                       `toml:"name"`
		Description    string                       `toml:"description"`
		Readme         any                          `toml:"readme"`
		RequiresPython string                       `toml:"requires-python"`
		Authors        []map[string]string          `toml:"authors"`
		Keywords       []string                     `toml:"keywords"`
		Classifiers    []string                     `toml:"classifiers"`
		URLs           map[string]string            `toml:"urls"`
		Scripts        map[string]string            `toml:"scripts"`
		EntryPoints    map[string]map[string]string `toml:"entry-points"`
		Optional       map[string][]string          `toml:"optional-dependencies"`
		Dependencies   []string                     `toml:"dependencies"`
	} `toml:"project"`
}

// wheel packs the Python SDK with the binary inside, as ptywright/_bin.
func (r *release) wheel(b *binary) error {
	if r.python == "" {
		return nil
	}
	var p pyproject
	if _, err := toml.DecodeFile(filepath.Join(r.python, "pyproject.toml"), &p); err != nil {
		return fmt.Errorf("the Python SDK (-python \"\" leaves it out): %w", err)
	}
	if p.Project.Name == "" || p.Project.Description == "" {
		return fmt.Errorf("%s/pyproject.toml has no name or no description", r.python)
	}
	sources, err := tree(filepath.Join(r.python, "src"), func(path string) bool {
		name := filepath.Base(path)
		return name == "__pycache__" || name == "_bin" || strings.HasSuffix(name, ".pyc") ||
			strings.HasSuffix(name, ".egg-info")
	})
	if err != nil {
		return err
	}
	version := versionsOf(r.version).python
	stem := strings.ReplaceAll(p.Project.Name, "-", "_") + "-" + version
	tags := b.wheelTags()
	name := fmt.Sprintf("%s-py3-none-%s.whl", stem, strings.Join(tags, "."))
	legal, err := r.legal(b, strings.TrimSuffix(name, ".whl"))
	if err != nil {
		return err
	}
	metadata, err := r.metadata(p, b.platform, version)
	if err != nil {
		return err
	}
	about := "Wheel-Version: 1.0\nGenerator: ptywright-release\nRoot-Is-Purelib: false\n"
	for _, tag := range tags {
		about += "Tag: py3-none-" + tag + "\n"
	}
	info := stem + ".dist-info/"
	files := append(sources,
		file{"ptywright/_bin/" + b.program(), b.file.mode, b.file.body},
		starter,
		file{info + "METADATA", 0o644, metadata},
		file{info + "WHEEL", 0o644, []byte(about)},
		file{info + "entry_points.txt", 0o644, []byte(entryPoints(p))},
		file{info + "licenses/LICENSE", 0o644, r.licence().body},
		file{info + "licenses/" + legal[0].name, 0o644, legal[0].body},
		file{info + "sboms/" + legal[1].name, 0o644, legal[1].body},
	)
	files = append(files, record(info+"RECORD", files))
	var packed bytes.Buffer
	if err := r.zip(&packed, "", files); err != nil {
		return err
	}
	return r.write(name, packed.Bytes())
}

// metadata is the METADATA of a wheel.
func (r *release) metadata(p pyproject, on platform, version string) ([]byte, error) {
	var b bytes.Buffer
	line := func(name,
		value string) {
		fmt.Fprintf(&b, "%s: %s\n", name,
			strings.Join(strings.Fields(value), " "))
	}
	line("Metadata-Version", "2.4")
	line("Name", p.Project.Name)
	line("Version", version)
	line("Summary", on.summary(p.Project.Description))
	for _, a := range p.Project.Authors {
		if a["email"] == "" {
			line("Author", a["name"])
		} else {
			line("Author-email", strings.TrimSpace(a["name"]+" <"+a["email"]+">"))
		}
	}
	line("License-Expression", "MIT")
	line("License-File", "LICENSE")
	line("License-File", "LICENSES.txt")
	if len(p.Project.Keywords) > 0 {
		line("Keywords", strings.Join(p.Project.Keywords, ","))
	}
	for _, c := range p.Project.Classifiers {
		line("Classifier", c)
	}
	if p.Project.RequiresPython != "" {
		line("Requires-Python", p.Project.RequiresPython)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Project.URLs)) {
		line("Project-URL", name+", "+p.Project.URLs[name])
	}
	for _, d := range p.Project.Dependencies {
		line("Requires-Dist", d)
	}
	for _, extra := range slices.Sorted(maps.Keys(p.Project.Optional)) {
		line("Provides-Extra", extra)
		for _, d := range p.Project.Optional[extra] {
			d, marker, conditional := strings.Cut(d, ";")
			if condition := fmt.Sprintf("extra == %q", extra); conditional {
				line("Requires-Dist",
					fmt.Sprintf("%s; (%s) and %s", strings.TrimSpace(d), strings.TrimSpace(marker),
						condition))
			} else {
				line("Requires-Dist", d+"; "+condition)
			}
		}
	}
	line("Description-Content-Type", "text/markdown")
	text, err := p.readme(r.python)
	if err != nil {
		return nil, err
	}
	b.WriteString("\n")
	if on.preview() {
		b.WriteString("> " + previewNote + "\n\n")
	}
	b.Write(text)
	fmt.Fprintf(&b, "\n<!-- mcp-name: %s -->\n", mcpName) // by which the registry of MCP servers knows whose it is
	return b.Bytes(), nil
}

// readme is the long description: the file that the project names, or its one line.
func (p pyproject) readme(dir string) ([]byte, error) {
	switch of := p.Project.Readme.(type) {
	case string:
		return os.ReadFile(filepath.Join(dir, of))
	case map[string]any:
		if name, ok := of["file"].(string); ok {
			return os.ReadFile(filepath.Join(dir, name))
		}
		if text, ok := of["text"].(string); ok {
			return []byte(text), nil
		}
	}
	return []byte(p.Project.Description + "\n\nMore: " + home + "\n"), nil
}

// starter runs the binary for people, who type ptywright, and for uvx, which looks for a command with
// the name of the package.
var starter = file{"ptywright/_bin/__init__.py", 0o644, []byte(`"""The ptywright binary of this platform."""

import os
import subprocess
import sys


def main() -> None:
    """Run the binary with this command's arguments, in its place."""
    here = os.path.dirname(os.path.abspath(__file__))
    binary = os.path.join(here, "ptywright.exe" if os.name == "nt" else "ptywright")
    if os.name == "nt":  # there, what takes a process's place is another one
        sys.exit(subprocess.run([binary, *sys.argv[1:]]).returncode)
    os.execv(binary, ["ptywright", *sys.argv[1:]])
`)}

// entryPoints are the scripts and the plugins of a project, and the commands that every wheel has.
func entryPoints(p pyproject) string {
	groups := map[string]map[string]string{"console_scripts": {"ptywright": "ptywright._bin:main",
		p.Project.Name: "ptywright._bin:main"}}
	maps.Copy(groups["console_scripts"], p.Project.Scripts)
	maps.Copy(groups, p.Project.EntryPoints)
	var b strings.Builder
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		fmt.Fprintf(&b, "[%s]\n", group)
		for _, name := range slices.Sorted(maps.Keys(groups[group])) {
			fmt.Fprintf(&b, "%s = %s\n", name, groups[group][name])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// record lists the files of a wheel with their sums.
func record(name string, files []file) file {
	var b strings.Builder
	for _, f := range sorted(files) {
		sum := sha256.Sum256(f.body)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]),
			len(f.body))
	}
	fmt.Fprintf(&b, "%s,,\n", name)
	return file{name, 0o644, []byte(b.String())}
}

// tree reads the files below a folder, named from there, but for what leave says.
func tree(root string, leave func(path string) bool) ([]file, error) {
	var files []file
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != root && leave(path):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		body, err := os.ReadFile(path)
		files = append(files, file{filepath.ToSlash(name), 0o644, body})
		return err
	})
	return files, err
}
