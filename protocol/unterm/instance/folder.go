package instance

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ptywright/ptywright/protocol/unterm/internal/shared"
)

var (
	// ErrFolder reports a root into which others could put files, or that is not a folder.
	ErrFolder = errors.New("the folder is not safe for instances")
	// ErrLocked reports that another process holds the lock for longer than any work under it
	// takes.
	ErrLocked = shared.ErrLocked
)

// folder is a root. Its methods that end in Locked are called with its lock held.
type folder string

// folderOf returns the root at a path, independent of this process's later changes of directory.
func folderOf(root string) (folder, error) {
	if root == "" {
		return "", fmt.Errorf("%w: no root was given", ErrFolder)
	}
	path, err := filepath.Abs(root) // and without a trailing slash, which would follow a link
	return folder(path), err
}

func (f folder) instances() string { return filepath.Join(string(f), "instances") }

func (f folder) file(id string) string { return filepath.Join(f.instances(), id+".json") }

// The pointers, in the root. The token is written before the record that readers look at first, so
// that active.json exists only with the other two.
const (
	activeFile = "active.json"
	serverFile = "server.json"
	tokenFile  = "auth_token"
)

func (f folder) active() string { return filepath.Join(string(f), activeFile) }
func (f folder) server() string { return filepath.Join(string(f), serverFile) }
func (f folder) token() string  { return filepath.Join(string(f), tokenFile) }

// make makes the two folders if they are missing, and checks them.
func (f folder) make() error {
	// Check before, too: nothing must be made behind a symbolic link.
	if _, err := f.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(f.instances(), 0o700); err != nil {
		return advise(fmt.Errorf("make the folder of instances: %w", err))
	}
	_, err := f.check()
	return err
}

// check reports whether the root exists, and an error when its content cannot be trusted.
func (f folder) check() (there bool, err error) {
	for _, dir := range []string{string(f), f.instances()} {
		info, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return there, nil
		}
		if err != nil {
			return false, advise(fmt.Errorf("look for instances: %w", err))
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			return false,
				fmt.Errorf("%w: %s is a symbolic link; give the folder that it points to",
					ErrFolder, dir)
		case !info.IsDir():
			return false,
				fmt.Errorf("%w: %s is a file; move it away, or give another root", ErrFolder, dir)
		}
		if err := private(dir, info); err != nil {
			return false, err
		}
		there = true
	}
	return true, nil
}

// locking is the lock of this process's roots.
var locking = shared.NewLock()

// lock takes the root's lock, or times out with [ErrLocked].
func (f folder) lock() (unlock func(), err error) { return f.lockWithin(shared.Patience) }

func (f folder) lockWithin(patience time.Duration) (unlock func(), err error) {
	unlock, err = locking.Take(filepath.Join(string(f), "instances.lock"), patience)
	if err != nil && !errors.Is(err, ErrLocked) {
		err = advise(err)
	}
	return unlock, err
}

// temporary is the prefix of files that are being written, which exist only while the lock is held.
const temporary = ".new-"

// writeLocked makes a file with mode 0600 and this content in the folder of instances, under a
// temporary name.
func (f folder) writeLocked(content []byte) (path string, err error) {
	t, err := os.CreateTemp(f.instances(), temporary)
	if err != nil {
		return "", err
	}
	_, err = t.Write(content)
	if closeErr := t.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(t.Name())
		return "", err
	}
	return t.Name(), nil
}

// replaceLocked writes content to the file at path, whether it exists or not.
func (f folder) replaceLocked(path string, content []byte) error {
	t, err := f.writeLocked(content)
	if err == nil {
		if err = persist(func() error { return os.Rename(t, path) }); err != nil {
			os.Remove(t)
		}
	}
	if err == nil {
		return nil
	}
	if info, statErr := os.Lstat(path); statErr == nil && info.IsDir() {
		return fmt.Errorf("write %s: there is a folder in its place; move it away", path)
	}
	return advise(fmt.Errorf("write %s: %w", path, err))
}

