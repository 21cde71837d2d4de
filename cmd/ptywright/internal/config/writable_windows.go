package config

// writable leaves the check to opening the file: only then does the system evaluate access lists.
func writable(string) error { return nil }
