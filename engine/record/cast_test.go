package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/lanes"
	"github.com/ptywright/ptywright/redact"
)

var t0 = time.Unix(1_700_000_000, 0)

func after(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }

// corpus are the recordings of real programs that the terminal's tests use.
var corpus = sync.OnceValues(func() (map[string]*Recording, error) {
	f, err := os.Open("../vt/testdata/recordings.txtar.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	out := map[string]*Recording{}
	for piece := range strings.SplitSeq("\n"+string(data), "\n-- ") {
		head, body, _ := strings.Cut(piece, " --\n")
		name, ok := strings.CutSuffix(head, ".cast")
		if !ok {
			continue
		}
		if out[name], err = Load(strings.NewReader(body)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
})

func recordings(t testing.TB) map[string]*Recording {
	t.Helper()
	all, err := corpus()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 300 {
		t.Fatalf("%d recordings", len(all))
	}
	return all
}

// diffScreens compares everything that is seen: cells, cursor, modes, title, scrollback.
func diffScreens(a, b *vt.Screen) string {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return enginetest.DiffCells(a, b)
	}
	runs := func(s *vt.Screen, y int) (all []vt.Run) {
		s.EachRun(y, func(r vt.Run) { all = append(all, r) })
		return all
	}
	for y := range a.Rows {
		if !slices.Equal(runs(a, y), runs(b, y)) {
			return enginetest.DiffCells(a, b)
		}
	}
	if a.Cursor != b.Cursor || a.Modes != b.Modes || a.Title != b.Title || a.TitleSet != b.TitleSet {
		return fmt.Sprintf("%+v %+v %q\nand %+v %+v %q", a.Cursor, a.Modes, a.Title, b.Cursor, b.Modes, b.Title)
	}
	if a.History().Len() != b.History().Len() || a.Text() != b.Text() {
		return "the scrollback or the text"
	}
	return ""
}

// mem is a sink without a disk. left is how many bytes there is room for; negative: any number.
type mem struct {
	data     []byte
	left     int
	finished bool
}

func (m *mem) Write(p []byte) (int, error) {
	if m.left >= 0 && len(p) > m.left {
		n := m.left
		m.data, m.left = append(m.data, p[:n]...), 0
		return n, &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	if m.left >= 0 {
		m.left -= len(p)
	}
	m.data = append(m.data, p...)
	return len(p), nil
}

func (m *mem) WriteAt(p []byte, off int64) (int, error) { return copy(m.data[off:], p), nil }
func (m *mem) Truncate(size int64) error                { m.data = m.data[:size]; return nil }
func (m *mem) finish() error                            { m.finished = true; return nil }
func (m *mem) discard() error                           { m.data = nil; return nil }

func memCast(t testing.TB, o CastOptions) (*Cast, *mem) {
	t.Helper()
	m := &mem{left: -1}
	o.Start = t0
	c, err := newCast(m, "mem.cast", o)
	if err != nil {
		t.Fatal(err)
	}
	return c, m
}

func load(t testing.TB, data []byte) *Recording {
	t.Helper()
	r, err := Load(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v in\n%.2000s", err, data)
	}
	return r
}

// at is r.At of a recording that can be replayed.
func at(t testing.TB, r *Recording, when time.Duration) *vt.Screen {
	t.Helper()
	s, err := r.At(when)
	must(t, err)
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCastAsWritten(t *testing.T) {
	const secret = "password=hunter2hunter2"
	for _, tt := range []struct {
		format Format
		want   string
	}{
		{AsciicastV2, `{"version":2,"width":80,"height":24,"timestamp":1700000000,"idle_time_limit":2.5,"command":"bash -l","title":"a title","env":{"SHELL":"/bin/bash","TERM":"xterm-256color"}}
[0.001000, "o", "\u001b[1mh\u0007i\r\n\"\\"]
[0.001000, "o", "é"]
[0.002000, "r", "100x40"]
[0.003000, "i", "ls\r"]
[0.004000, "m", "here"]
[7.000000, "o", "end\r\n"]
[7.001000, "o", "password=[REDACTED]\r\n"]
[7.001000, "x", "3"]
`},
		{AsciicastV3, `{"version":3,"term":{"cols":80,"rows":24,"type":"xterm-256color"},"timestamp":1700000000,"idle_time_limit":2.5,"command":"bash -l","title":"a title","env":{"SHELL":"/bin/bash"}}
[0.001000, "o", "\u001b[1mh\u0007i\r\n\"\\"]
[0.000000, "o", "é"]
[0.001000, "r", "100x40"]
[0.001000, "i", "ls\r"]
[0.001000, "m", "here"]
[6.996000, "o", "end\r\n"]
[0.001000, "o", "password=[REDACTED]\r\n"]
[0.000000, "x", "3"]
`},
	} {
		c, m := memCast(t, CastOptions{Format: tt.format, IdleLimit: 2500 * time.Millisecond, Command: "bash -l", Title: "a title", Shell: "/bin/bash", Input: true})
		must(t, c.Output(after(1), []byte("\x1b[1mh\ai\r\n\"\\\xc3")))
		must(t, c.Output(after(1), []byte("\xa9")))
		must(t, c.Resize(after(2), 40, 100))
		must(t, c.Input(after(3), []byte("ls\r")))
		must(t, c.Marker(after(4), "he\x1bre"))
		must(t, c.Output(after(7000), []byte("end\r\n")))
		must(t, c.Output(after(7001), []byte(secret+"\r\n")))
		must(t, c.Exit(after(7001), 3))
		must(t, c.Close())
		if !m.finished {
			t.Error("not finished")
		}
		got := string(m.data)
		if got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.format, got, tt.want)
		}
		if err := c.Output(after(8000), []byte("x")); !errors.Is(err, ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
	}
}

// Every screen of a session is the same when the cast is replayed, event by event, for real
// programs.
func TestReplayShowsTheLiveScreens(t *testing.T) {
	frames, hidden := 0, 0
	all := recordings(t)
	options := []CastOptions{{Format: AsciicastV2}, {Format: AsciicastV3}, {Format: AsciicastV2, Raw: true}}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i%lanes.Few(1, 4) != 0 {
			continue
		}
		rec := all[name]
		o := options[i%3]
		o.Rows, o.Cols = rec.Rows, rec.Cols
		live := vt.New(rec.Rows, rec.Cols, vt.Options{})
		c, m := memCast(t, o)
		var screens []*vt.Screen
		for i, e := range slices.Collect(rec.Events()) {
			at := t0.Add(time.Duration(i) * time.Microsecond) // each has its own time, below what ends an update
			switch e.Kind {
			case EventOutput:
				live.Feed([]byte(e.Text))
				must(t, c.Output(at, []byte(e.Text)))
			case EventResize:
				live.Resize(e.Rows, e.Cols, 0, 0)
				must(t, c.Resize(at, e.Rows, e.Cols))
			}
			screens = append(screens, live.Snapshot())
		}
		must(t, c.Close())
		if bytes.Contains(m.data, []byte("[REDACTED]")) { // it has what looks like a secret
			hidden++
			continue
		}
		replay := NewReplay(load(t, m.data))
		for {
			e, ok := replay.Step()
			if !ok {
				break
			}
			frames++
			if d := diffScreens(screens[e.At.Microseconds()], replay.Screen()); d != "" {
				t.Fatalf("%s, %s, raw %v, at %v: %s", name, o.Format, o.Raw, e.At, d)
			}
		}
		if d := diffScreens(live.Snapshot(), replay.Screen()); d != "" {
			t.Fatalf("%s, %s, raw %v, at the end: %s", name, o.Format, o.Raw, d)
		}
	}
	t.Logf("%d frames, %d with something hidden", frames, hidden)
	if hidden > len(all)/10 { // those cannot be equal, so they must be few
		t.Errorf("in %d recordings something is hidden", hidden)
	}
}

// Whatever the bytes and however they are cut, the replay shows at each time what was there.
func TestReplayOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := vt.New(5, 20, vt.Options{})
		m := &mem{left: -1}
		c, err := newCast(m, "m", CastOptions{Format: rapid.SampledFrom([]Format{AsciicastV2, AsciicastV3}).Draw(t, "format"),
			Raw: rapid.Bool().Draw(t, "raw"), Rows: 5, Cols: 20, Start: t0})
		if err != nil {
			t.Fatal(err)
		}
		// Bytes that are no text apart from wide characters: the first byte of a character on the
		// second half of a wide one takes that away before the character is whole, in a terminal
		// that is fed live.
		piece := rapid.Map(enginetest.Anything(5, 20), func(s string) []byte { return []byte(s) })
		if rapid.Bool().Draw(t, "bytes") {
			piece = rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 0, 8), rapid.Just([]byte("\xe2\x82")), rapid.Just([]byte("\xac\n")),
				rapid.Just([]byte("a\x1b[2Gé\xe2")), rapid.Just([]byte("\x1b[3;3H\x1b[1m")))
		}
		var at []time.Duration
		var screens []*vt.Screen
		for i := range rapid.IntRange(0, 12).Draw(t, "pieces") {
			when := time.Duration(i) * time.Millisecond
			if rapid.IntRange(0, 9).Draw(t, "resize") == 0 {
				rows := rapid.IntRange(1, 9).Draw(t, "rows")
				live.Resize(rows, 20, 0, 0)
				if err := c.Resize(t0.Add(when), rows, 20); err != nil {
					t.Fatal(err)
				}
			} else {
				p := bytes.ReplaceAll(piece.Draw(t, "output"), []byte("]"), []byte("[")) // an OSC replaces invalid UTF-8
				live.Feed(p)
				if err := c.Output(t0.Add(when), p); err != nil {
					t.Fatal(err)
				}
			}
			at, screens = append(at, when), append(screens, live.Snapshot())
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		rec, err := Load(bytes.NewReader(m.data))
		if err != nil {
			t.Fatal(err)
		}
		replay := NewReplay(rec)
		for i, when := range at {
			replay.Seek(when)
			if d := diffScreens(screens[i], replay.Screen()); d != "" {
				t.Fatalf("after piece %d: %s\n%s", i, d, m.data)
			}
		}
	})
}

