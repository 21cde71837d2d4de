package record

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ptywright/ptywright/engine"
)

// A Named is the data of a file that [WriteTogether] writes.
type Named struct {
	Path string
	Data []byte
}

// CheckShared reports what would keep [WriteShared] from writing a file, as far as that can be known
// before there is data: it makes the temporary file and removes it again. Errors are
// *[engine.FileError].
func CheckShared(path string) error {
	p, err := begin(path, true)
	if err != nil {
		return err
	}
	return unwritten(path, p.discard())
}

// WriteTogether is [WriteShared] for several files, each of another name: all of them are written, or
// none. First all of their data is on the disk, under temporary names beside the files; then they get
// their names. When one cannot have its name, those before it are taken back: files that they replaced
// are there again as they were. The error, an *[engine.FileError], then names those that could not be
// taken back, too. A process that is killed between two names leaves the files before, and temporary
// ones.
func WriteTogether(files []Named) error {
	var all []*part
	defer func() {
		for _, p := range all {
			_ = p.root.Close() // nothing is written to a folder
		}
	}()
	for _, f := range files {
		p, err := begin(f.Path, true)
		if err == nil {
			all = append(all, p)
			if _, err = p.Write(f.Data); err == nil {
				err = p.seal()
			}
			err = unwritten(f.Path, bare(err))
		}
		if err != nil {
			removeTemps(all)
			return err
		}
	}
	return nameAll(all, files)
}

// nameAll gives sealed files their names, all of them or none.
func nameAll(all []*part, files []Named) error {
	done := make([]renamed, 0, len(all))
	for i, p := range all {
		r, err := p.renameBack()
		if err == nil {
			done = append(done, r)
			continue
		}
		removeTemps(all[i:])
		for j, r := range done {
			if stays := r.undo(); stays != nil {
				err = fmt.Errorf("%w; this one is written and stays: %w", err,
					&engine.FileError{Op: "take back", Path: files[j].Path, Err: bare(stays)})
			}
		}
		return unwritten(files[i].Path, err)
	}
	for _, r := range done {
		r.settle()
	}
	return nil
}

// removeTemps removes temporary files; errors are of no use beside the one that led here.
func removeTemps(all []*part) {
	for _, p := range all {
		_ = p.Close()
		_ = p.root.Remove(p.temp)
	}
}

// A renamed is a file that has its name, and the one before it, which was replaced.
type renamed struct {
	*part
	old string // the other name of the file that was replaced; "": there was none
}

// renameBack is rename, and keeps the file that is replaced.
func (p *part) renameBack() (r renamed, err error) {
	r.part = p
	if _, err := p.root.Lstat(p.name); err == nil {
		r.old = "." + p.name + "." + rand.Text() + ".old"
		// A second name, so that the first one always leads to a file. Not every file system has such.
		if err := p.root.Link(p.name, r.old); err != nil {
			if err := p.root.Rename(p.name, r.old); err != nil {
				return r, bare(err)
			}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return r, bare(err)
	}
	if err := p.rename(); err != nil {
		if stays := r.restore(); stays != nil {
			err = fmt.Errorf("%w; what it was to replace is %s beside it: %w", err, r.old, bare(stays))
		}
		return r, err
	}
	return r, nil
}

// restore gives the file that was to be replaced its name back.
func (r renamed) restore() error {
	if r.old == "" {
		return nil
	}
	old, err := r.root.Lstat(r.old)
	if err != nil {
		return err
	}
	if there, err := r.root.Lstat(r.name); err == nil && os.SameFile(old, there) {
		return r.root.Remove(r.old) // a rename between two names of one file does nothing
	}
	return r.root.Rename(r.old, r.name)
}

// undo takes the file back.
func (r renamed) undo() error {
	if r.old != "" {
		return r.restore()
	}
	return r.root.Remove(r.name)
}

// settle lets go of what was replaced. What cannot be removed is beside the file, with a name of its
// own.
func (r renamed) settle() {
	if r.old != "" {
		_ = r.root.Remove(r.old)
	}
}
