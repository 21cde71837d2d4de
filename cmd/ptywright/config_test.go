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

// TestConfigOfTheSharedServer: what is set is where commands look, and a child of its client has
// none of it.
func TestConfigOfTheSharedServer(t *testing.T) {
	t.Parallel()
	p, home := configured(t, "socket = 'elsewhere'\n[mcp]\nhttp = '127.0.0.1:0'\n", "spawn", "--", "cat")
	t.Cleanup(func() { noneLeft(t, p.Mark) })
	if out, code := p.Run(""); code != 0 || out != "s1\n" {
		t.Fatalf("exit %d, %q %s", code, out, p.Stderr)
	}
	said, err := os.ReadFile(filepath.Join(home, "elsewhere.log"))
	if err != nil || !strings.Contains(string(said), "serving MCP on http://127.0.0.1:") {
		t.Errorf("%q, %v", said, err)
	}
	for _, args := range [][]string{{"ls", "--json"}, {"kill", "--server"}} {
		c := ptywright(t, args...)
		c.Env = append(c.Env, "PTYWRIGHT_HOME="+home, "PTYWRIGHT_CONFIG=")
		if out, code := c.Run(""); code != 0 {
			t.Errorf("%q: exit %d, %q %s", args, code, out, c.Stderr)
		}
	}
	p, _ = configured(t, "socket = 'elsewhere'\n[mcp]\nhttp = '127.0.0.1:0'\n", "serve", "--stdio")
	if out, code := p.Run(""); code != 0 || p.Stderr.String() != "" {
		t.Errorf("exit %d, %q %s", code, out, p.Stderr)
	}
}

// TestConfigFaults name the file, the line and the key, and nothing is started.
func TestConfigFaults(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"[log]\nlevell = 'x'":         "config.toml, line 2, log.levell: no such setting",
		"[limits]\n\nsessions = 0":    "config.toml, line 3, limits.sessions: give a whole number from 1 to",
		"[limits]\nsessions = true":   "config.toml, line 2, limits.sessions: give a whole number",
		"[log]\nlevel = 'loud'":       "config.toml, line 2, log.level: give debug, info, warn or error",
		"plugins = ['no/such.toml']":  "no/such.toml",
		"[log]\nfile = '/'":           "--log-file",
		"[log]\nfile = '/dev/stderr'": "--log-file: /dev/stderr is",
	} {
		for _, args := range [][]string{{"serve", "--stdio"}, {"serve"}} {
			p, home := configured(t, file, args...)
			out, code := p.Run("")
			if code == 0 || out != "" || !strings.Contains(p.Stderr.String(), want) {
				t.Errorf("%q: exit %d, %q %s", file, code, out, p.Stderr)
			}
			if _, err := os.Lstat(filepath.Join(home, "socket")); err == nil {
				t.Errorf("%q: a socket is there", file)
			}
		}
	}
	p, _ := configured(t, "", "serve", "--stdio")
	p.Env = append(p.Env, "PTYWRIGHT_LIMITS_SESSIONS=many")
	if _, code := p.Run(""); code != 2 || !strings.Contains(p.Stderr.String(), "PTYWRIGHT_LIMITS_SESSIONS in the environment is \"many\": give a whole number") {
		t.Errorf("exit %d, %s", code, p.Stderr)
	}
	p, home := configured(t, "trust_raw = true", "ls")
	if err := os.Chmod(filepath.Join(home, "config.toml"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, code := p.Run(""); code == 0 || !strings.Contains(p.Stderr.String(), "others could have written it: it has mode 0666; chmod") {
		t.Errorf("exit %d, %s", code, p.Stderr)
	}
}

// TestConfigAndDoctorJudgeTheLog: a file in which no server could log is told before one is
// started, and none is made.
func TestConfigAndDoctorJudgeTheLog(t *testing.T) {
	t.Parallel()
	for file, says := range map[string]string{"/nonexistent/x": "no such file or directory", "/dev/full": "is not a regular file", ".": "is not a regular file"} {
		for _, command := range []string{"config", "doctor"} {
			p, home := configured(t, "[log]\nfile = '"+file+"'\n", command)
			out, code := p.Run("")
			if said := out + p.Stderr.String(); code == 0 || !strings.Contains(said, "config.toml, line 2, log.file: no server can log there: ") || !strings.Contains(said, says) {
				t.Errorf("%s of %s: exit %d, %s", command, file, code, said)
			}
			p = ptywright(t, "serve")
			p.Env = append(p.Env, "PTYWRIGHT_HOME="+home, "PTYWRIGHT_CONFIG=")
			if _, code := p.Run(""); code == 0 {
				t.Errorf("a server starts with %s", file)
			}
		}
	}
	p, home := configured(t, "[log]\nfile = 'server.log'\n", "config")
	if out, code := p.Run(""); code != 0 {
		t.Errorf("exit %d, %s%s", code, out, p.Stderr)
	}
	if _, err := os.Stat(filepath.Join(home, "server.log")); !os.IsNotExist(err) {
		t.Errorf("config has made it: %v", err)
	}
}
