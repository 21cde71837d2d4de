package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// An archived binary is where it will be found, for packages that fetch it.
type archived struct{ name, sum string }

// archive packs for people who unpack it themselves.
func (r *release) archive(b *binary) error {
	folder := fmt.Sprintf("ptywright_%s_%s_%s", r.version, b.system, b.arch)
	if b.preview() {
		folder += "_preview"
	}
	legal, err := r.legal(b, folder)
	if err != nil {
		return err
	}
	files := slices.Concat([]file{b.file}, r.common, legal)
	if b.preview() {
		files = append(files, file{"PREVIEW.txt", 0o644, []byte(previewNote + "\n")})
	}
	var packed bytes.Buffer
	name := folder + ".tar.gz"
	if b.system == "windows" {
		name = folder + ".zip"
		err = r.zip(&packed, folder+"/", files)
	} else {
		err = r.targz(&packed, folder+"/", files)
	}
	if err != nil {
		return err
	}
	r.urls[b.platform] = archived{name, fmt.Sprintf("%x", sha256.Sum256(packed.Bytes()))}
	return r.write(name, packed.Bytes())
}

// sorted are the files by name.
func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files),
		func(a, b file) int { return strings.Compare(a.name, b.name) })
}

// targz writes a compressed tar, sorted by name. Folders are those of its files, unless they end
// with a slash and are given.
func (r *release) targz(to io.Writer, prefix string, files []file) error {
	zipped := gzip.NewWriter(to)
	w := tar.NewWriter(zipped)
	for _, f := range sorted(files) {
		head := &tar.Header{Name: prefix + f.name, Mode: f.mode, Size: int64(len(f.body)),
			ModTime: r.made, Format: tar.FormatUSTAR}
		if strings.HasSuffix(f.name, "/") {
			head.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(head); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if _, err := w.Write(f.body); err != nil {
			return err
		}
	}
	return cmp.Or(w.Close(), zipped.Close())
}

// zip writes a zip, sorted by name.
func (r *release) zip(to io.Writer, prefix string, files []file) error {
	made := r.made
	if first := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC); made.Before(first) {
		made = first // a zip has no earlier time
	}
	w := zip.NewWriter(to)
	for _, f := range sorted(files) {
		head := &zip.FileHeader{Name: prefix + f.name, Method: zip.Deflate, Modified: made}
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
