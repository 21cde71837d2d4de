package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// checkLogFile says why a path cannot be a log's, nil when it can. It creates no file.
func checkLogFile(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		folder, err := os.Stat(filepath.Dir(path))
		if err != nil {
			return err
		}
		if !folder.IsDir() {
			return fmt.Errorf("%s is not a folder", filepath.Dir(path))
		}
		return writable(filepath.Dir(path))
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link: name the file itself", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	}
	return writable(path)
}
