//go:build unix && !linux

package repl

import "golang.org/x/sys/unix"

const (
	getTermios, setTermios = unix.TIOCGETA, unix.TIOCSETA
	readable               = 0x4004667f // FIONREAD, which package unix does not have; sys/filio.h of all of them
)
