package vt_test

import (
	"path/filepath"
	"strings"
	"testing"

	xvt "github.com/charmbracelet/x/vt"

	"github.com/ptywright/ptywright/engine/vt"
)

// xvtDiffers are the golden cases in which x/vt shows another text, each with what it does instead.
// All others must agree, so that a change on either side is seen.
var xvtDiffers = map[string]string{
	"DEC Special Graphics in G0 (DEC STD 070)": "shows 0x5f as an underscore and other glyphs for the relations",
	"G1 with SO and SI":                        "designating G1 has no effect",
	"SS2 and SS3 take one character":           "single shifts have no effect",
	"LS2":                                      "the shift back to G0 has no effect",
	"UK":                                       "the UK set is not known",
	"DECSC keeps the sets":                     "character sets are not saved",
	"CUU, CUD, CUF, CUB count at least one (ECMA-48 8.3.18-22)":        "a count of 0 moves nowhere",
	"NEL and IND (ECMA-48 8.3.86, DEC)":                                "NEL is ignored",
	"a control inside of a sequence is executed at once (Williams)":    "the control is lost, and so are the parameters",
	"a private marker in the middle makes a sequence void":             "the sequence is executed",
	"IRM inserts (ECMA-48 7.2.10)":                                     "insert mode is ignored",
	"IRM with wide characters":                                         "insert mode is ignored",
	"REP (ECMA-48 8.3.103) wraps and repeats nothing behind a control": "repeats behind a control",
	"SL and SR (ECMA-48 8.3.121, 135)":                                 "not implemented",
	"DECIC and DECDC (VT420)":                                          "not implemented",
	"ED 1":                                                             "clears the cursor's row whole",
	"ED 3 drops the scrollback and nothing else (xterm)":               "clears the screen",
	"EL and ED with a pending wrap keep the last character and the pending wrap (xterm.js, tmux)": "erases the last character",
	"DECSED and DECSEL leave what DECSCA protects (VT510)":                                        "not implemented",
	"DECSED and DECSEL erase as ED and EL, with the background of the pen (xterm, xterm.js)":      "not implemented",
	"DECSTBM behind the last row is clamped":                                                      "the bottom margin is not clamped: worse input panics",
	"DECOM counts from the top margin and homes the cursor (VT510)":                               "the cursor is not homed",
	"also over a change of attributes and a cut":                                                  "the mark is lost",
	"at most 16 marks": "keeps any number",
	"zero-width space and joiners take no column":         "the zero-width space is dropped",
	"2027: widening in the last column moves the cluster": "the cluster is dropped",
	"DECALN fills with E, resets margins, homes (VT510)":  "not implemented",
	"DECCOLM clears and homes, the width stays":           "not implemented",
	"SCOSC and SCORC":                                                   "the cursor is not restored",
	"each screen has its own":                                           "mode 47 is ignored",
	"1049 does not home the cursor":                                     "it does",
	"47 and 1047 keep the cursor where it was":                          "mode 47 is ignored",
	"CSI T with five parameters is mouse highlighting and does nothing": "scrolls down",
	"what is not UTF-8 is U+FFFD, one for each part (Unicode D93b), and swallows nothing": "the byte behind is swallowed",
	"a character cut off by a sequence":                                                   "the sequence is shown as text",
	"C1 as single bytes are not UTF-8":                                                    "repeats the character before",
	"a character that does not fit goes to the next row whole":                            "the character is dropped",
	"the same in colour":                                                                  "the character is dropped",
	"erasing and deleting through halves":                                                 "deleting through a half takes its neighbour too",
	"in a single column nothing wide fits":                                                "wraps before dropping it",
	"reverse wraparound (45)":                                                             "not implemented",
	"1049 brings a pending wrap back":                                                     "the pending wrap is lost",
}

// TestAgainstXVT compares the text of the golden cases with x/vt. Cases with answers are left out,
// as x/vt blocks until somebody reads them; so are resizes, which it does not reflow, synchronized
// updates, which it does not hold back, and side margins and 1045, which it hardly knows.
func TestAgainstXVT(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	compared := 0
	for _, file := range files {
		for _, c := range readGolden(t, file) {
			if strings.Contains(file, "sides") || strings.Contains(c.in, "resize") || strings.Contains(c.shown.beside, "reply") ||
				strings.Contains(c.in, "?2026") || strings.Contains(c.in, "?1045") {
				continue
			}
			rows, cols, steps := c.input(t)
			other, ours := xvt.NewEmulator(cols, rows), vt.New(rows, cols, vt.Options{})
			for _, line := range steps {
				s := output(t, line)
				_, _ = other.Write([]byte(s))
				ours.Feed([]byte(s))
			}
			compared++
			a, b := strings.Join(ours.Snapshot().Lines(), "\n"), strings.Join(xvtLines(other, rows, cols), "\n")
			why, known := xvtDiffers[c.name]
			found[c.name] = true
			switch {
			case a != b && !known:
				t.Errorf("%s\n%s\nhere\n%s\nx/vt\n%s", c.name, c.in, a, b)
			case a == b && known:
				t.Errorf("%s: agrees with x/vt, although it is listed: %s", c.name, why)
			}
		}
	}
	for name := range xvtDiffers {
		if !found[name] {
			t.Errorf("%s: no such golden case", name)
		}
	}
	t.Logf("%d cases compared, %d differ", compared, len(xvtDiffers))
}

func xvtLines(e *xvt.Emulator, rows, cols int) []string {
	var out []string
	for y := range rows {
		var b strings.Builder
		for x := range cols {
			switch c := e.CellAt(x, y); {
			case c == nil || c.Content == "" && c.Width != 0:
				b.WriteByte(' ')
			default:
				b.WriteString(c.Content)
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return out
}
