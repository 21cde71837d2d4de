package plugins

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

// folder writes a plugin's folder and returns the path of its manifest.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "manifest.toml")
}

func TestOpenReadsThePluginWhole(t *testing.T) {
	files := map[string]string{
		"manifest.toml": full, "lua/main.lua": "return {}", "lua/dialogs.lua": "return 1",
		"lua/README.md": "no", "lua/deeper/x.lua": "no", "other.lua": "no",
	}
	s, err := Open(folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if s.Main != "main" || len(s.Files) != 2 || s.Files["main"] != "return {}" || s.Files["dialogs"] != "return 1" {
		t.Errorf("main %q, files %v", s.Main, s.Files)
	}
	mapped := fstest.MapFS{}
	for name, text := range files {
		mapped["p/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	embedded, err := OpenFS(mapped, "p/manifest.toml")
	if err != nil || embedded.Hash != s.Hash {
		t.Errorf("the same files elsewhere have hash %s, want %s (%v)", embedded.Hash, s.Hash, err)
	}
	for _, name := range []string{"manifest.toml", "lua/main.lua", "lua/dialogs.lua"} {
		mapped["p/"+name] = &fstest.MapFile{Data: append([]byte(files[name]), " \n"...)}
		changed, err := OpenFS(mapped, "p/manifest.toml")
		if err != nil || changed.Hash == embedded.Hash {
			t.Errorf("%s was changed, and the hash is the same (%v)", name, err)
		}
		embedded = changed
	}
}

func TestOpenRefuses(t *testing.T) {
	large := strings.Repeat("-", maxSource+1)
	many := map[string]string{"manifest.toml": full, "lua/main.lua": ""}
	for i := range maxFiles {
		many["lua/"+strings.Repeat("x", i+1)+".lua"] = ""
	}
	for name, c := range map[string]struct {
		files map[string]string
		says  string
	}{
		"no manifest":     {nil, "manifest.toml"},
		"no entrypoint":   {map[string]string{"manifest.toml": full, "lua/other.lua": ""}, "lua/main.lua"},
		"no folder":       {map[string]string{"manifest.toml": full}, "lua/main.lua"},
		"folder":          {map[string]string{"manifest.toml": full, "lua/main.lua/x": ""}, "not a regular file"},
		"large":           {map[string]string{"manifest.toml": full, "lua/main.lua": large}, "more than 65536 bytes"},
		"large module":    {map[string]string{"manifest.toml": full, "lua/main.lua": "", "lua/b.lua": large}, "b.lua"},
		"large manifest":  {map[string]string{"manifest.toml": full + large}, "more than 65536 bytes"},
		"many files":      {many, "at most 64"},
		"bytes":           {map[string]string{"manifest.toml": full, "lua/main.lua": "\x1bLua\xff"}, "not UTF-8"},
		"other extension": {map[string]string{"manifest.toml": strings.Replace(full, "main.lua", "main.txt", 1), "lua/main.txt": ""}, ".lua"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(folder(t, c.files))
			var load *LoadError
			var manifest *ManifestError
			if !errors.As(err, &load) && !errors.As(err, &manifest) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%T: %v", err, err)
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none", "manifest.toml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", err)
	}
}

// What lies outside of the folder is not reached by a link, be it the folder's or the file's.
func TestOpenStaysInTheFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	outside := filepath.Join(t.TempDir(), "outside.lua")
	if err := os.WriteFile(outside, []byte("return {secret = true}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, link := range map[string]func(dir string) error{
		"file": func(dir string) error { return os.Symlink(outside, filepath.Join(dir, "lua", "main.lua")) },
		"relative": func(dir string) error {
			return os.Symlink("../../../../../../.."+outside, filepath.Join(dir, "lua", "main.lua"))
		},
		"module": func(dir string) error { return os.Symlink(outside, filepath.Join(dir, "lua", "b.lua")) },
		"directory": func(dir string) error {
			os.RemoveAll(filepath.Join(dir, "lua"))
			return os.Symlink(filepath.Dir(outside), filepath.Join(dir, "lua"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"manifest.toml": strings.Replace(full, "main.lua", "outside.lua", 1), "lua/outside.lua": "return {}"}
			if name == "file" || name == "relative" {
				files = map[string]string{"manifest.toml": full, "lua/keep": ""}
			}
			manifest := folder(t, files)
			if err := link(filepath.Dir(manifest)); err != nil {
				t.Fatal(err)
			}
			if s, err := Open(manifest); err == nil {
				t.Errorf("it read %v", s.Files)
			}
		})
	}
	// A link that stays inside is a file like others.
	manifest := folder(t, map[string]string{"manifest.toml": full, "lua/real.lua": "return {}"})
	if err := os.Symlink("real.lua", filepath.Join(filepath.Dir(manifest), "lua", "main.lua")); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(manifest); err != nil || s.Files["main"] != "return {}" {
		t.Errorf("a link inside of the folder: %v", err)
	}
}
