package native_test

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/record"
)

func TestRecordings(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	dir := t.TempDir()
	p.Print("before\r\n")
	w.until(id, "before")
	cast := filepath.Join(dir, "a.cast")
	r := w.result("session.record_start", obj{"session": id, "path": cast, "input": true, "title": "t"})
	if r["recording"] != "r1" || r["path"] != cast || r["format"] != "asciicast-v2" {
		t.Errorf("session.record_start: %v", r)
	}
	w.fails("session.record_start", obj{"session": id, "path": cast}, -32602, "file_refused")
	w.fails("session.record_start", obj{"session": id, "path": filepath.Join(dir, "no", "such")}, -32602, "file_refused")
	w.fails("session.record_start", obj{"session": id}, -32602, "invalid_params")
	w.fails("session.record_start", obj{"session": id, "path": "x", "format": "gif"}, -32602, "invalid_params")
	v3 := w.result("session.record_start", obj{"session": id, "dir": dir, "format": "asciicast-v3"})
	md := w.result("session.record_start", obj{"session": id, "dir": dir, "format": "markdown"})

	p.Print("token=abcdefgh0123456789\r\n\x1b[31mred\x1b[m\r\n")
	w.until(id, "red")
	w.result("session.input", obj{"session": id, "action": obj{"type": "text", "value": "typed\r"}})
	w.result("session.resize", obj{"session": id, "rows": 10, "cols": 40})
	list := w.result("session.record_list", obj{"session": id})["recordings"].([]any)
	if len(list) != 3 || at(list[0], "state") != "recording" {
		t.Errorf("session.record_list: %v", list)
	}
	stopped := w.result("session.record_stop", obj{"recording": "r1"})
	if stopped["state"] != "done" || stopped["bytes"].(float64) < 100 || stopped["session"] != id {
		t.Errorf("session.record_stop: %v", stopped)
	}
	w.result("session.record_stop", obj{"recording": "r1"}) // again: nothing to do
	w.fails("session.record_stop", obj{"recording": "r9"}, -32602, "unknown_recording")
	p.Print("after\r\n")
	p.End(3)
	w.result("session.wait", obj{"session": id, "matcher": obj{"type": "process_exited"}})
	w.result("session.close", obj{"session": id})

	b, err := os.ReadFile(cast)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(b); !strings.Contains(text, "before") || !strings.Contains(text, "red") || !strings.Contains(text, `"i", "typed\r"`) && !strings.Contains(text, `"i","typed\r"`) ||
		strings.Contains(text, "abcdefgh") || strings.Contains(text, "after") || !strings.Contains(text, "40x10") {
		t.Errorf("the cast: %s", text)
	}
	f, err := os.Open(v3["path"].(string))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := record.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	last, err := rec.At(rec.Duration())
	if err != nil {
		t.Fatal(err)
	}
	if got := last.Text(); !strings.Contains(got, "after") {
		t.Errorf("the recording ends with %q", got)
	}
	if b, err := os.ReadFile(md["path"].(string)); err != nil || !strings.Contains(string(b), "exit") {
		t.Errorf("the transcript: %s, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	w.fails("session.record_start", obj{"session": id, "dir": dir}, -32602, "unknown_session")
}

func TestScreenshots(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	if r := w.result("session.screenshot", obj{"session": id, "format": "ansi"}); r["data"] != "" {
		t.Errorf("of a blank screen: %v", r)
	}
	p.Print("\x1b[1;31mhello\x1b[m 日本 password: hunter2hunter2\r\n")
	w.until(id, "hello")
	r := w.result("session.screenshot", obj{"session": id})
	data, err := base64.StdEncoding.DecodeString(r["data"].(string))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil || img.Bounds().Dx() < 400 || r["format"] != "png" || r["rows"] != 24.0 || r["cols"] != 80.0 {
		t.Errorf("%v: %v", err, r)
	}
	for _, format := range []string{"svg", "html", "ansi"} {
		text := w.result("session.screenshot", obj{"session": id, "format": format})["data"].(string)
		if !strings.Contains(text, "hello") || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %s", format, text)
		}
	}
	path := filepath.Join(t.TempDir(), "a.png")
	r = w.result("session.screenshot", obj{"session": id, "path": path, "theme": "light", "font_size": 12})
	if b, err := os.ReadFile(path); err != nil || len(b) != int(r["bytes"].(float64)) || r["data"] != nil {
		t.Errorf("%v, %v", r, err)
	}
	// What a server writes is for its user alone, whatever the umask.
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	titled := w.result("session.screenshot", obj{"session": id, "format": "svg", "frame": "window", "title": strings.Repeat("x", 1<<20)})
	if n := titled["bytes"].(float64); n > 64<<10 {
		t.Errorf("a title of 1 MiB makes %v bytes", n)
	}
	source := filepath.Join(t.TempDir(), "t1.py")
	if err := os.WriteFile(source, []byte("print()"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []obj{{"path": source}, {"path": source, "format": "svg"}, {"path": path, "format": "svg"}} {
		p["session"] = id
		if m := w.fails("session.screenshot", p, -32602, "invalid_params"); !strings.Contains(m.Error.Message, "params.path: ends in") {
			t.Errorf("%v: %s", p, m.Error.Message)
		}
	}
	if b, err := os.ReadFile(source); err != nil || string(b) != "print()" {
		t.Errorf("the source file has %q, %v", b, err)
	}
	svg := filepath.Join(t.TempDir(), "o.svg")
	for range 2 { // the second replaces the first
		r = w.result("session.screenshot", obj{"session": id, "path": svg})
	}
	if b, err := os.ReadFile(svg); err != nil || r["format"] != "svg" || !bytes.HasPrefix(b, []byte("<svg")) && !bytes.HasPrefix(b, []byte("<?xml")) {
		t.Errorf("%v: %.40q, %v", r, b, err)
	}
	w.fails("session.screenshot", obj{"session": id, "format": "gif"}, -32602, "invalid_params")
	w.fails("session.screenshot", obj{"session": id, "theme": "pink"}, -32602, "invalid_params")
	w.fails("session.screenshot", obj{"session": id, "path": filepath.Join(path, "x.png")}, -32602, "file_refused")
	for _, folder := range []string{"/", "/x/", "/."} { // names no file
		w.fails("session.screenshot", obj{"session": id, "path": filepath.Dir(path) + folder}, -32602, "file_refused")
		w.fails("session.record_start", obj{"session": id, "path": filepath.Dir(path) + folder}, -32602, "file_refused")
	}
}
