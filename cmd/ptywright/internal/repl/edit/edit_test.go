package edit

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/vt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// typed runs an editor on these bytes to the first end of a line.
func typed(t *testing.T, o Options, bytes string) (string, error) {
	t.Helper()
	o.In, o.Out = strings.NewReader(bytes), io.Discard
	e := New(o)
	return e.Line(t.Context())
}

func TestKeysEdit(t *testing.T) {
	const (
		left, right, up, down = "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B"
		home, end, del        = "\x1bOH", "\x1b[4~", "\x1b[3~"
	)
	for _, test := range []struct{ name, bytes, want string }{
		{"plain", "ab\r", "ab"},
		{"backspace", "abc\x7f\x08d\r", "ad"},
		{"arrows", "ac" + left + "b" + right + "d\r", "abcd"},
		{"home, end, delete", "xbc" + home + del + "a" + end + "d\r", "abcd"},
		{"words", "one two three\x1bb\x1bbX\x1bfY\r", "one XtwoY three"},
		{"ctrl+arrows", "one two\x1b[1;5D>\x1b[1;5C<\r", "one >two<"},
		{"kill and yank", "one two\x17\x01\x19\x05!\r", "twoone !"},
		{"kills add up", "one two three\x1b\x7f\x1b\x7f\x19\x19\r", "one two threetwo three"},
		{"to the end", "abcd\x02\x02\x0bX\r", "abX"},
		{"to the start", "abcd\x02\x15\r", "d"},
		{"transpose", "ab\x02\x14\r", "ba"},
		{"undo", "one\x15two\x1f\x1f\r", "one"},
		{"undo of what was typed at once", "one\x1b[C two\x1f\r", "one"},
		{"ctrl+d deletes", "ab\x01\x04\r", "b"},
		{"alt+enter", "a\x1b\rb\r", "a\nb"},
		{"up and down in lines", "long line\x1b\rx" + up + "A" + down + "B\r", "lAong line\nxB"},
		{"combining", "ae\u0301b\x02\x7f\r", "ab"},
		{"paste", "<\x1b[200~a\r\nb\x1b[31mc\t\x1b[201~>\r", "<a\nb[31mc\t>"},
		{"keys that are none", "a\x1b[99~\x1b[?1;2c\x1b]0;x\x07\x1bP1$r\x1b\\\x1b[12;40Rb\r", "ab"},
		{"broken UTF-8", "a\xffb\r", "ab"},
	} {
		if got, err := typed(t, Options{}, test.bytes); err != nil || got != test.want {
			t.Errorf("%s: %q, %v; expected %q", test.name, got, err, test.want)
		}
	}
}

func TestLineEnds(t *testing.T) {
	for _, test := range []struct {
		bytes string
		want  error
	}{{"\x04", io.EOF}, {"abc\x03", ErrInterrupt}, {"abc", io.EOF}} {
		if _, err := typed(t, Options{}, test.bytes); !errors.Is(err, test.want) {
			t.Errorf("%q: %v", test.bytes, err)
		}
	}
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(Options{In: r, Out: io.Discard}).Line(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the context: %v", err)
	}
}

func TestHistoryIsWalkedSearchedAndEdited(t *testing.T) {
	const up, down = "\x1b[A", "\x1b[B"
	history := []string{"first one", "second", "third\nline"}
	for _, test := range []struct{ bytes, want string }{
		{up + up + up + "\r", "second"}, // the second up moves within the lines of the third
		{up + up + up + up + up + "\r", "first one"},
		{"draft" + up + up + "!" + down + down + "\r", "third\nline"[:0] + "draft"},
		{"\x10\x10!\x0e\x10\r", "second!"},
		{"\x12on\r", "second"},
		{"\x12on\x12\r", "first one"},
		{"\x12first\x05!\r", "first one!"},
		{"kept\x12first\x1b[1;1Z\x07\r", "first one"},
		{"kept\x12first\x07\r", "kept"},
	} {
		got, err := typed(t, Options{History: history}, test.bytes)
		if err != nil || got != test.want {
			t.Errorf("%q: %q, %v; expected %q", test.bytes, got, err, test.want)
		}
	}
}

func TestMenu(t *testing.T) {
	items := []Candidate{{"snapshot", "(", "reads"}, {"snap", "", ""}, {"spawn", "(", "starts"}}
	complete := func(text string, cursor int) (int, []Candidate) {
		start := strings.LastIndexAny(text[:cursor], ".(") + 1
		var some []Candidate
		for _, c := range items {
			if strings.HasPrefix(c.Text, text[start:cursor]) {
				some = append(some, c)
			}
		}
		return start, some
	}
	for _, test := range []struct{ bytes, want string }{
		{"x.sp\t\r", "x.spawn("},
		{"x.sn\t\r", "x.snap"},          // what they have in common
		{"x.s\t\t\t\r)\r", "x.snap)"},   // the second, taken with Enter
		{"x.s\t\x1b[Z\r\r", "x.spawn("}, // backwards
		{"x.s\t\t;\r", "x.snapshot;"},   // any key takes it
		{"x.s\t\t\x07\r", "x.s"},        // and Ctrl-G gives it back
		{"x.sn(x.sp\x01\x1bf\x1bf\t\r", "x.snap(x.sp"},
		{"zz\t\r", "zz"},
	} {
		got, err := typed(t, Options{Complete: complete}, test.bytes)
		if err != nil || got != test.want {
			t.Errorf("%q: %q, %v; expected %q", test.bytes, got, err, test.want)
		}
	}
}

func TestMenuFitsItsTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &menu{items: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Candidate {
			return Candidate{Text: rapid.StringMatching(`[a-z日]{1,30}`).Draw(t, "text"), About: rapid.StringMatching(`[a-z ]{0,60}`).Draw(t, "about")}
		}), 1, 60).Draw(t, "items")}
		m.selected = rapid.IntRange(-1, len(m.items)-1).Draw(t, "selected")
		cols, most := rapid.IntRange(4, 100).Draw(t, "cols"), rapid.IntRange(1, 12).Draw(t, "most")
		rows := m.rows(cols, most)
		if len(rows) == 0 || len(rows) > max(most, 2) {
			t.Fatalf("%d rows, of at most %d", len(rows), most)
		}
		term := vt.New(1, cols, vt.Options{})
		for _, row := range rows {
			term.Feed([]byte("\r\x1b[2K" + row))
			if s := term.Snapshot(); s.History().Len() > 0 {
				t.Fatalf("a row is wider than %d columns: %q", cols, row)
			}
		}
		if m.selected >= 0 && !strings.Contains(strings.Join(rows, ""), "\x1b[7m") {
			t.Fatalf("the selected candidate is not shown: %q", rows)
		}
	})
}

// However the bytes are cut, the keys are the same, but for runs of text.
func FuzzKeysDoNotDependOnCuts(f *testing.F) {
	f.Add([]byte("a\x1b[200~x\x1b[201~\x1b[1;5Dé\x1b\x1b[A\x1bOP\x1b]0;t\x1b\\"), uint(3))
	f.Add([]byte("\x1b[\x1b[200~\x1b[20\x1b[201~日\xe6\x97"), uint(1))
	f.Fuzz(func(t *testing.T, in []byte, n uint) {
		if len(in) > 1<<12 {
			return
		}
		var whole decoder
		want := merged(append(whole.feed(in), whole.flush()...))
		var parts decoder
		var got []key
		step := int(n%7) + 1
		for rest := in; len(rest) > 0; {
			cut := min(step, len(rest))
			got = append(got, parts.feed(rest[:cut])...)
			rest = rest[cut:]
		}
		got = merged(append(got, parts.flush()...))
		if !reflect.DeepEqual(got, want) && len(in) < maxSequence {
			t.Errorf("%q in pieces of %d: %q, whole: %q", in, step, got, want)
		}
		for _, k := range want {
			if !utf8.ValidString(k.text) || strings.ContainsAny(k.text, "\x1b\x00\x7f\r") {
				t.Errorf("%q gives %q", in, k)
			}
		}
	})
}

func merged(keys []key) (all []key) {
	for _, k := range keys {
		if n := len(all); n > 0 && k.name == "text" && all[n-1].name == "text" {
			all[n-1].text += k.text
			continue
		}
		all = append(all, k)
	}
	return all
}

// What is drawn, and drawn again at another size of a terminal that wraps anew, is the text,
// wrapped, and nothing else.
func TestDrawingIsWhatATerminalShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(12, 30).Draw(t, "rows"), rapid.IntRange(8, 60).Draw(t, "cols")
		term := vt.New(rows, cols, vt.Options{})
		e := New(Options{Out: writer(func(p []byte) { term.Feed(p) }), Size: func() (int, int) { return rows, cols }})
		e.Prompt = func() (string, string) { return "p> ", ".> " }
		term.Feed([]byte("above\r\n"))
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "resize") == 0 {
				cols = rapid.IntRange(8, 60).Draw(t, "cols")
				term.Resize(rows, cols, 0, 0)
			}
			e.text = []rune(rapid.StringMatching(`([a-c é日本\n]|e\x{301}){0,40}`).Draw(t, "text"))
			e.cursor = 0
			for range rapid.IntRange(0, 40).Draw(t, "cursor") {
				e.cursor = e.next(e.cursor)
			}
			e.draw()
			d := layout("p> ", ".> ", "36", string(e.text), len(string(e.text[:e.cursor])), nil, cols)
			if len(d.rows) > rows-2 {
				t.Skip("of a text that is longer than the screen a part is shown")
			}
			s := term.Snapshot()
			lines := s.Lines()
			first := s.Cursor.Row - d.row
			if first < 1 || strings.TrimRight(lines[first-1], " ") != "above" {
				t.Fatalf("%q at %dx%d: the line above is gone:\n%s", string(e.text), rows, cols, strings.Join(lines, "\n"))
			}
			for i, row := range d.rows {
				if got, want := strings.TrimRight(lines[first+i], " "), strings.TrimRight(plainRow(row), " "); got != want {
					t.Fatalf("%q at %dx%d: row %d is %q, not %q:\n%s", string(e.text), rows, cols, i, got, want, strings.Join(lines, "\n"))
				}
			}
			if rest := strings.TrimSpace(strings.Join(lines[first+len(d.rows):], "")); rest != "" {
				t.Fatalf("%q at %dx%d: something is left below: %q", string(e.text), rows, cols, rest)
			}
			if s.Cursor.Col != d.col {
				t.Fatalf("the cursor is at column %d, not %d", s.Cursor.Col, d.col)
			}
		}
	})
}

// plainRow takes SGR out.
func plainRow(s string) string {
	var b strings.Builder
	for s != "" {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			break
		}
		_, s, _ = strings.Cut(after, "m")
	}
	return b.String()
}

type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
