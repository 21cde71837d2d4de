package tapecmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/tuitest/tape"
)

// A target is a file that a tape writes.
type target struct {
	path string
	by   *tape.Command // that names it; nil: the flag -o does, or nothing
}

// targets are the files that a tape writes, by what they are: a file may have several names.
type targets struct {
	all   []target
	known map[string]*tape.Command // by identity
	own   map[string]bool          // the tape's own files
	notes []note
}

// newTargets returns those of a tape that was read from files.
func newTargets(files []string) *targets {
	t := &targets{known: map[string]*tape.Command{}, own: map[string]bool{}}
	for _, f := range files {
		t.own[identity(f)] = true
	}
	return t
}

// add adds a file. The error says who else writes it.
func (t *targets) add(path string, by *tape.Command) error {
	id := identity(path)
	before, taken := t.known[id]
	switch {
	case t.own[id]:
		return fmt.Errorf("%s is the tape itself, or one that it names: give another name",
			pty.QuotePath(path))
	case !taken:
		t.known[id] = by
		t.all = append(t.all, target{path, by})
		return nil
	case before == nil:
		return fmt.Errorf("%s is written by -o already: give each its own name", pty.QuotePath(path))
	case by != nil && by.Kind == tape.Screenshot && before.Kind == tape.Screenshot:
		t.notes = append(t.notes, note{*before, fmt.Sprintf("%s is drawn over by that of %s",
			before.Raw, by.Where())})
		t.known[id] = by
		return nil
	}
	return fmt.Errorf("%s is written by the %s of line %d already (%s): give each its own name",
		pty.QuotePath(path), before.Name, before.Line, before.Where())
}

// identity is the same for all paths to a file, as far as its folder is there yet.
func identity(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil { // there is no working folder
		return filepath.Clean(path)
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" { // where names have no case
		abs = strings.ToLower(abs)
	}
	dir, rest := filepath.Dir(abs), filepath.Base(abs)
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return abs
		}
		dir, rest = up, filepath.Join(filepath.Base(dir), rest)
	}
}

// check finds the targets that cannot be written, before a tape runs for nothing. Those of a tape's
// commands are errors of the tape.
func (t *targets) check() error {
	var bad tape.ErrorList
	for _, x := range t.all {
		err := checkTarget(x.path)
		switch {
		case err == nil:
		case x.by == nil:
			return fmt.Errorf("-o: %w", err)
		default:
			bad.Add(errorAt(x.by, err))
		}
	}
	return bad.Err()
}

// checkTarget reports why a file cannot be written. A folder that is missing is made later; the one
// that it is made in has to be there.
func checkTarget(path string) error {
	cannot := func(err error) error {
		return fmt.Errorf("write %s: %w", pty.QuotePath(path), err)
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir(), os.IsPathSeparator(path[len(path)-1]):
		return cannot(record.ErrFolder)
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); !missing(err) {
		return record.CheckShared(path)
	}
	for {
		dir = filepath.Dir(dir)
		info, err := os.Stat(dir)
		switch {
		case missing(err) && dir != filepath.Dir(dir):
			continue
		case err == nil && !info.IsDir():
			return cannot(record.ErrNotFolder)
		case err == nil:
			var probe string
			if probe, err = os.MkdirTemp(dir, ".ptywright-"); err == nil {
				err = os.Remove(probe)
			}
		}
		if at := (*fs.PathError)(nil); errors.As(err, &at) {
			err = fmt.Errorf("its folder cannot be made in %s: %w", pty.QuotePath(dir), at.Err)
			return cannot(err)
		}
		return err
	}
}

// missing reports whether an error of Stat says that there is nothing; also below a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// makeFolders makes the folders of files, as VHS does. undo removes those that it made, but not with
// what else is in them.
func makeFolders(files []record.Named) (undo func(), err error) {
	var made []string
	undo = func() {
		for _, dir := range slices.Backward(made) {
			_ = os.Remove(dir) // somebody has put something there
		}
	}
	for _, f := range files {
		var lacking []string
		for dir := filepath.Dir(f.Path); ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(dir); !missing(err) || dir == filepath.Dir(dir) {
				break
			}
			lacking = append(lacking, dir)
		}
		for _, dir := range slices.Backward(lacking) {
			switch err := os.Mkdir(dir, 0o777); {
			case err == nil:
				made = append(made, dir)
			case !errors.Is(err, fs.ErrExist): // a folder that another process has made will do
				return undo, fmt.Errorf("make the folder of %s: %w", pty.QuotePath(f.Path), err)
			}
		}
	}
	return undo, nil
}

// errorAt is an error about what a command of a tape names.
func errorAt(c *tape.Command, err error) *tape.Error {
	return &tape.Error{File: c.File, Line: c.Line, Col: max(c.At, 1), Msg: err.Error()}
}
