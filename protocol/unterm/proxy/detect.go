package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

const (
	// statusProbe is how long a configured proxy may take to answer; foundProbe one that was found;
	// scanProbe one on this machine. They are Unterm's.
	statusProbe = 200 * time.Millisecond
	foundProbe  = 150 * time.Millisecond
	scanProbe   = 120 * time.Millisecond
	// detectBound is how long detection may take in all: each source and each port at its worst is
	// a little more.
	detectBound = 2 * time.Second
)

// ports are the local ports on which proxies listen, the likeliest first: Clash Verge, Clash,
// ShadowsocksX, Tor's and others', Privoxy, Charles, and the traditional ports of HTTP and SOCKS
// proxies.
var ports = []int{7897, 7890, 1087, 7070, 8118, 8888, 8080, 1080}

// found is a proxy that some source names. URLs are "" when it has none.
type found struct {
	source      string
	http, socks string
	noProxy     string
}

// url is the one to show.
func (f *found) url() string { return cmp.Or(f.http, f.socks) }

// connect opens a connection and closes it. Nothing is sent.
func connect(ctx context.Context, hostPort string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", hostPort)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

// probe reports why a connection to the URL's host and port failed. The error contains nothing else
// of the URL.
func (s *Store) probe(ctx context.Context, url string, bound time.Duration) error {
	to, ok := address(url)
	if !ok {
		return errors.New("the URL has no host and port, as http://127.0.0.1:7890 has; configure it anew")
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	err := s.connect(ctx, to)
	if err == nil {
		return nil
	}
	why := "it cannot be reached"
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		why = fmt.Sprintf("no answer within %s", bound)
	case errors.Is(err, syscall.ECONNREFUSED):
		why = "connection refused"
	case errors.As(err, &dns):
		why = "the name is not known"
	}
	return fmt.Errorf("no proxy at %s: %s; start it, or configure another", to, why)
}

// detect looks for a proxy that answers: in the system's settings, in the environment, then on
// ports of this machine. nil means none.
func (s *Store) detect(ctx context.Context) *found {
	ctx, cancel := context.WithTimeout(ctx, detectBound)
	defer cancel()
	for _, ask := range []func(context.Context) found{s.system,
		func(context.Context) found { return fromEnviron(s.getenv) }} {
		f := ask(ctx)
		if f.http != "" && (!plain(f.http) || s.probe(ctx, f.http, foundProbe) != nil) {
			f.http = ""
		}
		if f.socks != "" && (!plain(f.socks) || s.probe(ctx, f.socks, foundProbe) != nil) {
			f.socks = ""
		}
		if f.url() != "" {
			return &f
		}
	}
	for _, port := range s.ports {
		url := fmt.Sprintf("http://127.0.0.1:%d", port)
		if s.probe(ctx, url, scanProbe) == nil {
			return &found{source: fmt.Sprint("scan:", port), http: url,
				socks: fmt.Sprintf("socks5://127.0.0.1:%d", port)}
		}
	}
	return nil
}

// fromEnviron reads the variables that most programs use.
func fromEnviron(getenv func(string) string) found {
	get := func(name string) string { return cmp.Or(getenv(name), getenv(strings.ToLower(name))) }
	f := found{source: "process env", http: cmp.Or(get("HTTPS_PROXY"), get("HTTP_PROXY")),
		noProxy: get("NO_PROXY")}
	if all := get("ALL_PROXY"); strings.HasPrefix(all, "socks") {
		f.socks = all
	} else {
		f.http = cmp.Or(f.http, all)
	}
	return f
}
