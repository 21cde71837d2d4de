package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// last is where the sources have what is kept of the release before.
const last = "release/last"

// keep writes what later versions are tested against: the model and the vectors of the wire and the
// sources of the SDKs, as one archive named after the version. What it finds there of an earlier
// release it removes. A binary is not kept: where git has the tag, tests build it.
func (r *release) keep(dir string) error {
	var files []file
	for _, name := range []string{"protocol/model.json", "sdk/vectors.json"} {
		body, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		files = append(files, file{name, 0o644, body})
	}
	for to, from := range map[string]string{"sdk/python/": r.python,
		"sdk/typescript/": r.typescript} {
		if from == "" {
			continue
		}
		for _, folder := range []string{"src", "dist"} {
			sources, err := tree(filepath.Join(from, folder), func(path string) bool {
				name := filepath.Base(path)
				return name == "__pycache__" || name == "_bin" || name == "node_modules" ||
					strings.HasSuffix(name, ".map")
			})
			if os.IsNotExist(err) {
				continue // Python has nothing built
			}
			if err != nil {
				return err
			}
			for _, f := range sources {
				files = append(files, file{to + folder + "/" + f.name, f.mode, f.body})
			}
		}
		if body, err := os.ReadFile(filepath.Join(from, "package.json")); err == nil {
			files = append(files, file{to + "package.json", 0o644, body})
		}
	}
	var packed bytes.Buffer
	if err := r.targz(&packed, "", files); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
	if err != nil {
		return err
	}
	for _, o := range old {
		if err := os.Remove(o); err != nil {
			return err
		}
	}
	name := filepath.Join(dir, r.version+".tar.gz")
	fmt.Println(name)
	return os.WriteFile(name, packed.Bytes(), 0o644)
}
