package main

import (
	"fmt"
	"strings"
)

// A platform is what a binary runs on, in Go's words.
type platform struct{ system, arch string }

// parsePlatform reads OS/ARCH. The error names the platforms that there are.
func parsePlatform(s string) (platform, error) {
	for known := range strings.SplitSeq(every, ",") {
		if s == known {
			system, arch, _ := strings.Cut(s, "/")
			return platform{system, arch}, nil
		}
	}
	return platform{},
		fmt.Errorf("no release is built for %q: give OS/ARCH, one of %s", s,
			strings.ReplaceAll(every, ",", ", "))
}

func (p platform) String() string { return p.system + "/" + p.arch }

func (p platform) compare(q platform) int { return strings.Compare(p.String(), q.String()) }

// preview says that the packages have been built and not run: they say so.
func (p platform) preview() bool { return p.system == "windows" }

// previewNote is what packages of such a platform say.
const previewNote = "Windows is a preview: this package is built and checked like the others, and has not been run on Windows."

// summary is the line that describes a package of this platform.
func (p platform) summary(text string) string {
	if p.preview() {
		return text + " (Windows: preview)"
	}
	return text
}

// program is the binary's file name.
func (p platform) program() string {
	if p.system == "windows" {
		return "ptywright.exe"
	}
	return "ptywright"
}

// wheelTags are the platform tags of its wheel. A static binary needs no C library, so that one
// wheel fits glibc and musl; Go needs macOS 12.
func (p platform) wheelTags() []string {
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.arch]
	switch p.system {
	case "linux":
		return []string{"manylinux2014_" + machine, "manylinux_2_17_" + machine,
			"musllinux_1_1_" + machine}
	case "darwin":
		return []string{"macosx_12_0_" +
			map[string]string{"amd64": "x86_64", "arm64": "arm64"}[p.arch]}
	}
	return []string{"win_" + p.arch}
}

// npm are its system and processor in npm's words.
func (p platform) npm() (system, cpu string) {
	system, cpu = p.system, p.arch
	if system == "windows" {
		system = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return system, cpu
}
