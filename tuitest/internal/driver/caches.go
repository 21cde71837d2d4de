package driver

import (
	"bufio"
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// caches returns the variables that lead Go, npm and pip to the caches of the user who runs the test:
// with an empty one each run would build or download everything again. Only caches are let through,
// never settings or tokens, and only folders that exist; so Cargo's is not among them, since its
// folder holds both.
func caches() map[string]string {
	env := map[string]string{}
	add := func(name string, folders ...string) {
		for _, folder := range append([]string{os.Getenv(name)}, folders...) {
			if folder == "" {
				continue
			}
			if info, err := os.Stat(folder); err == nil && info.IsDir() && filepath.IsAbs(folder) {
				env[name] = folder
			}
			return // the tool would use this one and no other
		}
	}
	in := func(folder string, err error, below ...string) string {
		if err != nil || folder == "" {
			return ""
		}
		return filepath.Join(append([]string{folder}, below...)...)
	}
	home, homeErr := os.UserHomeDir()
	cache, cacheErr := os.UserCacheDir()
	set := goSettings()

	add("GOCACHE", set["GOCACHE"], in(cache, cacheErr, "go-build"))
	path := filepath.SplitList(cmp.Or(os.Getenv("GOPATH"), set["GOPATH"], in(home, homeErr, "go")))
	if len(path) > 0 {
		add("GOMODCACHE", set["GOMODCACHE"], filepath.Join(path[0], "pkg", "mod"))
	}
	switch runtime.GOOS {
	case "windows":
		add("npm_config_cache", in(cache, cacheErr, "npm-cache"))
		add("PIP_CACHE_DIR", in(cache, cacheErr, "pip", "Cache"))
	default:
		add("npm_config_cache", in(home, homeErr, ".npm"))
		add("PIP_CACHE_DIR", in(cache, cacheErr, "pip"))
	}
	return env
}

// maxGoSettings bounds the file that go env -w writes, in bytes.
const maxGoSettings = 64 << 10

// goSettings reads what go env -w has set; nothing when there is no such file.
func goSettings() map[string]string {
	file := os.Getenv("GOENV")
	if file == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil
		}
		file = filepath.Join(dir, "go", "env")
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxGoSettings {
		return nil // also GOENV=off
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	set := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), "="); ok {
			set[name] = value
		}
	}
	return set
}