// whenever the disk fills up, what is there is a whole cast of what came before; the error is
// told once.
func TestDiskFullAtEveryByte(t *testing.T) {
	run := func(room int) (*mem, []error) {
		m := &mem{left: room}
		c, err := newCast(m, "full.cast", CastOptions{Start: t0, Format: AsciicastV3})
		if err != nil {
			return m, []error{err}
		}
		var errs []error
		for i := range 6 {
			if err := c.Output(after(i), []byte("line\r\n")); err != nil {
				errs = append(errs, err)
			}
		}
		s := c.Status()
		must(t, c.Close())
		if room >= 0 && (s.State != StateFailed || !errors.Is(s.Err, syscall.ENOSPC) || s.Bytes != int64(len(m.data))) {
			t.Errorf("room for %d: %+v, %d bytes", room, s, len(m.data))
		}
		if !m.finished {
			t.Error("not finished")
		}
		return m, errs
	}
	whole, _ := run(-1)
	for n := range len(whole.data) {
		m, errs := run(n)
		var fe *engine.FileError
		if len(errs) == 0 || !errors.As(errs[0], &fe) || !errors.Is(errs[0], syscall.ENOSPC) {
			t.Fatalf("room for %d: %v", n, errs)
		}
		if !bytes.HasPrefix(whole.data, m.data) || len(m.data) > 0 && m.data[len(m.data)-1] != '\n' {
			t.Errorf("room for %d: %q", n, m.data)
		}
		for _, err := range errs[1:] {
			if !errors.Is(err, ErrEnded) {
				t.Errorf("room for %d: %v", n, err)
			}
		}
	}
}

