package engine

import (
	"errors"
	"io/fs"
	"os"
)

// openRaw on Windows relies on the folder's access control list; the mode check refuses reparse
// points.
func openRaw(path string, add bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) && add {
		info, lerr := os.Lstat(path)
		if lerr != nil {
			return nil, lerr
		}
		if !info.Mode().IsRegular() {
			return nil, errors.New("is not a regular file")
		}
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	}
	return f, err
}
