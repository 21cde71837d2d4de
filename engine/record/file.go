package record

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ptywright/ptywright/engine"
)

// Faults of a path, inside an *[engine.FileError].
var (
	ErrSymlink   = errors.New("is a symbolic link; name what it leads to")
	ErrNoFolder  = errors.New("its folder does not exist; make it first")
	ErrNotFolder = errors.New("its folder is a file; name a folder")
	ErrExists    = errors.New("exists already; name a new file")
	ErrGone      = errors.New("was removed or replaced while it was written")
	ErrNotFile   = errors.New("is not a regular file")
	ErrFolder    = errors.New("names a folder; name a file in it")
)

// partSuffix ends the name of a file while it is written. One that is left over belongs to a
// process that was killed; its content is whole up to its last line.
const partSuffix = ".part"

// A sink is where a recording goes.
type sink interface {
	io.Writer
	// WriteAt and Truncate are those of [os.File].
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	// finish gives the file its name, discard removes it; either ends it.
	finish() error
	discard() error
}

// A part is a file under its temporary name, in a folder that is held open: a change of the
// folder's path does not redirect it.
type part struct {
	*os.File
	root    *os.Root
	name    string // the file's final name
	temp    string // its name until then
	replace bool   // a regular file of that name may be replaced
	shared  bool   // others may read it, as far as the umask or the replaced file lets them
}

// openFolder opens the folder of path, which must not be a symbolic link itself.
func openFolder(path string) (*os.Root, string, error) {
	dir, name := filepath.Split(path)
	switch dir = filepath.Clean(dir); {
	case path == "":
		return nil, "", fs.ErrInvalid
	case name == "" || name == "." || name == "..":
		return nil, "", ErrFolder
	}
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", ErrNoFolder
	case err != nil:
		return nil, "", bare(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, "", folderError{ErrSymlink}
	case !info.IsDir():
		return nil, "", ErrNotFolder
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", bare(err)
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		root.Close()
		return nil, "", folderError{ErrGone}
	}
	return root, name, nil
}

// A folderError marks an error as one of the path's folder.
type folderError struct{ error }

func (e folderError) Error() string { return "its folder " + e.error.Error() }
func (e folderError) Unwrap() error { return e.error }

// bare removes the path from an error: engine.FileError names it once.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}

// createPart creates path's temporary file with mode 0600, whatever the umask. Without replace,
// neither path nor the temporary file may exist. shared: the mode is that of the file that is
// replaced, or else what the umask leaves.
func createPart(path string, replace, shared bool) (*part, error) {
	root, name, err := openFolder(path)
	if err != nil {
		return nil, err
	}
	p := &part{root: root, name: name, temp: name + partSuffix, replace: replace, shared: shared}
	if replace { // two writers of the same picture do not collide
		p.temp = "." + name + "." + rand.Text() + partSuffix
	}
	if err := p.create(); err != nil {
		root.Close()
		return nil, err
	}
	return p, nil
}

func (p *part) create() (err error) {
	if err = p.vet(); err != nil {
		return err
	}
	fresh, mode := fs.FileMode(0o600), fs.FileMode(0o600)
	if p.shared {
		if old, err := p.root.Lstat(p.name); err == nil {
			mode = old.Mode().Perm()
		} else {
			fresh, mode = 0o666, 0 // the umask says
		}
	}
	p.File, err = p.root.OpenFile(p.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, fresh)
	switch {
	case errors.Is(err, fs.ErrExist):
		return errors.New("is being recorded or written, or was left unfinished: " + partSuffix +
			" exists; wait until it is whole, or remove it")
	case err != nil:
		return bare(err)
	}
	if mode != 0 {
		err = p.Chmod(mode)
	}
	if err != nil {
		p.Close()
		_ = p.root.Remove(p.temp)
		return bare(err)
	}
	return nil
}

// vet checks what has the file's name.
func (p *part) vet() error {
	info, err := p.root.Lstat(p.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return bare(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return ErrSymlink
	case !p.replace:
		return ErrExists
	case !info.Mode().IsRegular():
		return ErrNotFile
	}
	return nil
}

// finish closes the file and gives it its name, unless it is gone or the name was taken in the
// meantime; it then keeps the temporary one.
func (p *part) finish() error {
	defer p.root.Close()
	if err := p.seal(); err != nil {
		return err
	}
	return p.rename()
}

// seal closes the file, with all of its data on the disk: a name must not lead to an empty file after
// a power cut.
func (p *part) seal() error {
	ours, err := p.Stat()
	if err == nil {
		err = p.Sync()
	}
	if cerr := p.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return bare(err)
	}
	if there, err := p.root.Lstat(p.temp); err != nil || !os.SameFile(ours, there) {
		return ErrGone
	}
	return nil
}

// rename gives a sealed file its name.
func (p *part) rename() error {
	if err := p.vet(); err != nil {
		return err
	}
	return bare(p.root.Rename(p.temp, p.name))
}

func (p *part) discard() error {
	defer p.root.Close()
	p.Close()
	return bare(p.root.Remove(p.temp))
}

// WriteFile writes data to path, mode 0600, whole or not at all. A regular file is replaced, unless
// it has no extension that says what it is; a symbolic link, a folder or a device is refused, and
// so is a folder that is missing or a symbolic link. Errors are *[engine.FileError].
func WriteFile(path string, data []byte) error { return writeFile(path, data, false) }

// WriteShared is [WriteFile] for what others may see, such as a picture without secrets: a new file
// has the mode that the umask leaves, one that is replaced keeps its own.
func WriteShared(path string, data []byte) error { return writeFile(path, data, true) }

func writeFile(path string, data []byte, shared bool) error {
	p, err := begin(path, shared)
	if err != nil {
		return err
	}
	if _, err := p.Write(data); err != nil {
		_ = p.discard()
		return unwritten(path, bare(err))
	}
	return unwritten(path, p.finish())
}

// begin makes the temporary file of one that replaces another. Errors are *[engine.FileError].
func begin(path string, shared bool) (*part, error) {
	p, err := createPart(path, true, shared)
	if err != nil {
		return nil, unwritten(path, err)
	}
	if filepath.Ext(path) == "" {
		p.replace = false
		if err := p.vet(); err != nil {
			_ = p.discard()
			return nil, unwritten(path, err)
		}
	}
	return p, nil
}

// unwritten adds the name of a file to the error of writing it.
func unwritten(path string, err error) error {
	if err == nil {
		return nil
	}
	return &engine.FileError{Op: "write", Path: path, Err: err}
}
