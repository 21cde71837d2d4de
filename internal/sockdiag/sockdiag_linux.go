package sockdiag

import (
	"encoding/binary"
	"net/netip"
	"syscall"
)

// From linux/sock_diag.h, linux/inet_diag.h and net/tcp_states.h.
const (
	netlinkSockDiag  = 4  // NETLINK_SOCK_DIAG
	sockDiagByFamily = 20 // SOCK_DIAG_BY_FAMILY
	header           = 16 // bytes of a struct nlmsghdr
	request          = 56 // of a struct inet_diag_req_v2
	uidAt            = 64 // offset of the owner in a struct inet_diag_msg
	inodeAt          = 68 // and of the inode
)

// TCP looks up the socket of this network namespace with these local and remote ends; other is the
// zero address and port for a listening one. ok is false when there is none, and where the system
// does not reveal it. It does not block.
func TCP(own, other netip.AddrPort) (s Socket, ok bool) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC,
		netlinkSockDiag)
	if err != nil {
		return s, false
	}
	defer syscall.Close(fd)
	kernel := &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}
	if err := syscall.Sendto(fd, question(own, other), 0, kernel); err != nil {
		return s, false
	}
	var b [512]byte // an answer without extensions has 88, and is there once the question is sent
	n, _, err := syscall.Recvfrom(fd, b[:], syscall.MSG_DONTWAIT)
	native := binary.NativeEndian
	if err != nil || n < header+inodeAt+4 || native.Uint16(b[4:]) != sockDiagByFamily {
		return s, false
	}
	return Socket{UID: native.Uint32(b[header+uidAt:]),
		Inode: native.Uint32(b[header+inodeAt:])}, true
}

func question(own, other netip.AddrPort) []byte {
	b := make([]byte, header+request)
	native, wire := binary.NativeEndian, binary.BigEndian
	native.PutUint32(b[0:], uint32(len(b)))
	native.PutUint16(b[4:], sockDiagByFamily)
	native.PutUint16(b[6:], syscall.NLM_F_REQUEST)
	q := b[header:]
	q[0] = syscall.AF_INET6
	src := own.Addr().Unmap()
	if src.Is4() {
		q[0] = syscall.AF_INET
	}
	q[1] = syscall.IPPROTO_TCP
	native.PutUint32(q[4:], ^uint32(0)) // in any state
	id := q[8:]
	wire.PutUint16(id[0:], own.Port())
	wire.PutUint16(id[2:], other.Port())
	copy(id[4:20], src.AsSlice())
	copy(id[20:36], other.Addr().Unmap().AsSlice())
	native.PutUint64(id[40:], ^uint64(0)) // INET_DIAG_NOCOOKIE
	return b
}
