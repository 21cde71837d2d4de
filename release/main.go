// Command release builds the release files: for each platform one archive with a static binary, the
// licence, the README, manual pages and completions, and SHA256SUMS of them all. Run it in a clone:
// go run ./release
//
// Two runs on the same commit with the same Go give the same bytes, wherever the clone is: paths
// are trimmed, times are the commit's (or SOURCE_DATE_EPOCH), names are sorted, owners are nobody.
// To verify a release, build it again and compare SHA256SUMS.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// every lists all platforms of a release.
const every = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// A release says what to build, and from what.
type release struct {
	version, commit string
	made            time.Time // time of all files in the archives
	out             string
	common          []file // in every archive
}

// A file is one file of an archive.
type file struct {
	name string // path inside the archive's folder, with slashes
	mode int64
	body []byte
}

func main() {
	r := release{}
	flag.StringVar(&r.out, "out", "dist", "the `folder` to write to; what it holds of an older release is replaced")
	flag.StringVar(&r.version, "version", "", "the version (default: what git describe says)")
	flag.StringVar(&r.commit, "commit", "", "the commit's hash (default: HEAD)")
	platforms := flag.String("platforms", every, "what to build for: `OS/ARCH,...`")
	flag.Parse()
	if err := r.run(strings.Split(*platforms, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r *release) run(platforms []string) (err error) {
	if r.version == "" {
		if r.version, err = output("git", "describe", "--tags", "--always", "--dirty", "--abbrev=12"); err != nil {
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

	work, err := os.MkdirTemp("", "ptywright-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := r.gather(work, epoch); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	old, _ := filepath.Glob(filepath.Join(r.out, "ptywright_*"))
	for _, o := range old {
		if err := os.Remove(o); err != nil {
			return err
		}
	}
	var sums strings.Builder
	slices.Sort(platforms)
	for _, p := range platforms {
		name, archive, err := r.archive(work, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if err := os.WriteFile(filepath.Join(r.out, name), archive, 0o644); err != nil {
			return err
		}
		line := fmt.Sprintf("%x  %s\n", sha256.Sum256(archive), name)
		sums.WriteString(line)
		fmt.Print(line)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// gather builds for this platform, and makes the binary write the files that every archive
// contains.
func (r *release) gather(work, epoch string) error {
	here, err := r.build(work, runtime.GOOS, runtime.GOARCH)
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
	pages := filepath.Join(work, "man")
	man := exec.Command(here, "man", pages)
	man.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+epoch)
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
	for shell, name := range map[string]string{"bash": "ptywright.bash", "zsh": "_ptywright", "fish": "ptywright.fish", "powershell": "ptywright.ps1"} {
		script, err := exec.Command(here, "completions", shell).Output()
		if err != nil {
			return fmt.Errorf("completions of %s: %w", shell, err)
		}
		r.common = append(r.common, file{"completions/" + name, 0o644, script})
	}
	return nil
}

// build builds a static binary whose bytes depend only on the source, the version, the platform and
// Go, unless it is in work already.
func (r *release) build(work, system, arch string) (binary string, err error) {
	binary = filepath.Join(work, system+"_"+arch)
	if system == "windows" {
		binary += ".exe"
	}
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	const cli = "github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	stamp := fmt.Sprintf("-s -w -X %[1]s.releaseVersion=%[2]s -X %[1]s.releaseCommit=%[3]s", cli, r.version, r.commit)
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", stamp, "-o", binary, "./cmd/ptywright")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=")
	if said, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, said)
	}
	return binary, nil
}

// archive builds for a platform, and packs the result.
func (r *release) archive(work, platform string) (name string, archive []byte, err error) {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return "", nil, fmt.Errorf("no platform: give OS/ARCH, such as linux/amd64")
	}
	built, err := r.build(work, system, arch)
	if err != nil {
		return "", nil, err
	}
	binary := file{name: "ptywright" + filepath.Ext(built), mode: 0o755}
	if binary.body, err = os.ReadFile(built); err != nil {
		return "", nil, err
	}
	folder := fmt.Sprintf("ptywright_%s_%s_%s", r.version, system, arch)
	files := append([]file{binary}, r.common...)
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var packed bytes.Buffer
	if system == "windows" {
		err = r.zip(&packed, folder, files)
		return folder + ".zip", packed.Bytes(), err
	}
	err = r.tar(&packed, folder, files)
	return folder + ".tar.gz", packed.Bytes(), err
}

func (r *release) tar(to io.Writer, folder string, files []file) error {
	zipped, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(zipped)
	for _, f := range files {
		head := &tar.Header{Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(f.body)), ModTime: r.made, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(head); err != nil {
			return err
		}
		if _, err := w.Write(f.body); err != nil {
			return err
		}
	}
	return cmp.Or(w.Close(), zipped.Close())
}

func (r *release) zip(to io.Writer, folder string, files []file) error {
	w := zip.NewWriter(to)
	for _, f := range files {
		head := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: r.made}
		head.SetMode(os.FileMode(f.mode))
		entry, err := w.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.body); err != nil {
			return err
		}
	}
	return w.Close()
}

// output runs a program, and returns its output.
func output(name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	return strings.TrimSpace(string(out)), err
}
