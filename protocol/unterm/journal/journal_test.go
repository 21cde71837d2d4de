package journal

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

const ghToken = "ghp_k9Wz3TqLr7XvB2nM5pYd8HsJ4cFa6GeUo1Rt"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fixture is a journal with sessions that tests command, in folders of their own.
type fixture struct {
	*Journal
	t    testing.TB
	root string
	cwd  string
	pty  *enginetest.PTY
	*engine.Session
}

func (f *fixture) start(pane int) Started {
	f.t.Helper()
	got, err := f.Start(f.Session, pane, f.cwd)
	must(f.t, err)
	return got
}

func (f *fixture) stop(pane int) (Stopped, string) {
	f.t.Helper()
	got, err := f.Stop(pane)
	must(f.t, err)
	return got, read(f.t, got.MDPath)
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// inBubble runs f in virtual time, which begins at midnight of 2000-01-01 UTC.
func inBubble(t *testing.T, o Options, f func(f *fixture)) {
	t.Helper()
	t.Setenv("SHELL", "/bin/bash")
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		x := &fixture{t: t, root: filepath.Join(dir, "root"), cwd: filepath.Join(dir, "project one"), pty: enginetest.New()}
		must(t, os.Mkdir(x.cwd, 0o700))
		if o.Root == "" {
			o.Root = x.root
		}
		o.Version = "1.2.3"
		x.Journal = New(o)
		e := enginetest.Engine(x.pty)
		var err error
		x.Session, err = e.Spawn(t.Context(), engine.Config{Program: "fake"})
		must(t, err)
		f(x)
		_ = x.Journal.Close()
		must(t, e.Close(context.Background()))
	})
}

// says has the program print and waits until all is quiet; in a bubble only.
func (f *fixture) says(s string) {
	f.pty.Print(s)
	synctest.Wait()
}

// neutral takes out of a document what differs from one run to the next.
func (f *fixture) neutral(md, id string) string {
	host, _ := os.Hostname()
	md = strings.ReplaceAll(md, "hostname: "+scalar(host)+"\n", "hostname: HOST\n")
	return strings.NewReplacer(id, "ID", quoted(f.cwd), "CWD", f.cwd, "CWD").Replace(md)
}

const scripted = "Welcome\r\n\x1b]133;A\a$ \x1b]133;B\aecho a; printf '```'\r\n\x1b]133;C\aa\r\n\x1b[1m```\x1b[m\x1b]133;D;0\a\r\n" +
	"\x1b]133;A\a$ \x1b]133;B\aexport TOKEN=abc123\r\n\x1b]133;C\a\x1b]133;D;0\a" +
	"\x1b]133;A\a$ \x1b]133;B\afalse\r\n\x1b]133;C\a\x1b]133;D;1\a\x1b]133;A\a$ \x1b]133;B\asleep 9\r\n\x1b]133;C\astill here"

func TestGoldenDocument(t *testing.T) {
	inBubble(t, Options{}, func(f *fixture) {
		started := f.start(3)
		if want := filepath.Join(f.cwd, ".unterm/sessions/2000-01-01/tab-3-000000"); started.LogPath != want+".log" || started.MDPath != want+".md" {
			t.Errorf("it lies in %+v", started)
		}
		for piece := range strings.SplitAfterSeq(scripted, "\a") {
			f.says(piece)
			time.Sleep(100 * time.Millisecond)
		}
		_, err := f.AttachTrace(3, "t1")
		must(t, err)
		got, md := f.stop(3)
		want := `---
unterm_session_id: ID
tab_id: 3
project_path: CWD
project_slug: project-one
shell: /bin/bash
hostname: HOST
unterm_version: 1.2.3
started_at: 2000-01-01T00:00:00.000000+00:00
ended_at: 2000-01-01T00:00:01.600000+00:00
exit_reason: recording_stopped
osc133_active: true
block_count: 5
total_lines: 4
bytes_raw: BYTES
trace_ids: ["t1"]
redaction_active: true
redaction_count: 1
parent_session_id: null
---

# Unterm session — 2000-01-01 00:00:00.000000

## Block 1 — (no command captured)

> exit: ? · --:--:--

` + "```\nWelcome\n```" + `

## Block 2 — ` + "````echo a; printf '```'````" + `

> exit: 0 · 0.10s · 00:00:00

` + "````\na\n```\n````" + `

## Block 3 — ` + "`export TOKEN= <redacted>`" + `

> exit: 0 · 0.10s · 00:00:00

` + "```\n```" + `

## Block 4 — ` + "`false`" + `

> exit: 1 · 0.10s · 00:00:01

` + "```\n```" + `

## Block 5 — ` + "`sleep 9`" + `

> exit: ? · 00:00:01

` + "```\nstill here\n```\n\n"
		md = regexp.MustCompile(`bytes_raw: \d+`).ReplaceAllString(f.neutral(md, started.SessionID), "bytes_raw: BYTES")
		if md != want {
			t.Errorf("got\n%s\nwant\n%s", md, want)
		}
		if got.SessionID != started.SessionID || got.EndedAt != "2000-01-01T00:00:01.600000+00:00" || got.BlockCount != 5 || got.ExitReason != "recording_stopped" || got.Error != "" {
			t.Errorf("stopped: %+v", got)
		}
		again, err := f.Read(started.SessionID)
		must(t, err)
		if again.Markdown != read(t, got.MDPath) {
			t.Errorf("read again:\n%s", again.Markdown)
		}
	})
}

