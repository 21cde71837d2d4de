package vt

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A stateCase is a terminal in the middle of something, and what comes next.
type stateCase struct {
	name       string
	rows, cols int
	options    Options
	in         []string // output; "resize R C" resizes
	next       string
}

var stateCases = []stateCase{
	{"new", 3, 10, Options{}, nil, "first\r\n"},
	{"text", 3, 12, Options{Version: "1.2.3"}, []string{"one\r\ntwo ", "three\r\n$ "}, "ls\x1b[>q\r\n"},
	{"styles", 3, 20, Options{Theme: ThemeLight}, []string{"\x1b[1;4:3;58;5;9;38;2;1;2;3mcurly\x1b[0m \x1b[48;5;17m  \x1b]8;;http://a/\abc\x1b]8;;\ade\x1b[7m"}, "x\x1b[m\x1b]11;?\a"},
	{"wide and joined", 3, 10, Options{}, []string{"日本e\u0301\x1b[?2027h👩\u200d"}, "👩x"},
	{"flag", 3, 10, Options{}, []string{"\x1b[?2027h🇩🇪🇯"}, "🇵x"},
	{"wrap pending", 3, 5, Options{}, []string{"abcde"}, "f"},
	{"scrollback", 2, 8, Options{Scrollback: 3}, []string{"1\r\n2\r\n", "a long line of text\r\n", "\x1b[3mx\x1b[m\r\n", "y"}, "\r\nz\x1b[3J"},
	{"alternate screen", 3, 10, Options{}, []string{"main\x1b7", "\x1b[?1049h\x1b[41m\x1b[2Jalt"}, "\x1b[?1049lback"},
	{"synchronized update", 3, 8, Options{}, []string{"one\r\ntwo\r\n", "\x1b[?2026h\x1b[Hnew\r\n\n\n\nlast"}, "!\x1b[?2026l"},
	{"update on another screen", 3, 8, Options{}, []string{"one", "\x1b#8\x1b[?2026h\x1b[?1049htwo"}, "\x1b[?1049lthree\x1b[?2026l"},
	{"in a sequence", 3, 10, Options{}, []string{"\x1b[38:2:1"}, "0:20:30mx\x1b[0;m"},
	{"in an escape", 3, 10, Options{}, []string{"\x1b("}, "0q"},
	{"in a private sequence", 3, 10, Options{}, []string{"\x1b[?7;25"}, "lx"},
	{"in a title", 3, 10, Options{}, []string{"\x1b]2;on\xe6\x97"}, "\xa5e\ax"},
	{"at the end of a title", 3, 10, Options{}, []string{"\x1b]2;one\x1b"}, "\\x"},
	{"in a query", 3, 10, Options{}, []string{"\x1b[1;31m\x1bP$q"}, "m\x1b\\"},
	{"in a string that is skipped", 3, 10, Options{}, []string{"\x1b_Gabc"}, "def\x1b\\x"},
	{"in a character", 3, 10, Options{}, []string{"a\xf0\x9f\x98"}, "\x80b"},
	{"margins", 5, 20, Options{}, []string{"\x1b[2;4r\x1b[?69h\x1b[3;9s\x1b[?6h\x1b[Habc"}, "\r\n\n\n\nx\x1b[6n"},
	{"tabs and sets", 3, 20, Options{}, []string{"\x1b[3g\x1b[4C\x1bH\r\x1b(0\x1b)A\x0e"}, "\tq#\x0fq"},
	{"modes", 3, 10, Options{ProgramStatus: true}, []string{"\x1b[?1;1003;1006;2004;2031h\x1b[?1;1006s\x1b[?1006l\x1b[4h\x1b[>4;2m\x1b[>31u\x1b[5 q"}, "\x1b[?1;1006r\x1b[?1006$p\x1b[?u\x1b]7501;?\a"},
	{"titles", 3, 10, Options{}, []string{"\x1b[22t\x1b]2;one\a\x1b[22t\x1b]2;two\a"}, "\x1b[23t"},
	{"repeat", 3, 10, Options{}, []string{"é"}, "\x1b[3b"},
	{"protected", 3, 10, Options{}, []string{"\x1b[1\"qkeep\x1b[0\"qgo日\x1b[10Gx"}, "\x1b[?2J"},
	{"spacer", 3, 5, Options{}, []string{"abcd日"}, "resize 3 9"},
	{"cropped", 3, 10, Options{}, []string{"\x1b[?1049h0123456789\r\nabcdef日gh", "resize 3 7"}, "resize 3 12"},
	{"pattern", 3, 4, Options{}, []string{"\x1b#8"}, "\x1b[2Sx"},
}

// do feeds, or resizes.
func (all *outcome) do(t *Terminal, p string) {
	var rows, cols int
	if n, _ := fmt.Sscanf(p, "resize %d %d", &rows, &cols); n == 2 {
		e := t.Resize(rows, cols, 0, 0)
		all.reply = append(all.reply, e.Reply...)
		return
	}
	all.feed(t, []byte(p))
}

func (c *stateCase) terminal() *Terminal {
	t := New(c.rows, c.cols, c.options)
	var all outcome
	for _, p := range c.in {
		all.do(t, p)
	}
	return t
}

