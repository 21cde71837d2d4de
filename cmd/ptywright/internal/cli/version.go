package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

// A release's build sets these (see release/main.go); in other builds they are empty.
var (
	releaseVersion string // "v1.2.3"
	releaseCommit  string // the whole hash
)

// Version is what the build knows about itself: a release's version, else the module's and the
// commit.
func Version() string {
	if releaseVersion != "" {
		return releaseVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	if c := short(commit()); c != "" && !strings.Contains(v, c) {
		v += "+" + c
	}
	return v
}

// commit is the commit of the build, "" when unknown.
func commit() string {
	if releaseCommit != "" {
		return releaseCommit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// short is a commit's hash at its usual length.
func short(hash string) string { return hash[:min(12, len(hash))] }

// A BuildInfo is what a build knows about itself.
type BuildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"` // the whole hash; "": not known
	Go       string `json:"go"`
	Platform string `json:"platform"` // as linux/amd64
}

// ThisBuild is about this program.
func ThisBuild() BuildInfo {
	return BuildInfo{Version(), commit(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

// BuildLine is what this program is, in one line: version, commit, Go and platform. It is broken at
// blanks where w is a narrower terminal.
func BuildLine(w io.Writer) string {
	b := ThisBuild()
	line := fmt.Sprintf("ptywright %s, commit %s, %s, %s", b.Version,
		cmp.Or(short(b.Commit), "unknown"), b.Go, b.Platform)
	return Wrap(line, TerminalOf(w).Cols, hang)
}
