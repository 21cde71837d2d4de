package vt

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files; read the difference before keeping it")

// TestGolden runs the cases of testdata/golden, one file a class of sequences. A case is
//
//	# what is so, and where that is written down
//	6x10                      rows and columns
//	> "text\x1b[H"            output, as a Go string; or
//	> resize 4x20
//	|screen  |                what follows is written by -update
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatal("golden files are missing", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for i, c := range strings.Split("\n"+string(raw), "\n# ") {
				if i == 0 {
					out.WriteString(strings.TrimPrefix(c, "\n"))
					continue
				}
				name, body, _ := strings.Cut(c, "\n")
				in, want := splitCase(body)
				got, err := runCase(in)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got != want && !*update {
					t.Errorf("%s\n%s\ngot\n%swant\n%s", name, in, got, want)
				}
				fmt.Fprintf(&out, "# %s\n%s%s\n", name, in, got)
			}
			if *update {
				if err := os.WriteFile(file, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// splitCase parts what is given from what is expected.
func splitCase(body string) (in, want string) {
	var a, b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(body), "\n") {
		if i == 0 || strings.HasPrefix(line, "> ") {
			a.WriteString(line + "\n")
		} else {
			b.WriteString(line + "\n")
		}
	}
	return a.String(), b.String()
}

// runCase returns what the terminal shows after the input, drawn as text.
func runCase(in string) (string, error) {
	lines := strings.Split(strings.TrimSpace(in), "\n")
	var rows, cols int
	if _, err := fmt.Sscanf(lines[0], "%dx%d", &rows, &cols); err != nil {
		return "", fmt.Errorf("size %q: %w", lines[0], err)
	}
	term := New(rows, cols, Options{})
	var all outcome
	for _, line := range lines[1:] {
		if size, ok := strings.CutPrefix(line, "> resize "); ok {
			if _, err := fmt.Sscanf(size, "%dx%d", &rows, &cols); err != nil {
				return "", fmt.Errorf("size %q: %w", size, err)
			}
			e := term.Resize(rows, cols, 0, 0)
			all.reply = append(all.reply, e.Reply...)
			continue
		}
		s, err := strconv.Unquote(line[2:])
		if err != nil {
			return "", fmt.Errorf("%s: %w", line, err)
		}
		all.feed(term, []byte(s))
	}
	return draw(term, &all), nil
}

func draw(term *Terminal, all *outcome) string {
	s := term.Snapshot()
	var b strings.Builder
	for y := range s.Rows {
		b.WriteByte('|')
		s.EachCell(y, func(_ int, c Cell) {
			if c.Text == "" && !c.Continuation {
				c.Text = " "
			}
			b.WriteString(c.Text)
		})
		if s.Wrapped(y) {
			b.WriteString("↵\n")
		} else {
			b.WriteString("|\n")
		}
	}
	fmt.Fprintf(&b, "cursor %d,%d", s.Cursor.Row, s.Cursor.Col)
	for name, on := range map[string]bool{" pending": s.Cursor.PendingWrap} {
		if on {
			b.WriteString(name)
		}
	}
	if !s.Cursor.Visible {
		b.WriteString(" hidden")
	}
	if s.Cursor.Shape != CursorBlock || s.Cursor.Blink {
		fmt.Fprintf(&b, " %s blink=%v", s.Cursor.Shape, s.Cursor.Blink)
	}
	b.WriteByte('\n')
	for y := range s.Rows {
		s.EachRun(y, func(r Run) {
			if r.Style != (Style{}) {
				fmt.Fprintf(&b, "style %d,%d+%d %s\n", y, r.Col, r.Cols, describe(r.Style))
			}
		})
	}
	if m := modeNames(s.Modes); m != "" {
		fmt.Fprintf(&b, "modes%s\n", m)
	}
	if s.TitleSet {
		fmt.Fprintf(&b, "title %q\n", s.Title)
	}
	h := s.History()
	for i := range h.Len() {
		fmt.Fprintf(&b, "scrollback %q", h.Line(i))
		if h.Wrapped(i) {
			b.WriteString("↵")
		}
		b.WriteByte('\n')
	}
	if len(all.reply) > 0 {
		fmt.Fprintf(&b, "reply %q\n", all.reply)
	}
	if all.bell > 0 {
		fmt.Fprintf(&b, "bell %d\n", all.bell)
	}
	for _, e := range all.events {
		if e.Kind == EventErase { // the screen shows it; TestEraseIsTold has the place
			continue
		}
		fmt.Fprintf(&b, "event %d at %d,%d mark=%q exit=%d/%v state=%d value=%d text=%q\n",
			e.Kind, e.Line, e.Col, e.Mark, e.Exit, e.HasExit, e.State, e.Value, e.Text)
	}
	return b.String()
}

func describe(s Style) string {
	var out []string
	for _, f := range []struct {
		on   bool
		name string
	}{{s.Bold, "bold"}, {s.Dim, "dim"}, {s.Italic, "italic"}, {s.Inverse, "inverse"}, {s.Strike, "strike"}, {s.Hidden, "hidden"},
		{s.Blink, "blink"}, {s.Overline, "overline"}, {s.Underline != 0, "underline=" + s.Underline.String()},
		{s.Foreground != 0, "fg=" + s.Foreground.String()}, {s.Background != 0, "bg=" + s.Background.String()},
		{s.UnderlineColor != 0, "ul=" + s.UnderlineColor.String()}, {s.Link != "", "link=" + s.Link}} {
		if f.on {
			out = append(out, f.name)
		}
	}
	return strings.Join(out, " ")
}

// modeNames lists what is not as after power-on.
func modeNames(m Modes) string {
	var b strings.Builder
	for _, f := range []struct {
		on   bool
		name string
	}{{m.AltScreen, "alt"}, {m.AppCursor, "app-cursor"}, {m.AppKeypad, "app-keypad"}, {m.BracketedPaste, "paste"},
		{m.FocusEvents, "focus"}, {m.Mouse != 0, "mouse=" + m.Mouse.String()}, {m.MouseEncoding != 0, "encoding=" + strconv.Itoa(int(m.MouseEncoding))},
		{!m.AlternateScroll, "no-alternate-scroll"}, {!m.AutoWrap, "no-wrap"}, {m.Origin, "origin"}, {m.Insert, "insert"},
		{m.NewLine, "newline"}, {m.ReverseVideo, "reverse-video"}, {m.ReverseWrap, "reverse-wrap"}, {m.InBandResize, "in-band"},
		{m.GraphemeClusters, "clusters"}, {m.Synchronized, "synchronized"}, {m.BackarrowIsBS, "backarrow"},
		{m.ModifyOtherKeys != 0, "other-keys=" + strconv.Itoa(int(m.ModifyOtherKeys))}, {m.KittyKeyboard != 0, "kitty=" + strconv.Itoa(int(m.KittyKeyboard))}} {
		if f.on {
			b.WriteString(" " + f.name)
		}
	}
	return b.String()
}
