package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

// formula writes a Homebrew formula, which fetches the archives of this release.
func (r *release) formula(platforms []platform) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Written by go run ./release.
class Ptywright < Formula
  desc %q
  homepage %q
  version %q
  license "MIT"
`, summary, home, versionsOf(r.version).npm)
	for _, system := range []struct{ goName, brew string }{{"darwin", "macos"},
		{"linux", "linux"}} {
		fmt.Fprintf(&b, "\n  on_%s do\n", system.brew)
		for _, arch := range []struct{ goName, brew string }{{"amd64", "intel"}, {"arm64", "arm"}} {
			if a, ok := r.urls[platform{system.goName, arch.goName}]; ok {
				fmt.Fprintf(&b, "    on_%s do\n      url %q\n      sha256 %q\n    end\n", arch.brew,
					r.download(a.name), a.sum)
			}
		}
		b.WriteString("  end\n")
	}
	b.WriteString(`
  def install
    bin.install "ptywright"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/ptywright.bash" => "ptywright"
    zsh_completion.install "completions/_ptywright"
    fish_completion.install "completions/ptywright.fish"
    doc.install "README.md", "LICENSES.txt", "ptywright.spdx.json"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ptywright --version")
    assert_equal "42", shell_output("#{bin}/ptywright run -- echo 42").strip
  end
end
`)
	return r.write("ptywright.rb", []byte(b.String()))
}

// download is where a file of this release will be.
func (r *release) download(name string) string {
	return home + "/releases/download/" + r.version + "/" + name
}

// mcpName is what the registry of MCP servers calls the server.
const mcpName = "io.github.ptywright/ptywright"

// mcpSchema is the version of server.json that is written; a copy is in testdata.
const mcpSchema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

type (
	// mcpPackage is a package that a client can install and start as an MCP server.
	mcpPackage struct {
		Registry  string            `json:"registryType"`
		Name      string            `json:"identifier"`
		Version   string            `json:"version"`
		Runtime   string            `json:"runtimeHint"`
		Transport map[string]string `json:"transport"`
		Arguments []mcpArgument     `json:"packageArguments"`
	}
	mcpArgument struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
)

// serverJSON describes the MCP server for registries: the packages that start it.
func (r *release) serverJSON([]platform) error {
	start := func(registry, name, version, runtime string) mcpPackage {
		return mcpPackage{registry, name, version, runtime,
			map[string]string{"type": "stdio"}, []mcpArgument{{"positional", "mcp"}}}
	}
	v := versionsOf(r.version)
	var packages []mcpPackage
	if r.typescript != "" {
		packages = append(packages, start("npm", npmScope+"sdk", v.npm, "npx"))
	}
	if r.python != "" {
		var p pyproject
		if _, err := toml.DecodeFile(filepath.Join(r.python, "pyproject.toml"), &p); err != nil {
			return err
		}
		packages = append(packages, start("pypi", p.Project.Name, v.python, "uvx"))
	}
	body, err := json.MarshalIndent(struct {
		Schema      string       `json:"$schema"`
		Name        string       `json:"name"`
		Title       string       `json:"title"`
		Description string       `json:"description"`
		Home        string       `json:"websiteUrl"`
		Repository  any          `json:"repository"`
		Version     string       `json:"version"`
		Packages    []mcpPackage `json:"packages,omitempty"`
	}{
		mcpSchema, mcpName, "ptywright",
		"Terminal programs for agents: screens, keys, waits with evidence, secrets hidden.", home,
		map[string]string{"url": home, "source": "github"}, v.npm, packages,
	}, "", "  ")
	if err != nil {
		return err
	}
	return r.write("server.json", append(body, '\n'))
}
