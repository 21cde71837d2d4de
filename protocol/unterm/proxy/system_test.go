package proxy

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What systems print, as they print it.
const (
	scutilOn = `<dictionary> {
  ExceptionsList : <array> {
    0 : *.local
    1 : 169.254/16
  }
  ExcludeSimpleHostnames : 0
  FTPPassive : 1
  HTTPEnable : 1
  HTTPPort : 7890
  HTTPProxy : 127.0.0.1
  HTTPSEnable : 1
  HTTPSPort : 7891
  HTTPSProxy : proxy.corp
  SOCKSEnable : 1
  SOCKSPort : 7892
  SOCKSProxy : ::1
}
`
	scutilHalf = `<dictionary> {
  HTTPEnable : 1
  HTTPPort : 7890
  HTTPProxy : 127.0.0.1
  HTTPSEnable : 0
  HTTPSPort : 7891
  HTTPSProxy : 127.0.0.1
  SOCKSEnable : 1
}
`
	gnome = `org.gnome.system.proxy autoconfig-url ''
org.gnome.system.proxy ignore-hosts ['localhost', '127.0.0.0/8', '::1']
org.gnome.system.proxy mode 'manual'
org.gnome.system.proxy use-same-proxy true
org.gnome.system.proxy.ftp host ''
org.gnome.system.proxy.ftp port 0
org.gnome.system.proxy.http authentication-password 'x'
org.gnome.system.proxy.http host '127.0.0.1'
org.gnome.system.proxy.http port 8080
org.gnome.system.proxy.https host ''
org.gnome.system.proxy.https port 0
org.gnome.system.proxy.socks host 'localhost'
org.gnome.system.proxy.socks port 1080
`
)

func TestSystemSettings(t *testing.T) {
	for name, c := range map[string]struct{ got, want found }{
		"scutil":               {fromScutil(scutilOn), found{"macOS system pref", "http://proxy.corp:7891", "socks5://[::1]:7892", "*.local,169.254/16"}},
		"scutil, one of three": {fromScutil(scutilHalf), found{"macOS system pref", "http://127.0.0.1:7890", "", ""}},
		"scutil, none":         {fromScutil("<dictionary> {\n}\n"), found{source: "macOS system pref"}},
		"gsettings":            {fromGSettings(gnome), found{"GNOME gsettings", "http://127.0.0.1:8080", "socks5://localhost:1080", "localhost,127.0.0.0/8,::1"}},
		"gsettings, off":       {fromGSettings(strings.Replace(gnome, "'manual'", "'none'", 1)), found{}},
		"gsettings, no hosts":  {fromGSettings("org.gnome.system.proxy ignore-hosts @as []\norg.gnome.system.proxy mode 'manual'\norg.gnome.system.proxy.https host 'h'\norg.gnome.system.proxy.https port 1\n"), found{source: "GNOME gsettings", http: "http://h:1"}},
		"no gsettings":         {fromGSettings(""), found{}},
		"registry, one":        {fromRegistry("127.0.0.1:7890", "localhost; *.corp;<local>"), found{"Windows registry", "http://127.0.0.1:7890", "", "localhost,*.corp"}},
		"registry, each":       {fromRegistry("http=a:1;https=b:2;ftp=c:3;socks=d:4", ""), found{"Windows registry", "http://b:2", "socks5://d:4", ""}},
		"registry, only http":  {fromRegistry("http=http://a:1;x;=;https=nothing", ""), found{source: "Windows registry", http: "http://a:1"}},
		"registry, none":       {fromRegistry("", ""), found{source: "Windows registry"}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}

// TestAsking: what a program prints, bounded; nothing of one that fails, is not there or does not
// end.
func TestAsking(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no program is asked there")
	}
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		program string
		want    int
	}{
		"prints": {script("prints", "printf %s \"$1\""), 5}, "fails": {script("fails", "echo hello; exit 1"), 0}, "is not there": {filepath.Join(dir, "none"), 0},
		"does not end": {script("hangs", "echo hello; exec sleep 300"), 0}, "prints much": {script("much", "head -c 1000000 /dev/zero"), askMax},
		"leaves somebody behind": {script("leaves", "sleep 5 & echo hello"), 0},
	} {
		if got := ask(context.Background(), c.program, "hello"); len(got) != c.want {
			t.Errorf("one that %s: %d bytes, want %d", name, len(got), c.want)
		}
	}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} { // a program that is asked may leave something there
		t.Setenv(name, dir)
	}
	f := fromSystem(t.Context()) // whatever this machine says
	if f.url() != "" && f.source == "" {
		t.Errorf("%+v", f)
	}
}

// FuzzSystemSettings: whatever is printed or stored, a URL has a host and a port.
func FuzzSystemSettings(f *testing.F) {
	for _, s := range []string{scutilOn, scutilHalf, gnome, "http=a:1;https=b:2", "", "mode 'manual'\n{\n}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, got := range []found{fromScutil(text), fromGSettings(text), fromRegistry(text, text), fromEnviron(func(string) string { return text })} {
			if got.url() != "" && got.source == "" {
				t.Fatalf("%+v has no source", got)
			}
		}
	})
}
