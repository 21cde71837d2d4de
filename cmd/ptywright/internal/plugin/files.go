package plugin

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// errIrregular refuses a file that is not regular: opening a pipe or a device could block, or have
// an effect.
var errIrregular = errors.New("it is not a regular file")

// openIn opens a regular file in a plugin's folder, which may be anybody's: a link that leads out
// of it is an error, and a pipe does not block, even if it replaces the file between two checks.
// Errors do not contain the path.
func openIn(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, bare(err)
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return nil, bare(err)
	} else if !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, bare(err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(bare(err), errIrregular)
	}
	return f, nil
}

// readIn reads a file that [openIn] opens, of at most maxExpected bytes.
func readIn(dir, name string) ([]byte, error) {
	f, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxExpected+1))
	if err == nil && len(text) > maxExpected {
		err = fmt.Errorf("it has more than %d bytes, which is the most that is read", maxExpected)
	}
	return text, bare(err)
}

// writeIn writes a file in a plugin's folder, atomically. It refuses to replace what is not a
// regular file, such as a link: another author's plugin must not be able to write wherever the user
// may.
func writeIn(dir, name string, text []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return bare(err)
	}
	defer root.Close()
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return errors.New("it is not a regular file: remove it first")
	}
	temporary := path.Join(path.Dir(name), ".new-"+rand.Text())
	f, err := root.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return bare(err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		_ = root.Remove(temporary)
	}
	return bare(err)
}

// bare removes the call and the path from an error.
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
