package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// NotifyResize does nothing: Windows has no such signal.
func NotifyResize(chan<- os.Signal) {}

// escapes asks a console to read escape sequences, and reports whether it does.
func escapes(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
