package proxy

import (
	"net"
	"strconv"
	"strings"
)

// Hidden stands for a password in a URL.
const Hidden = "[REDACTED]"

// hide removes the password from a URL: of user:password@ the password, of user@ all, since that
// may be a key. Everything before the last @ counts, wherever it is: a password may contain
// characters that should have been escaped.
func hide(url string) string {
	scheme, rest := "", url
	if i := strings.Index(url, "://"); i >= 0 {
		scheme, rest = url[:i+3], url[i+3:]
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return url
	}
	user, password, _ := strings.Cut(rest[:at], ":")
	if password == "" {
		return scheme + Hidden + rest[at:]
	}
	return scheme + user + ":" + Hidden + rest[at:]
}

func hideOf(url *string) *string {
	if url == nil {
		return nil
	}
	h := hide(*url)
	return &h
}

// address returns the host and port of a proxy's URL: the text after ://, up to the path, after the
// last @. The port is required; without a host it is this machine.
func address(url string) (hostPort string, ok bool) {
	if i := strings.Index(url, "://"); i >= 0 {
		url = url[i+3:]
	}
	if i := strings.IndexAny(url, "/?#"); i >= 0 {
		url = url[:i]
	}
	url = url[strings.LastIndexByte(url, '@')+1:]
	host, port, err := net.SplitHostPort(url)
	if err != nil {
		return "", false
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", false
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), true
}
