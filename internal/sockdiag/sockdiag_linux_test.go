package sockdiag

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"testing"
)

// inodeOf is what /proc says of a socket of ours.
func inodeOf(t *testing.T, c interface{ File() (*os.File, error) }) (inode uint32) {
	t.Helper()
	f, err := c.File() // another descriptor of the same socket
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err == nil {
		_, err = fmt.Sscanf(link, "socket:[%d]", &inode)
	}
	if err != nil {
		t.Fatal(err)
	}
	return inode
}

// TestTCP: sockets that listen and sockets that are connected, and none.
func TestTCP(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Logf("%s: %v", addr, err) // a machine without IPv6
			continue
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		at := func(a net.Addr) netip.AddrPort { return a.(*net.TCPAddr).AddrPort() }
		for name, x := range map[string]struct {
			own, other netip.AddrPort
			inode      uint32
		}{
			"listening": {at(l.Addr()), netip.AddrPort{}, inodeOf(t, l.(*net.TCPListener))},
			"connected": {at(c.LocalAddr()), at(c.RemoteAddr()), inodeOf(t, c.(*net.TCPConn))},
		} {
			s, ok := TCP(x.own, x.other)
			if !ok {
				t.Skip("this kernel has no sock_diag for TCP")
			}
			if s.Inode != x.inode || int(s.UID) != os.Getuid() {
				t.Errorf("%s, %s: %+v, want inode %d", addr, name, s, x.inode)
			}
		}
		l.Close()
		c.Close()
		if s, ok := TCP(at(l.Addr()), netip.AddrPort{}); ok {
			t.Errorf("%s: a socket that is closed is %+v", addr, s)
		}
	}
}
