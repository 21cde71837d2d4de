package instance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
)

// nobody is the gone of callers that know of no death beyond what the system reports.
func nobody(Record) bool { return false }

// pointersDue reports whether the pointers need a change, with these instances.
func (f folder) pointersDue(all []entry, gone func(Record) bool) bool {
	raw, token, ok := f.heir(all, gone)
	if !ok {
		return len(f.stalePointers(gone)) > 0
	}
	for path, want := range f.pointers(raw, token) {
		if b, _, err := read(path); err != nil || !bytes.Equal(b, want) {
			return true
		}
	}
	return false
}

// pointers yields the three files in the order in which they are written, with their content.
func (f folder) pointers(raw []byte, token string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		_ = yield(f.token(), []byte(token)) && yield(f.server(), raw) && yield(f.active(), raw)
	}
}

// heir returns what the pointers should contain: the record of active.json if that is alive, else
// of the live instance that was started last. gone reports instances that are dead, or about to be,
// although the system shows them alive.
func (f folder) heir(all []entry, gone func(Record) bool) (raw []byte, token string, ok bool) {
	if raw, r, ok := readRecord(f.active()); ok && r.usable() && !gone(r) && r.Alive() {
		return raw, r.AuthToken, true
	}
	var best entry
	for _, e := range all {
		if e.state == live && e.record.usable() && !gone(e.record) &&
			(!ok || e.record.startedAfter(best.record)) {
			best, ok = e, true
		}
	}
	return best.raw, best.record.AuthToken, ok
}

// stalePointers returns the pointers to remove when no instance is alive: those that name dead
// ones. Others belong to another program, such as the server.json of an Unterm from before there
// were instances.
func (f folder) stalePointers(gone func(Record) bool) []string {
	var paths []string
	tokens := make(map[string]bool)
	for _, path := range []string{f.active(), f.server()} {
		if _, r, ok := readRecord(path); ok && (gone(r) || !r.Alive()) {
			paths = append(paths, path)
			tokens[r.AuthToken] = true
		}
	}
	if b, _, err := read(f.token()); err == nil && tokens[string(b)] {
		paths = append(paths, f.token())
	}
	return paths
}

// pointLocked repairs the pointers.
func (f folder) pointLocked(all []entry, gone func(Record) bool) error {
	raw, token, ok := f.heir(all, gone)
	if !ok {
		for _, path := range f.stalePointers(gone) {
			if err := persist(func() error { return os.Remove(path) }); err != nil &&
				!errors.Is(err, fs.ErrNotExist) {
				return advise(fmt.Errorf("remove the pointer to an instance that has ended: %w", err))
			}
		}
		return nil
	}
	return f.writePointersLocked(raw, token)
}

func (f folder) writePointersLocked(raw []byte, token string) error {
	for path, want := range f.pointers(raw, token) {
		if b, _, err := read(path); err == nil && bytes.Equal(b, want) {
			continue
		}
		if err := f.replaceLocked(path, want); err != nil {
			return err
		}
	}
	return nil
}

// mend removes stale files and repairs the pointers.
func (f folder) mend(gone func(Record) bool) error {
	unlock, err := f.lock()
	if err != nil {
		return err
	}
	defer unlock()
	all, err := f.sweepLocked()
	if err != nil {
		return err
	}
	return f.pointLocked(all, gone)
}
