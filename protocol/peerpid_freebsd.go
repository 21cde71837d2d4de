package protocol

// peerPIDOf returns -1: the kernel does not tell the process in a way that we use.
func peerPIDOf(int) int { return -1 }
