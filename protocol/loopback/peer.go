package loopback

import "net"

// peerOf returns what tells the peers of a door apart: the user, or else the address without its port.
func peerOf(c net.Conn) string {
	if uid, ok := owner(c); ok {
		return "uid " + uid
	}
	addr := c.RemoteAddr().String()
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr
}
