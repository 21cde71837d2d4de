package record

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLoadEveryVersion(t *testing.T) {
	for name, cast := range map[string]string{
		"v1": "{\n \"version\": 1, \"width\": 30, \"height\": 5, \"duration\": 1.5, \"command\": \"/bin/zsh\", \"title\": \"t\", \"env\": {\"TERM\": \"xterm\"},\n" +
			" \"stdout\": [ [ 0.25, \"a\\u001b[1m\" ], [ 1, \"b\" ] ] }\n",
		"v1 on one line": `{"version":1,"width":30,"height":5,"command":"/bin/zsh","title":"t","env":{"TERM":"xterm"},"stdout":[[0.25,"a\u001b[1m"],[1.0,"b"]]}`,
		"v2": `{"version": 2, "width": 30, "height": 5, "command": "/bin/zsh", "title": "t", "env": {"TERM": "xterm"}}` + "\r\n" +
			`[0.25, "o", "a\u001b[1m"]` + "\n\n" + `[1.25, "o", "b"]`,
		"v3": `{"version": 3, "term": {"cols": 30, "rows": 5, "type": "xterm"}, "command": "/bin/zsh", "title": "t", "unknown": [1]}` + "\n" +
			"# a comment\n" + `[0.25, "o", "a\u001b[1m"]` + "\n" + `[1, "o", "b", "more"]` + "\n",
	} {
		r := load(t, []byte(cast))
		h := r.Header
		h.Version = 0
		if want := (Header{Rows: 5, Cols: 30, Command: "/bin/zsh", Title: "t", Term: "xterm"}); h != want {
			t.Errorf("%s: %+v", name, h)
		}
		want := []Event{{At: 250 * time.Millisecond, Kind: 'o', Text: "a\x1b[1m"}, {At: 1250 * time.Millisecond, Kind: 'o', Text: "b"}}
		if !slices.Equal(slices.Collect(r.Events()), want) || r.Truncated || r.Duration() != 1250*time.Millisecond {
			t.Errorf("%s: %+v", name, slices.Collect(r.Events()))
		}
	}
}

func TestEveryKindOfEvent(t *testing.T) {
	r := load(t, []byte(`{"version":2,"width":80,"height":24,"timestamp":1700000000,"idle_time_limit":1.5,"env":{"SHELL":"/bin/sh"}}
[0.5, "i", "k"]
[0.75, "r", "100x40"]
[0.5, "m", "back in time"]
[2, "x", "130"]
[2.5, "z", "unknown"]
`))
	ms := time.Millisecond
	want := []Event{{At: 500 * ms, Kind: EventInput, Text: "k"}, {At: 750 * ms, Kind: EventResize, Text: "100x40", Rows: 40, Cols: 100},
		{At: 750 * ms, Kind: EventMarker, Text: "back in time"}, {At: 2000 * ms, Kind: EventExit, Text: "130", Exit: 130}, {At: 2500 * ms, Kind: 'z', Text: "unknown"}}
	if !slices.Equal(slices.Collect(r.Events()), want) {
		t.Errorf("%+v", slices.Collect(r.Events()))
	}
	if r.IdleLimit != 1500*ms || r.Started.Unix() != 1700000000 || r.Shell != "/bin/sh" {
		t.Errorf("%+v", r.Header)
	}
}

func TestCastsThatAreRefused(t *testing.T) {
	const head = `{"version":2,"width":80,"height":24}` + "\n"
	for cast, line := range map[string]int{
		"":                                    0,
		"\n":                                  1,
		"hello":                               1,
		"[1]\n":                               1,
		"null\n":                              1,
		`{"version":9}`:                       1,
		`{"version":3}`:                       1,
		`{"version":2,"width":0,"height":24}`: 1,
		`{"version":2,"width":80,"height":2000000000}`: 1,
		head + "nonsense\n" + `[1,"o","x"]`:            2,
		head + `[1,"o"]` + "\n":                        2,
		head + `["1","o","x"]` + "\n":                  2,
		head + `[-1,"o","x"]` + "\n":                   2,
		head + `[1e300,"o","x"]` + "\n":                2,
		head + `[1,"out","x"]` + "\n":                  2,
		head + `[1,"o",1]` + "\n":                      2,
		head + `[1,"r","80"]` + "\n":                   2,
		head + `[1,"r","0x5"]` + "\n":                  2,
		head + `[1,"x","?"]` + "\n":                    2,
		head + `{"a":1}` + "\n":                        2,
		head + strings.Repeat("x", lineMax+1):          2,
	} {
		_, err := Load(strings.NewReader(cast))
		var ce *CastError
		if line > 0 && (!errors.As(err, &ce) || ce.Line != line || len(err.Error()) > 120) || err == nil {
			t.Errorf("%.60q: %v", cast, err)
		}
	}
}

