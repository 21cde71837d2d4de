//go:build linux || darwin

package pty

import (
	"cmp"
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// Foreground returns the process that has the terminal: the leader of the foreground process group,
// which Ctrl+C would reach; when that has ended, as the first program of a pipeline may, the oldest
// process of the group; and when the group is empty or does not exist, the program itself. It
// blocks for a few system calls, and, when the group's leader is gone, for a scan of the process
// table.
//
// The error is [ErrExited] once the program has ended, and os.ErrClosed after Close.
func (p *PTY) Foreground() (Process, error) {
	group, err := p.group()
	if err != nil && !errors.Is(err, ErrExited) {
		return Process{}, err
	}
	if err == nil {
		if f, ok := p.describe(group, group); ok {
			return f, nil
		}
		for _, pid := range p.members(group) {
			if f, ok := p.describe(pid, group); ok {
				return f, nil
			}
		}
	}
	f := describe(p.tree.pid)
	f.Leader = true
	row, err := lookAt(p.tree.pid)
	p.mu.Lock()
	reaped := p.tree.reaped != 0
	p.mu.Unlock()
	// Asked afterwards: until it is reaped no other process has its number.
	if reaped || err == nil && row.dead {
		return Process{}, ErrExited
	}
	return f, nil
}

// describe reads a process. It reports false unless that is a live member of the terminal's process
// group.
func (p *PTY) describe(pid, group int) (Process, bool) {
	f := describe(pid)
	f.Leader = pid == p.tree.pid
	row, err := lookAt(pid) // afterwards, so that it is the same process
	if err != nil {
		// It has ended, or is hidden: some systems hide other users' processes.
		err = unix.Kill(pid, 0)
		return f, err == nil || err == unix.EPERM
	}
	return f, p.inGroup(row, group)
}

// inGroup reports whether a process is alive and in the group of this terminal with the given
// number, which may be reused when the group's last member ends.
func (p *PTY) inGroup(row process, group int) bool {
	return row.group == group && row.tty == p.tree.terminal.tty && row.start >= p.tree.start &&
		!row.dead
}

// members returns the live processes of a group, the oldest first.
func (p *PTY) members(group int) []int {
	t, err := look()
	if err != nil {
		return nil
	}
	rows := slices.DeleteFunc(slices.Clone(t.procs),
		func(row process) bool { return !p.inGroup(row, group) })
	slices.SortFunc(rows, func(a, b process) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.pid, b.pid))
	})
	pids := make([]int, len(rows))
	for i, row := range rows {
		pids[i] = row.pid
	}
	return pids
}
