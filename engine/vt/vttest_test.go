package vt

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestVTTest replays vttest 2.7, driven through its menus with this terminal's own answers, and
// holds each page against testdata/vttest: one file a menu choice, read page by page against what
// the page itself says that it should look like.
func TestVTTest(t *testing.T) {
	files, err := readArchive("testdata/vttest.txtar.gz")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 25 {
		t.Fatalf("%d menu choices in the archive", len(files))
	}
	for name, data := range files {
		t.Run(strings.TrimSuffix(name, ".cast"), func(t *testing.T) {
			term := New(24, 80, Options{})
			var out strings.Builder
			var all outcome
			pages := 0
			lines := bufio.NewScanner(bytes.NewReader(data))
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				var e [3]any
				if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
					t.Fatal(err)
				}
				switch e[1] {
				case "o":
					all.feed(term, []byte(e[2].(string)))
				case "m":
					pages++
					fmt.Fprintf(&out, "page %d\n%s\n", pages, draw(term, &all))
					all = outcome{}
				}
			}
			golden := "testdata/vttest/" + strings.TrimSuffix(name, ".cast") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if pages == 0 || out.String() != string(want) {
				t.Errorf("%d pages; got\n%s\nwant\n%s", pages, out.String(), want)
			}
		})
	}
}

// readArchive reads a gzipped txtar archive.
func readArchive(path string) (map[string][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(z); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	files := map[string][]byte{}
	for _, part := range strings.Split("\n"+buf.String(), "\n-- ")[1:] {
		name, data, ok := strings.Cut(part, " --\n")
		if !ok {
			return nil, fmt.Errorf("%s: no file name in %.40q", path, part)
		}
		files[name] = []byte(data)
	}
	return files, nil
}
