package native

import (
	stdjson "encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// The forms of cells as reflection encodes them: what the encoder by hand is held against.
type (
	plainCell struct {
		Row              int        `json:"row"`
		Col              int        `json:"col"`
		Text             string     `json:"text"`
		Wide             bool       `json:"wide"`
		WideContinuation bool       `json:"wide_continuation"`
		Style            styleShape `json:"style"`
	}
	plainLine struct {
		Wrapped bool           `json:"wrapped,omitempty"`
		Runs    []stretchShape `json:"runs"`
	}
	plainRun struct {
		Row   int        `json:"row"`
		Col   int        `json:"col"`
		Cols  int        `json:"cols"`
		Text  string     `json:"text"`
		Style styleShape `json:"style"`
	}
)

func plainStyle(s vt.Style) styleShape {
	p := styleShape{
		Foreground: s.Foreground.String(), Background: s.Background.String(),
		Bold: s.Bold, Dim: s.Dim, Italic: s.Italic, Underline: s.Underline != vt.UnderlineNone, Inverse: s.Inverse,
		Strike: s.Strike, Hidden: s.Hidden, Blink: s.Blink, Overline: s.Overline, Link: s.Link,
	}
	if p.Underline {
		p.UnderlineStyle = s.Underline.String()
	}
	if !s.UnderlineColor.IsDefault() {
		p.UnderlineColor = s.UnderlineColor.String()
	}
	return p
}

// checkScreen holds what the encoder writes for a screen against reflection, byte for byte, and
// against encoding/json.
func checkScreen(t interface {
	Helper()
	Fatalf(string, ...any)
}, s *vt.Screen) {
	t.Helper()
	same := func(what string, got []byte, want any) {
		t.Helper()
		reflected, err := json.Marshal(want, jsontext.AllowInvalidUTF8(true), v1.OmitEmptyWithLegacySemantics(true))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if string(got) != string(reflected) {
			t.Fatalf("%s:\ngot  %s\nwant %s", what, got, reflected)
		}
		if !stdjson.Valid(got) || !utf8.Valid(got) {
			t.Fatalf("%s is no JSON for encoding/json: %s", what, got)
		}
	}
	l := newLook(&engine.View{Screen: s}, nil, "full")
	cells, runs := []plainCell{}, []plainRun{}
	for y := range s.Rows {
		s.EachRun(y, func(r vt.Run) {
			runs = append(runs, plainRun{y, r.Col, r.Cols, r.Text, plainStyle(r.Style)})
		})
		ofRow := plainLine{s.Wrapped(y), []stretchShape{}}
		s.EachStretch(y, func(r vt.Stretch) {
			ofRow.Runs = append(ofRow.Runs, stretchShape{r.Cluster, r.Col, r.Cols, r.Text, plainStyle(r.Style)})
			chars := strings.Split(r.Text, "")
			if r.Cluster {
				chars = []string{r.Text}
			}
			for i, c := range chars {
				if col := r.Col + i*r.Cols/len(chars); s.Cell(y, col).Text != c && c != " " && utf8.ValidString(c) {
					t.Fatalf("row %d has %q in column %d, and %q in %+v", y, s.Cell(y, col).Text, col, c, r)
				}
			}
		})
		same("runs of a row", append(l.appendRowRuns([]byte{'{'}, y), '}'), ofRow)
		for x := range s.Cols {
			c := s.Cell(y, x)
			cells = append(cells, plainCell{y, x, c.Text, c.Wide, c.Continuation, plainStyle(c.Style)})
		}
	}
	same("cells", append(l.appendCells([]byte{'['}), ']'), cells)
	same("runs", append(l.appendRuns([]byte{'['}), ']'), runs)
	for _, form := range []string{"full", "runs", "none"} {
		l.cells = form
		var whole struct {
			PlainText string   `json:"plain_text"`
			Lines     []string `json:"lines"`
			Cells     []any    `json:"cells"`
		}
		if err := stdjson.Unmarshal(l.AppendJSON(nil), &whole); err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if whole.PlainText != s.Text() || !slices.Equal(whole.Lines, s.Lines()) {
			t.Fatalf("%s: %q and %q, want %q and %q", form, whole.PlainText, whole.Lines, s.Text(), s.Lines())
		}
		if want := map[string]int{"full": len(cells), "runs": len(runs)}[form]; len(whole.Cells) != want {
			t.Fatalf("%s: %d cells, want %d", form, len(whole.Cells), want)
		}
	}
}

// styled is output that has every style, width and kind of character.
var styled = []string{
	"a", "word ", "\"", `\`, "é", "漢字", "👩‍👩‍👧", "e\u0301", "\u2028", "\x7f", "<&>", "\r\n", "\t", "\b", "\x1b[2;3H", "\x1b[K", "\x1b[m",
	"\x1b[1m", "\x1b[2m", "\x1b[3m", "\x1b[4m", "\x1b[4:3m", "\x1b[21m", "\x1b[5m", "\x1b[7m", "\x1b[8m", "\x1b[9m", "\x1b[53m",
	"\x1b[31m", "\x1b[97m", "\x1b[38;5;200m", "\x1b[48;2;1;20;255m", "\x1b[58;5;9m", "\x1b[58:2::1:2:3m",
	"\x1b]8;;https://x.example/?a=\"b\"\x1b\\", "\x1b]8;;\x1b\\", "\x1b[?1049h", "\x1b[?7l", "\x1b[?7h",
}

func TestCellsAsReflectionHasThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		term := vt.New(rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(1, 20).Draw(t, "cols"), vt.Options{})
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(styled), 0, 60).Draw(t, "pieces") {
			term.Feed([]byte(p))
		}
		checkScreen(t, term.Snapshot())
	})
}

func FuzzCells(f *testing.F) {
	f.Add([]byte(strings.Join(styled, "")))
	f.Add([]byte("plain\xff\xfe text\r\n\x1b[31;1mred\x1b[m"))
	f.Fuzz(func(t *testing.T, output []byte) {
		if len(output) > 4<<10 {
			t.Skip()
		}
		term := vt.New(5, 17, vt.Options{})
		term.Feed(output)
		checkScreen(t, term.Snapshot())
	})
}

// FuzzString holds strings against both packages that read and write JSON by reflection.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a", "\"", "\n", "a\nb", "eight ok", "eight\x7fok nine\x80", "\x00\x1f\u2028\uffff", "plain text\ttab\n\n漢\xff字", strings.Repeat("x", 100) + `"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, _ := jsontext.AppendQuote(nil, s) // of bytes that are not UTF-8 it makes U+FFFD, and says so
		for what, got := range map[string][]byte{"string": appendString(nil, ``, s), "bytes": appendString(nil, ``, []byte(s))} {
			if string(got) != string(want) {
				t.Fatalf("%s %q: %s, want %s", what, s, got, want)
			}
			var back string
			if err := stdjson.Unmarshal(got, &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
				t.Fatalf("%s %q comes back as %q, %v", what, s, back, err)
			}
		}
	})
}
