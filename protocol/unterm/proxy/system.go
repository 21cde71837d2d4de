package proxy

import (
	"context"
	"net"
	"os/exec"
	"strings"
	"time"
)

const (
	// askBound is how long a program that prints the system's settings may take.
	askBound = 500 * time.Millisecond
	// askMax bounds how much of its output is read, in bytes.
	askMax = 64 << 10
)

// ask returns what a program prints, "" when it is missing, fails, or another process keeps its
// output open.
func ask(ctx context.Context, program string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = askBound
	var out head
	cmd.Stdout = &out
	if cmd.Run() != nil {
		return ""
	}
	return string(out)
}

// head keeps the first askMax bytes that are written to it.
type head []byte

func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), askMax-len(*h))]...)
	return len(p), nil
}

// at is a URL of a host and a port, "" if either is missing.
func at(scheme, host, port string) string {
	if host == "" || port == "" || port == "0" {
		return ""
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// fromScutil reads the output of macOS's "scutil --proxy": a dictionary, a "key : value" in each
// line, and lists in braces.
func fromScutil(text string) found {
	values, exceptions, list := map[string]string{}, []string{}, ""
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), " : ")
		switch {
		case strings.TrimSpace(line) == "}":
			list = ""
		case !ok:
		case list == "ExceptionsList":
			exceptions = append(exceptions, value)
		case list != "":
		case strings.HasSuffix(value, "{"):
			list = key
		default:
			values[key] = value
		}
	}
	get := func(kind, scheme string) string {
		if values[kind+"Enable"] != "1" {
			return ""
		}
		return at(scheme, values[kind+"Proxy"], values[kind+"Port"])
	}
	f := found{source: "macOS system pref", http: get("HTTPS", "http"),
		socks: get("SOCKS", "socks5"), noProxy: strings.Join(exceptions, ",")}
	if f.http == "" {
		f.http = get("HTTP", "http")
	}
	return f
}

// fromGSettings reads the output of "gsettings list-recursively org.gnome.system.proxy": schema,
// key and value in each line, the value in GVariant's text form.
func fromGSettings(text string) found {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		schema, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		key, value, ok := strings.Cut(rest, " ")
		if ok {
			values[strings.TrimPrefix(strings.TrimPrefix(schema, "org.gnome.system.proxy"), ".")+
				" "+key] = value
		}
	}
	if unquote(values[" mode"]) != "manual" {
		return found{}
	}
	get := func(kind, scheme string) string {
		return at(scheme, unquote(values[kind+" host"]), values[kind+" port"])
	}
	f := found{source: "GNOME gsettings", http: get("https", "http"), socks: get("socks", "socks5")}
	if f.http == "" {
		f.http = get("http", "http")
	}
	var hosts []string
	for host := range strings.SplitSeq(strings.Trim(strings.TrimPrefix(values[" ignore-hosts"],
		"@as "), "[]"), ",") {
		if host = unquote(strings.TrimSpace(host)); host != "" {
			hosts = append(hosts, host)
		}
	}
	f.noProxy = strings.Join(hosts, ",")
	return f
}

func unquote(s string) string { return strings.Trim(s, `'"`) }

// fromRegistry reads two values of Windows' Internet Settings: ProxyServer, one host:port for all
// or scheme=host:port for some, and ProxyOverride, hosts with semicolons between.
func fromRegistry(server, override string) found {
	f := found{source: "Windows registry"}
	var http string
	for part := range strings.SplitSeq(server, ";") {
		scheme, address, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			scheme, address = "https", scheme
		}
		if _, rest, ok := strings.Cut(address, "://"); ok {
			address = rest
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			continue
		}
		switch scheme {
		case "https":
			f.http = at("http", host, port)
		case "http":
			http = at("http", host, port)
		case "socks":
			f.socks = at("socks5", host, port)
		}
	}
	if f.http == "" {
		f.http = http
	}
	var hosts []string
	for host := range strings.SplitSeq(override, ";") {
		if host = strings.TrimSpace(host); host != "" && host != "<local>" {
			hosts = append(hosts, host)
		}
	}
	f.noProxy = strings.Join(hosts, ",")
	return f
}
