// Package plugin is the toolkit of plugin authors: it scaffolds an adapter ([New]), finds what is
// wrong with one ([Check]), plays recordings to it and compares its results ([Test]), runs its
// program under it on this terminal ([Run]), and explains why a live session's state is what it is
// ([Explain]). Start with [Open]; [Command] makes the commands of it.
//
// # Cases
//
// A case is a recording in testdata/cases of the plugin's folder, and what the plugin should report
// for it: NAME.cast, an asciicast, or NAME.screen, one screen as package golden writes it or as plain text;
// and NAME.expected.json, see [Expected]. [plugins.Rehearsal] plays a recording in its own time:
// nothing waits, and every run gives the same results.
package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/ptywright/ptywright/plugins"
)

// casesDir is the folder of a plugin's cases, relative to its own.
const casesDir = "testdata/cases"

// manifestName is the file that makes a folder a plugin.
const manifestName = "manifest.toml"

// A Folder is a plugin on disk.
type Folder struct {
	Dir    string // as the caller named it
	Source *plugins.Source
	Log    *slog.Logger // gets what the plugin prints
}

// A FolderError says that a folder holds no plugin, or which part of it cannot be read.
type FolderError struct {
	Dir string
	Err error
}

// Error says what to do.
func (e *FolderError) Error() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return fmt.Sprintf("%s is not a plugin: it has no %s; name a plugin's directory, or make one with ptywright plugin new NAME", e.Dir, manifestName)
	}
	return fmt.Sprintf("%s: %v", e.Dir, e.Err)
}

// Unwrap returns the cause.
func (e *FolderError) Unwrap() error { return e.Err }

// Open reads the plugin in a folder, which may be named by the path of its manifest.toml. The error
// is a *[FolderError].
func Open(dir string, log *slog.Logger) (*Folder, error) {
	dir = folderOf(dir)
	s, err := plugins.Open(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, &FolderError{dir, err}
	}
	return &Folder{Dir: dir, Source: s, Log: log}, nil
}

// folderOf is the folder that a path means.
func folderOf(path string) string {
	if path == "" {
		return "."
	}
	if filepath.Base(path) == manifestName {
		return filepath.Dir(path)
	}
	return filepath.Clean(path)
}

// exists reports whether anything has that name.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
