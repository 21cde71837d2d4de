package instance

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNone reports a root without an instance.
var ErrNone = errors.New("no instance is running")

// List returns the records of the live instances of a root, in the order of their names. It removes
// dead ones and repairs the pointers; where that fails, as on a read-only file system, the answer
// is the same. A missing root has none. Errors are [ErrFolder], or of the system.
func List(root string) ([]Record, error) {
	f, err := folderOf(root)
	if err != nil {
		return nil, err
	}
	if there, err := f.check(); err != nil || !there {
		return nil, err
	}
	all, leftovers, err := f.scan()
	if err != nil {
		return nil, err
	}
	stale := func(e entry) bool { return e.state == free }
	if slices.ContainsFunc(all, stale) || len(leftovers) > 0 || f.pointersDue(all, nobody) {
		// A reader does not need to know that the folder could not be tidied.
		_ = f.mend(nobody)
	}
	var records []Record
	for _, e := range all {
		if e.state == live {
			records = append(records, e.record)
		}
	}
	slices.SortFunc(records, func(a, b Record) int { return compare(a.ID, b.ID) })
	return records, nil
}

// Active returns the default instance for clients: the one of active.json if it is alive, else the
// live one that was started last, else the one of server.json whether it is alive or not, else one
// with the token of auth_token, on port 19876. It writes nothing. Errors are [ErrNone],
// [ErrFolder], or of the system.
func Active(root string) (Record, error) {
	f, err := folderOf(root)
	if err != nil {
		return Record{}, err
	}
	there, err := f.check()
	if err != nil {
		return Record{}, err
	}
	if !there {
		return Record{}, fmt.Errorf("%w in %s; start one with: ptywright unterm", ErrNone, root)
	}
	if _, r, ok := readRecord(f.active()); ok && r.usable() && r.Alive() {
		return r, nil
	}
	all, _, err := f.scan()
	if err != nil {
		return Record{}, err
	}
	var best entry
	for _, e := range all {
		if e.state == live && e.record.usable() &&
			(best.state != live || e.record.startedAfter(best.record)) {
			best = e
		}
	}
	if best.state == live {
		return best.record, nil
	}
	if b, _, err := read(f.server()); err == nil {
		if r, _ := parse(b); r.usable() {
			return r, nil
		}
	}
	if b, _, err := read(f.token()); err == nil && len(b) > 0 {
		return Record{MCPPort: MCPPort, AuthToken: string(b)}, nil
	}
	return Record{}, fmt.Errorf("%w in %s; start one with: ptywright unterm", ErrNone, root)
}
