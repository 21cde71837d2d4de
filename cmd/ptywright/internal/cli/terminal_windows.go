package cli

import "os"

// NotifyResize does nothing: Windows has no such signal.
func NotifyResize(chan<- os.Signal) {}
