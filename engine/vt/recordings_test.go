package vt

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A recording is a session with a real program and what two terminals made of it.
type recording struct {
	name       string
	rows, cols int
	events     []castEvent
	want       struct {
		Size  struct{ Rows, Cols int }
		Xterm oracle
		// TmuxDiffers holds what tmux shows where that is something else.
		TmuxDiffers struct {
			Cursor *oracleCursor
			Rows   map[int]string
		} `json:"tmux_differs"`
	}
}

type castEvent struct {
	code       string // "o" output, "r" resize
	data       string
	rows, cols int
}

type oracle struct {
	Lines         []string
	Cursor        oracleCursor
	CursorVisible bool `json:"cursor_visible"`
	Alternate     bool
	Title         *string
	Modes         map[string]any
}

type oracleCursor struct {
	Row, Col    int
	PendingWrap bool `json:"pending_wrap"`
}

var loadRecordings = sync.OnceValues(func() ([]*recording, error) {
	files, err := readArchive("testdata/recordings.txtar.gz")
	if err != nil {
		return nil, err
	}
	var all []*recording
	for _, file := range slices.Sorted(maps.Keys(files)) {
		name, ok := strings.CutSuffix(file, ".cast")
		if !ok {
			continue
		}
		r := &recording{name: name}
		if err := json.Unmarshal(files[name+".json"], &r.want); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		lines := bufio.NewScanner(bytes.NewReader(files[file]))
		lines.Buffer(nil, 16<<20)
		lines.Scan()
		var head struct{ Width, Height int }
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.rows, r.cols = head.Height, head.Width
		for lines.Scan() {
			var raw [3]any
			if err := json.Unmarshal(lines.Bytes(), &raw); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			e := castEvent{code: raw[1].(string), data: raw[2].(string)}
			if e.code == "r" {
				if _, err := fmt.Sscanf(e.data, "%dx%d", &e.cols, &e.rows); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
			}
			r.events = append(r.events, e)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
	return all, nil
})

func recordings(t testing.TB) []*recording {
	all, err := loadRecordings()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 300 {
		t.Fatalf("%d recordings in the archive", len(all))
	}
	return all
}

// replay feeds the recording; cut tells how each stretch of output between two resizes is split.
func (r *recording) replay(cut func(string) []string) *Terminal {
	t := New(r.rows, r.cols, Options{})
	var out strings.Builder
	flush := func() {
		for _, p := range cut(out.String()) {
			t.Feed([]byte(p))
		}
		out.Reset()
	}
	for _, e := range r.events {
		if e.code == "r" {
			flush()
			t.Resize(e.rows, e.cols, 0, 0)
			continue
		}
		out.WriteString(e.data)
	}
	flush()
	return t
}

// chunks feeds the recording as it was read from the program.
func (r *recording) chunks() *Terminal {
	t := New(r.rows, r.cols, Options{})
	for _, e := range r.events {
		if e.code == "r" {
			t.Resize(e.rows, e.cols, 0, 0)
		} else {
			t.Feed([]byte(e.data))
		}
	}
	return t
}

// differences says where a screen is not what the oracles show. Where they disagree, either is
// right.
func (r *recording) differences(s *Screen) []string {
	var out []string
	x, tm := r.want.Xterm, r.want.TmuxDiffers
	lines := s.Lines()
	if len(lines) != len(x.Lines) {
		return []string{fmt.Sprintf("%d rows, want %d", len(lines), len(x.Lines))}
	}
	for y, got := range lines {
		if other, ok := tm.Rows[y]; got != x.Lines[y] && (!ok || got != other) {
			out = append(out, fmt.Sprintf("row %d\n got  %q\n want %q", y, got, x.Lines[y]))
		}
	}
	cur := oracleCursor{s.Cursor.Row, s.Cursor.Col, s.Cursor.PendingWrap}
	if cur != x.Cursor && (tm.Cursor == nil || cur != *tm.Cursor) {
		out = append(out, fmt.Sprintf("cursor %+v, want %+v or %+v", cur, x.Cursor, tm.Cursor))
	}
	if s.Cursor.Visible != x.CursorVisible {
		out = append(out, fmt.Sprintf("cursor visible: %v", s.Cursor.Visible))
	}
	if s.Modes.AltScreen != x.Alternate {
		out = append(out, fmt.Sprintf("alternate screen: %v", s.Modes.AltScreen))
	}
	title := ""
	if x.Title != nil {
		title = *x.Title
	}
	if s.Title != title || s.TitleSet != (x.Title != nil) {
		out = append(out, fmt.Sprintf("title %q (set: %v), want %q (%v)", s.Title, s.TitleSet, title, x.Title != nil))
	}
	m := s.Modes
	modes := map[string]any{
		"applicationCursorKeysMode": m.AppCursor, "applicationKeypadMode": m.AppKeypad, "bracketedPasteMode": m.BracketedPaste,
		"insertMode": m.Insert, "mouseTrackingMode": m.Mouse.String(), "originMode": m.Origin,
		"reverseWraparoundMode": m.ReverseWrap, "sendFocusMode": m.FocusEvents,
		"synchronizedOutputMode": m.Synchronized, "wraparoundMode": m.AutoWrap,
	}
	for k, want := range x.Modes {
		if got, ok := modes[k]; !ok || !reflect.DeepEqual(got, want) {
			out = append(out, fmt.Sprintf("%s is %v, want %v", k, got, want))
		}
	}
	return out
}

// TestRecordings replays sessions with real programs, as they were read, whole and byte by byte.
func TestRecordings(t *testing.T) {
	failed := 0
	for _, r := range recordings(t) {
		s := r.chunks().Snapshot()
		if d := r.differences(s); len(d) > 0 {
			failed++
			t.Errorf("%s: %s", r.name, strings.Join(d, "\n"))
		}
		for how, cut := range map[string]func(string) []string{
			"whole":        func(p string) []string { return []string{p} },
			"byte by byte": func(p string) []string { return splitEvery(p, 1) },
		} {
			if d := diffScreens(s, r.replay(cut).Snapshot()); d != "" {
				t.Errorf("%s: fed %s: %s", r.name, how, d)
			}
		}
	}
	t.Logf("%d of %d recordings differ", failed, len(recordings(t)))
}

func splitEvery(p string, n int) []string {
	var out []string
	for len(p) > n {
		out = append(out, p[:n])
		p = p[n:]
	}
	return append(out, p)
}

// diffScreens compares everything that a screen shows, but for what depends on how the input was
// cut.
func diffScreens(a, b *Screen) string {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return fmt.Sprintf("size %dx%d and %dx%d", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	if a.Cursor != b.Cursor || a.Modes != b.Modes || a.Title != b.Title || a.TitleSet != b.TitleSet {
		return fmt.Sprintf("%+v %+v %q\nand %+v %+v %q", a.Cursor, a.Modes, a.Title, b.Cursor, b.Modes, b.Title)
	}
	for y := range a.rows {
		if !a.rows[y].equal(b.rows[y]) {
			return fmt.Sprintf("row %d: %s\nand %s", y, dumpRow(a, y), dumpRow(b, y))
		}
	}
	ha, hb := a.History(), b.History()
	if ha.Len() != hb.Len() || ha.Dropped() != hb.Dropped() {
		return fmt.Sprintf("scrollback %d+%d and %d+%d", ha.Dropped(), ha.Len(), hb.Dropped(), hb.Len())
	}
	for i := range ha.Len() {
		if !bytes.Equal(ha.find(i), hb.find(i)) {
			return fmt.Sprintf("scrollback line %d: %q and %q", i, ha.Line(i), hb.Line(i))
		}
	}
	return ""
}

func dumpRow(s *Screen, y int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "wrapped=%v ", s.Wrapped(y))
	s.EachRun(y, func(r Run) {
		fmt.Fprintf(&b, "%d+%d %q", r.Col, r.Cols, r.Text)
		if r.Style != (Style{}) {
			fmt.Fprintf(&b, "%+v", r.Style)
		}
		b.WriteByte(' ')
	})
	return b.String()
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
