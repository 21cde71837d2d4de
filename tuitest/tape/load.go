package tape

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxTape bounds a tape, in bytes: people write a few KiB.
const maxTape = 1 << 20

// Load reads a tape's file and those that it names, which are looked for in the working folder, as VHS
// does, and then beside the tape. It returns the names of all of them, also with an error: an [*Error],
// or one of the system's.
func Load(path string) (t *Tape, files []string, err error) {
	files = []string{path}
	data, err := readFile(path)
	if err != nil {
		return nil, files, err
	}
	t, err = Parse(path, data, func(name string) ([]byte, error) {
		data, err := readFile(name)
		if errors.Is(err, os.ErrNotExist) && !filepath.IsAbs(name) {
			beside := filepath.Join(filepath.Dir(path), name)
			if more, err := readFile(beside); err == nil {
				files = append(files, beside)
				return more, nil
			}
		}
		files = append(files, name)
		return data, err
	})
	return t, files, err
}

// Read reads a tape from a stream; name is what to call it. Tapes that it names are looked for in the
// working folder. The errors are those of [Load].
func Read(name string, r io.Reader) (*Tape, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxTape+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxTape {
		return nil, fmt.Errorf("%s is larger than %d MiB", name, maxTape>>20)
	}
	return Parse(name, data, readFile)
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxTape {
		return nil, fmt.Errorf("%s is not a regular file of up to %d MiB", path, maxTape>>20)
	}
	return os.ReadFile(path)
}
