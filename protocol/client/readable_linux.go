package client

import "golang.org/x/sys/unix"

// readable waits until one of the descriptors can be read, or has ended.
func readable(a, b int) (first, second bool, err error) {
	fds := []unix.PollFd{{Fd: int32(a), Events: unix.POLLIN}, {Fd: int32(b), Events: unix.POLLIN}}
	_, err = unix.Poll(fds, -1)
	return err == nil && fds[0].Revents != 0, err == nil && fds[1].Revents != 0, err
}
