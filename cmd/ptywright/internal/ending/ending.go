// Package ending holds what commands share about the signals that end them: [Notify] is the entry
// point of those that own a person's terminal, [Until] of those that serve.
package ending

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals end a command. With a handler on all of them none ends the process with the terminal
// still raw, and none dumps every goroutine, as the runtime does on SIGQUIT. A raw terminal does
// not generate them. On Windows Ctrl-C arrives as the third, and a closed console as the first.
var Signals = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT}

// Notify relays the [Signals] to c, except those that the process was started to ignore, as with
// nohup and a shell's &.
func Notify(c chan<- os.Signal) {
	for _, s := range Signals {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// Code is the exit code of a command that a signal ended: 128 plus its number, as in shells.
func Code(s os.Signal) int {
	n, _ := s.(syscall.Signal)
	return 128 + int(n)
}