// createLocked makes the file at path, complete from its first moment. The error is fs.ErrExist
// when it exists.
func (f folder) createLocked(path string, content []byte) error {
	t, err := f.writeLocked(content)
	if err != nil {
		return err
	}
	defer os.Remove(t)
	err = os.Link(t, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return moveLocked(t, path)
}

// moveLocked is for file systems without hard links. The lock keeps other ptywright servers away
// meanwhile; Unterm, which takes no lock, would have to act between the two calls.
func moveLocked(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return persist(func() error { return os.Rename(from, to) })
}

// errNotRecord is why read returns nothing of a file that exists.
var errNotRecord = errors.New("not a regular file of ours with at most 64 KiB")

// read returns the content of a file that anyone may have put there. It opens regular files only,
// does not follow links, and does not block.
func read(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return nil, info, errNotRecord
	}
	file, err := os.OpenFile(path, os.O_RDONLY|noFollow|noBlock, 0)
	if err != nil {
		return nil, info, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || !ours(info) {
		return nil, info, errNotRecord
	}
	b, err := io.ReadAll(io.LimitReader(file, maxRecord+1))
	if err == nil && len(b) > maxRecord {
		err = errNotRecord
	}
	return b, info, err
}

// readRecord reads a pointer; ok is false when it is missing or cannot be read.
func readRecord(path string) (b []byte, r Record, ok bool) {
	b, _, err := read(path)
	if err != nil {
		return nil, Record{}, false
	}
	r, ok = parse(b)
	return b, r, ok
}

// advise adds what to do to system errors that people encounter.
func advise(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w; free some space, or give another root", err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; give a root that this user can write to", err)
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf("%w; give a root on a local disk", err)
	}
	return err
}

// state is the state of a file in the folder of instances.
type state int

const (
	unknown state = iota // not to be touched: another process may be writing it
	live                 // the record of a running process
	free                 // to be removed: its name may be taken
)

// entry is a file in the folder of instances.
type entry struct {
	id     string
	path   string
	info   fs.FileInfo
	raw    []byte
	record Record // only when state is live
	state  state
}

// unreadableFor is how long a file without a record keeps its name. Unterm creates one with "{}"
// and fills it a moment later; if it dies in between, the file stays forever. With less, a slow one
// would lose its name.
const unreadableFor = time.Minute

// scan looks at every file in the folder of instances.
func (f folder) scan() (all []entry, leftovers []string, err error) {
	files, err := os.ReadDir(f.instances())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, advise(fmt.Errorf("look for instances: %w", err))
	}
	for _, file := range files {
		if strings.HasPrefix(file.Name(), temporary) {
			leftovers = append(leftovers, filepath.Join(f.instances(), file.Name()))
		}
		if id, ok := strings.CutSuffix(file.Name(), ".json"); ok {
			if e, ok := f.judge(id); ok {
				all = append(all, e)
			}
		}
	}
	return all, leftovers, nil
}

// judge inspects the file of one name; ok is false when there is none.
func (f folder) judge(id string) (e entry, ok bool) {
	e = entry{id: id, path: f.file(id)}
	var err error
	if e.raw, e.info, err = read(e.path); errors.Is(err, fs.ErrNotExist) {
		return e, false
	}
	r, parsed := Record{}, false
	if err == nil {
		r, parsed = parse(e.raw)
	}
	switch {
	case parsed && r.ID == id && r.Alive():
		e.record, e.state = r, live
	case parsed && r.ID == id:
		e.state = free
	case place(id) < names && e.info != nil && !e.info.IsDir():
		if age := time.Since(e.info.ModTime()); age > unreadableFor || age < -unreadableFor {
			e.state = free
		}
	}
	return e, true
}

// removeLocked removes e's file, if it is still the one that was judged: Unterm takes no lock.
func removeLocked(e entry) {
	now, err := os.Lstat(e.path)
	if err == nil && os.SameFile(now, e.info) && now.ModTime().Equal(e.info.ModTime()) {
		os.Remove(e.path)
	}
}

// sweepLocked removes the free files, and returns the others.
func (f folder) sweepLocked() ([]entry, error) {
	all, leftovers, err := f.scan()
	if err != nil {
		return nil, err
	}
	for _, path := range leftovers {
		os.Remove(path) // its writer has died: we have the lock
	}
	kept := all[:0]
	for _, e := range all {
		if e.state == free {
			removeLocked(e)
		} else {
			kept = append(kept, e)
		}
	}
	return kept, nil
}
