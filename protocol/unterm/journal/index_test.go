package journal

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestServersShareAnIndex: two that write at once lose nothing of each other.
func TestServersShareAnIndex(t *testing.T) {
	root := t.TempDir()
	const each = 25
	var wg sync.WaitGroup
	for n := range 4 {
		j := New(Options{Root: root})
		wg.Go(func() {
			for i := range each {
				id := fmt.Sprintf("%d-%d", n, i)
				for range 2 {
					if err := j.updateIndex(func(x *index) { x.put(entry{ID: id, Traces: []string{}}) }); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	reading := make(chan struct{})
	stop := make(chan struct{})
	go func() { // it is whole at every moment
		defer close(reading)
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := New(Options{Root: root}).readIndex(); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	wg.Wait()
	close(stop)
	<-reading
	list, err := New(Options{Root: root}).List("")
	must(t, err)
	if len(list) != 4*each {
		t.Errorf("%d recordings, want %d", len(list), 4*each)
	}
	for _, name := range []string{"index.json", "index.lock"} {
		info, err := os.Lstat(filepath.Join(root, "sessions", name))
		must(t, err)
		if info.Mode() != 0o600 && os.PathSeparator == '/' {
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
}

// TestTwoJournalsRecord the same folder in the same second, and each reads what the other recorded.
func TestTwoJournalsRecord(t *testing.T) {
	inBubble(t, Options{}, func(f *fixture) {
		other := New(Options{Root: f.root})
		one := f.start(0)
		two, err := other.Start(f.Session, 0, f.cwd)
		must(t, err)
		f.says("hello")
		_, err = other.Stop(0)
		must(t, err)
		f.stop(0)
		if one.LogPath == two.LogPath {
			t.Errorf("both wrote %s", one.LogPath)
		}
		for _, id := range []string{one.SessionID, two.SessionID} {
			a, err := f.Read(id)
			must(t, err)
			b, err := other.Read(id)
			must(t, err)
			if !strings.Contains(a.Markdown, "\nhello\n") || strings.Replace(a.Markdown, "unterm_version: 1.2.3", `unterm_version: ""`, 1) != b.Markdown {
				t.Errorf("%s\n%s", a.Markdown, b.Markdown)
			}
		}
	})
}

func TestCorruptIndexIsSetAside(t *testing.T) {
	for name, text := range map[string]string{"torn": `[{"unterm_session_id":"a"`, "object": `{}`, "empty": "", "large": strings.Repeat(" ", indexMax+1)} {
		root := t.TempDir()
		path := filepath.Join(root, "sessions", "index.json")
		must(t, os.Mkdir(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
		j := New(Options{Root: root})
		if list, err := j.List(""); err != nil || len(list) != 0 {
			t.Errorf("%s: %v %v", name, list, err)
		}
		must(t, j.updateIndex(func(x *index) { x.put(entry{ID: "b"}) }))
		if list, err := j.List(""); err != nil || len(list) != 1 || read(t, path+".bad") != text {
			t.Errorf("%s: %v %v", name, list, err)
		}
		must(t, os.WriteFile(path, []byte("again"), 0o600))
		must(t, j.updateIndex(func(x *index) { x.put(entry{ID: "c"}) }))
		if read(t, path+".bad") != text || read(t, path+".bad2") != "again" {
			t.Errorf("%s: the second was set aside over the first", name)
		}
	}
}

// TestIndexKeepsWhatOthersWrote, exactly, and in order.
func TestIndexKeepsWhatOthersWrote(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "sessions", "index.json")
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	const foreign = `[{"unterm_session_id":"a","tab_id":1,"new_field":{"x":1.0},"project_path":null,"started_at":"s"},5,{"unterm_session_id":7}]`
	must(t, os.WriteFile(path, []byte(foreign), 0o600))
	j := New(Options{Root: root})
	must(t, j.updateIndex(func(x *index) { x.put(entry{ID: "b", Traces: []string{}}) }))
	var got []json.RawMessage
	must(t, json.Unmarshal([]byte(read(t, path)), &got))
	if len(got) != 4 || !strings.Contains(string(got[0]), `"x": 1.0`) || string(got[1]) != "5" {
		t.Errorf("%s", read(t, path))
	}
	const want = `  {
    "unterm_session_id": "b",
    "tab_id": 0,
    "project_path": null,
    "project_slug": "",
    "started_at": "",
    "ended_at": null,
    "block_count": 0,
    "total_lines": 0,
    "bytes_raw": 0,
    "log_path": "",
    "md_path": "",
    "exit_reason": null,
    "parent_session_id": null,
    "osc133_active": false,
    "redaction_active": false,
    "redaction_count": 0,
    "trace_ids": []
  }
]
`
	if text := read(t, path); !strings.HasSuffix(text, want) {
		t.Errorf("%s", text)
	}
	if list, err := j.List(""); err != nil || len(list) != 2 || list[0].SessionID != "a" {
		t.Errorf("%+v %v", list, err)
	}
}

// TestIndexIsBounded: the oldest that has ended leaves first.
func TestIndexIsBounded(t *testing.T) {
	x := &index{}
	end := "2026"
	for i := range mostEntries {
		e := entry{ID: fmt.Sprint(i)}
		if i > 0 {
			e.EndedAt = &end
		}
		x.put(e)
	}
	x.put(entry{ID: "new"})
	if _, ok := x.find("0"); !ok || len(x.items) != mostEntries {
		t.Errorf("one that runs left; %d entries", len(x.items))
	}
	if _, ok := x.find("1"); ok {
		t.Error("the oldest stays")
	}
	if _, ok := x.find("new"); !ok {
		t.Error("the new one is missing")
	}
	for i := range x.items {
		x.items[i].entry.EndedAt = nil
	}
	x.put(entry{ID: "newer"})
	if _, ok := x.find("0"); ok || len(x.items) != mostEntries {
		t.Errorf("all run, and the oldest stays; %d entries", len(x.items))
	}
}

// TestReadOfWhatTheIndexNames: only a regular file, whole lines, and up to the bound.
func TestReadOfWhatTheIndexNames(t *testing.T) {
	root := t.TempDir()
	j := New(Options{Root: root})
	good := filepath.Join(root, "a.log")
	must(t, os.WriteFile(good, []byte("5\tout\taGVsbG8K\nnonsense\n6\tout\t!!\n\t\t\n7\tother\t\n8\tout\tdG9ybg=="), 0o600))
	must(t, os.Symlink(good, filepath.Join(root, "link.log")))
	large := filepath.Join(root, "large.log")
	must(t, os.WriteFile(large, nil, 0o600))
	must(t, os.Truncate(large, mostLog+1))
	for path, want := range map[string]string{
		good: "", filepath.Join(root, "link.log"): "not a regular file", root: "not a regular file", filepath.Join(root, "gone.log"): "its log is gone",
		filepath.Join(root, "no", "gone.log"): "its log is gone, with its folder", "": "names no log", "a.log": "names no log", large: "more than 256 MiB",
	} {
		must(t, j.updateIndex(func(x *index) { x.put(entry{ID: "x", LogPath: path}) }))
		got, err := j.Read("x")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil && !strings.Contains(got.Markdown, "```\nhello\n```") {
			t.Errorf("%s", got.Markdown)
		}
	}
}
