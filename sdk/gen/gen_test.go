package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptywright/ptywright/protocol/native"
)

// TestFilesAreFresh: what is committed is what the generator writes.
func TestFilesAreFresh(t *testing.T) {
	all, err := files(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		got, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale (%v): go run ./sdk/gen writes it", name, err)
		}
	}
}

// TestVectorsCoverTheModel: each method, notification and error reason is in them, valid and invalid.
func TestVectorsCoverTheModel(t *testing.T) {
	all, err := files(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(all["sdk/vectors.json"], &vectors); err != nil {
		t.Fatal(err)
	}
	count := map[string]map[bool]int{}
	for _, v := range vectors {
		if count[v.Def] == nil {
			count[v.Def] = map[bool]int{}
		}
		count[v.Def][v.Valid]++
	}
	for def := range native.Model().Defs {
		if count[def][true] == 0 || count[def][false] == 0 {
			t.Errorf("%s has %d valid and %d invalid vectors", def, count[def][true], count[def][false])
		}
	}
	t.Logf("%d vectors of %d definitions", len(vectors), len(count))
}
