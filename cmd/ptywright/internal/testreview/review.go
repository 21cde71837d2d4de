// Package testreview (no stability promise) holds the commands that decide about golden screens that
// differ from what a test saw: test review, accept and reject. [Commands] makes them.
//
// A test that fails leaves what it saw beside the golden: NAME.screen.new, and for the sections of a
// script a whole NAME.ptw.new. [Find] finds both, and each golden that differs is an [Item].
package testreview

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/tuitest/script"
)

// A State says what there is to decide about an item.
type State string

const (
	Changed    State = "changed"    // the screen differs from the golden
	New        State = "new"        // the golden does not exist yet
	Conflict   State = "conflict"   // the golden cannot be read: most often a merge left its markers
	Unreadable State = "unreadable" // what the test left cannot be read: it can only be rejected
)

// An Item is a golden screen to decide about.
type Item struct {
	// Name is what accept and reject take: the golden's path, of a section script.ptw:screen/main.
	Name string
	// Path is the file that has the golden, or is it.
	Path string
	// Section is the golden's name in a script; "" for a file of its own.
	Section string
	State   State
	// Old is the golden, nil for New and Conflict; Seen is what a test saw, nil for Unreadable.
	Old, Seen *golden.File
	// Err says why Old or Seen is missing.
	Err error

	seen []byte // Seen as it was written
}

// Diff compares the golden with what was seen; nil without either.
func (i *Item) Diff() *golden.Diff {
	if i.Old == nil || i.Seen == nil {
		return nil
	}
	return i.Old.Diff(i.Seen)
}

// What says in a few words what there is to decide.
func (i *Item) What() string {
	switch i.State {
	case New:
		return "new"
	case Conflict, Unreadable:
		return i.Err.Error()
	}
	d := i.Diff()
	switch n := d.Cells(); {
	case n == 1:
		return "1 cell differs"
	case n > 1:
		return fmt.Sprintf("%d cells differ", n)
	case len(d.Head) > 0:
		return strings.Join(d.Head, "; ")
	}
	return "the same in other words"
}

const (
	screenEnd = ".screen"
	// maxFiles bounds the files and folders that are looked at: more than any repository has, and
	// what a review of / by mistake would take for minutes.
	maxFiles = 1 << 20
	// maxScript bounds a script that is read, in bytes: hundreds of screens.
	maxScript = 64 << 20
)

// A FileError is about a named file that has no golden screens.
type FileError struct{ Path string }

func (e *FileError) Error() string {
	return fmt.Sprintf("%s has no golden screens: give a script (%s), a golden (%s), what a test left beside one (.new), or a folder",
		e.Path, script.Ext, screenEnd)
}

// Find returns what there is to decide about in some files and below some folders, in their order and
// by name, each once. A script or a golden means what a test left beside it, and so does that file
// itself; any other file is a *[FileError]. Folders that hold a repository's own files or packages
// (.git, node_modules) are left out; links are not followed.
func Find(roots []string) ([]*Item, error) {
	var items []*Item
	looked := map[string]bool{}
	look := func(path string) error {
		if clean := filepath.Clean(path); looked[clean] {
			return nil
		} else {
			looked[clean] = true
		}
		of := ofScript
		if strings.HasSuffix(path, screenEnd) {
			of = ofFile
		}
		found, err := of(path)
		items = append(items, found...)
		return err
	}
	for _, root := range roots {
		path, ok := goldenOf(root)
		info, err := os.Lstat(root)
		if errors.Is(err, fs.ErrNotExist) && ok { // a golden that is new has only its .new
			info, err = os.Lstat(golden.Pending(path))
		}
		switch regular := err == nil && info.Mode().IsRegular(); {
		case regular && !ok:
			return nil, &FileError{root}
		case regular:
			err = look(path)
		default:
			err = walk([]string{root}, func(path string) error {
				if file, ok := goldenOf(path); ok && file != path {
					return look(file)
				}
				return nil
			})
		}
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

// goldenOf returns the file with golden screens that a path names, itself or by what a test left
// beside it; ok is false when it names neither.
func goldenOf(path string) (file string, ok bool) {
	file = strings.TrimSuffix(path, golden.Pending(""))
	return file, strings.HasSuffix(file, screenEnd) || strings.HasSuffix(file, script.Ext)
}

// walk calls f for each regular file below some files and folders.
func walk(roots []string, f func(path string) error) error {
	files := 0
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if files++; files > maxFiles {
				return fmt.Errorf("%s has more than %d files: name a smaller folder", root, maxFiles)
			}
			switch {
			case err != nil && path == root:
				return err
			case err != nil: // a folder that we may not read has none of our tests
				return nil
			case d.IsDir() && path != root && (d.Name() == ".git" || d.Name() == "node_modules"):
				return fs.SkipDir
			case !d.Type().IsRegular():
				return nil
			}
			return f(path)
		})
		if err != nil {
			return fmt.Errorf("look for golden screens: %w", err)
		}
	}
	return nil
}

// ofFile returns the item of a golden that is a file.
func ofFile(path string) ([]*Item, error) {
	i := &Item{Name: filepath.ToSlash(path), Path: path}
	var err error
	if i.Seen, err = golden.Load(golden.Pending(path)); err == nil {
		i.seen = i.Seen.AppendText(nil)
	} else if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // accepted meanwhile
	} else {
		i.State, i.Err = Unreadable, err
		return []*Item{i}, nil
	}
	i.Old, err = golden.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		i.State = New
	case err != nil:
		i.State, i.Err = Conflict, err
	case bytes.Equal(i.Old.AppendText(nil), i.seen):
		return nil, nil // nothing is left to decide
	default:
		i.State = Changed
	}
	return []*Item{i}, nil
}

