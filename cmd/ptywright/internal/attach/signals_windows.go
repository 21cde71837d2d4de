package attach

import "os"

func notify(*signals) {} // Windows tells neither of a resize nor of a stop

var endings = []os.Signal{os.Interrupt}

// mayStop refuses: no shell here stops what it runs.
func mayStop() error { return errNoShell }

func stopSelf() error { return nil }

// Number is that of Ctrl-C, the only one that arrives.
func Number(os.Signal) int { return 2 }
