package vt_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/vt"
)

// updating reports whether the goldens are written anew: the flag -update, which the tests in
// package vt share.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// A goldenCase is one case of an archive in testdata/golden.
type goldenCase struct {
	name, in string
	shown    *shown
}

// A shown is what a terminal shows, and what it has told: a golden screen, and beside it what that
// does not have.
type shown struct {
	screen *golden.File
	beside string
}

// readGolden reads the cases of an archive. A case is two or three files of it:
//
//	-- what is so, and where that is written down --
//	size 6x10
//	> "text\x1b[H"        output, as a Go string; or
//	> resize 4x20
//	-- screen --          what the terminal shows, as package golden writes it
//	-- beside --          a pending wrap, scrollback, replies, bells and events, if there are any
//
// The flag -update writes what stands below a case's input.
func readGolden(t *testing.T, path string) []*goldenCase {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []*goldenCase
	for _, f := range a.Files {
		if f.Name != "screen" && f.Name != "beside" {
			cases = append(cases, &goldenCase{name: f.Name, in: string(f.Data)})
			continue
		}
		if len(cases) == 0 {
			t.Fatalf("%s: %s stands before the first case", path, f.Name)
		}
		c := cases[len(cases)-1]
		c.shown = c.shown.read(t, f, path+": "+c.name)
	}
	return cases
}

// read adds a file of an archive to s, which may be nil.
func (s *shown) read(t *testing.T, f txtar.File, where string) *shown {
	t.Helper()
	if s == nil {
		s = &shown{}
	}
	if strings.HasSuffix(f.Name, "beside") {
		s.beside = string(f.Data)
		return s
	}
	var err error
	if s.screen, err = golden.Parse(f.Data); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	return s
}

// files are what s is in an archive; the names begin with prefix.
func (s *shown) files(prefix string) []txtar.File {
	all := []txtar.File{{Name: prefix + "screen", Data: s.screen.AppendText(nil)}}
	if s.beside != "" {
		all = append(all, txtar.File{Name: prefix + "beside", Data: []byte(s.beside)})
	}
	return all
}

// differs says in what a terminal is not as s has it; "" when it is. now is what it is.
func (s *shown) differs(t *testing.T, term *vt.Terminal, told *told) (now *shown, why string) {
	t.Helper()
	screen := term.Snapshot()
	o := golden.Options{Parts: golden.All}
	if s != nil {
		o.Like = s.screen
	}
	f, err := golden.Of(screen, o)
	if err != nil {
		t.Fatal(err)
	}
	now = &shown{f, told.beside(screen)}
	switch {
	case s == nil || s.screen == nil:
		return now, "nothing says what is expected: write it with -update, and read it"
	case s.screen.Parts != golden.All:
		return now, "a part is left out, and would not be compared"
	}
	why = s.screen.Diff(f).String()
	if want, got := string(s.screen.AppendText(nil)), string(f.AppendText(nil)); why == "" && want != got {
		why = "it looks the same, and is not: want\n" + want + "got\n" + got
	}
	if s.beside != now.beside {
		why += fmt.Sprintf("beside the screen\n%swant\n%s", now.beside, s.beside)
	}
	return now, why
}

// told is what a terminal has told beside what it shows.
type told struct {
	reply  []byte
	events []vt.Event
	bell   int
}

func (o *told) feed(term *vt.Terminal, b []byte) {
	e := term.Feed(b)
	o.reply, o.events, o.bell = append(o.reply, e.Reply...), append(o.events, e.Events...), o.bell+e.Bell
}

// beside is what a golden screen does not have.
func (o *told) beside(s *vt.Screen) string {
	var b strings.Builder
	if s.Cursor.PendingWrap {
		b.WriteString("pending wrap\n")
	}
	h := s.History()
	for i := range h.Len() {
		fmt.Fprintf(&b, "scrollback %q", h.Line(i))
		if h.Wrapped(i) {
			b.WriteString("↵")
		}
		b.WriteByte('\n')
	}
	if len(o.reply) > 0 {
		fmt.Fprintf(&b, "reply %q\n", o.reply)
	}
	if o.bell > 0 {
		fmt.Fprintf(&b, "bell %d\n", o.bell)
	}
	for _, e := range o.events {
		if e.Kind == vt.EventErase { // the screen shows it; TestEraseIsTold has the place
			continue
		}
		fmt.Fprintf(&b, "event %d at %d,%d mark=%q exit=%d/%v state=%d value=%d text=%q\n",
			e.Kind, e.Line, e.Col, e.Mark, e.Exit, e.HasExit, e.State, e.Value, e.Text)
	}
	return b.String()
}

// size returns the first line's, and steps the lines after it, of a case's input.
func (c *goldenCase) input(t *testing.T) (rows, cols int, steps []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(c.in), "\n")
	if _, err := fmt.Sscanf(lines[0], "size %dx%d", &rows, &cols); err != nil {
		t.Fatalf("%s: %q is not a size: %v", c.name, lines[0], err)
	}
	return rows, cols, lines[1:]
}

// run feeds a case's input to a terminal.
func (c *goldenCase) run(t *testing.T) (*vt.Terminal, *told) {
	t.Helper()
	rows, cols, steps := c.input(t)
	term, all := vt.New(rows, cols, vt.Options{}), &told{}
	for _, line := range steps {
		if size, ok := strings.CutPrefix(line, "> resize "); ok {
			if _, err := fmt.Sscanf(size, "%dx%d", &rows, &cols); err != nil {
				t.Fatalf("%s: %q is not a size: %v", c.name, size, err)
			}
			all.reply = append(all.reply, term.Resize(rows, cols, 0, 0).Reply...)
			continue
		}
		all.feed(term, []byte(output(t, line)))
	}
	return term, all
}

// output reads a line of input: > and a Go string.
func output(t *testing.T, line string) string {
	t.Helper()
	quoted, ok := strings.CutPrefix(line, "> ")
	text, err := strconv.Unquote(quoted)
	if !ok || err != nil {
		t.Fatalf("%q is not > and a quoted string", line)
	}
	return text
}

// TestGolden runs the cases of testdata/golden, one archive a class of sequences; see readGolden
// for their form.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatal("golden files are missing", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			var out txtar.Archive
			for _, c := range readGolden(t, file) {
				term, all := c.run(t)
				now, why := c.shown.differs(t, term, all)
				if why != "" && !updating() {
					t.Errorf("%s\n%s%s", c.name, c.in, why)
				}
				out.Files = append(out.Files, txtar.File{Name: c.name, Data: []byte(c.in)})
				out.Files = append(out.Files, now.files("")...)
			}
			if updating() {
				writeArchive(t, file, &out)
			}
		})
	}
}

func writeArchive(t *testing.T, path string, a *txtar.Archive) {
	t.Helper()
	if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}
