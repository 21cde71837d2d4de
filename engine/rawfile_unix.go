//go:build unix

package engine

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openRaw opens without following a symbolic link in the last element and without blocking on a
// FIFO, and only then checks what it opened.
func openRaw(path string, add bool) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	f, err := os.OpenFile(path, flags|os.O_EXCL, 0o600)
	fresh := err == nil
	if errors.Is(err, fs.ErrExist) && add {
		f, err = os.OpenFile(path, flags&^os.O_CREATE|os.O_APPEND, 0)
	}
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err // FileError names the path already
		}
		if errors.Is(err, syscall.ELOOP) {
			err = errors.New("is a symbolic link")
		}
		return nil, err
	}
	if err := vetRaw(f, fresh); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func vetRaw(f *os.File, fresh bool) error {
	if fresh {
		return f.Chmod(0o600) // the umask may have removed more than group and others
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file")
	case !ok || int(st.Uid) != os.Geteuid():
		return errors.New("belongs to another user")
	case st.Nlink > 1:
		return errors.New("has more than one name (hard link)")
	}
	return nil
}
