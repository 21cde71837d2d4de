// Command gen (no stability promise) writes what is made from the model of the wire:
// protocol/model.json, sdk/vectors.json and the generated parts of the SDKs and of protocol/client.
// Run it in the root of the repository:
//
//	go run ./sdk/gen
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/ptywright/ptywright/protocol/native"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write writes every file below root.
func write(root string) error {
	files, err := files(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), text,
			0o644); err != nil {
			return err
		}
	}
	return nil
}

// files returns every file by its path below the root of the repository, where the sources of some
// are.
func files(root string) (map[string][]byte, error) {
	model, err := native.Plain(native.Model())
	if err != nil {
		return nil, err
	}
	text, err := encode(model, " ")
	if err != nil {
		return nil, err
	}
	vectors, err := vectorsOf(model.(map[string]any))
	if err != nil {
		return nil, err
	}
	client, err := goClient(model.(object))
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{
		"protocol/model.json": text, "sdk/vectors.json": vectors,
		"protocol/client/generated.go": client,
	}
	w, err := readWire(model.(object))
	if err != nil {
		return nil, err
	}
	if err := pythonFiles(all, w, root); err != nil {
		return nil, err
	}
	maps.Copy(all, typescript(w))
	return all, nil
}

// encode encodes a value with sorted members.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}
