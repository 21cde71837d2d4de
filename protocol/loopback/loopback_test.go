package loopback

import (
	"net"
	"net/http"
	"testing"
)

// TestListenLoopback: the token is not for the network.
func TestListenLoopback(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.org:0", "127.0.0.1", ""} {
		if l, err := Listen(addr); err == nil {
			l.Close()
			t.Errorf("%q is listened on", addr)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := Listen(addr)
		if err != nil {
			t.Errorf("%q: %v", addr, err)
			continue
		}
		l.Close()
	}
}

// TestDoor: a page of another site is refused by its Host or by its Origin, and null is another
// site.
func TestDoor(t *testing.T) {
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	for _, x := range []struct {
		host   string
		origin []string
		in     bool
	}{
		{"127.0.0.1:4711", nil, true},
		{"LocalHost:4711", nil, true},
		{"[::1]:4711", nil, true},
		{"127.0.0.1:4711", []string{"http://localhost:4711"}, true},
		{"127.0.0.1", nil, false},
		{"127.0.0.1:4712", nil, false},
		{"localhost.evil.example:4711", nil, false},
		{"", nil, false},
		{"127.0.0.1:4711", []string{"null"}, false},
		{"127.0.0.1:4711", []string{""}, false},
		{"127.0.0.1:4711", []string{"https://127.0.0.1:4711"}, false},
		{"127.0.0.1:4711", []string{"http://127.0.0.1"}, false},
		{"127.0.0.1:4711", []string{"http://127.0.0.1:4711@evil.example"}, false},
		{"127.0.0.1:4711", []string{"http://127.0.0.1:4711", "http://evil.example"}, false},
	} {
		r := &http.Request{Host: x.host, Header: http.Header{"Origin": x.origin}}
		if got := DoorOf(addr).Check(r); (got == "") != x.in {
			t.Errorf("Host %q, Origin %q: %q", x.host, x.origin, got)
		}
	}
}

// TestToken: the token and nothing else.
func TestToken(t *testing.T) {
	token := NewToken()
	if len(token) < 26 || token == NewToken() {
		t.Errorf("%q can be guessed", token)
	}
	k := TokenOf(token)
	for given, want := range map[string]bool{token: true, "": false, token[1:]: false, token + "A": false} {
		if k.Is(given) != want {
			t.Errorf("%q: %t", given, !want)
		}
	}
}
