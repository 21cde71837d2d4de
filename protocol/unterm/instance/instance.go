package instance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

var (
	// ErrClosed reports an [Instance] that has released its name.
	ErrClosed = errors.New("the instance has given its name back")
	// ErrTitle reports a title of more than [MaxTitle] bytes.
	ErrTitle = fmt.Errorf("the title is too long: at most %d bytes", MaxTitle)
)

// An Instance is a name that this process holds. Its methods may be called from any goroutine;
// those that write wait for the root's lock, which others hold for milliseconds, and time out with
// [ErrLocked] after 10 s.
//
// On Linux it owns one goroutine, which sleeps until the active instance dies or the pointers
// change, and then repairs them. Close ends it and waits for it. It holds two descriptors, and a
// third while another instance is active.
type Instance struct {
	folder folder
	guard  *guard

	mu     sync.Mutex // protects the fields below
	record Record     // as last written; changed only under the root's lock
	closed bool
}

// Claim takes the first free name of a root, which is made if it is missing, with the fields of
// want that are the caller's: the ports, Title, Cwd and Version, and AuthToken, which if empty gets
// a fresh token. The file is complete from its first moment. The caller must already listen on its
// ports: clients that see the file may connect.
//
// Names are taken in the order alpha to zulu, then alpha2 to zulu2, up to zulu99; a name is free
// when no live instance has it. If no other instance is active, this one becomes active.
//
// Errors are [ErrExhausted], [ErrFolder], [ErrLocked], [ErrTitle], or of the system. None holds the
// token.
func Claim(root string, want Record) (*Instance, error) {
	if len(want.Title) > MaxTitle {
		return nil, fmt.Errorf("claim an instance name in %s: %w", root, ErrTitle)
	}
	if want.MCPPort < 1 || want.MCPPort > 65535 {
		return nil, fmt.Errorf("claim an instance name in %s: %d is not a port; listen before the claim", root, want.MCPPort)
	}
	r := want
	if r.AuthToken == "" {
		r.AuthToken = NewToken()
	}
	r.Title, r.Cwd = valid(string(r.Title)), cwd(string(r.Cwd))
	r.PID, r.BootID, r.Platform = os.Getpid(), bootID(), platform()
	self, _ := look(r.PID)
	r.PIDStarted = self.started

	f, err := folderOf(root)
	if err != nil {
		return nil, fmt.Errorf("claim an instance name: %w", err)
	}
	i := &Instance{folder: f}
	if err := i.claim(r); err != nil {
		return nil, fmt.Errorf("claim an instance name in %s: %w", root, err)
	}
	i.guard = startGuard(i)
	return i, nil
}

func (i *Instance) claim(r Record) error {
	if err := i.folder.make(); err != nil {
		return err
	}
	unlock, err := i.folder.lock()
	if err != nil {
		return err
	}
	defer unlock()
	// Under the lock, so that a later name has a later start.
	r.StartedAt = time.Now().Format(startedAtLayout)
	if err := i.takeLocked(r); err != nil {
		return err
	}
	if err := i.pointLocked(nobody); err != nil {
		os.Remove(i.folder.file(i.record.ID))
		return err
	}
	return nil
}

// takeLocked writes r under the first free name.
func (i *Instance) takeLocked(r Record) error {
	all, err := i.folder.sweepLocked()
	if err != nil {
		return err
	}
	taken := make(map[string]bool)
	for _, e := range all {
		taken[e.id] = true
	}
	for n := range names {
		if r.ID = name(n); taken[r.ID] {
			continue
		}
		content, err := r.encode()
		if err == nil {
			err = i.folder.createLocked(i.folder.file(r.ID), content)
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return advise(fmt.Errorf("write the record of %s: %w", r.ID, err))
		}
		i.setRecord(r)
		return nil
	}
	return ErrExhausted
}

// keepLocked makes sure that our file exists and contains r. Another process may have removed it;
// if the name has another owner since, we take the first free one.
func (i *Instance) keepLocked(r Record) error {
	now, there := i.folder.judge(r.ID)
	if there && now.state == live && now.record.AuthToken != r.AuthToken {
		return i.takeLocked(r)
	}
	content, err := r.encode()
	if err != nil {
		return err
	}
	if !bytes.Equal(now.raw, content) {
		if err := i.folder.replaceLocked(i.folder.file(r.ID), content); err != nil {
			return err
		}
	}
	i.setRecord(r)
	return nil
}

