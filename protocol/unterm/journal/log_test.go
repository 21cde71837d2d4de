package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

// A disk is a log's file with room for so many bytes.
type disk struct {
	mu     sync.Mutex // for the race detector: a timer's goroutine writes
	data   []byte
	left   int
	writes int
	closed bool
}

func (d *disk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes++
	n := min(len(p), d.left)
	d.data = append(d.data, p[:n]...)
	d.left -= n
	if n < len(p) {
		return n, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return n, nil
}

func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left += len(d.data) - int(size)
	d.data = d.data[:size]
	return nil
}

// seen returns how often was written, and what is there.
func (d *disk) seen() (writes int, data string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.writes, string(d.data)
}

func (d *disk) Sync() error  { return nil }
func (d *disk) Close() error { d.closed = true; return nil }

// TestLogIsWritten when 64 KiB wait, or 100 events, or after five seconds, and never without need.
func TestLogIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{left: 1 << 30}
		ended := 0
		w := newLogWriter(d, time.Now(), func() { ended++ })
		tap := w.attach(nil, nil)
		say := func(text string) {
			must(t, tap.Output(time.Now(), []byte(text)))
			synctest.Wait()
		}
		say("one\n")
		time.Sleep(4 * time.Second)
		say("two\n")
		expect := func(writes int, end string) {
			t.Helper()
			synctest.Wait()
			if n, data := d.seen(); n != writes || !strings.HasSuffix(decoded(t, data), end) {
				t.Errorf("%d writes, want %d, and %q behind %q", n, writes, end, data)
			}
		}
		expect(0, "")
		time.Sleep(time.Second + time.Nanosecond)
		expect(1, "<out>one\n<out>two\n")
		time.Sleep(time.Hour)
		expect(1, "")
		for range 99 {
			say("x\n")
		}
		expect(1, "")
		say("x\n")
		expect(2, "x\n")
		say(strings.Repeat("y", 40<<10) + "\n") // 64 KiB are 48 of output
		expect(2, "x\n")
		say(strings.Repeat("y", 40<<10) + "\n")
		expect(3, "y\n")
		say("the end")
		must(t, tap.Close())
		must(t, w.finish())
		if !strings.HasSuffix(decoded(t, string(d.data)), "\n<out>the end") || ended != 1 || !d.closed {
			t.Errorf("%d ends", ended)
		}
	})
}

// TestFullDisk at any byte: whole lines stay, the error is told, and the session is unharmed.
func TestFullDisk(t *testing.T) {
	for room := 0; room < 400; room += 13 {
		synctest.Test(t, func(t *testing.T) {
			d := &disk{left: room}
			w := newLogWriter(d, time.Now(), func() {})
			tap := w.attach(nil, nil).(engine.MarkTap)
			var err error
			for range 10 {
				text := "\x1b]133;A\afour"
				err = errors.Join(err, tap.Marked(time.Now(), []byte(text+"\n"), []engine.Mark{{End: len(text) - 4, Kind: 'A'}}))
				time.Sleep(6 * time.Second)
				synctest.Wait()
			}
			err = errors.Join(err, tap.Close())
			end := w.finish()
			if !errors.Is(end, syscall.ENOSPC) || !strings.HasPrefix(end.Error(), "write the log: ") || err == nil {
				t.Errorf("room for %d: %v, %v", room, end, err)
			}
			if len(d.data) > room || len(d.data) > 0 && d.data[len(d.data)-1] != '\n' {
				t.Errorf("room for %d: %q", room, d.data)
			}
		})
	}
}

// TestEndsEarly: at the size limit, and when the folder is gone. The session goes on, and Stop
// tells.
func TestEndsEarly(t *testing.T) {
	inBubble(t, Options{}, func(f *fixture) {
		f.start(0)
		r, err := f.find(0)
		must(t, err)
		r.log.limit = 100
		f.says("one\r\n")
		time.Sleep(6 * time.Second)
		f.says(strings.Repeat("too much\r\n", 20))
		time.Sleep(6 * time.Second)
		f.says("more")
		f.says("and more")
		f.finish.Wait()
		if st := f.Status(0); st.Enabled {
			t.Errorf("it is over: %+v", st)
		}
		got, md := f.stop(0)
		if got.ExitReason != "size_limit" || got.Error != "the log has reached 256 MiB" || !strings.Contains(md, "\nexit_reason: size_limit\n") || !strings.Contains(md, "```\none\n```\n") {
			t.Errorf("%+v\n%s", got, md)
		}
		if _, err := f.Stop(0); err == nil || err.Error() != "No active recording for pane 0" {
			t.Errorf("stopped twice: %v", err)
		}
		if text := f.View().Screen.Text(); !strings.HasSuffix(text, "moreand more") {
			t.Errorf("the session shows %q", text)
		}

		f.start(0)
		f.says("two\r\n")
		must(t, os.RemoveAll(filepath.Join(f.cwd, ".unterm")))
		f.says("three\r\n")
		stopped, err := f.Stop(0)
		if err == nil || !strings.HasPrefix(err.Error(), "complete the recording of pane 0: ") {
			t.Errorf("the folder is gone: %+v %v", stopped, err)
		}
		if list, err := f.List(""); err != nil || len(list) != 2 || list[1].EndedAt == nil {
			t.Errorf("%+v %v", list, err)
		}
		f.start(0)
		f.stop(0)
	})
}

