//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// configured is a program with a home that has this config.toml.
func configured(t testing.TB, text string, args ...string) (p *program, home string) {
	t.Helper()
	home = t.TempDir()
	if text != "" {
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p = ptywright(t, args...)
	p.Env = append(p.Env, "PTYWRIGHT_HOME="+home, "PTYWRIGHT_CONFIG=")
	return p, home
}

// TestConfigPrecedence: flags go before the environment, that before the file, and a command is what they say.
func TestConfigPrecedence(t *testing.T) {
	t.Parallel()
	limit := func(file, env string, flags ...string) float64 {
		t.Helper()
		p, _ := configured(t, file, append([]string{"serve", "--stdio"}, flags...)...)
		if env != "" {
			p.Env = append(p.Env, env)
		}
		s := startProgram(t, p)
		var r struct{ Limits map[string]float64 }
		s.call("server.capabilities", nil, &r)
		return r.Limits["sessions"]
	}
	const file = "[limits]\nsessions = 5\n"
	for _, c := range []struct {
		file, env string
		flags     []string
		want      float64
	}{
		{"", "", nil, 1024},
		{file, "", nil, 5},
		{file, "PTYWRIGHT_LIMITS_SESSIONS=6", nil, 6},
		{file, "PTYWRIGHT_LIMITS_SESSIONS=6", []string{"--max-sessions", "7"}, 7},
		{file, "", []string{"--max-sessions", "1024"}, 1024},
		{file, "PTYWRIGHT_CONFIG=off", nil, 1024},
	} {
		if got := limit(c.file, c.env, c.flags...); got != c.want {
			t.Errorf("%q, %q, %q: %v sessions, expected %v", c.file, c.env, c.flags, got, c.want)
		}
	}
}

// TestConfigOfTheSharedServer: what is set is where commands look, and a child of its client has none of it.
func TestConfigOfTheSharedServer(t *testing.T) {
	t.Parallel()
	p, home := configured(t, "socket = 'elsewhere'\n[mcp]\nhttp = '127.0.0.1:0'\n", "spawn", "--", "cat")
	t.Cleanup(func() { noneLeft(t, p.mark) })
	if out, code := p.run(""); code != 0 || out != "s1\n" {
		t.Fatalf("exit %d, %q %s", code, out, p.stderr)
	}
	said, err := os.ReadFile(filepath.Join(home, "elsewhere.log"))
	if err != nil || !strings.Contains(string(said), "serving MCP on http://127.0.0.1:") {
		t.Errorf("%q, %v", said, err)
	}
	for _, args := range [][]string{{"ls", "--json"}, {"kill", "--server"}} {
		c := ptywright(t, args...)
		c.Env = append(c.Env, "PTYWRIGHT_HOME="+home, "PTYWRIGHT_CONFIG=")
		if out, code := c.run(""); code != 0 {
			t.Errorf("%q: exit %d, %q %s", args, code, out, c.stderr)
		}
	}
	p, _ = configured(t, "socket = 'elsewhere'\n[mcp]\nhttp = 'nonsense'\n", "serve", "--stdio")
	if out, code := p.run(""); code != 0 || p.stderr.String() != "" {
		t.Errorf("exit %d, %q %s", code, out, p.stderr)
	}
}

// TestConfigFaults name the file, the line and the key, and nothing is started.
func TestConfigFaults(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"[log]\nlevell = 'x'":         "config.toml, line 2, log.levell: there is no such setting",
		"[limits]\n\nsessions = 0":    "config.toml, line 3, limits.sessions: give a whole number from 1 to",
		"[limits]\nsessions = true":   "config.toml, line 2, limits.sessions: give a whole number",
		"[log]\nlevel = 'loud'":       "config.toml, line 2, log.level: give debug, info, warn or error",
		"plugins = ['no/such.toml']":  "no/such.toml",
		"[log]\nfile = '/'":           "--log-file",
		"[log]\nfile = '/dev/stderr'": "--log-file: /dev/stderr is",
	} {
		for _, args := range [][]string{{"serve", "--stdio"}, {"serve"}} {
			p, home := configured(t, file, args...)
			out, code := p.run("")
			if code == 0 || out != "" || !strings.Contains(p.stderr.String(), want) {
				t.Errorf("%q: exit %d, %q %s", file, code, out, p.stderr)
			}
			if _, err := os.Lstat(filepath.Join(home, "socket")); err == nil {
				t.Errorf("%q: a socket is there", file)
			}
		}
	}
	p, _ := configured(t, "", "serve", "--stdio")
	p.Env = append(p.Env, "PTYWRIGHT_LIMITS_SESSIONS=many")
	if _, code := p.run(""); code != 2 || !strings.Contains(p.stderr.String(), "PTYWRIGHT_LIMITS_SESSIONS in the environment is \"many\": give a whole number") {
		t.Errorf("exit %d, %s", code, p.stderr)
	}
	p, home := configured(t, "trust_raw = true", "ls")
	if err := os.Chmod(filepath.Join(home, "config.toml"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, code := p.run(""); code == 0 || !strings.Contains(p.stderr.String(), "others could have written it: it has mode 0666; chmod") {
		t.Errorf("exit %d, %s", code, p.stderr)
	}
}

// TestConfigIsShown with where each value comes from, and no token.
func TestConfigIsShown(t *testing.T) {
	t.Parallel()
	const file = "plugins = ['~/a/manifest.toml', 'b.toml']\n\n[log]\nfile = 'logs/token=Kq7abcdefgh'\nlevel = 'warn'\n"
	p, home := configured(t, file, "config")
	p.Env = append(p.Env, "PTYWRIGHT_LOG_LEVEL=debug", "PTYWRIGHT_MCP_TOKEN=tell-nobody-Zx81", "HOME=/home/ada")
	out, code := p.run("")
	for _, want := range []string{
		"# " + home + "/config.toml\n", "SETTING ", "socket  ", home + "/socket", "default\n",
		"/home/ada/a/manifest.toml, " + home + "/b.toml", "config.toml, line 1\n", "environment PTYWRIGHT_LOG_LEVEL\n",
		"logs/token=[REDACTED]", "limits.sessions", "1024", "unterm.port",
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d: it does not show %q:\n%s%s", code, want, out, p.stderr)
		}
	}
	p, _ = configured(t, file, "config", "--json")
	p.Env = append(p.Env, "PTYWRIGHT_MCP_TOKEN=tell-nobody-Zx81")
	asJSON, code := p.run("")
	if strings.Contains(out+asJSON, "Zx81") || strings.Contains(out+asJSON, "Kq7") {
		t.Error("it shows a secret")
	}
	for _, o := range objects(t, asJSON) {
		if o["key"] == "log.level" && (o["value"] != "warn" || !strings.HasSuffix(o["source"].(string), "config.toml, line 5") || o["environment"] != "PTYWRIGHT_LOG_LEVEL") || code != 0 {
			t.Errorf("%v", o)
		}
	}
}
