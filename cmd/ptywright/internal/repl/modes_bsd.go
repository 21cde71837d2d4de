//go:build unix && !linux

package repl

import "golang.org/x/sys/unix"

const (
	getTermios, setTermios = unix.TIOCGETA, unix.TIOCSETA
	readable               = 0x4004667f // FIONREAD, which package unix lacks; sys/filio.h
)
