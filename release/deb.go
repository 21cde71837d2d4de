package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// maintainer is who a Debian package names.
const maintainer = "The ptywright authors <ptywright@users.noreply.github.com>"

// summary describes the program in a line, and about in a few.
const (
	summary = "Drive terminal programs from code"
	about   = `ptywright lets programs use terminal programs the way a person does: it
starts them on pseudo-terminals, keeps the screen a person would see,
types, waits for what should happen next, says why a wait ended, and
hides secrets.`
)

// deb packs for Debian and what comes of it; only for Linux. The format is an ar archive of two tar
// archives. (nfpm, the usual library for this, would bring 39 modules, git and OpenPGP among them, for
// some hundred lines; all of ptywright has 24.)
func (r *release) deb(b *binary) error {
	if b.system != "linux" {
		return nil
	}
	name := fmt.Sprintf("ptywright_%s_%s", versionsOf(r.version).debian, b.arch)
	files, err := r.debFiles(b, name)
	if err != nil {
		return err
	}
	var sums strings.Builder
	size := 0
	for _, f := range sorted(files) {
		if !strings.HasSuffix(f.name, "/") {
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.body), f.name)
			size += len(f.body)
		}
	}
	control := fmt.Sprintf("Package: ptywright\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\n"+
		"Section: utils\nPriority: optional\nHomepage: %s\nDescription: %s\n%s\n",
		versionsOf(r.version).debian, b.arch, maintainer, (size+1023)/1024, home, summary,
		indented(about))
	var meta, data bytes.Buffer
	if err := r.targz(&meta, "./",
		[]file{{"control", 0o644, []byte(control)},
			{"md5sums", 0o644, []byte(sums.String())}}); err != nil {
		return err
	}
	if err := r.targz(&data, "./", files); err != nil {
		return err
	}
	return r.write(name+".deb", r.ar([]file{
		{"debian-binary", 0o644, []byte("2.0\n")}, {"control.tar.gz", 0o644, meta.Bytes()},
		{"data.tar.gz", 0o644, data.Bytes()},
	}))
}

// debFiles are what the package installs, with their folders.
func (r *release) debFiles(b *binary, name string) ([]file, error) {
	legal, err := r.legal(b, name)
	if err != nil {
		return nil, err
	}
	const doc = "usr/share/doc/ptywright/"
	copyright := slices.Concat(r.licence().body, []byte("\n"), legal[0].body)
	files := []file{
		{"usr/bin/ptywright", 0o755, b.file.body},
		{doc + "copyright", 0o644, copyright},
		{doc + legal[1].name, 0o644, legal[1].body},
		{doc + r.readme().name, 0o644, r.readme().body},
	}
	places := map[string]string{
		"completions/ptywright.bash": "usr/share/bash-completion/completions/ptywright",
		"completions/_ptywright":     "usr/share/zsh/vendor-completions/_ptywright",
		"completions/ptywright.fish": "usr/share/fish/vendor_completions.d/ptywright.fish",
	}
	for _, f := range r.common {
		if to, ok := places[f.name]; ok {
			files = append(files, file{to, f.mode, f.body})
		} else if page, ok := strings.CutPrefix(f.name, "man/"); ok {
			zipped, err := zipped(f.body)
			if err != nil {
				return nil, err
			}
			files = append(files, file{"usr/share/man/" + page + ".gz", f.mode, zipped})
		}
	}
	folders := map[string]bool{}
	for _, f := range files {
		for dir := path.Dir(f.name); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for dir := range maps.Keys(folders) {
		files = append(files, file{dir + "/", 0o755, nil})
	}
	return files, nil
}

// zipped is a body as gzip, which says no time and no name.
func zipped(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression) // as Debian's policy wants manual pages
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// indented is a text as Debian has the long form of a description.
func indented(text string) string { return " " + strings.ReplaceAll(text, "\n", "\n ") }

// ar writes the archive that a Debian package is.
func (r *release) ar(files []file) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, r.made.Unix(), 0, 0,
			0o100000|f.mode, len(f.body))
		b.Write(f.body)
		if len(f.body)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