// A cast of a recorder that was killed is read up to its last whole line, wherever it ends.
// TestTimesThatAreNone: a time that no recording has is told for what it is.
func TestTimesThatAreNone(t *testing.T) {
	for event, want := range map[string]string{
		`[9e9, "o", "x"]`:    "line 2: the event's time is over 1,000,000,000 seconds, which are 30 years",
		`[1e999, "o", "x"]`:  "is over 1,000,000,000 seconds",
		`[-1e999, "o", "x"]`: "is before the recording's begin",
		`[-0.5, "o", "x"]`:   "is before the recording's begin",
		`["1", "o", "x"]`:    "is not a number of seconds",
		`[null, "o", "x"]`:   "is not a number of seconds",
	} {
		_, err := Load(strings.NewReader(`{"version":2,"width":80,"height":24}` + "\n" + event + "\n"))
		var ce *CastError
		if !errors.As(err, &ce) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", event, err)
		}
	}
	far := `{"version":3,"term":{"cols":80,"rows":24}}` + "\n" + `[9e8, "o", "x"]` + "\n" + `[9e8, "o", "x"]` + "\n"
	if _, err := Load(strings.NewReader(far)); err == nil || !strings.Contains(err.Error(), "line 3: the event's time is over") {
		t.Errorf("in all: %v", err)
	}
}

func TestCutAnywhere(t *testing.T) {
	c, m := memCast(t, CastOptions{Format: AsciicastV3})
	for i := range 4 {
		must(t, c.Output(after(i), []byte("日本\x1b[1m\r\n")))
	}
	must(t, c.Exit(after(9), 12))
	must(t, c.Close())
	header := bytes.IndexByte(m.data, '\n')
	for n := header; n <= len(m.data); n++ {
		r := load(t, m.data[:n])
		lines := bytes.Count(m.data[:n], []byte("\n")) - 1
		last := m.data[bytes.LastIndexByte(m.data[:n], '\n')+1 : n]
		if whole := bytes.HasSuffix(last, []byte("]")) && bytes.HasPrefix(m.data[n:], []byte("\n")); whole {
			lines++
		} else if r.Truncated != (len(last) > 0 && n > header) {
			t.Errorf("cut at %d: truncated %v", n, r.Truncated)
		}
		if r.Len() != max(0, lines) {
			t.Errorf("cut at %d: %d events, want %d", n, r.Len(), lines)
		}
	}
}

func TestReplaySeeks(t *testing.T) {
	r := load(t, []byte(`{"version":2,"width":10,"height":3}
[1, "o", "one"]
[2, "o", "\u001b[?2026htwo"]
[3, "r", "20x3"]
[4, "o", "\u001b[?2026hfour"]
[4.1, "o", "\u001b[?2026l"]
[5, "o", "\u001b[?2026hfive"]
[5.1, "x", "0"]
`))
	p := NewReplay(r)
	for _, tt := range []struct {
		at   float64
		want string
	}{{0, ""}, {1, "one"}, {9, "onetwofourfive"}, {1.5, "one"}, {2, "one"}, {2.149, "one"}, {2.15, "onetwo"}, {3, "onetwo"}, {4.05, "onetwo"},
		{4.1, "onetwofour"}, {5.05, "onetwofour"}, {5.1, "onetwofourfive"}, {0.5, ""}} {
		p.Seek(seconds(tt.at))
		if got := p.Screen().Text(); got != tt.want || p.At() != seconds(tt.at) {
			t.Errorf("at %v: %q, want %q", tt.at, got, tt.want)
		}
		if got := at(t, r, seconds(tt.at)).Text(); got != tt.want {
			t.Errorf("at %v afresh: %q, want %q", tt.at, got, tt.want)
		}
	}
}

