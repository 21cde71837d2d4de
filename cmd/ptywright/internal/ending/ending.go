// Package ending is what the commands that hold a person's terminal have in common about the signals that tell them to end.
package ending

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals tell a command to end. With a handler on all of them none ends the process with the terminal still raw, and none, as
// SIGQUIT would, by the runtime's description of every goroutine. In a raw terminal none of them is typed. On Windows Ctrl-C arrives
// as the third, and a console that is closed as the first.
var Signals = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT}

// Notify has c told of the [Signals], but of those that the process was started to ignore, as nohup and a shell's & have it.
func Notify(c chan<- os.Signal) {
	for _, s := range Signals {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// Code is the exit code of a command that a signal has ended: 128 and its number, as shells have it.
func Code(s os.Signal) int {
	n, _ := s.(syscall.Signal)
	return 128 + int(n)
}
