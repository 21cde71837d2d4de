package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// npmScope is what the names of the npm packages begin with.
const npmScope = "@ptywright/"

// npmName is the name of the package with a platform's binary.
func (p platform) npmName() string {
	system, cpu := p.npm()
	return npmScope + "cli-" + system + "-" + cpu
}

// npmFile is the file name that npm pack would give a package.
func npmFile(name, version string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-" + version + ".tgz"
}

// A repository says where a package's sources are.
type repository struct {
	Type      string `json:"type"`
	URL       string `json:"url"`
	Directory string `json:"directory,omitempty"`
}

// npmBinary packs a binary for npm, which installs it where it can run: the main package asks for
// those of all platforms, and npm leaves out what does not fit. No script runs at installation.
func (r *release) npmBinary(b *binary) error {
	system, cpu := b.npm()
	version := versionsOf(r.version).npm
	text := fmt.Sprintf("The ptywright binary for %s on %s", system, cpu)
	manifest, err := json.MarshalIndent(struct {
		Name        string            `json:"name"`
		Version     string            `json:"version"`
		Description string            `json:"description"`
		License     string            `json:"license"`
		Type        string            `json:"type"` // nothing of it is imported
		Homepage    string            `json:"homepage"`
		Repository  repository        `json:"repository"`
		OS          []string          `json:"os"`
		CPU         []string          `json:"cpu"`
		Files       []string          `json:"files"`
		Unplugged   bool              `json:"preferUnplugged"` // Yarn keeps packages zipped, where nothing can run
		Engines     map[string]string `json:"engines"`
		Publish     map[string]string `json:"publishConfig"`
	}{
		b.npmName(), version, b.summary(text), "MIT", "commonjs", home,
		repository{Type: "git", URL: "git+" + home + ".git"}, []string{system}, []string{cpu},
		[]string{"bin", "LICENSES.txt", "ptywright.spdx.json"}, true,
		map[string]string{"node": ">=20"}, map[string]string{"access": "public"},
	}, "", "  ")
	if err != nil {
		return err
	}
	readme := fmt.Sprintf("# %s\n\n%s. Install %s, which needs this package.\n", b.npmName(), text,
		npmScope+"sdk")
	if b.preview() {
		readme += "\n" + previewNote + "\n"
	}
	name := npmFile(b.npmName(), version)
	legal, err := r.legal(b, strings.TrimSuffix(name, ".tgz"))
	if err != nil {
		return err
	}
	return r.tarball(name, append(legal, r.licence(),
		file{"package.json", 0o644, append(manifest, '\n')},
		file{"README.md", 0o644, []byte(readme)},
		file{"bin/" + b.program(), b.file.mode, b.file.body},
	))
}

// A manifest is the TypeScript SDK's package.json.
type manifest struct {
	Name    string                     `json:"name"`
	Files   []string                   `json:"files"`
	members map[string]json.RawMessage // what is inside keeps its order, in which conditions of exports are tried
}

// typescriptSDK reads the TypeScript SDK: its manifest, and what that names in files, built before.
func (r *release) typescriptSDK() (whole manifest, files []file, err error) {
	text, err := os.ReadFile(filepath.Join(r.typescript, "package.json"))
	if err != nil {
		return whole, nil, fmt.Errorf("the TypeScript SDK (-typescript \"\" leaves it out): %w", err)
	}
	for _, to := range []any{&whole, &whole.members} {
		if err := json.Unmarshal(text, to); err != nil {
			return whole, nil, fmt.Errorf("%s/package.json: %w", r.typescript, err)
		}
	}
	for _, name := range append(slices.Clone(whole.Files), "README.md") {
		more, err := r.npmFiles(name)
		if err != nil {
			return whole, nil, err
		}
		files = append(files, more...)
	}
	return whole, files, nil
}

// npm packs the TypeScript SDK. Its version and the packages with the binaries are written into its
// manifest.
func (r *release) npm([]platform) error {
	if r.typescript == "" {
		return nil
	}
	whole, files, err := r.typescriptSDK()
	if err != nil {
		return err
	}
	members := whole.members
	version := versionsOf(r.version).npm
	binaries := map[string]string{}
	for name := range strings.SplitSeq(every, ",") {
		p, err := parsePlatform(name)
		if err != nil {
			return err
		}
		binaries[p.npmName()] = version
	}
	for _, made := range []string{"scripts", "devDependencies", "private"} {
		delete(members, made)
	}
	for name, value := range map[string]any{
		"version": version, "optionalDependencies": binaries, "mcpName": mcpName,
		"bin":           map[string]string{"ptywright": launcher.name},
		"files":         slices.Concat(whole.Files, []string{"bin", "ptywright.spdx.json"}),
		"publishConfig": map[string]string{"access": "public"},
	} {
		if members[name], err = json.Marshal(value); err != nil {
			return err
		}
	}
	written, err := json.MarshalIndent(members, "", "  ")
	if err != nil {
		return err
	}
	name := npmFile(whole.Name, version)
	self := r.itself()
	self.name, self.purl = whole.Name, "pkg:npm/"+strings.Replace(whole.Name, "@", "%40", 1)+
		"@"+version
	list, err := r.spdx(strings.TrimSuffix(name, ".tgz"), []part{self}, written)
	if err != nil {
		return err
	}
	return r.tarball(name, append(files, r.licence(), launcher,
		file{"package.json", 0o644, append(written, '\n')},
		file{"ptywright.spdx.json", 0o644, list}))
}

// launcher runs the binary for people and programs that start it by npx.
var launcher = file{"bin/ptywright.js", 0o755, []byte(`#!/usr/bin/env node
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const name = ` + "`" + npmScope + "cli-${process.platform}-${process.arch}`" + `;
const file = process.platform === "win32" ? "ptywright.exe" : "ptywright";
let binary = process.env.PTYWRIGHT_BIN;
try {
  binary ||= createRequire(import.meta.url).resolve(` + "`${name}/bin/${file}`" + `);
} catch {
  console.error(` + "`ptywright: the package ${name} is not installed: npm install ${name}, without --omit=optional`" + `);
  process.exit(127);
}
const { status, signal, error } = spawnSync(binary, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(` + "`ptywright: ${error.message}`" + `);
  process.exit(126);
}
if (signal) process.kill(process.pid, signal);
process.exit(status ?? 1);
`)}

// npmFiles are the files of one name in a package's list: a file or a folder, and no pattern.
func (r *release) npmFiles(name string) ([]file, error) {
	path := filepath.Join(r.typescript, filepath.FromSlash(name))
	info, err := os.Stat(path)
	switch {
	case err != nil && name == "README.md":
		return []file{{"README.md", 0o644,
			[]byte("# " + npmScope + "sdk\n\n" + summary + ": " + home + "\n")}}, nil
	case err != nil:
		return nil, fmt.Errorf("%s: package.json names %s, which is not there: build the package first, as CONTRIBUTING.md says under Releases (-typescript \"\" leaves it out)", r.typescript, name)
	case !info.IsDir():
		body, err := os.ReadFile(path)
		return []file{{name, 0o644, body}}, err
	}
	files, err := tree(path, func(path string) bool {
		return filepath.Base(path) == "node_modules" || strings.HasSuffix(path, ".tsbuildinfo")
	})
	for i := range files {
		files[i].name = strings.TrimSuffix(name, "/") + "/" + files[i].name
	}
	return files, err
}

// tarball writes a package as npm has them.
func (r *release) tarball(name string, files []file) error {
	var packed bytes.Buffer
	if err := r.targz(&packed, "package/", files); err != nil {
		return err
	}
	return r.write(name, packed.Bytes())
}