// TestStatesOfEveryRelease: the states in testdata/states, one folder for each version there was,
// are loaded, show what they showed when they were written and go on as they did. Those of this
// version are what is written now: a difference needs another version. With -update what is missing
// is written; what is there stays.
func TestStatesOfEveryRelease(t *testing.T) {
	for version := 1; version <= stateVersion; version++ {
		for _, c := range stateCases {
			base := filepath.Join("testdata", "states", fmt.Sprint("v", version), strings.ReplaceAll(c.name, " ", "-"))
			if version == stateVersion && *update {
				if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
					t.Fatal(err)
				}
				writeNew(t, base+".state", c.terminal().AppendState(nil))
			}
			state, err := os.ReadFile(base + ".state")
			if os.IsNotExist(err) && version < stateVersion {
				continue // the case is newer
			} else if err != nil {
				t.Fatal(err)
			}
			term, err := Load(state)
			if err != nil {
				t.Errorf("v%d %s: %v", version, c.name, err)
				continue
			}
			got := stateText(term, &c)
			if version == stateVersion && *update {
				writeNew(t, base+".txt", []byte(got))
			}
			want, err := os.ReadFile(base + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("v%d %s is\n%s\nwant\n%s", version, c.name, got, want)
			}
			if now := stateText(c.terminal(), &c); version == stateVersion && now != got {
				t.Errorf("%s: loaded it goes on as\n%s\nand otherwise as\n%s", c.name, got, now)
			}
			if now := c.terminal().AppendState(nil); version == stateVersion && !bytes.Equal(now, state) {
				t.Errorf("%s: another state is written than version %d has\n% x\nwant\n% x", c.name, version, now, state)
			}
		}
	}
}

func writeNew(t *testing.T, file string, data []byte) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if os.IsExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
}

// stateText draws the terminal as it is and after what comes next.
func stateText(t *Terminal, c *stateCase) string {
	var all outcome
	since, _ := t.Snapshot().TextSince(1)
	first := draw(t, &all) + fmt.Sprintf("sequence %d, since the first %q\n", t.Sequence(), since)
	all.do(t, c.next)
	return first + "-- " + fmt.Sprintf("%q\n", c.next) + draw(t, &all)
}

// TestStateSize: a screen full of colours takes some 5 KB of text and what its styles take, and one that nobody has used next to
// nothing; repeated rows are written once.
func TestStateSize(t *testing.T) {
	tui := New(40, 120, Options{})
	tui.Feed(screenful(40, 120))
	for name, c := range map[string]struct {
		term *Terminal
		most int
	}{
		"untouched":            {New(24, 80, Options{}), 200},
		"a screen of colours":  {tui, 9 << 10},
		"a screen of one cell": {pattern(1000, 1000), 3 << 10},
	} {
		if n := len(c.term.AppendState(nil)); n > c.most {
			t.Errorf("%s: %d bytes, want at most %d", name, n, c.most)
		}
	}
}

func pattern(rows, cols int) *Terminal {
	t := New(rows, cols, Options{})
	t.Feed([]byte("\x1b#8"))
	return t
}

// screenful draws a screen as programs do: a frame, columns of text, some of them in colour.
func screenful(rows, cols int) []byte {
	var b strings.Builder
	for y := range rows {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[38;5;240m│\x1b[m %4d \x1b[1;32m%-20s\x1b[m%-*s\x1b[38;2;80;%d;90m%8d%%\x1b[m \x1b[38;5;240m│\x1b[m",
			y+1, 1000+y, fmt.Sprintf("process-%d", y*7), cols-39, "a command with --flags and /paths/to/files", y, y*3%100)
	}
	return []byte(b.String())
}

// TestLoadTakesNoMemory: whatever a state claims, loading it takes no more than its screens and a
// multiple of its length.
func TestLoadTakesNoMemory(t *testing.T) {
	term := New(24, 80, Options{})
	term.Feed(append(screenful(24, 80), strings.Repeat("line\r\n", 200)...))
	state := term.AppendState(nil)
	screens := 3 * 24 * (80*16 + 400)
	var before, after runtime.MemStats
	for i := 1; i < len(state); i++ {
		for _, claim := range []string{"\xff\xff\xff\xff\x07", "\xff\xff\x03"} {
			bad := append(append(bytes.Clone(state[:i]), claim...), state[i+1:]...)
			if i < 3 {
				continue // the size itself
			}
			runtime.ReadMemStats(&before)
			_, _ = Load(bad)
			runtime.ReadMemStats(&after)
			if n := int(after.TotalAlloc - before.TotalAlloc); n > screens+64*len(bad) {
				t.Fatalf("byte %d claims % x: %d bytes are taken for %d", i, claim, n, len(bad))
			}
		}
	}
}

// BenchmarkState: forking, writing down and loading a screen drawn by a program.
func BenchmarkState(b *testing.B) {
	for _, size := range [][2]int{{24, 80}, {40, 120}} {
		term := New(size[0], size[1], Options{})
		term.Feed(screenful(size[0], size[1]))
		state := term.AppendState(nil)
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		b.Run("Fork/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink += term.Fork().rows
			}
		})
		b.Run("AppendState/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				state = term.AppendState(state[:0])
			}
			b.ReportMetric(float64(len(state)), "state-B")
		})
		b.Run("Load/"+name, func(b *testing.B) {
			state := term.AppendState(nil)
			b.ReportAllocs()
			for b.Loop() {
				t, err := Load(state)
				if err != nil {
					b.Fatal(err)
				}
				sink += t.rows
			}
		})
	}
}
