// Package loopback (no stability promise) guards every TCP door of ptywright: [Listen] listens on
// this machine's own addresses only, [Door.Check] refuses requests from pages of other sites,
// [NewToken] and [Token.Is] make and check the token, and a [Room] holds a bounded number of
// connections, of which strangers cannot take all. A client is on this machine, and until it shows
// the token it may be anyone there, a page in a browser included.
package loopback

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// NewToken returns a bearer token that nobody can guess: 130 bits.
func NewToken() string { return rand.Text() }

// A Token recognises a token; the token itself is not kept.
type Token [sha256.Size]byte

// TokenOf returns the Token that recognises token.
func TokenOf(token string) Token { return sha256.Sum256([]byte(token)) }

// Is reports whether given is the token. The time it takes does not reveal how much of it was
// right.
func (t Token) Is(given string) bool {
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(sum[:], t[:]) == 1
}

// Listen listens on a loopback address that [Check] accepts. Port 0 means any free one.
func Listen(addr string) (net.Listener, error) {
	addr, err := own(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %w", err)
	}
	return net.Listen("tcp", addr)
}

// Check says what is wrong with an address, but not whether it is free: only loopback addresses are
// allowed, since the token would travel in the clear.
func Check(addr string) error {
	_, err := own(addr)
	return err
}

// own returns the address with its host as numbers.
func own(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return "", fmt.Errorf("%q: %w; give 127.0.0.1:PORT", addr, err)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return "", fmt.Errorf("%q: not an address of this machine's own; give 127.0.0.1:PORT, and let a tunnel carry it further", addr)
	}
	return net.JoinHostPort(host, port), nil
}

// A Door knows the host names of a listener. A page of another site reaches a local port with its
// own name in Host (DNS rebinding) or in Origin.
type Door struct{ hosts []string }

// DoorOf returns the door of a listener with that address.
func DoorOf(a net.Addr) Door {
	_, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return Door{}
	}
	hosts := []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port, a.String()}
	if port == "80" {
		hosts = append(hosts, "127.0.0.1", "localhost", "[::1]")
	}
	return Door{hosts}
}

// Check returns why to refuse a request, with 403: its Host is not the listener's, or it has
// another Origin, null included. "" accepts it: a request without Origin does not come from a page.
func (d Door) Check(r *http.Request) string {
	if !slices.Contains(d.hosts, strings.ToLower(r.Host)) {
		return "this Host is not served here"
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" || !slices.Contains(d.hosts, strings.ToLower(u.Host)) {
			return "pages of this Origin may not call"
		}
	}
	return ""
}
