//go:build linux || darwin

package pty

import "slices"

// Left reports for each of several programs whether anything of its tree is alive: the program or
// what [PTY.Kill] would end. A tree that is gone cannot come back, except for a process that was
// out of Kill's reach before. It scans the process table for all programs together, twice when the
// first scan finds one tree gone: about a millisecond. The error means that the table could not be
// read.
func Left(ps []*PTY) ([]bool, error) {
	left := make([]bool, len(ps))
	if len(ps) == 0 {
		return left, nil
	}
	targets := make([]target, len(ps))
	for i, p := range ps {
		targets[i].pty = p
	}
	s := newSweep(targets)
	defer s.holdTerminals()()
	for range 2 { // a process may fork unseen during one look
		if _, err := s.look(); err != nil {
			return nil, err
		}
		for _, k := range s.known {
			left[k] = true
		}
		if !slices.Contains(left, false) {
			break
		}
	}
	for i, p := range ps {
		left[i] = left[i] || p.memory.populated()
	}
	return left, nil
}
