// Command release builds the release files, of every kind for each platform, and SHA256SUMS of them
// all. Run it in a clone: go run ./release
//
//	ptywright_VERSION_OS_ARCH.tar.gz   the binary, manual pages and completions; .zip for Windows
//	ptywright_VERSION_ARCH.deb         the same for Debian and what comes of it
//	ptywright_sdk-VERSION-….whl        the Python package with a binary inside
//	ptywright-sdk-VERSION.tgz          the npm package, and ptywright-cli-OS-CPU-VERSION.tgz, its binaries
//	ptywright.rb, server.json          for Homebrew, and for the registries of MCP servers
//
// Every package has its licences, LICENSES.txt with those of its parts, and a list of the parts as
// SPDX. Nothing but Go is needed: each format is written here, a file of this package for each.
//
// Two runs on the same commit with the same Go give the same bytes, wherever the clone is: paths
// are trimmed, times are the commit's (or SOURCE_DATE_EPOCH), names are sorted, owners are nobody.
// To verify a release, build it again and compare SHA256SUMS.
//
// go run ./release -keep writes release/last instead: what the tests of the next versions need of
// this one.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// every lists all platforms of a release.
const every = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// A release says what to build, and from what.
type release struct {
	version, commit    string
	made               time.Time // time of all files in the packages
	out                string
	python, typescript string // folders of the SDKs

	work   string // binaries, while it runs
	common []file // in every archive
	sums   []string
	urls   map[platform]archived // of the archives
}

// A file is one file of a package.
type file struct {
	name string // path inside the package, with slashes
	mode int64
	body []byte
}

func main() {
	r := release{}
	flag.StringVar(&r.out, "out", "dist",
		"the `folder` to write to; what it holds of an older release is replaced")
	flag.StringVar(&r.version, "version", "", "the version (default: what git describe says)")
	flag.StringVar(&r.commit, "commit", "", "the commit's hash (default: HEAD)")
	flag.StringVar(&r.python, "python", "sdk/python",
		"the `folder` with the Python SDK's pyproject.toml; \"\" packs none")
	flag.StringVar(&r.typescript, "typescript", "sdk/typescript",
		"the `folder` with the TypeScript SDK's package.json, built; \"\" packs none")
	platforms := flag.String("platforms", every, "what to build for: `OS/ARCH,...`")
	keep := flag.Bool("keep", false,
		"write release/last, for the tests of later versions, and nothing else")
	flag.Parse()
	err := r.identify()
	if err == nil && *keep {
		err = r.keep(last)
	} else if err == nil {
		err = r.run(strings.Split(*platforms, ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// identify finds out what is released, where the flags do not say it.
func (r *release) identify() (err error) {
	if r.version == "" {
		if r.version, err = output("git", "describe", "--tags", "--always", "--dirty",
			"--abbrev=12"); err != nil {
			return fmt.Errorf("what the version is (give -version outside of a clone): %w", err)
		}
	}
	if r.commit == "" {
		if r.commit, err = output("git", "rev-parse", "HEAD"); err != nil {
			return fmt.Errorf("what the commit is (give -commit outside of a clone): %w", err)
		}
	}
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		if epoch, err = output("git", "log", "-1", "--format=%ct", r.commit); err != nil {
			return fmt.Errorf("when the commit was made (set SOURCE_DATE_EPOCH outside of a clone): %w", err)
		}
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	r.made = time.Unix(seconds, 0).UTC()
	return nil
}

// ready says what is missing for a release, before anything is built or written.
func (r *release) ready() error {
	if r.typescript == "" {
		return nil
	}
	_, _, err := r.typescriptSDK()
	return err
}

// run builds for the platforms, and writes every package and the sums of them.
func (r *release) run(names []string) error {
	var platforms []platform
	for _, name := range names {
		p, err := parsePlatform(name)
		if err != nil {
			return err
		}
		platforms = append(platforms, p)
	}
	slices.SortFunc(platforms, platform.compare)
	if err := r.ready(); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "ptywright-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r.work = work
	if err := r.gather(); err != nil {
		return err
	}
	if err := r.clear(); err != nil {
		return err
	}
	r.sums, r.urls = nil, map[platform]archived{}
	for _, p := range platforms {
		b, err := r.built(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		for _, pack := range []func(*binary) error{r.archive, r.deb, r.wheel, r.npmBinary} {
			if err := pack(b); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
	}
	for _, pack := range []func([]platform) error{r.npm, r.formula, r.serverJSON} {
		if err := pack(platforms); err != nil {
			return err
		}
	}
	slices.SortFunc(r.sums,
		func(a, b string) int { return strings.Compare(a[sumWidth:], b[sumWidth:]) })
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(strings.Join(r.sums, "")), 0o644)
}

// sumWidth is how wide a sum is in SHA256SUMS, with the two blanks behind it.
const sumWidth = 2*sha256.Size + 2

// patterns are the names of what a release writes.
var patterns = []string{"ptywright_*", "ptywright-*.tgz", "ptywright.rb", "server.json",
	"SHA256SUMS"}

// clear removes what an older release left in the folder to write to.
func (r *release) clear() error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, pattern := range patterns {
		old, err := filepath.Glob(filepath.Join(r.out, pattern))
		if err != nil {
			return err
		}
		for _, o := range old {
			if err := os.Remove(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes one file of the release, and notes its sum.
func (r *release) write(name string, body []byte) error {
	if err := os.WriteFile(filepath.Join(r.out, name), body, 0o644); err != nil {
		return err
	}
	line := fmt.Sprintf("%x  %s\n", sha256.Sum256(body), name)
	r.sums = append(r.sums, line)
	fmt.Print(line)
	return nil
}

// output runs a program, and returns its output.
func output(name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	return strings.TrimSpace(string(out)), err
}
