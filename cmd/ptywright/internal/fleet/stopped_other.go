//go:build !linux

package fleet

// stopped is not known here.
func stopped(int) bool { return false }
