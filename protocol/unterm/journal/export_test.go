package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
)

func TestExport(t *testing.T) {
	inBubble(t, Options{}, func(f *fixture) {
		f.says("one\r\nTOKEN=abc123\r\n" + strings.Repeat("wide ", 20) + "\r\n$ ")
		got, err := f.Export(f.Session, 0, f.cwd, "")
		must(t, err)
		md := read(t, got.Path)
		if want := filepath.Join(f.cwd, ".unterm/sessions/2000-01-01/tab-0-000000-export.md"); got.Path != want || got.Bytes != len(md) || got.BlockCount != 1 ||
			!strings.Contains(md, "\nexit_reason: user_export\n") || !strings.Contains(md, "```\none\nTOKEN= <redacted>\n"+strings.Repeat("wide ", 19)+"wide\n$\n```\n") {
			t.Errorf("%+v\n%s", got, md)
		}
		list, err := f.List("")
		must(t, err)
		if len(list) != 1 || list[0].SessionID != got.SessionID || list[0].EndedAt == nil {
			t.Errorf("%+v", list)
		}
		if again, err := f.Read(got.SessionID); err != nil || again.Markdown != md {
			t.Errorf("%v\n%s", err, again.Markdown)
		}
		if next, err := f.Export(f.Session, 0, f.cwd, ""); err != nil || next.Path == got.Path || next.SessionID == got.SessionID {
			t.Errorf("%+v %v", next, err)
		}

		// Of a recording.
		started := f.start(0)
		f.says("recorded\r\n")
		live, err := f.Export(f.Session, 0, f.cwd, "")
		must(t, err)
		if md := read(t, live.Path); live.Path != filepath.Join(f.root, "sessions", "export-"+started.SessionID+".md") || live.SessionID == started.SessionID ||
			!strings.Contains(md, "unterm_session_id: "+started.SessionID) || !strings.Contains(md, "\nended_at: null\n") || !strings.Contains(md, "```\nrecorded\n```") {
			t.Errorf("%+v\n%s", live, md)
		}
		f.says("more\r\n")
		if _, err := f.Export(f.Session, 0, f.cwd, ""); err != nil || !strings.Contains(read(t, live.Path), "\nmore\n") {
			t.Errorf("again: %v", err)
		}
		f.stop(0)
	})
}

// TestExportToAPath replaces nothing but documents of this kind.
func TestExportToAPath(t *testing.T) {
	inBubble(t, Options{}, func(f *fixture) {
		f.says("one\r\n")
		file := func(name, text string) string {
			path := filepath.Join(f.cwd, name)
			must(t, os.WriteFile(path, []byte(text), 0o600))
			return path
		}
		link := filepath.Join(f.cwd, "link.md")
		must(t, os.Symlink(file("behind.md", ""), link))
		for path, want := range map[string]string{
			filepath.Join(f.cwd, "new.md"):     "",
			"relative.md":                      "",
			file("empty.md", ""):               "",
			file("notes.md", "# my notes\n"):   "is another kind of document",
			file("short.md", "x"):              "is another kind of document",
			file("script.sh", "x"):             "does not end in .md",
			link:                               "symbolic link",
			filepath.Join(f.cwd, "no", "x.md"): "its folder does not exist",
			f.cwd + "/.md/":                    "does not end in .md",
		} {
			for range 2 {
				got, err := f.Export(f.Session, 0, f.cwd, path)
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %+v %v", path, got, err)
				}
				if err == nil && !strings.Contains(read(t, got.Path), "```\none\n```") {
					t.Errorf("%s", read(t, got.Path))
				}
			}
		}
		if got := read(t, filepath.Join(f.cwd, "notes.md")); got != "# my notes\n" {
			t.Errorf("notes: %q", got)
		}
		if _, err := f.Export(f.Session, 0, "", "relative.md"); err == nil || !strings.Contains(err.Error(), "give an absolute one") {
			t.Errorf("relative to nothing: %v", err)
		}
		if list, err := f.List(""); err != nil || len(list) != 0 {
			t.Errorf("listed: %+v %v", list, err)
		}
	})
}

// TestExportOfCommands: a shell's marks make blocks of what was never recorded.
func TestExportOfCommands(t *testing.T) {
	x := newTerminal(t, Options{}, "bash", true)
	x.types("echo one")
	x.types("export TOKEN=abc123; false")
	x.atPrompt()
	_, err := x.Do(t.Context(), engine.Text("cat\r"))
	must(t, err)
	x.until(func(v *engine.View) bool { return v.Reports.Shell.Phase == engine.ShellRunning })
	got, err := x.Export(x.Session, 0, x.home, "")
	must(t, err)
	want := "## Block 1 — `echo one`\n\n> exit: 0\n\n```\none\n```\n\n## Block 2 — `export TOKEN= <redacted> false`\n\n> exit: 1\n\n```\n```\n\n## Block 3 — `cat`\n\n> exit: ?\n\n```\n```"
	if md := read(t, got.Path); blocksOf(md) != want || got.BlockCount != 3 {
		t.Errorf("got %+v\n%s", got, blocksOf(md))
	}
}
