package main

// nonblock is not needed: files do not wait.
const nonblock = 0

// writable leaves it to the opening to say who may write: the system judges access lists then.
func writable(string) error { return nil }
