package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// home writes a file into a root of its own.
func home(t testing.TB, text string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func none(string) (string, bool) { return "", false }

func setting(t testing.TB, key string) Setting {
	t.Helper()
	i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		t.Fatalf("no setting %s", key)
	}
	return Settings[i]
}

func TestPrecedence(t *testing.T) {
	root := home(t, "socket = 'mine/socket'\nplugins = ['~/a.toml', '/b.toml']\n\n[log]\nlevel = 'debug'\n[limits]\nsessions = 7\n")
	env := map[string]string{"PTYWRIGHT_LOG_LEVEL": "error", "PTYWRIGHT_TRUST_RAW": "true", "PTYWRIGHT_MCP_TOKEN": "x"}
	c, err := Load(root, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil || !c.Exists {
		t.Fatal(err)
	}
	user, _ := os.UserHomeDir()
	for key, want := range map[string]string{
		"socket":          fmt.Sprint([]string{filepath.Join(root, "mine", "socket")}, " ", c.Path, ", line 1"),
		"plugins":         fmt.Sprint([]string{filepath.Join(user, "a.toml"), "/b.toml"}, " ", c.Path, ", line 2"),
		"log.level":       "[error] environment PTYWRIGHT_LOG_LEVEL",
		"trust_raw":       "[true] environment PTYWRIGHT_TRUST_RAW",
		"limits.sessions": fmt.Sprint("[7] ", c.Path, ", line 7"),
	} {
		v, ok := c.Value(setting(t, key))
		if got := fmt.Sprint(v.Values, " ", v.Source); runtime.GOOS != "windows" && (!ok || got != want) {
			t.Errorf("%s: %q, expected %q", key, got, want)
		}
	}
	if v, ok := c.Value(setting(t, "log.file")); ok {
		t.Errorf("what nobody has set is %v", v)
	}
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"socket = 1":                            "config.toml, line 1, socket: give a path, a string",
		"\n\nsocet = 'x'":                       "config.toml, line 3, socet: no such setting: did you mean socket?",
		"[log]\nlevle = 'x'":                    "config.toml, line 2, log.levle: no such setting: did you mean log.level?",
		"[logs]\nlevel = 'x'":                   "config.toml, line 1, logs: no such setting: did you mean [log]?",
		"[log]\nlevle = 'x'\nfile = 3\nx = 1":   "log.level? (and 2 more)",
		"weather = 'x'":                         "no such setting; ptywright config lists",
		"[limits]\n\nmax-sessions = 3":          "config.toml, line 3, limits.max-sessions: no such",
		"max-sessions = 3":                      "did you mean limits.sessions?",
		"[log]\nsocket = 'x'":                   "config.toml, line 2, log.socket: no such setting: did you mean socket?",
		"[nothing]":                             "config.toml, line 1, nothing: no such setting",
		"log = 3":                               "config.toml, line 1, log: no such setting",
		"[[log]]\nlevel = 'x'":                  "no such setting",
		"plugins = 'x'":                         "give an array of paths",
		"plugins = [1]":                         "give an array of paths",
		"[limits]\nsessions = 1.5":              "give a whole number",
		"[limits]\nsessions = 0":                "config.toml, line 2, limits.sessions: give a whole number from 1 to 1048576",
		"[unterm]\nport = 65536":                "give a whole number from 0 to 65535",
		"[log]\nlevel = 'loud'":                 "give debug, info, warn or error",
		"trust_raw = 'yes'":                     "give true or false",
		"socket = ":                             "config.toml, line 1: ",
		"socket = 'a'\nsocket = 'b'":            "config.toml, line 2: ",
		"socket = '\xff'":                       "not valid UTF-8",
		"a = '" + strings.Repeat("x", 65<<10):   "more than 65536 bytes",
		"secret = 'hunter2-Kq7abcdefghijklmno'": "secret: no such setting",
	} {
		_, err := Load(home(t, text), none)
		var e *FileError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Kq7") {
			t.Errorf("%.40q: %v, expected %q", text, err, want)
		}
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	if c, err := Load(t.TempDir(), none); err != nil || c.Exists {
		t.Errorf("no file is no fault: %v", err)
	}
	named := func(path string) func(string) (string, bool) {
		return func(name string) (string, bool) { return path, name == PathVariable }
	}
	if _, err := Load(t.TempDir(), named("/there/is/none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is named must be there: %v", err)
	}
	if c, err := Load(home(t, "nonsense"), named(Off)); err != nil || c.Path != "" {
		t.Errorf("off: %v", err)
	}
	if _, err := Load("", named(t.TempDir())); err == nil {
		t.Error("a folder is read")
	}
	if runtime.GOOS == "windows" {
		return
	}
	root := home(t, "trust_raw = true")
	for _, mode := range []os.FileMode{0o620, 0o602, 0o666} {
		if err := os.Chmod(filepath.Join(root, "config.toml"), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(root, none); !errors.Is(err, ErrNotPrivate) {
			t.Errorf("mode %#o: %v", mode, err)
		}
	}
}

// TestVariables: every setting has a variable and a key of its own, and none is one that means
// something else.
func TestVariables(t *testing.T) {
	seen := map[string]bool{PathVariable: true, "PTYWRIGHT_HOME": true, "PTYWRIGHT_MCP_TOKEN": true, "PTYWRIGHT_SESSION": true}
	for _, s := range Settings {
		if seen[s.Env()] {
			t.Errorf("%s is there twice", s.Env())
		}
		seen[s.Env()] = true
	}
}

// TestWhatHoldsOfABrokenFile is what is right of it.
func TestWhatHoldsOfABrokenFile(t *testing.T) {
	c, err := Load(home(t, "trust_raw = true\n[log]\nlevle = 'info'\nfile = 3\nformat = 'json'\n[limits]\nsessions = 0\n"), none)
	if err == nil || len(c.Faults) != 3 {
		t.Fatalf("%v, %v", err, c.Faults)
	}
	for key, want := range map[string]string{"trust_raw": "[true]", "log.format": "[json]", "log.file": "[]", "log.level": "[]", "limits.sessions": "[]"} {
		if v, _ := c.Value(setting(t, key)); fmt.Sprint(v.Values) != want {
			t.Errorf("%s is %v, expected %s", key, v.Values, want)
		}
	}
}

func TestEnvironmentIsJudged(t *testing.T) {
	for variable, want := range map[string]string{
		"PTYWRIGHT_LIMITS_SESSIONS=x":                           `PTYWRIGHT_LIMITS_SESSIONS in the environment is "x": give a whole number from 1 to 1048576`,
		"PTYWRIGHT_LIMITS_SESSIONS=9" + strings.Repeat("9", 60): "…\": give a whole number",
		"PTYWRIGHT_UNTERM_PORT=-1":                              "from 0 to 65535",
		"PTYWRIGHT_LOG_LEVEL=loud":                              "give debug, info, warn or error",
		"PTYWRIGHT_TRUST_RAW=maybe":                             "give true or false",
		"PTYWRIGHT_LOG_LEVEL=DEBUG":                             "",
		"PTYWRIGHT_LOG_LEVEL=":                                  "",
		"PTYWRIGHT_LIMITS_SESSIONS=":                            "",
		"PTYWRIGHT_TRUST_RAW=1":                                 "",
		"PTYWRIGHT_PLUGINS=/a:/b":                               "",
	} {
		name, value, _ := strings.Cut(variable, "=")
		c, err := Load(t.TempDir(), func(n string) (string, bool) { return value, n == name })
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range Settings {
			v, ok := c.Value(s)
			if err := c.Judge(s, v); ok && err != nil {
				got += err.Error()
			}
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, expected %q", variable, got, want)
		}
	}
}

func TestStrays(t *testing.T) {
	for name, want := range map[string]string{
		"PTYWRIGHT_LOGLEVEL": "PTYWRIGHT_LOG_LEVEL", "PTYWRIGHT_LOG_LEVLE": "PTYWRIGHT_LOG_LEVEL", "PTYWRIGHT_MAX_SESSIONS": "PTYWRIGHT_LIMITS_SESSIONS",
		"PTYWRIGHT_SESSIONS": "PTYWRIGHT_LIMITS_SESSIONS", "PTYWRIGHT_PLUGIN": "PTYWRIGHT_PLUGINS", "PTYWRIGHT_CONFG": "PTYWRIGHT_CONFIG", "PTYWRIGHT_WEATHER": "",
		"PTYWRIGHT_TOKEN": "PTYWRIGHT_MCP_TOKEN",
	} {
		all := Strays([]string{"A=b", "PTYWRIGHT_HOME=/", "PTYWRIGHT_MCP_TOKEN=t", "PTYWRIGHT_LOG_LEVEL=x", name + "=value"})
		if len(all) != 1 || all[0].Name != name || all[0].Meant != want || strings.Contains(all[0].String(), "value") {
			t.Errorf("%s: %v, expected %q", name, all, want)
		}
	}
}

// FuzzParse: whatever the text, it is read or refused with an error that quotes little of it, and
// what is read is set.
func FuzzParse(f *testing.F) {
	f.Add("socket = 'x'\n[log]\nlevel = 'info'")
	f.Add("a.b.c = 1\n[[x]]\n[limits]\nsessions = 0x10\nplugins = [ '', \"\\u0000\" ]")
	f.Add("log = { level = 'x', file = '~/y' }")
	f.Fuzz(func(t *testing.T, text string) {
		found, faults := parse(text, "/dir")
		for _, err := range faults {
			if len(err.Error()) > 400 || !utf8.ValidString(err.Error()) || found[err.Key].values != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
		for key, e := range found {
			if i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Key == key }); i < 0 || Settings[i].Kind != Paths && len(e.values) != 1 {
				t.Fatalf("%q: %s is %q", text, key, e.values)
			}
			if e.line < 0 || e.line > strings.Count(text, "\n")+1 {
				t.Fatalf("%q: %s on line %d", text, key, e.line)
			}
		}
	})
}
