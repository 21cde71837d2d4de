package record

// A File is a file under construction, mode 0600. Until [File.Finish] gives it its name it is
// called path.part, also when its process is killed. It is not safe for concurrent use.
type File struct {
	part *part
	path string
	size int64
}

// CreateFile begins a file. Neither path nor path.part may exist, and the folder must exist and not
// be a symbolic link. Errors are *[engine.FileError] around [ErrExists], [ErrSymlink],
// [ErrNoFolder], [ErrNotFolder], [ErrFolder] or an error of the system.
func CreateFile(path string) (*File, error) {
	p, err := createPart(path, false, false)
	if err != nil {
		return nil, unwritten(path, err)
	}
	return &File{part: p, path: path}, nil
}

// Write appends to the file. Errors are *[engine.FileError].
func (f *File) Write(p []byte) (int, error) {
	n, err := f.part.Write(p)
	f.size += int64(n)
	return n, unwritten(f.path, bare(err))
}

// Empty reports whether nothing was written.
func (f *File) Empty() bool { return f.size == 0 }

// Finish gives the file its name and closes it. Errors are *[engine.FileError]: the file then keeps
// its temporary name.
func (f *File) Finish() error { return unwritten(f.path, f.part.finish()) }

// Leave closes the file under its temporary name: it is incomplete.
func (f *File) Leave() error {
	defer f.part.root.Close()
	return unwritten(f.path, bare(f.part.Close()))
}

// Discard removes the file.
func (f *File) Discard() error { return unwritten(f.path, f.part.discard()) }
