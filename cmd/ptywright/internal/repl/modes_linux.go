package repl

import "golang.org/x/sys/unix"

const readable = unix.TIOCINQ
