//go:build !linux

package sockdiag

import "net/netip"

// TCP is not told by this system.
func TCP(own, other netip.AddrPort) (s Socket, ok bool) { return Socket{}, false }
