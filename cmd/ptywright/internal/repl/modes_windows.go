package repl

import "os"

// busyMode does nothing: a console has no such mode.
func busyMode(*os.File) error { return nil }

// available is not known for a console.
func available(*os.File) int { return 0 }
