package native_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// screenOf is what a client has that applies frames: the text of each row.
type screenOf struct{ rows []string }

// apply does what docs/wire.md says of a frame.
func (s *screenOf) apply(t testing.TB, frame map[string]any) (told int) {
	t.Helper()
	var f struct {
		Full  bool
		Moved int
		Size  struct{ Rows int }
		Rows  []struct {
			Row  int
			Runs []struct{ Text string }
		}
	}
	data, _ := json.Marshal(frame)
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	if f.Full {
		s.rows = make([]string, f.Size.Rows)
	}
	s.rows = append(s.rows[f.Moved:], make([]string, f.Moved)...)
	for _, r := range f.Rows {
		s.rows[r.Row] = ""
		for _, run := range r.Runs {
			s.rows[r.Row] += run.Text
		}
	}
	return len(f.Rows)
}

// TestFrameMoves: rows that have scrolled are told as moved, and the client has the screen.
func TestFrameMoves(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.result("session.create", obj{"program": "fake", "rows": 6, "cols": 20})["session"].(string)
	p.Print("\x1b[31m1\r\n2\r\n3\r\n4\r\n5\r\n6")
	w.until(id, "6")
	var has screenOf
	frame := w.result("session.frame", obj{"session": id})
	has.apply(t, frame)
	if frame["first_line"] != 0.0 {
		t.Errorf("the first line is %v", frame["first_line"])
	}
	for _, x := range []struct {
		prints, until string
		first, moved  any
		told          int
	}{
		{"\r\n7\r\n8", "8", 2.0, 2.0, 2},
		{"\x1b[Hx\x1b[6;2H", "x", 2.0, nil, 1},                 // no line has left
		{"\r\n\r\n\r\n9", "9", 5.0, 3.0, 1},                    // blank rows come blank
		{strings.Repeat("\r\nfar", 20), "far", 25.0, nil, 6},   // nothing of it is left
		{"\x1b[1;3r\x1b[3;1H\r\nin\x1b[r", "in", 26.0, 1.0, 4}, // what is below has not moved
		{"\x1b[?1049h\x1b[2;1Hother", "other", 26.0, nil, 6},   // another screen
		{"\x1b[?1049l\x1b[6;1H\r\nback", "back", 27.0, 1.0, 6}, // and the first one
	} {
		p.Print(x.prints)
		w.until(id, x.until)
		frame = w.result("session.frame", obj{"session": id, "since": frame["sequence"], "moves": true})
		told := has.apply(t, frame)
		var whole screenOf
		other := w.result("session.snapshot", obj{"session": id})
		for _, l := range other["lines"].([]any) {
			whole.rows = append(whole.rows, l.(string))
		}
		if !reflect.DeepEqual(has, whole) {
			t.Errorf("after %q the client has %q, not %q", x.prints, has.rows, whole.rows)
		}
		if frame["first_line"] != x.first || frame["moved"] != x.moved || told > x.told {
			t.Errorf("%q: first line %v, moved %v, %d rows told; want %v, %v, %d",
				x.prints, frame["first_line"], frame["moved"], told, x.first, x.moved, x.told)
		}
	}
}

// TestRunsSayTheColumns: whoever draws a run knows the column of every character, without a table of
// widths.
func TestRunsSayTheColumns(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print("a日本b👍🏽e\u0301שלום กำ.")
	w.until(id, ".")
	row := at(w.result("session.frame", obj{"session": id})["rows"].([]any)[0], "runs").([]any)
	col, got := 0.0, ""
	for _, r := range row {
		r := r.(map[string]any)
		if r["col"] != float64(col) {
			t.Errorf("%v does not follow at %v", r, col)
		}
		col += r["cols"].(float64)
		n := float64(len([]rune(r["text"].(string))))
		if r["cluster"] == true {
			n = 1
		}
		got += fmt.Sprintf("%s:%v ", r["text"], r["cols"].(float64)/n)
	}
	if want := "a:1 日本:2 b:1 👍🏽:2 e\u0301:1 שלום กำ.:1 "; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestStyledScrollback: scrollback comes with its styles, hidden and counted as the text is.
func TestStyledScrollback(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.result("session.create", obj{"program": "fake", "rows": 3, "cols": 40})["session"].(string)
	p.Print("\x1b[1;32mgreen\x1b[m plain\r\n\x1b[33mpassword=s3cr3thunter2 \x1b[34mblue\x1b[m\r\n" +
		strings.Repeat("w", 45) + "\r\n日本\r\n\r\n\r\nend")
	w.until(id, "end")
	all := w.result("session.scrollback", obj{"session": id, "start": 0})
	styled := w.result("session.scrollback", obj{"session": id, "start": 0, "form": "runs"})
	for _, member := range []string{"start", "count", "total", "dropped"} {
		if all[member] != styled[member] {
			t.Errorf("%s: %v and %v", member, all[member], styled[member])
		}
	}
	if len(styled["lines"].([]any)) != 0 {
		t.Errorf("lines: %v", styled["lines"])
	}
	var colors, wrapped []any
	for i, row := range styled["rows"].([]any) {
		text := ""
		for _, r := range row.(map[string]any)["runs"].([]any) {
			text += r.(map[string]any)["text"].(string)
			if i < 2 {
				colors = append(colors, at(r, "style", "foreground"))
			}
		}
		if text != all["lines"].([]any)[i] {
			t.Errorf("line %d is %q, not %q", i, text, all["lines"].([]any)[i])
		}
		wrapped = append(wrapped, row.(map[string]any)["wrapped"])
	}
	if got := fmt.Sprint(colors); got != "[idx:2 default idx:3 default idx:3 idx:4]" {
		t.Errorf("the colours are %s", got)
	}
	if got := fmt.Sprint(wrapped); got != "[<nil> <nil> true <nil> <nil> <nil> <nil> <nil>]" {
		t.Errorf("wrapped are %s", got)
	}
	raw := w.result("session.scrollback", obj{"session": id, "start": 1, "count": 1, "form": "runs", "redact": false})
	if got := fmt.Sprint(raw["rows"]); !strings.Contains(got, "s3cr3thunter2") {
		t.Errorf("raw: %s", got)
	}
	w.fails("session.scrollback", obj{"session": id, "form": "ansi"}, -32602, "invalid_params")
}