func TestLimitIdle(t *testing.T) {
	r := load(t, []byte(`{"version":2,"width":10,"height":3}
[5, "o", "a"]
[5.5, "o", "b"]
[100, "o", "c"]
`))
	var got []string
	for e := range r.LimitIdle(time.Second).Events() {
		got = append(got, fmt.Sprint(e.At))
	}
	if want := []string{"1s", "1.5s", "2.5s"}; !slices.Equal(got, want) || r.Event(0).At != 5*time.Second {
		t.Errorf("%v", got)
	}
}

func TestText(t *testing.T) {
	r := load(t, []byte(`{"version":2,"width":10,"height":2}
[1, "o", "10 %\r20 %\r\na line of more than ten\r\n\u001b[31mred\u001b[m\r\n\r\n"]
`))
	if got, err := r.Text(); err != nil || got != "20 %\na line of more than ten\nred\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzLoad: whatever is read, nothing breaks, what was read plays, and a cast written from it has
// the same screen.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"version":2,"width":8,"height":2}` + "\n" + `[0.5,"o","x\u001b[31my"]` + "\n" + `[1,"r","9x3"]` + "\n" + `[1,"o","\ud83d`))
	f.Add([]byte(`{"version":3,"term":{"cols":8,"rows":2}}` + "\n#\n" + `[0.5,"i","x"]` + "\n" + `[1,"x","1"]`))
	f.Add([]byte(`{"version":1,"width":8,"height":2,"stdout":[[1,"a"],[1e9,"b"]]}`))
	f.Add([]byte(`{"version":2,"width":8,"height":2}` + "\n" + `[1,"o","\u001b]133;A\u0007\u001b[?2026hone"]` + "\n" + `[2,"x","0"]` + "\n" + `[3,"o","\u001b]133;C\u0007late"]` + "\n" + `[4,"r","9x3"]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Load(bytes.NewReader(data))
		if err != nil {
			return
		}
		if r.Rows*r.Cols > 10_000 || r.Len() > 50 { // the terminal has a fuzz target of its own
			return
		}
		for e := range r.Events() {
			if e.Rows*e.Cols > 10_000 {
				return
			}
		}
		m := &mem{left: -1}
		c, err := newCast(m, "m", CastOptions{Format: AsciicastV3, Rows: r.Rows, Cols: r.Cols, Start: t0, Raw: true})
		must(t, err)
		var last time.Duration
		for e := range r.Events() {
			if e.At < last {
				t.Fatalf("time goes back from %v to %v", last, e.At)
			}
			last = e.At
			switch e.Kind {
			case EventOutput:
				err = c.Output(t0.Add(e.At), []byte(e.Text))
			case EventResize:
				err = c.Resize(t0.Add(e.At), e.Rows, e.Cols)
			}
			must(t, err)
		}
		must(t, c.Close())
		again := load(t, m.data)
		end := r.Duration() + time.Second
		if d := diffScreens(at(t, r, end), at(t, again, end)); d != "" {
			t.Fatal(d)
		}
	})
}

func BenchmarkReplay(b *testing.B) {
	r := recordings(b)["vim/open-24x80"]
	size := 0
	for e := range r.Events() {
		size += len(e.Text)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		_ = at(b, r, time.Hour)
	}
}

// TestCastWithAByteOrderMark: what an editor of Windows has saved is a cast.
func TestCastWithAByteOrderMark(t *testing.T) {
	const cast = `{"version":2,"width":20,"height":4}` + "\n" + `[0.5, "o", "text"]` + "\n"
	for _, text := range []string{cast, "\ufeff" + cast} {
		rec, err := Load(strings.NewReader(text))
		if err != nil || rec.Len() != 1 || rec.Cols != 20 || rec.Truncated {
			t.Errorf("%.10q: %+v, %v", text, rec, err)
		}
	}
	for _, text := range []string{"\ufeff", "\ufeff\ufeff" + cast, "\xef\xbb"} {
		if _, err := Load(strings.NewReader(text)); err == nil {
			t.Errorf("%.10q is a cast", text)
		}
	}
}