// TestServerEndsInAHurry: the document of a large log is left to who reads it.
func TestServerEndsInAHurry(t *testing.T) {
	inBubble(t, Options{}, func(f *fixture) {
		started := f.start(0)
		r, err := f.find(0)
		must(t, err)
		must(t, r.log.do(func() { r.log.size = hurryBytes })) // as if so much were there
		f.says("line\r\nline\r\n")
		must(t, f.Journal.Close())
		if _, err := os.Stat(started.MDPath); err == nil || r.log.size < hurryBytes {
			t.Errorf("of %d bytes a document was written", r.log.size)
		}
		list, err := f.List("")
		must(t, err)
		if list[0].EndedAt == nil || list[0].BytesRaw != 12 || list[0].BlockCount != 1 {
			t.Errorf("%+v", list)
		}
		if got, err := f.Read(started.SessionID); err != nil || !strings.Contains(got.Markdown, "\nexit_reason: server_exit\n") || !strings.Contains(got.Markdown, "```\nline\nline\n```") {
			t.Errorf("%v, %d bytes", err, len(got.Markdown))
		}
	})
}

// TestStopAndTheEnd come at once: one of them ends the recording, once.
func TestStopAndTheEnd(t *testing.T) {
	for range 20 {
		inBubble(t, Options{}, func(f *fixture) {
			started := f.start(0)
			f.says("one")
			done := make(chan error)
			go func() {
				_, err := f.Stop(0)
				done <- err
			}()
			f.pty.End(0)
			err := <-done
			f.finish.Wait()
			if err != nil && err.Error() != "No active recording for pane 0" {
				t.Error(err)
			}
			if md := read(t, started.MDPath); !strings.Contains(md, "```\none\n```") {
				t.Errorf("%s", md)
			}
		})
	}
}

// TestManyAtOnce: panes of two servers are recorded, read, listed and stopped by many clients, and
// each document is its pane's.
func TestManyAtOnce(t *testing.T) {
	const panes = 6
	root, cwd := t.TempDir(), t.TempDir()
	var wg sync.WaitGroup
	for server := range 2 {
		j := New(Options{Root: root})
		for pane := range panes {
			p := enginetest.New()
			e := enginetest.Engine(p)
			s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
			must(t, err)
			wg.Go(func() {
				defer e.Close(context.Background())
				started, err := j.Start(s, pane, cwd)
				if err != nil {
					t.Error(err)
					return
				}
				text := fmt.Sprintf("server %d pane %d\r\n", server, pane)
				for range 50 {
					p.Print(text)
				}
				for {
					changed := s.Changed()
					if _, end, _ := s.View().Transcript.Since(0); int(end) >= 50*len(text) {
						break
					}
					<-changed
				}
				_, aerr := j.AttachTrace(pane, "t")
				_, rerr := j.Read(started.SessionID)
				_, lerr := j.List("")
				j.Status(pane)
				got, serr := j.Stop(pane)
				if err := errors.Join(aerr, rerr, lerr, serr); err != nil {
					t.Error(err)
				}
				if md := read(t, got.MDPath); strings.Count(md, strings.TrimSuffix(text, "\r\n")+"\n") != 50 {
					t.Errorf("%s", md)
				}
			})
		}
		defer func() { must(t, j.Close()) }()
	}
	wg.Wait()
	list, err := New(Options{Root: root}).List("")
	must(t, err)
	if len(list) != 2*panes || slices.ContainsFunc(list, func(e Entry) bool { return e.EndedAt == nil || e.BytesRaw != 50*17 }) {
		t.Errorf("%d recordings: %+v", len(list), list)
	}
}
