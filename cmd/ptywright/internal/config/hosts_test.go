package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestHostsFile: what stands in the file is read, in the order of names, and what is wrong is reported
// with its line.
func TestHostsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "hosts.toml")
	load := func(text string) ([]Machine, error) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadHosts(path, true)
	}
	all, err := load("# mine\n[hosts.web-3]\ncommand = [\"ssh\", \"web-3\"]\n\n[hosts]\ndb-1 = {command = [\"x\", \"\"]}\n")
	want := []Machine{{"db-1", []string{"x", ""}}, {"web-3", []string{"ssh", "web-3"}}}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("%v, %v", all, err)
	}
	if all, err := load(""); err != nil || len(all) != 0 {
		t.Errorf("of an empty file: %v, %v", all, err)
	}
	for text, says := range map[string]string{
		"[hosts.a]\ncomand = []":                                      "line 2, hosts.a.comand: no such setting",
		"[host.a]\ncommand = [\"x\"]":                                 "line 1, host.a: no such setting",
		"[hosts.a]\n":                                                 "line 1, hosts.a: it has no command",
		"[hosts.a]\ncommand = []":                                     "line 1, hosts.a: it has no command",
		"[hosts.a]\ncommand = [\"\"]":                                 "line 1, hosts.a: it has no command",
		"[hosts.a]\ncommand = \"ssh a\"":                              "command",
		"[hosts.a]\ncommand = [\"x\\u0000\"]":                         "a word has a NUL",
		"[hosts.A]\ncommand = [\"x\"]":                                "1 to 32 of a-z, 0-9 and -",
		"[hosts.\"a/b\"]\ncommand = [\"x\"]":                          "1 to 32 of a-z, 0-9 and -",
		"[hosts.a]\ncommand = [\"x\"]\n[hosts.a]\ncommand = [\"y\"]":  "line 3",
		"[hosts.a]\ncommand = [" + strings.Repeat("\"x\",", 65) + "]": "65 words",
		"[hosts":   "line 1",
		"\xff\xfe": "hosts.toml",
	} {
		all, err := load(text)
		var fault *FileError
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), says) || fault.Path != path {
			t.Errorf("%q: %v, %v; expected %s", text, all, err, says)
		}
	}
	if runtime.GOOS != "windows" {
		if _, err := load("[hosts.a]\ncommand = [\"x\"]"); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o620); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadHosts(path, true); !errors.Is(err, ErrNotPrivate) {
			t.Errorf("a file that the group may write: %v", err)
		}
	}
	missing := filepath.Join(t.TempDir(), "none.toml")
	if _, err := LoadHosts(missing, true); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if all, err := LoadHosts(missing, false); err != nil || all != nil {
		t.Errorf("%v, %v", all, err)
	}
}