func TestSizeLimit(t *testing.T) {
	c, m := memCast(t, CastOptions{MaxBytes: 300})
	var err error
	for i := 0; err == nil; i++ {
		err = c.Output(after(i), []byte("line\r\n"))
	}
	if !errors.Is(err, ErrLimit) || c.Status().State != StateLimit || len(m.data) > 300 {
		t.Errorf("%v %+v", err, c.Status())
	}
	must(t, c.Close())
	if r := load(t, m.data); !m.finished || r.Truncated || r.Len() == 0 || c.Status().State != StateLimit {
		t.Errorf("%+v", c.Status())
	}
}

func TestCutIdle(t *testing.T) {
	c, m := memCast(t, CastOptions{IdleLimit: time.Second, CutIdle: true, Raw: true})
	for _, ms := range []int{5000, 5500, 9000, 9100, 60000} {
		must(t, c.Output(after(ms), []byte("x")))
	}
	must(t, c.Close())
	var got []time.Duration
	for e := range load(t, m.data).Events() {
		got = append(got, e.At)
	}
	want := []time.Duration{5000, 5500, 6500, 6600, 7600}
	for i := range want {
		want[i] *= time.Millisecond
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBegunInTheMiddle(t *testing.T) {
	live := vt.New(4, 20, vt.Options{})
	live.Feed([]byte("\x1b]2;title\a\x1b[?1049h\x1b[31mred\x1b[0m\r\npassword=hunter2hunter2\x1b[?25l\x1b[?2004h\x1b[2;3H"))
	before := live.Snapshot()
	c, m := memCast(t, CastOptions{Rows: 4, Cols: 20, Screen: before})
	must(t, c.Output(after(5), []byte("\x1b[4;1Hmore\n")))
	must(t, c.Close())
	if bytes.Contains(m.data, []byte("hunter2")) {
		t.Errorf("%s", m.data)
	}
	r := load(t, m.data)
	if d := diffScreens(Mask(before, redact.Default), at(t, r, 0)); d != "" {
		t.Error(d)
	}
	if got := at(t, r, time.Second).Lines()[2]; got != "more" && at(t, r, time.Second).Lines()[3] != "more" {
		t.Errorf("%q", at(t, r, time.Second).Lines())
	}
}

func BenchmarkCast(b *testing.B) {
	for name, line := range map[string]string{
		"prose": "The quick brown fox jumps over the lazy dog, and then it rests for a while.\r\n",
		"sgr":   "2026-01-02 12:00:00 INFO \x1b[32mserver\x1b[0m: request served in 12 ms, 200 OK /index.html\r\n",
	} {
		batch := []byte(strings.Repeat(line, 32<<10/len(line)))
		for _, o := range []CastOptions{{Raw: true}, {}} {
			b.Run(fmt.Sprintf("%s/raw=%v", name, o.Raw), func(b *testing.B) {
				o.MaxBytes = 1 << 50
				c, err := NewCast(filepath.Join(b.TempDir(), "b.cast"), o)
				must(b, err)
				b.SetBytes(int64(len(batch)))
				at := time.Now()
				for i := 0; b.Loop(); i++ {
					must(b, c.Output(at, batch))
					if i%1000 == 999 { // the disk is not what is measured
						must(b, c.sink.Truncate(0))
					}
				}
				must(b, c.Discard())
			})
		}
	}
}
