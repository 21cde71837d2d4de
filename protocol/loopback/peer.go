package loopback

import (
	"fmt"
	"net"

	"github.com/ptywright/ptywright/internal/sockdiag"
)

// peerOf returns what distinguishes the peers of a door: the user, or else the address without its
// port.
func peerOf(c net.Conn) string {
	here, ok1 := c.LocalAddr().(*net.TCPAddr)
	there, ok2 := c.RemoteAddr().(*net.TCPAddr)
	if ok1 && ok2 {
		if s, ok := sockdiag.TCP(there.AddrPort(), here.AddrPort()); ok {
			return fmt.Sprintf("uid %d", s.UID)
		}
		return there.IP.String()
	}
	return c.RemoteAddr().String()
}
