//go:build unix

package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/redact"

	"github.com/ptywright/ptywright/engine/record"
)

// TestCasts: what is listed of a folder, what is opened, and nothing outside of it.
func TestCasts(t *testing.T) {
	dir := t.TempDir()
	good := `{"version":2,"width":20,"height":3,"title":"token=abcdefghijklmnop1234"}` + "\n" +
		`[0.5,"o","one \u001b]0;password=hunter2hunter2\u0007"]` + "\n" + `[1,"m","here"]` + "\n" + `[2,"o","\r\npassword=hunter2hunter2"]` + "\n"
	for name, text := range map[string]string{"good.cast": good, "bad.cast": "{}", "other.txt": good} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "outside.cast")
	if err := os.WriteFile(outside, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.cast")); err != nil {
		t.Fatal(err)
	}
	if err := mkfifo(filepath.Join(dir, "fifo.cast")); err != nil {
		t.Fatal(err)
	}
	large, err := os.Create(filepath.Join(dir, "large.cast"))
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(record.LoadMax + 1); err != nil {
		t.Fatal(err)
	}
	large.Close()
	b := newBench(t, Options{Casts: dir})
	c := b.login()
	var all struct{ Recordings []recording }
	if got := c.ask("recordings", nil, &all); got != "" {
		t.Fatal(got)
	}
	names := map[string]bool{}
	for _, r := range all.Recordings {
		names[r.Name] = true
	}
	if fmt.Sprint(names) != "map[bad:true good:true large:true]" {
		t.Errorf("listed are %v", names)
	}
	for id, want := range map[string]string{
		"cast:bad.cast": "not_a_recording", "cast:link.cast": "not_a_recording", "cast:fifo.cast": "not_a_recording", "cast:other.txt": "not_a_recording",
		"cast:large.cast": "too_large", "cast:../" + filepath.Base(outside): "not_a_recording", "cast:" + outside: "not_a_recording", "cast:": "not_a_recording",
		"server:r1": "not_a_recording", "": "not_a_recording", "cast:none.cast": "not_a_recording",
	} {
		if got := c.ask("open", map[string]string{"id": id}, nil); got != want {
			t.Errorf("%q: %q, not %q", id, got, want)
		}
		if got := c.ask("at", map[string]any{"at_ms": 0}, nil); got != "not_a_recording" {
			t.Errorf("%q is open: %q", id, got)
		}
	}
	var o opened
	if got := c.ask("open", map[string]string{"id": "cast:good.cast"}, &o); got != "" {
		t.Fatal(got)
	}
	if o.DurationMS != 2000 || o.Rows != 3 || o.Cols != 20 || len(o.Markers) != 1 || strings.Contains(o.Title, "abcdefghijklmnop1234") {
		t.Errorf("opened is %+v", o)
	}
	var since uint64
	for _, x := range []struct {
		at     float64
		next   float64 // -1: none
		full   bool
		rows   int
		shown  string
		hidden string
	}{
		{0, 500, true, 3, "", ""}, {600, 1000, false, 1, "one", ""}, {600, 1000, false, 0, "", ""}, {2000, -1, false, 1, "REDACTED", "hunter2"}, {0, 500, false, 2, "", ""},
	} {
		var f still
		if got := c.ask("at", map[string]any{"at_ms": x.at, "since": since}, &f); got != "" {
			t.Fatal(got)
		}
		since = f.Sequence
		next := -1.0
		if f.NextMS != nil {
			next = *f.NextMS
		}
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if next != x.next || f.Full != x.full || len(f.Rows) != x.rows || !strings.Contains(string(text), x.shown) || x.hidden != "" && strings.Contains(string(text), x.hidden) {
			t.Errorf("at %v: %s", x.at, text)
		}
	}
	for _, at := range []any{-1, 1e13} {
		if got := c.ask("at", map[string]any{"at_ms": at}, nil); got != "bad_request" {
			t.Errorf("at %v: %q", at, got)
		}
	}
}

// mkfifo makes a named pipe: opening it would wait for a writer.
func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// TestEndedServer: a page is told that its server has gone, and recordings are played without one.
func TestEndedServer(t *testing.T) {
	b := newBench(t, Options{})
	c := b.login()
	var l list
	if got := c.ask("sessions", nil, &l); got != "" {
		t.Fatal(got)
	}
	b.stopServer()
	if got := c.ask("sessions", map[string]any{"since": l.Version}, nil); got != "no_server" {
		t.Errorf("the list of a server that has gone: %q", got)
	}
	if got := c.ask("frame", named{"s1"}, nil); got != "no_server" {
		t.Errorf("a screen of it: %q", got)
	}
	ws, _, err := b.dial(b.origin, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	c = &asker{Conn: ws, b: b}
	c.send(map[string]string{"token": b.token})
	var h hello
	c.read(&h)
	if h.Problem == nil || h.Problem.Reason != "no_server" {
		t.Errorf("the hello without a server is %+v", h)
	}
	if got := c.ask("recordings", nil, nil); got != "" {
		t.Errorf("the recordings without a server: %q", got)
	}
}

// TestPageThatIsGoneOpensNothing: what waits for its turn opens no file once nobody wants it, and
// what is read ends within a piece.
func TestPageThatIsGoneOpensNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.cast")
	line := `[0.001,"o","` + strings.Repeat("x", 1000) + "\"]\n"
	if err := os.WriteFile(path, []byte(`{"version":2,"width":20,"height":3}`+"\n"+strings.Repeat(line, 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPlayer()
	ctx, cancel := context.WithCancel(t.Context())
	end, err := p.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error)
	go func() {
		_, err := p.open(ctx, func() (*os.File, error) { return nil, errors.New("a file was opened") }, 0, redact.Default)
		waiting <- err
	}()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	end()
	ctx, cancel = context.WithCancel(t.Context())
	var f *os.File
	_, err = p.open(ctx, func() (_ *os.File, err error) {
		f, err = os.Open(path)
		cancel() // the page goes while it is read
		return f, err
	}, 0, redact.Default)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := f.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Error("the file is open")
	}
	if o, err := p.open(t.Context(), func() (*os.File, error) { return os.Open(path) }, 0, redact.Default); err != nil || o.Rows != 3 {
		t.Errorf("the next: %v, %v", o, err)
	}
}
