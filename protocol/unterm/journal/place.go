package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A place is where one recording's files are: a folder that is held open, so that changes of its
// path do not redirect them, and their name without the extension.
type place struct {
	dir     string // the folder's path
	folder  *os.Root
	name    string
	log     *os.File // the log, new and empty
	project string   // the working directory, redacted; "" when unknown
	slug    string
}

func (p *place) path(ending string) string { return filepath.Join(p.dir, p.name+ending) }

// orphan is the slug of a recording with an unknown working directory.
const orphan = "_orphan"

// open finds a place for a recording and makes its log there. Name has no extension; a number is
// appended when it is taken.
func (j *Journal) open(cwd string, at time.Time, name string) (*place, error) {
	date := at.Format("2006-01-02")
	if cwd = filepath.Clean(cwd); !filepath.IsAbs(cwd) {
		cwd = ""
	}
	shown := j.hide(cwd)
	if cwd != "" && shown == cwd { // else the path would show a secret
		if p, err := openPlace(cwd, []string{".unterm", "sessions", date}, name); err == nil {
			p.project, p.slug = shown, slugOf(shown)
			return p, nil
		}
	}
	slug := slugOf(shown)
	if err := os.MkdirAll(j.o.Root, 0o700); err != nil {
		return nil, err
	}
	p, err := openPlace(j.o.Root, []string{"sessions", slug, date}, name)
	if err != nil {
		return nil, err
	}
	p.project, p.slug = shown, slug
	return p, nil
}

// openPlace makes the missing folders below dir, and a log in the last.
func openPlace(dir string, below []string, name string) (*place, error) {
	folder, err := openBelow(dir, below)
	if err != nil {
		return nil, err
	}
	p := &place{dir: filepath.Join(append([]string{dir}, below...)...), folder: folder}
	if err := p.create(name); err != nil {
		folder.Close()
		return nil, err
	}
	return p, nil
}

// openBelow opens the folder at the end of a path below dir, and makes missing ones, mode 0700.
// Existing ones must not be symbolic links, belong to another user, or be writable by others, who
// could have put them there.
func openBelow(dir string, below []string) (*os.Root, error) {
	at, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range below {
		next, err := step(at, name)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func step(at *os.Root, name string) (*os.Root, error) {
	fail := func(err error) (*os.Root, error) {
		return nil, fmt.Errorf("folder %s: %w", filepath.Join(at.Name(), name), err)
	}
	if err := at.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := at.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return fail(errors.New("is a symbolic link or no folder; remove it"))
	case !private(info):
		return fail(errors.New("belongs to another user, or others may write to it; take that right away"))
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if opened, err := next.Stat("."); err != nil || !os.SameFile(info, opened) {
		next.Close()
		return fail(errors.New("was replaced meanwhile"))
	}
	return next, nil
}

// mostOfAName is how many recordings of a pane may begin in the same second.
const mostOfAName = 1000

// create makes the log, under a name that no document has either.
func (p *place) create(name string) (err error) {
	for n := 1; n <= mostOfAName; n++ {
		p.name = name
		if n > 1 {
			p.name = fmt.Sprintf("%s-%d", name, n)
		}
		p.log, err = p.folder.OpenFile(p.name+".log",
			os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := p.folder.Lstat(p.name + ".md"); err == nil {
			p.discard()
			continue
		}
		return nil
	}
	return fmt.Errorf("%s exists %d times; wait a second", p.path(".log"), mostOfAName)
}

// discard removes the log.
func (p *place) discard() {
	p.log.Close()
	_ = p.folder.Remove(p.name + ".log")
}

// write makes the document: completely or not at all, and never in place of another file.
func (p *place) write(text []byte) error {
	wrap := func(err error) error { return fmt.Errorf("write %s: %w", p.path(".md"), bare(err)) }
	if _, err := p.folder.Lstat(p.name + ".log"); err != nil { // else it was moved to where nobody looks
		return wrap(err)
	}
	temp := "." + p.name + "." + rand.Text() + ".part"
	f, err := p.folder.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return wrap(err)
	}
	defer p.folder.Remove(temp) // the document keeps its own name
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync() // a name must not lead to an empty file after a power cut
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return wrap(err)
	}
	err = p.folder.Link(temp, p.name+".md")
	if err == nil || errors.Is(err, fs.ErrExist) {
		return wrapped(err, wrap)
	}
	if _, serr := p.folder.Lstat(p.name + ".md"); serr == nil { // a file system without links
		return wrap(fs.ErrExist)
	}
	return wrapped(p.folder.Rename(temp, p.name+".md"), wrap)
}

func wrapped(err error, wrap func(error) error) error {
	if err == nil {
		return nil
	}
	return wrap(err)
}

func (p *place) close() { p.folder.Close() }

// bare removes the paths from an error: they are relative to the folder.
func bare(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// mostSlug bounds a folder's name, in bytes: file systems take 255.
const mostSlug = 100

// slugOf is the name of a project's folder: the last element of its path, with a hyphen for
// everything but letters, digits and -_. . If another file of the folder has that name, it gets a
// leading underscore.
func slugOf(cwd string) string {
	if cwd == "" {
		return orphan
	}
	base := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, strings.ToValidUTF8(filepath.Base(cwd), "-"))
	for len(base) > mostSlug {
		_, n := utf8.DecodeLastRuneInString(base)
		base = base[:len(base)-n]
	}
	if base == orphan || strings.HasPrefix(base, "index.") {
		base = "_" + base
	}
	return base
}
