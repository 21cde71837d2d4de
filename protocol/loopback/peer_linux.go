package loopback

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// From linux/sock_diag.h, linux/inet_diag.h and net/tcp_states.h.
const (
	netlinkSockDiag  = 4  // NETLINK_SOCK_DIAG
	sockDiagByFamily = 20 // SOCK_DIAG_BY_FAMILY
	diagHeader       = 16 // bytes of a struct nlmsghdr
	diagRequest      = 56 // of a struct inet_diag_req_v2
	diagUID          = 64 // where in a struct inet_diag_msg the owner stands
)

// owner asks the system which user's the other end of a connection on this machine is. It is told for sockets of others,
// too.
func owner(c net.Conn) (uid string, ok bool) {
	here, ok1 := c.LocalAddr().(*net.TCPAddr)
	there, ok2 := c.RemoteAddr().(*net.TCPAddr)
	if !ok1 || !ok2 {
		return "", false
	}
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		return "", false
	}
	defer syscall.Close(fd)
	if err := syscall.Sendto(fd, question(there.AddrPort(), here.AddrPort()), 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return "", false
	}
	var b [512]byte // an answer without extensions has 88
	n, _, err := syscall.Recvfrom(fd, b[:], syscall.MSG_DONTWAIT)
	if err != nil || n < diagHeader+diagUID+4 || binary.NativeEndian.Uint16(b[4:]) != sockDiagByFamily {
		return "", false
	}
	return strconv.FormatUint(uint64(binary.NativeEndian.Uint32(b[diagHeader+diagUID:])), 10), true
}

// question asks for the one TCP socket with these ends.
func question(own, other netip.AddrPort) []byte {
	b := make([]byte, diagHeader+diagRequest)
	native, wire := binary.NativeEndian, binary.BigEndian
	native.PutUint32(b[0:], uint32(len(b)))
	native.PutUint16(b[4:], sockDiagByFamily)
	native.PutUint16(b[6:], syscall.NLM_F_REQUEST)
	q := b[diagHeader:]
	q[1] = syscall.IPPROTO_TCP
	native.PutUint32(q[4:], ^uint32(0)) // in any state
	id := q[8:]
	wire.PutUint16(id[0:], own.Port())
	wire.PutUint16(id[2:], other.Port())
	src, dst := own.Addr().Unmap(), other.Addr().Unmap()
	q[0] = syscall.AF_INET6
	if src.Is4() {
		q[0] = syscall.AF_INET
	}
	copy(id[4:20], src.AsSlice())
	copy(id[20:36], dst.AsSlice())
	native.PutUint64(id[40:], ^uint64(0)) // INET_DIAG_NOCOOKIE
	return b
}