// TestWithoutMarks is case U53: the first program that records without shell integration.
func TestWithoutMarks(t *testing.T) {
	inBubble(t, Options{}, func(f *fixture) {
		f.start(0)
		f.says("$ echo TOKEN=abc123\r\nTOKEN=abc123\r\nit is " + ghToken + "\r\n" + strings.Repeat("0123456789", 5) + "\r\n$ ")
		got, md := f.stop(0)
		_, body, _ := strings.Cut(md, "---\n\n")
		want := "# Unterm session — 2000-01-01 00:00:00.000000\n\n> osc133 not active — install shell integration for block-level breakdown\n\n" +
			"```\n$ echo TOKEN= <redacted>\nTOKEN= <redacted>\nit is <token:ghp_k9Wz...redacted>\n<token:fb871ff8...redacted>\n$\n```\n\n"
		if body != want || got.BlockCount != 1 || !strings.Contains(md, "\nosc133_active: false\nblock_count: 1\n") || !strings.Contains(md, "\nredaction_count: 4\n") {
			t.Errorf("got %+v\n%s\nwant\n%s", got, md, want)
		}
		if log := read(t, strings.TrimSuffix(got.MDPath, ".md")+".log"); strings.Contains(decoded(t, log), "abc123") || strings.Contains(decoded(t, log), ghToken[:12]) {
			t.Errorf("in the log: %s", decoded(t, log))
		}
	})
}

// decoded is the text of a log.
func decoded(t testing.TB, log string) string {
	t.Helper()
	var b strings.Builder
	must(t, readLog(strings.NewReader(log), func(e event) { b.WriteString("<" + e.kind + ">" + string(e.data)) }))
	return b.String()
}

func TestStatusAndErrors(t *testing.T) {
	inBubble(t, Options{}, func(f *fixture) {
		says := func(what string, err error, want string) {
			t.Helper()
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", what, err, want)
			}
		}
		text := func(v any) string {
			data, err := json.Marshal(v)
			must(t, err)
			return string(data)
		}
		if got := text(f.Status(0)); got != `{"enabled":false,"recording":false}` {
			t.Errorf("off: %s", got)
		}
		_, err := f.Stop(0)
		says("stop", err, "No active recording for pane 0")
		_, err = f.AttachTrace(0, "t1")
		says("attach", err, "No active recording for pane 0")
		_, err = f.Read("nope")
		says("read", err, "Unknown session_id nope")
		started := f.start(0)
		_, err = f.Start(f.Session, 0, f.cwd)
		says("start", err, "Recording already active for pane 0")
		f.says("hello")
		if got, want := text(f.Status(0)), `{"enabled":true,"recording":true,"session_id":"`+started.SessionID+`","started_at":"2000-01-01T00:00:00.000000+00:00","block_count":1,"bytes":5}`; got != want {
			t.Errorf("on: %s, want %s", got, want)
		}
		for range 2 {
			got, err := f.AttachTrace(0, "t1")
			must(t, err)
			if text(got) != `{"trace_ids":["t1"]}` {
				t.Errorf("%s", text(got))
			}
		}
		if _, err := f.AttachTrace(0, strings.Repeat("x", 257)); err == nil {
			t.Error("a long trace id is taken")
		}
		list, err := f.List("")
		must(t, err)
		if len(list) != 1 || list[0].EndedAt != nil || list[0].SessionID != started.SessionID {
			t.Errorf("while it runs: %s", text(list))
		}
		f.stop(0)
		if again := f.start(0); again.LogPath != strings.TrimSuffix(started.LogPath, ".log")+"-2.log" {
			t.Errorf("another in the same second: %+v", again)
		}
		for project, n := range map[string]int{"": 2, "project-one": 2, f.cwd: 2, "other": 0} {
			if list, err := f.List(project); err != nil || len(list) != n || list == nil {
				t.Errorf("of %q: %s %v", project, text(list), err)
			}
		}
		got, _ := f.List("")
		end := "null"
		if got[0].EndedAt != nil {
			end = `"` + *got[0].EndedAt + `"`
		}
		want := `{"unterm_session_id":"` + started.SessionID + `","tab_id":0,"project_path":"` + f.cwd + `","project_slug":"project-one","started_at":"2000-01-01T00:00:00.000000+00:00","ended_at":` + end +
			`,"block_count":1,"bytes_raw":5,"log_path":"` + started.LogPath + `","md_path":"` + started.MDPath + `"}`
		if text(got[0]) != want {
			t.Errorf("%s, want %s", text(got[0]), want)
		}
	})
}

