// Package sockdiag asks the system about one TCP socket by its ends: whose it is, and which. That costs some
// microseconds, whatever number of sockets there is; to read the tables below /proc takes milliseconds. It promises
// nothing to other programs.
package sockdiag

// A Socket is what the system tells of one.
type Socket struct {
	UID   uint32 // the user who has it, as this process's user namespace knows them
	Inode uint32 // as in the links of /proc/PID/fd: socket:[INODE]
}
