package instance

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// MCPPort is the first port that Unterm's clients try.
const MCPPort = 19876

// portsTried is how many ports after the wanted one are tried before any free one is taken.
const portsTried = 5

// Listen listens on 127.0.0.1 only: on port, else on the first free one of the five after it, else
// on any free one. With 0 it is any free one at once. The listener's address has the port.
func Listen(port int) (net.Listener, error) {
	if port < 0 || port > 65535 {
		return nil, fmt.Errorf("listen on port %d of 127.0.0.1: a port is a number from 0 to 65535; use 0 for any free one", port)
	}
	if port != 0 {
		for p := port; p <= min(port+portsTried, 65535); p++ {
			l, err := listen(p)
			if err == nil || !taken(err) {
				return l, err
			}
		}
	}
	return listen(0)
}

func listen(port int) (net.Listener, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen on port %d of 127.0.0.1: %w", port, err)
	}
	return l, nil
}

// taken reports whether to try another port: this one is in use, or reserved by the system.
func taken(err error) bool {
	const inUse, reserved = syscall.Errno(10048), syscall.Errno(10013) // WSAEADDRINUSE, WSAEACCES
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EACCES) ||
		errors.Is(err, inUse) || errors.Is(err, reserved)
}

// NewToken returns a fresh token: a UUID of version 4 (RFC 9562, section 5.4), 122 bits from the
// system's generator.
func NewToken() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: see its documentation
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// DefaultRoot returns a user's default root: $PTYWRIGHT_HOME or ~/.ptywright. With compat it is
// ~/.unterm, where Unterm's own clients look.
func DefaultRoot(compat bool) (string, error) {
	folder := ".ptywright"
	if compat {
		folder = ".unterm"
	} else if home := os.Getenv("PTYWRIGHT_HOME"); home != "" {
		return filepath.Abs(home)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the folder of instances: %w; set it, or give --root", err)
	}
	return filepath.Join(home, folder), nil
}
