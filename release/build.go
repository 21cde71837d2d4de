package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// A binary is what is packed for one platform.
type binary struct {
	platform
	file  file   // named as the platform does
	parts []part // of what it consists, itself first
}

// gather builds for this machine, and has the binary write the files that every archive contains.
func (r *release) gather() error {
	r.common = nil
	here, err := r.build(platform{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return err
	}
	for _, name := range []string{"LICENSE", "README.md"} {
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		r.common = append(r.common, file{name, 0o644, body})
	}
	pages := filepath.Join(r.work, "man")
	man := exec.Command(here, "man", pages)
	man.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.made.Unix()))
	if said, err := man.CombinedOutput(); err != nil {
		return fmt.Errorf("manual pages: %w: %s", err, said)
	}
	written, err := os.ReadDir(pages)
	if err != nil {
		return err
	}
	for _, page := range written {
		body, err := os.ReadFile(filepath.Join(pages, page.Name()))
		if err != nil {
			return err
		}
		r.common = append(r.common, file{"man/man1/" + page.Name(), 0o644, body})
	}
	for _, s := range []struct{ shell, name string }{{"bash", "ptywright.bash"},
		{"zsh", "_ptywright"}, {"fish", "ptywright.fish"}, {"powershell", "ptywright.ps1"}} {
		script, err := exec.Command(here, "completions", s.shell).Output()
		if err != nil {
			return fmt.Errorf("completions of %s: %w", s.shell, err)
		}
		r.common = append(r.common, file{"completions/" + s.name, 0o644, script})
	}
	return nil
}

// build builds a static binary whose bytes depend only on the source, the version, the platform and
// Go, unless it is there already.
func (r *release) build(p platform) (path string, err error) {
	path = filepath.Join(r.work, p.system+"_"+p.arch)
	if p.system == "windows" {
		path += ".exe"
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	const cli = "github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	stamp := fmt.Sprintf("-s -w -X %[1]s.releaseVersion=%[2]s -X %[1]s.releaseCommit=%[3]s", cli,
		r.version, r.commit)
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", stamp, "-o", path,
		"./cmd/ptywright")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.system, "GOARCH="+p.arch, "GOAMD64=v1",
		"GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=")
	if said, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, said)
	}
	return path, nil
}

// built builds for a platform, and reads what the binary consists of.
func (r *release) built(p platform) (*binary, error) {
	path, err := r.build(p)
	if err != nil {
		return nil, err
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	b := &binary{platform: p, file: file{p.program(), 0o755, body}}
	b.parts, err = r.partsOf(info)
	return b, err
}

// legal are the files that every package with the binary has besides its licence.
func (r *release) legal(b *binary, name string) ([]file, error) {
	list, err := r.spdx(name, b.parts, b.file.body)
	if err != nil {
		return nil, err
	}
	return []file{{"LICENSES.txt", 0o644, notices(b.parts)},
		{"ptywright.spdx.json", 0o644, list}}, nil
}

// licence is the project's own.
func (r *release) licence() file { return r.common[0] }

// readme is the project's own.
func (r *release) readme() file { return r.common[1] }
