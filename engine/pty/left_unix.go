//go:build linux || darwin

package pty

import "slices"

// Left reports for each of several programs whether anything of its tree is alive: itself or what [PTY.Kill] would end. What is
// not there cannot come back, but for a process that was out of Kill's reach before. It looks at the process table, twice when the
// first look shows one tree to be gone, for all programs together: a millisecond or so. The error means that the table could not be
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
	for range 2 { // a process may fork behind the back of one look
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
