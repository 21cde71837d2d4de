package loopback

import (
	"fmt"
	"net"

	"github.com/ptywright/ptywright/internal/sockdiag"
)

// peerOf returns what distinguishes the peers of a door: the user, or else the address without its
// port. uid is the user; -1 where the system does not tell.
func peerOf(c net.Conn) (peer string, uid int) {
	here, ok1 := c.LocalAddr().(*net.TCPAddr)
	there, ok2 := c.RemoteAddr().(*net.TCPAddr)
	if ok1 && ok2 {
		if s, ok := sockdiag.TCP(there.AddrPort(), here.AddrPort()); ok {
			return fmt.Sprintf("uid %d", s.UID), int(s.UID)
		}
		return there.IP.String(), -1
	}
	return c.RemoteAddr().String(), -1
}