// pointLocked removes stale files and repairs the pointers. If they point to us, they get our
// current name and cwd.
func (i *Instance) pointLocked(gone func(Record) bool) error {
	r, _ := i.now()
	_, a, ok := readRecord(i.folder.active())
	if ok && !gone(a) && a.AuthToken == r.AuthToken && (a.ID != r.ID || a.Cwd != r.Cwd) {
		content, err := r.encode()
		if err != nil {
			return err
		}
		return i.folder.writePointersLocked(content, r.AuthToken)
	}
	all, err := i.folder.sweepLocked()
	if err != nil {
		return err
	}
	return i.folder.pointLocked(all, gone)
}

func (i *Instance) setRecord(r Record) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.record = r
}

// now returns the record as last written.
func (i *Instance) now() (r Record, closed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.record, i.closed
}

// Record returns the content of this instance's file. A file that is missing or differs is written
// again, under another name if this one has a live owner by now, and the pointers are repaired.
// With an error it returns the record as last written.
func (i *Instance) Record() (Record, error) {
	r, closed := i.now()
	if closed {
		return r, ErrClosed
	}
	e, ok := i.folder.judge(r.ID)
	mine := ok && e.state == live && e.record.AuthToken == r.AuthToken
	if mine && !i.folder.pointersDue([]entry{e}, nobody) {
		return e.record, nil
	}
	if err := i.change(func(*Record) {}, nobody); err != nil {
		return r, fmt.Errorf("mend the files of instance %s: %w", r.ID, err)
	}
	r, _ = i.now()
	return r, nil
}

// change applies a change to our record, writes it, and repairs the pointers.
func (i *Instance) change(apply func(*Record), gone func(Record) bool) error {
	if err := i.folder.make(); err != nil {
		return err
	}
	unlock, err := i.folder.lock()
	if err != nil {
		return err
	}
	defer unlock()
	r, closed := i.now()
	if closed {
		return ErrClosed
	}
	apply(&r)
	if err := i.keepLocked(r); err != nil {
		return err
	}
	return i.pointLocked(gone)
}

// SetTitle makes title the label of this instance; "" is none. Only the instance's file changes,
// not the pointers. Invalid UTF-8 in it is replaced. The error is [ErrTitle], [ErrClosed],
// [ErrLocked], or of the system.
func (i *Instance) SetTitle(title string) error {
	if len(title) > MaxTitle {
		return fmt.Errorf("write instance title: %w", ErrTitle)
	}
	if err := i.change(func(r *Record) { r.Title = valid(title) }, nobody); err != nil {
		return fmt.Errorf("write instance title: %w", err)
	}
	return nil
}

// SetCwd sets the folder of this instance to path, which is not a URL; "" is none, as is one of
// more than 4,096 bytes. It is written to the instance's file, and to the pointers if it is active.
// An unchanged path is not written, so SetCwd may be called often.
func (i *Instance) SetCwd(path string) error {
	want := cwd(path)
	if r, closed := i.now(); !closed && r.Cwd == want {
		return nil
	}
	if err := i.change(func(r *Record) { r.Cwd = want }, nobody); err != nil {
		return fmt.Errorf("write instance cwd: %w", err)
	}
	return nil
}

// Close releases the name: it removes the file, if it is still this instance's, and hands the
// pointers over to the live instance that was started last. It waits for the goroutine. A second
// Close has no effect.
func (i *Instance) Close() error {
	i.mu.Lock()
	r, closed := i.record, i.closed
	i.closed = true
	i.mu.Unlock()
	if closed {
		return nil
	}
	i.guard.stop()
	if err := i.leave(); err != nil {
		return fmt.Errorf("give the instance name %s back: %w", r.ID, err)
	}
	return nil
}

func (i *Instance) leave() error {
	if there, err := i.folder.check(); err != nil || !there {
		return err
	}
	unlock, err := i.folder.lock()
	if err != nil {
		return err
	}
	defer unlock()
	r, _ := i.now() // after the last change, which may have changed our name
	if _, s, ok := readRecord(i.folder.file(r.ID)); ok && s.AuthToken == r.AuthToken {
		err := persist(func() error { return os.Remove(i.folder.file(r.ID)) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return advise(err)
		}
	}
	return i.pointLocked(func(s Record) bool { return s.AuthToken == r.AuthToken })
}

func platform() string {
	if runtime.GOOS == "darwin" {
		return "macos"
	}
	return runtime.GOOS
}

// valid returns s as JSON will contain it.
func valid(s string) Optional { return Optional(strings.ToValidUTF8(s, "\uFFFD")) }

func cwd(path string) Optional {
	if path := valid(path); len(path) <= maxCwd {
		return path
	}
	return ""
}
