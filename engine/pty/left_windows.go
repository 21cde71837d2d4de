package pty

// Left reports for each of several programs whether anything is left in its job. It never fails.
func Left(ps []*PTY) ([]bool, error) {
	left := make([]bool, len(ps))
	for i, p := range ps {
		left[i] = len(p.jobPIDs()) > 0
	}
	return left, nil
}
