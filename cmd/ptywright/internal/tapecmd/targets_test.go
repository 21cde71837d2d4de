package tapecmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/tuitest/tape"
)

// TestOneFileOneOutput: two outputs of one file are refused, by whatever names, with both places.
func TestOneFileOneOutput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("real", 0o700); err != nil {
		t.Fatal(err)
	}
	linked := os.Symlink("real", "link") == nil // not for everybody on Windows
	for text, want := range map[string]string{
		"Output a.gif\nOutput a.gif":                   `x.tape:2:8: "a.gif" is written by the Output of line 1 already (x.tape:1:1)`,
		"Output a.gif\nOutput ./b/../a.gif":            `x.tape:2:8: "./b/../a.gif" is written by`,
		"Output a.png\nScreenshot a.png":               `x.tape:2:12: "a.png" is written by the Output of line 1 already`,
		"Screenshot a.png\nOutput a.png":               `x.tape:2:8: "a.png" is written by the Screenshot of line 1 already`,
		"Output x.tape.txt\nOutput main.txt":           `x.tape:2:8: "main.txt" is the tape itself`,
		"Output real/new/a.gif\nOutput link/new/a.gif": `x.tape:2:8: "link/new/a.gif" is written by`,
		"Output a.gif\nOutput a.svg\nScreenshot a.png": "",
	} {
		if strings.Contains(text, "link") && !linked {
			continue
		}
		read, err := tape.Parse("x.tape", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		files := newTargets([]string{filepath.Join(dir, "main.txt")})
		_, err = outputs(read, nil, files)
		if want == "" && (err != nil || len(files.all) != 3) {
			t.Errorf("%q: %v, %v", text, err, files.all)
		}
		if want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v", text, err)
		}
	}
	again, err := tape.Parse("x.tape", []byte("Screenshot a.png\nSleep 1s\nScreenshot a.png"), nil)
	if err != nil {
		t.Fatal(err)
	}
	files := newTargets(nil)
	if _, err := outputs(again, []string{"b.gif"}, files); err != nil || len(files.all) != 2 || len(files.notes) != 1 ||
		files.notes[0].String() != "x.tape:1:1: Screenshot a.png is drawn over by that of x.tape:3:1" {
		t.Errorf("%v, %+v", err, files)
	}
	if _, err := outputs(again, []string{"a.png"}, newTargets(nil)); err == nil ||
		!strings.HasPrefix(err.Error(), `x.tape:1:12: "a.png" is written by -o already`) {
		t.Errorf("%v", err)
	}
}

// TestFoldersOfFiles are made with what is written, and go again when that fails.
func TestFoldersOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{"a/b/c.gif": nil, "file/c.gif": record.ErrNotFolder,
		"file/a/c.gif": record.ErrNotFolder, "c.gif": nil} {
		if err := checkTarget(path); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	undo, err := makeFolders([]record.Named{{Path: "a/b/c.gif"}, {Path: "a/d/c.gif"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b", "a/d"} {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if err := os.WriteFile("a/d/others", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	undo()
	if _, err := os.Stat("a/b"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a/b stays: %v", err)
	}
	if _, err := os.Stat("a/d/others"); err != nil {
		t.Errorf("what is another's is removed: %v", err)
	}
	if undo, err := makeFolders([]record.Named{{Path: "new/c.gif"}, {Path: "file/deep/c.gif"}}); err == nil {
		t.Error("a folder in a file")
	} else if undo(); fileThere("new") {
		t.Error("the folder of the other stays")
	}
}

func fileThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
