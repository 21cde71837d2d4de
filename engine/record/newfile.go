package record

import "github.com/ptywright/ptywright/engine"

// A File is one that is being made, mode 0600. Until [File.Finish] gives it its name it is called path.part, and a process that is
// killed leaves it so. It is not for several goroutines.
type File struct {
	part *part
	path string
	size int64
}

// CreateFile begins a file. Neither path nor path.part may exist, and the folder must, and may not be a symbolic link. Errors are
// *[engine.FileError] around [ErrExists], [ErrSymlink], [ErrNoFolder], [ErrFolder] or what the system says.
func CreateFile(path string) (*File, error) {
	p, err := createPart(path, false)
	if err != nil {
		return nil, &engine.FileError{Op: "write", Path: path, Err: err}
	}
	return &File{part: p, path: path}, nil
}

// wrap names the file in an error.
func (f *File) wrap(err error) error {
	if err == nil {
		return nil
	}
	return &engine.FileError{Op: "write", Path: f.path, Err: bare(err)}
}

// Write adds to the file. Errors are *[engine.FileError].
func (f *File) Write(p []byte) (int, error) {
	n, err := f.part.Write(p)
	f.size += int64(n)
	return n, f.wrap(err)
}

// Empty reports whether nothing was written.
func (f *File) Empty() bool { return f.size == 0 }

// Finish gives the file its name and ends it. Errors are *[engine.FileError]: the file then keeps its temporary name.
func (f *File) Finish() error { return f.wrap(f.part.finish()) }

// Leave ends the file under its temporary name: it is not whole.
func (f *File) Leave() error {
	defer f.part.root.Close()
	return f.wrap(f.part.Close())
}

// Discard removes the file.
func (f *File) Discard() error { return f.wrap(f.part.discard()) }
