package attach

func notify(*signals) {} // Windows reports neither resizes nor stops

// mayStop refuses: no shell here stops what it runs.
func mayStop() error { return errNoShell }

func stopSelf() error { return nil }
