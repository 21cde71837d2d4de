package attach

import "os"

func notify(*signals) {} // Windows tells neither of a resize nor of a stop

var endings = []os.Signal{os.Interrupt}

// stopSelf does nothing: no shell here stops what it runs.
func stopSelf() error { return errNoShell }

// Number is that of Ctrl-C, the only one that arrives.
func Number(os.Signal) int { return 2 }
