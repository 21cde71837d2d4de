//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// Real programs look the same through attach as in their session, at every step.
func TestAttachShowsRealProgramsCellForCell(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	inner := l.dial()
	dir := t.TempDir()
	var source strings.Builder
	for i := range 300 {
		fmt.Fprintf(&source, "// line %d: 日本語 naïve\nfunc f%d() { return \"%d\" }\n", i, i, i*i)
	}
	path := filepath.Join(dir, "code.go")
	if err := os.WriteFile(path, []byte(source.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	type step struct {
		keys  []string
		shows string
	}
	for _, p := range []struct {
		name, debian string
		args         []string
		first        string
		steps        []step
	}{
		{"vim", "vim", []string{"-u", "NONE", "-i", "NONE", "-N", "-c", "syntax on", "-c", "set hlsearch mouse=a number cursorline t_Co=256", path}, `line 0:`, []step{
			{[]string{"/", "n", "a", "enter"}, `line 0`},
			{[]string{"page_down"}, `line 1\d`},
			{[]string{"V", "j", "j"}, `VISUAL LINE`},
			{[]string{"escape", "o", "x", "日"}, `INSERT`},
			{[]string{"escape", ":", "s", "p", "l", "i", "t", "enter"}, `(?s)line.*\n.*line`},
			{[]string{"G"}, `line 299`},
		}},
		{"less", "less", []string{"-N", path}, `line 0`, []step{
			{[]string{"/", "1", "7", "7", "enter"}, `line 177`},
			{[]string{"h"}, `SUMMARY OF LESS COMMANDS`},
			{[]string{"q", "G"}, `line 299`},
		}},
		{"htop", "htop", []string{"--delay=100"}, `F10Quit`, []step{
			{[]string{"f2"}, `(?i)categories|setup`},
			{[]string{"escape", "f5"}, `F10Quit`},
		}},
	} {
		t.Run(p.name, func(t *testing.T) {
			need(t, p.name, p.debian)
			s := inner.with(client.Config{Program: p.name, Args: p.args, Rows: 30, Cols: 100, Env: map[string]string{
				"HTOPRC": filepath.Join(dir, "htoprc"), "LESS": "", "LESSHISTFILE": "-"}})
			s.wait(client.Regexp(p.first))
			a := l.attach(outer, 30, 100, "--write", s.ID)
			for _, step := range p.steps {
				a.keys(step.keys...)
				s.wait(client.Regexp(step.shows))
				if p.name != "htop" { // which goes on changing
					s.wait(client.Stable(150 * 1e6))
				}
				a.shows(s, 0, 0)
			}
			a.text("\x1cd")
			if got := a.exited(); got != "exit 0" {
				t.Errorf("attach ended with %s", got)
			}
			s.close()
		})
	}
}

// cursorAt matches the cursor's place.
func cursorAt(row, col int) client.Matcher {
	return client.Matcher{Type: "cursor_at", Value: map[string]int{"row": row, "col": col}}
}

// A session that is larger is shown by a window that follows its cursor; looking on changes nothing
// in it.
func TestAttachToLargerAndSmallerSessions(t *testing.T) {
	t.Parallel()
	l, outer := listen(t), start(t)
	inner := l.dial()
	path, say := fifo(t)
	grid := `i=1; while [ $i -le 1000 ]; do printf '\033[%d;1H%04d|\033[%d;995H|%04d' $i $i $i $i; i=$((i+1)); done
printf '\033[500;500H日本\033[500;499H'; while read -r x <&3; do printf "$x"; done`
	s := inner.with(client.Config{Program: "sh", Args: []string{"-c", "exec 3<" + path + "; " + grid}, Rows: 1000, Cols: 1000})
	s.wait(cursorAt(499, 498)) // of the whole grid: no text is looked for while it is drawn, a million cells at each change
	want := s.snapshot("none")
	a := l.attach(outer, 24, 80, s.ID)
	a.wait(client.Regexp(`rows 477-500 of 1000, columns 459-538 of 1000`))
	window := func(row, col, top, left int) {
		t.Helper()
		a.wait(client.All(cursorAt(row-top, col-left), client.Text(fmt.Sprintf("rows %d-%d of 1000, columns %d-%d of 1000", top+1, top+24, left+1, left+80))))
		for y, line := range a.snapshot("none").Lines[:24] {
			whole := []rune(want.Lines[top+y])
			if len(whole) < 1000 { // wide characters: below
				continue
			}
			if part := strings.TrimRight(string(whole[left:left+80]), " "); line != part {
				t.Errorf("from row %d, column %d, line %d: %q, want %q", top, left, y, line, part)
			}
		}
	}
	window(499, 498, 476, 458)
	if got := a.snapshot("none").Lines[23]; strings.TrimSpace(got) != "日本" {
		t.Errorf("the cursor's row is %q", got)
	}
	for _, move := range []struct {
		row, col, top, left int
	}{
		{0, 0, 0, 0}, {23, 79, 0, 0}, {24, 80, 1, 40}, {999, 999, 976, 920}, {499, 460, 499, 420},
		{499, 540, 499, 500}, // its edge cuts a wide character in two
	} {
		say(fmt.Sprintf(`\033[%d;%dH`, move.row+1, move.col+1))
		window(move.row, move.col, move.top, move.left)
	}
	if got := a.snapshot("none").Lines[0]; !strings.HasPrefix(got, " 本") {
		t.Errorf("a character cut in two leaves %q", got)
	}
	a.text("\x1c\x1b[B\x1b[D\x1b")
	a.wait(client.Text("rows 512-535 of 1000, columns 461-540"))
	if got := s.snapshot("none"); !slices.Equal(got.Lines, want.Lines) || got.Size.Rows != 1000 || got.Size.Cols != 1000 {
		t.Errorf("looking at parts of the session has changed it: its size is %+v", got.Size)
	}

	small := inner.sized(5, 20, "sh", "-c", styled+"; sleep 1000")
	small.wait(client.Text("xxx"))
	b := l.attach(outer, 9, 40, small.ID)
	b.shows(small, 0, 0)
	if got := b.snapshot("none").Lines; got[4][20:] != "│" || got[5] != strings.Repeat("─", 20)+"┘" || got[8] != "" {
		t.Errorf("the border: %q", got)
	}
	// A terminal of the session's own size has no row for a status line, so a message disappears
	// after a while.
	self, _ := os.Executable()
	same := outer.with(client.Config{Program: self, Args: []string{"attach", "--socket", l.path, small.ID}, Rows: 5, Cols: 20})
	same.wait(client.Text("read-only"))
	same.wait(client.Matcher{Type: "not", Value: client.Text("read-only")})
	same.shows(small, 0, 0)
	same.resize(4, 10)
	same.wait(client.Regexp(`(?m)^ s2 `))
	same.shows(small, 2, 0)
}