// TestEnds: with its session, with the server, and by a crash.
func TestEnds(t *testing.T) {
	inBubble(t, Options{}, func(f *fixture) {
		started := f.start(0)
		f.says("one\r\ntwo")
		time.Sleep(6 * time.Second)
		crashed, err := New(Options{Root: f.root}).Read(started.SessionID) // another process, as if ours were gone
		must(t, err)
		if !strings.Contains(crashed.Markdown, "\nended_at: null\nexit_reason: unknown\n") || !strings.Contains(crashed.Markdown, "```\none\n```\n") {
			t.Errorf("of a recording that was broken off:\n%s", crashed.Markdown)
		}
		f.pty.End(0)
		synctest.Wait()
		f.finish.Wait()
		md := read(t, started.MDPath)
		if !strings.Contains(md, "\nexit_reason: session_exit\n") || !strings.Contains(md, "```\none\ntwo\n```\n") {
			t.Errorf("%s", md)
		}
		if _, err := f.Stop(0); err == nil || err.Error() != "No active recording for pane 0" {
			t.Errorf("stop after the end: %v", err)
		}
		if _, err := f.Start(f.Session, 0, f.cwd); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("of a session that has ended: %v", err)
		}
		if list, _ := f.List(""); len(list) != 1 {
			t.Errorf("a recording that did not begin is listed: %v", list)
		}
	})
	inBubble(t, Options{}, func(f *fixture) {
		started := f.start(0)
		f.says("one")
		must(t, f.Journal.Close())
		if md := read(t, started.MDPath); !strings.Contains(md, "\nexit_reason: server_exit\n") || !strings.Contains(md, "```\none\n```\n") {
			t.Errorf("%s", md)
		}
		if _, err := f.Start(f.Session, 0, f.cwd); err == nil {
			t.Error("a journal that is closed records")
		}
	})
}

// TestChunkingChangesNothing: any pieces of the output give the same document.
func TestChunkingChangesNothing(t *testing.T) {
	text := scripted + "\r\n" + ghToken + "\r\ncaf\u00e9 \xff\b\b!\r\n\x1b]0;t\x1b\\x\x1bP1$r\x1b\\y\x1b(Bz\x1b[1;31mred\x1b]133;D\a"
	var want string
	for _, size := range []int{1 << 20, 1, 2, 3, 5, 7, 16, 61} {
		inBubble(t, Options{}, func(f *fixture) {
			started := f.start(0)
			for from := 0; from < len(text); from += size {
				f.says(text[from:min(from+size, len(text))])
			}
			_, md := f.stop(0)
			md = f.neutral(md, started.SessionID)
			if want == "" {
				want = md
			}
			if md != want {
				t.Errorf("%d bytes at a time:\n%s\nwant\n%s", size, md, want)
			}
		})
	}
	if !strings.Contains(want, "<token:ghp_k9Wz...redacted>\ncaf\u00e9!\nxyzred\n") {
		t.Errorf("%s", want)
	}
}
