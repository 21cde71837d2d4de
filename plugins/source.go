package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/sandbox"
)

// A Source is a plugin's manifest and the text of its files, read once: later changes of the folder
// have no effect. It is immutable.
type Source struct {
	Manifest *Manifest
	// Files are the Lua files in the entrypoint's folder, by module name: "dialogs" for
	// dialogs.lua, the name by which the plugin requires it.
	Files map[string]string
	Main  string // the entrypoint's module name
	// Hash is the SHA-256 of manifest and files in hexadecimal, so that a user can compare what
	// runs with what was reviewed.
	Hash string

	compiled func() (*sandbox.Program, error) // once for all machines
}

const (
	// maxSource bounds one Lua file, in bytes. Larger ones are data, not rules; the parser takes a
	// second for a megabyte.
	maxSource = 64 << 10
	// maxFiles bounds the files of one plugin.
	maxFiles = 64
	// maxSources bounds all of them, in bytes: three times the largest bundled plugin. The compiler
	// takes a third of a second for the worst 64 KiB, and a plugin is compiled for each adapter,
	// and again after it was stopped.
	maxSources = 192 << 10
	// extension is that of a plugin's files.
	extension = ".lua"
)

// A LoadError says which file of a plugin could not be read, and why.
type LoadError struct {
	Path string // as given, or below the plugin's folder
	Err  error
}

// Error names the file.
func (e *LoadError) Error() string {
	return fmt.Sprintf("load plugin file %s: %v", pty.QuotePath(e.Path), e.Err)
}

// Unwrap returns the cause.
func (e *LoadError) Unwrap() error { return e.Err }

// Open reads the plugin whose manifest is at name, a path on this machine. Its files must be
// regular files below the manifest's folder: the folder is opened first and nothing outside it is
// looked up, so neither "..", nor a symbolic link, nor a file exchanged meanwhile leads out of it.
//
// The error is a [*ManifestError] or a [*LoadError], which wraps the cause.
func Open(name string) (*Source, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, &LoadError{Path: name, Err: cause(err)}
	}
	defer root.Close()
	return OpenFS(folderFS{root}, filepath.Base(name))
}

// A folderFS is the FS of a root whose files open without blocking.
type folderFS struct{ *os.Root }

// Open opens for reading.
func (f folderFS) Open(name string) (fs.File, error) {
	return f.OpenFile(name, os.O_RDONLY|nonblock, 0)
}

// OpenFS is [Open] for a plugin in fsys, which must not let names lead out of it: an embed.FS or
// the FS of an os.Root.
func OpenFS(fsys fs.FS, name string) (*Source, error) {
	text, err := readRegular(fsys, name, maxManifest)
	if err != nil {
		return nil, err
	}
	m, err := ParseManifest(text)
	if err != nil {
		return nil, err
	}
	s := &Source{Manifest: m, Files: make(map[string]string)}
	s.compiled = sync.OnceValues(s.compile)
	hash := sha256.New()
	hash.Write(text)
	if m.Entrypoint != "" {
		if err := s.readFiles(fsys, path.Join(path.Dir(name), m.Entrypoint), hash); err != nil {
			return nil, err
		}
	}
	s.Hash = hex.EncodeToString(hash.Sum(nil))
	return s, nil
}

// readFiles reads the entrypoint and the Lua files next to it, and adds them to hash in the order
// of their names.
func (s *Source) readFiles(fsys fs.FS, entrypoint string, hash io.Writer) error {
	dir, main := path.Split(entrypoint)
	dir = path.Clean(dir)
	if !strings.HasSuffix(main, extension) {
		return &ManifestError{Key: "entrypoint",
			Err: fmt.Errorf("%q: use a file whose name ends in %s", clip(main), extension)}
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return &LoadError{Path: entrypoint, Err: cause(err)}
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extension) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	switch {
	case len(names) > maxFiles:
		return &LoadError{Path: dir,
			Err: fmt.Errorf("it has %d Lua files, at most %d are allowed", len(names), maxFiles)}
	case !slices.Contains(names, main):
		return &LoadError{Path: entrypoint, Err: fs.ErrNotExist}
	}
	size := 0
	for _, n := range names {
		text, err := readRegular(fsys, path.Join(dir, n), maxSource)
		if err != nil {
			return err
		}
		if size += len(text); size > maxSources {
			return &LoadError{Path: dir,
				Err: fmt.Errorf("its Lua files have more than %d bytes", maxSources)}
		}
		if !utf8.Valid(text) {
			return &LoadError{Path: n, Err: errors.New("it is not UTF-8 text")}
		}
		fmt.Fprintf(hash, "\x00%s\x00", n)
		hash.Write(text)
		s.Files[strings.TrimSuffix(n, extension)] = string(text)
	}
	s.Main = strings.TrimSuffix(main, extension)
	return nil
}

// readRegular reads a regular file of at most limit bytes. Its type is checked after opening, which
// is for reading only, so a pipe or a device is refused; opening a device may have effects, so the
// name is checked first as well.
func readRegular(fsys fs.FS, name string, limit int) ([]byte, error) {
	fault := func(err error) error { return &LoadError{Path: name, Err: cause(err)} }
	if info, err := fs.Stat(fsys, name); err != nil {
		return nil, fault(err)
	} else if !info.Mode().IsRegular() {
		return nil, fault(errors.New("not a regular file"))
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fault(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, fault(err)
	} else if !info.Mode().IsRegular() {
		return nil, fault(errors.New("not a regular file"))
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	switch {
	case err != nil:
		return nil, fault(err)
	case len(text) > limit:
		return nil, fault(fmt.Errorf("it has more than %d bytes", limit))
	}
	return text, nil
}

// cause strips the call and the path from an error: LoadError has the path.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
