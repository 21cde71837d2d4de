package cli

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// KeyMode puts a console into a mode that returns keys as they are pressed, without echo, as the
// sequences that terminals send; Ctrl-C stays a signal. [term.GetState] returns the mode to restore.
func KeyMode(f *os.File) error {
	var mode uint32
	console := windows.Handle(f.Fd())
	err := windows.GetConsoleMode(console, &mode)
	if err == nil {
		mode &^= windows.ENABLE_LINE_INPUT | windows.ENABLE_ECHO_INPUT
		err = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_INPUT)
	}
	if err != nil {
		return fmt.Errorf("set the console's mode: %w", err)
	}
	return nil
}
