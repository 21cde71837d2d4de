// Package sockdiag finds the owner and inode of one TCP socket, given its two ends: call [TCP].
// That costs a few microseconds, however many sockets there are; reading the tables in /proc takes
// milliseconds. It makes no promise to other programs.
package sockdiag

// A Socket is what the system reports of a socket.
type Socket struct {
	UID   uint32 // the user who owns it, as seen in this process's user namespace
	Inode uint32 // as in the links of /proc/PID/fd: socket:[INODE]
}
