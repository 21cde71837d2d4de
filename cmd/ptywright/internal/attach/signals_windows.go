package attach

func notify(*signals) {} // Windows tells neither of a resize nor of a stop

// mayStop refuses: no shell here stops what it runs.
func mayStop() error { return errNoShell }

func stopSelf() error { return nil }
