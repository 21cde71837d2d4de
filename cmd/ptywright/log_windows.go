package main

// nonblock is not needed: opening a file does not wait.
const nonblock = 0

// writable leaves the check to opening the file: only then does the system evaluate access lists.
func writable(string) error { return nil }
