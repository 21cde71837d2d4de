package vt_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ptywright/ptywright/engine/vt"
)

// TestVTTest replays vttest 2.7, driven through its menus with this terminal's own answers, and
// holds each page against testdata/vttest: one archive a menu choice, read page by page against what
// the page itself says that it should look like.
func TestVTTest(t *testing.T) {
	files, err := vt.ReadArchive("testdata/vttest.txtar.gz")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 25 {
		t.Fatalf("%d menu choices in the archive", len(files))
	}
	for name, data := range files {
		t.Run(strings.TrimSuffix(name, ".cast"), func(t *testing.T) {
			path := "testdata/vttest/" + strings.TrimSuffix(name, ".cast") + ".txtar"
			want := map[string]*shown{}
			if a, err := txtar.ParseFile(path); err == nil {
				for _, f := range a.Files {
					page, _, _ := strings.Cut(f.Name, ": ")
					want[page] = want[page].read(t, f, path+": "+page)
				}
			} else if !updating() {
				t.Fatal(err)
			}
			term := vt.New(24, 80, vt.Options{})
			var out txtar.Archive
			all, pages := &told{}, 0
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
					page := fmt.Sprintf("page %d", pages)
					now, why := want[page].differs(t, term, all)
					if why != "" && !updating() {
						t.Errorf("%s\n%s", page, why)
					}
					out.Files = append(out.Files, now.files(page+": ")...)
					all = &told{}
				}
			}
			if updating() {
				writeArchive(t, path, &out)
			} else if pages == 0 || pages != len(want) {
				t.Errorf("%d pages, and %s has %d", pages, path, len(want))
			}
		})
	}
}