// ofScript returns an item for each screen in which a script differs from what was left beside it.
func ofScript(path string) ([]*Item, error) {
	seen, err := readScript(golden.Pending(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	now, err := readScript(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var items []*Item
	old := script.Sections(now)
	for _, s := range script.Sections(seen) {
		if !strings.HasPrefix(s.Name, script.GoldenPrefix) {
			continue
		}
		i := &Item{Name: filepath.ToSlash(path) + ":" + s.Name, Path: path, Section: s.Name, seen: s.Text}
		at := slices.IndexFunc(old, func(o script.Section) bool { return o.Name == s.Name })
		if at >= 0 && bytes.Equal(old[at].Text, s.Text) {
			continue
		}
		if i.Seen, err = golden.Parse(s.Text); err != nil {
			i.State, i.Err = Unreadable, fmt.Errorf("%s: %w", golden.Pending(path), inFile(err, s))
		} else if at < 0 {
			i.State = New
		} else if i.Old, err = golden.Parse(old[at].Text); err != nil {
			i.State, i.Err = Conflict, fmt.Errorf("%s: %w", path, inFile(err, old[at]))
		} else {
			i.State = Changed
		}
		items = append(items, i)
	}
	return items, nil
}

// inFile gives a golden's error the line of the script in which it is.
func inFile(err error, s script.Section) error {
	var syntax *golden.SyntaxError
	if errors.As(err, &syntax) {
		return &golden.SyntaxError{Line: s.Line + syntax.Line, Err: syntax.Err}
	}
	return err
}

func readScript(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxScript || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file of up to %d MiB", path, maxScript>>20)
	}
	return os.ReadFile(path)
}

// Accept makes what was seen the golden.
func (i *Item) Accept() error {
	if i.Seen == nil {
		return fmt.Errorf("%s cannot be accepted: %w", i.Name, i.Err)
	}
	if i.Section == "" {
		return i.Seen.Save(i.Path)
	}
	now, err := readScript(i.Path)
	if err != nil {
		return err
	}
	if err := script.Replace(i.Path, script.WithSection(now, i.Section, i.seen)); err != nil {
		return err
	}
	return i.settle()
}

// Reject drops what was seen.
func (i *Item) Reject() error {
	if i.Section == "" {
		return remove(golden.Pending(i.Path))
	}
	pending := golden.Pending(i.Path)
	seen, err := readScript(pending)
	if err != nil {
		return err
	}
	now, err := readScript(i.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	left := script.WithoutSection(seen, i.Section)
	for _, s := range script.Sections(now) {
		if s.Name == i.Section {
			left = script.WithSection(seen, i.Section, s.Text)
		}
	}
	if err := script.Replace(pending, left); err != nil {
		return err
	}
	return i.settle()
}

// settle removes what was left beside a script once nothing of it is to be decided.
func (i *Item) settle() error {
	left, err := ofScript(i.Path)
	if err != nil || len(left) > 0 {
		return err
	}
	return remove(golden.Pending(i.Path))
}

// remove removes a file; one that is gone is gone.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// A NameError says that a name means no item, or several.
type NameError struct {
	Name  string
	Names []string // those that it may mean; of none those that there are
	Many  bool
}

// maxNames bounds the names that an error lists.
const maxNames = 8

// Error lists the names that would do.
func (e *NameError) Error() string {
	names := e.Names
	more := ""
	if len(names) > maxNames {
		names, more = names[:maxNames], fmt.Sprintf(" and %d more", len(e.Names)-maxNames)
	}
	list := strings.Join(names, ", ") + more
	switch {
	case e.Many:
		return fmt.Sprintf("%q names %d golden screens: %s; give more of the path", e.Name, len(e.Names), list)
	case len(e.Names) == 0:
		return fmt.Sprintf("%q names no golden screen: none waits for a review here", e.Name)
	}
	return fmt.Sprintf("%q names no golden screen: waiting are %s", e.Name, list)
}

// Named returns the items that a name means: one by its name, its path, the end of it or its last
// part ("main"), or all of a script or a folder. The error is a [*NameError].
func Named(items []*Item, name string) ([]*Item, error) {
	all := func(f func(*Item) bool) (some []*Item) {
		for _, i := range items {
			if f(i) {
				some = append(some, i)
			}
		}
		return some
	}
	clean := filepath.ToSlash(filepath.Clean(strings.TrimSuffix(name, ".new")))
	path := func(i *Item) string { return filepath.ToSlash(filepath.Clean(i.Path)) }
	if one := all(func(i *Item) bool { return i.Name == name || i.Section == "" && path(i) == clean }); len(one) > 0 {
		return one, nil
	}
	if file := all(func(i *Item) bool {
		return path(i) == clean || strings.HasPrefix(path(i), clean+"/")
	}); len(file) > 0 {
		return file, nil
	}
	some := all(func(i *Item) bool { return i.called(clean) })
	if len(some) == 1 {
		return some, nil
	}
	e := &NameError{Name: name, Many: len(some) > 1}
	for _, i := range some {
		e.Names = append(e.Names, i.Name)
	}
	if len(some) == 0 {
		for _, i := range items {
			e.Names = append(e.Names, i.Name)
		}
	}
	return nil, e
}

// called reports whether a name is the end of an item's, with or without what all of them have.
func (i *Item) called(name string) bool {
	ends := func(whole string) bool { return whole == name || strings.HasSuffix(whole, "/"+name) }
	if i.Section == "" {
		return ends(i.Name) || ends(strings.TrimSuffix(i.Name, screenEnd))
	}
	screen, _, _ := strings.Cut(strings.TrimPrefix(i.Section, script.GoldenPrefix), "@")
	return ends(i.Name) || i.Section == name || strings.TrimPrefix(i.Section, script.GoldenPrefix) == name ||
		screen == name
}
