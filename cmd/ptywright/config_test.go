//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
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
	p, _ = configured(t, "socket = 'elsewhere'\n[mcp]\nhttp = '127.0.0.1:0'\n", "serve", "--stdio")
	if out, code := p.run(""); code != 0 || p.stderr.String() != "" {
		t.Errorf("exit %d, %q %s", code, out, p.stderr)
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
	if err := os.Mkdir(filepath.Join(home, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
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
	p, home = configured(t, file, "config", "--json")
	if err := os.Mkdir(filepath.Join(home, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
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

// TestConfigAndDoctorJudgeTheLog: a file in which no server could log is told before one is started, and none is made.
func TestConfigAndDoctorJudgeTheLog(t *testing.T) {
	t.Parallel()
	for file, says := range map[string]string{"/nonexistent/x": "no such file or directory", "/dev/full": "is not a regular file", ".": "is not a regular file"} {
		for _, command := range []string{"config", "doctor"} {
			p, home := configured(t, "[log]\nfile = '"+file+"'\n", command)
			out, code := p.run("")
			if said := out + p.stderr.String(); code == 0 || !strings.Contains(said, "config.toml, line 2, log.file: no server can log there: ") || !strings.Contains(said, says) {
				t.Errorf("%s of %s: exit %d, %s", command, file, code, said)
			}
			p = ptywright(t, "serve")
			p.Env = append(p.Env, "PTYWRIGHT_HOME="+home, "PTYWRIGHT_CONFIG=")
			if _, code := p.run(""); code == 0 {
				t.Errorf("a server starts with %s", file)
			}
		}
	}
	p, home := configured(t, "[log]\nfile = 'server.log'\n", "config")
	if out, code := p.run(""); code != 0 {
		t.Errorf("exit %d, %s%s", code, out, p.stderr)
	}
	if _, err := os.Stat(filepath.Join(home, "server.log")); !os.IsNotExist(err) {
		t.Errorf("config has made it: %v", err)
	}
}

// TestKillServerInSpiteOfTheConfig: a file that is wrong by now does not keep a server from being ended.
func TestKillServerInSpiteOfTheConfig(t *testing.T) {
	t.Parallel()
	for text, kills := range map[string]bool{"[log\n": true, "[log]\nlevle = 'info'\n": true, "socket = 3\n": false} { // which one is meant is not known
		s := newShared(t)
		if err := os.WriteFile(filepath.Join(filepath.Dir(s.path), "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		run := func(want int, says string, args ...string) {
			t.Helper()
			p := ptywright(t, append([]string{"kill"}, args...)...)
			p.Env = append(p.Env, "PTYWRIGHT_HOME="+filepath.Dir(s.path), "PTYWRIGHT_CONFIG=")
			if out, code := p.run(""); code != want || !strings.Contains(p.stderr.String(), says) {
				t.Errorf("%q, kill %q: exit %d, %s%s", text, args, code, out, p.stderr)
			}
		}
		run(cli.ExitUsage, "config.toml, line ", "--all")
		if kills {
			run(0, "", "--server")
			continue
		}
		run(cli.ExitUsage, "config.toml, line 1, socket", "--server")
		run(0, "", "--server", "--socket", s.path)
	}
}

// TestConfigShowsWhatHolds of a file that is wrong, then all that is wrong with it and the environment.
func TestConfigShowsWhatHolds(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"[log]\nlevle = 'info'\nfile = 3\n[limits]\nsessions = 5\n": {"limits.sessions  ", " 5  ", "config.toml, line 2, log.levle: no such setting: did you mean log.level?\n", "config.toml, line 3, log.file: give a path, a string\n"},
		"[log\nlevel = 'info'\n":                                    {"limits.sessions  ", " 1024  ", "config.toml, line 2: expected"},
		"trust_raw = true\n":                                        {"trust_raw  ", "config.toml, line 1\n"},
	} {
		p, home := configured(t, file, "config")
		p.Env = append(p.Env, "PTYWRIGHT_LIMITS_REQUESTS=lots", "PTYWRIGHT_LOGLEVEL=info", "PTYWRIGHT_WEATHER=fine")
		out, code := p.run("")
		said := out + p.stderr.String()
		for _, want := range append(want,
			"limits.requests       lots", "environment PTYWRIGHT_LIMITS_REQUESTS, which is wrong\n",
			"ptywright: PTYWRIGHT_LIMITS_REQUESTS in the environment is \"lots\": give a whole number from 1 to 1048576\n",
			"ptywright: PTYWRIGHT_LOGLEVEL in the environment is not a variable of ptywright's: did you mean PTYWRIGHT_LOG_LEVEL?\n",
			"ptywright: PTYWRIGHT_WEATHER in the environment is not a variable of ptywright's\n",
		) {
			if code != 2 || !strings.Contains(said, want) || strings.Contains(said, "strconv") || strings.Contains(said, "ptywright config shows") {
				t.Errorf("%q: exit %d: it does not tell %q:\n%s", file, code, want, said)
			}
		}
		if strings.HasPrefix(file, "trust") {
			continue
		}
		for _, args := range [][]string{{"ls"}, {"spawn", "--", "true"}, {"serve", "--stdio"}, {"mcp"}} {
			p := ptywright(t, args...)
			p.Env = append(p.Env, "PTYWRIGHT_HOME="+home, "PTYWRIGHT_CONFIG=")
			if out, code := p.run(""); code != 2 || out != "" || !strings.Contains(p.stderr.String(), home+"/config.toml, line 2") || !strings.HasSuffix(p.stderr.String(), "; ptywright config shows what holds\n") {
				t.Errorf("%q: exit %d, %q %s", args, code, out, p.stderr)
			}
		}
	}

	// As JSON each fault is a line, behind those of the settings.
	p, _ := configured(t, "[log]\nlevle = 'info'\nfile = 3\n", "config", "--json")
	out, code := p.run("")
	all := objects(t, out)
	if code != 2 || len(all) < 4 || all[0]["key"] != "socket" || all[len(all)-2]["error"] == nil || all[len(all)-1]["error"] == nil {
		t.Errorf("exit %d, %s", code, out)
	}
	p, home := configured(t, "trust_raw = true\n", "config")
	if err := os.Chmod(filepath.Join(home, "config.toml"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, code := p.run(""); code != 2 || !strings.HasPrefix(out, "# "+home+"/config.toml could not be read\n") || !strings.Contains(p.stderr.String(), "others could have written it") {
		t.Errorf("exit %d, %s%s", code, out, p.stderr)
	}
	// What is only odd is no fault.
	p, _ = configured(t, "", "config")
	p.Env = append(p.Env, "PTYWRIGHT_WEATHER=fine", "PTYWRIGHT_LIMITS_SESSIONS=")
	if _, code := p.run(""); code != 0 || !strings.Contains(p.stderr.String(), "PTYWRIGHT_WEATHER") {
		t.Errorf("exit %d, %s", code, p.stderr)
	}
}

// TestServerThatCannotStart says why in the words of the configuration.
func TestServerThatCannotStart(t *testing.T) {
	t.Parallel()
	p, _ := configured(t, "", "spawn", "--json", "--", "true")
	p.Env = append(p.Env, "PTYWRIGHT_LIMITS_SESSIONS=x")
	if out, code := p.run(""); code != 2 || !strings.Contains(out, `PTYWRIGHT_LIMITS_SESSIONS in the environment is \"x\": give a whole number`) {
		t.Errorf("exit %d, %s%s", code, out, p.stderr)
	}
}
