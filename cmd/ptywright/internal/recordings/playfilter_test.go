package recordings

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
)

// broken is what programs that are killed leave behind.
var broken = []string{
	"\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1004h\x1b[?1005h\x1b[?1006h\x1b[?1015h\x1b[?1016h", "\x1b[?9;2004h", "\x1b[?1049h\x1b[2;3r",
	"\x1b[?1;66h\x1b=", "\x1b[>31u\x1b[=1u\x1b[>4;2m", "\x1b[2;3r", "\x1b[2;3r\x1b[?6h", "\x1b[?69h\x1b[3;9s", "\x1b(0\x1b)0\x0e", "\x1b[?7l",
	"\x1b[?2026h", "\x1b[?2031;2048h", "\x1b[?25l\x1b[3 q", "\x1b[41;1;4m\x1b]8;;http://example.com\x1b\\", "\x1b[4;20h\x1b[?5h", "\x1b[?45;2027h",
	"\x1b[?47h", "\x1b[?1047h", "\x1b]4;1;#123456\x1b\\\x1b]11;#000\a", "\x1b[1\"q", "\x1b[", "\x1b]2;half", "\x1bP1$r", "\x1b", "\u009b",
}

func cast(t testing.TB, text ...string) *record.Recording {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"version":2,"width":20,"height":5}` + "\n")
	for _, s := range text {
		at := 0
		if s == "never" {
			at = 3600
		}
		line, err := json.Marshal([]any{at, "o", s})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	rec, err := record.Load(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// play plays a recording that nobody presses a key at.
func play(told <-chan os.Signal, w io.Writer, rec *record.Recording, speed float64, from time.Duration) error {
	return (&player{w: w, rec: rec, speed: speed}).play(told, nil, from)
}

// A recording leaves no mode on, whether it is played to its end, broken off, or cannot be written
// further.
func TestPlayLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	all := strings.Join(broken[:20], "")
	for _, text := range append(broken, all) {
		for name, play := range map[string]func(w *strings.Builder) error{
			"whole": func(w *strings.Builder) error { return play(nil, w, cast(t, "$ a\r\n"+text), 1, 0) },
			"from": func(w *strings.Builder) error {
				return play(nil, w, cast(t, "$ a\r\n"+text, "b"), 1, time.Second)
			},
			"stopped": func(w *strings.Builder) error {
				told := make(chan os.Signal, 1)
				told <- os.Interrupt
				if err := play(told, w, cast(t, "$ a\r\n"+text, "never"), 1, 0); err != cli.ExitCode(130) {
					t.Errorf("stopped: %v", err)
				}
				return nil
			},
			"write error": func(w *strings.Builder) error {
				if err := play(nil, &failSecond{w: w}, cast(t, "$ a\r\n"+text, "lost"), 1, 0); !errors.Is(err, errDisk) {
					t.Errorf("write error: %v", err)
				}
				return nil
			},
		} {
			var out strings.Builder
			if err := play(&out); err != nil {
				t.Fatal(err)
			}
			term := vt.New(5, 20, vt.Options{})
			if e := term.Feed([]byte(out.String())); len(e.Reply) > 0 {
				t.Errorf("%q, %s: the terminal answers %q", text, name, e.Reply)
			}
			fresh := vt.New(5, 20, vt.Options{}).Snapshot()
			if s := term.Snapshot(); s.Modes != fresh.Modes || s.Cursor.Visible != fresh.Cursor.Visible || s.Cursor.Shape != fresh.Cursor.Shape {
				t.Errorf("%q, %s: %+v %+v is left", text, name, s.Modes, s.Cursor)
			}
			term.Feed([]byte("\x1b[2J\x1b[H1\r\n2\r\n3\r\n4\r\n5\r\nqqqqqqqqqqqqqqqqqqqqq")) // no region, wrap, charset, insert, style
			s := term.Snapshot()
			if want := "3\n4\n5\n" + strings.Repeat("q", 21); s.Text() != want || s.Cell(4, 0).Style != (vt.Style{}) {
				t.Errorf("%q, %s: then %q is shown, style %+v", text, name, s.Text(), s.Cell(4, 0).Style)
			}
		}
	}
}

var errDisk = errors.New("no space")

// A failSecond takes the first event, and the end.
type failSecond struct {
	w *strings.Builder
	n int
}

func (f *failSecond) Write(p []byte) (int, error) {
	if f.n++; f.n == 2 {
		return 0, errDisk
	}
	return f.w.Write(p)
}

// What acts outside of the screen is not played, wherever events cut it.
func TestPlayKeepsToTheScreen(t *testing.T) {
	for _, secret := range []string{
		"\x1b]52;c;ZXZpbA==\a", "\x1b]52;c;ZXZpbA==\x1b\\", "\x1b]52;c;ZXZpbA==\u009c", "\u009d52;c;ZXZpbA==\a", "\x1b]052;c;ZXZpbA==\a", "\x1b]52;;\n\x05?\a",
		"\x1b]9;hello\a", "\x1b]777;notify;a;b\a", "\x1b]99;;x\x1b\\", "\x1b]1337;File=:AA\a", "\x1b]7;file:///\a", "\x1b]50;font\a", "\x1b]4;1;?\a", "\x1b]10;?\a",
		"\x1bPtmux;\x1b\x1b]52;c;ZXZpbA==\a\x1b\\", "\x1bP$qm\x1b\\", "\x1b_Gf=100,t=f;L2V0Yw==\x1b\\", "\x1b^x\x1b\\", "\x1bXx\x1b\\", "\x1bkname\x1b\\",
		"\x1b[c", "\x1b[>c", "\x1b[6n", "\x1b[?6n", "\x1b[21t", "\x1b[8;5;5t", "\x1b[5i", "\x1b[?1$p", "\x1b[>q", "\x1b[?u", "\x1b[2h", "\x1b[1;1;1;1;1;1*y", "\x1bZ", "\x05",
		"\x1b[?1000h", "\x1b[?1004;2004h", "\x1b[>1u", "\x1b=",
	} {
		for i := range len(secret) {
			var f playFilter
			got := f.play("a"+secret[:i]) + f.play(secret[i:]+"b")
			// Controls within a sequence act, as they do in a terminal.
			if got != "ab" {
				t.Errorf("%q cut at %d plays %q", secret, i, got)
			}
		}
	}
	for _, drawn := range []string{"\x1b[1;31mx\x1b[m", "\x1b[38:2::1:2:3m", "\x1b[?25l", "\x1b[?7;25l", "\x1b]2;title\x1b\\", "\x1b]8;id=1;http://a\x1b\\x\x1b]8;;\x1b\\", "日本é\u00a0",
		"\x1b[22;0t", "\x1b[2 q", "\x1b#8", "\x1b(0", "\x1b7\x1b8\x1bM", "\x1b[!p", "\x1b[1;1;2;2$z", "\x1b]11;#fff\x1b\\", "\x1b[5b", "\x1b[?2026h"} {
		if got := new(playFilter).play(drawn); got != drawn {
			t.Errorf("%q plays %q", drawn, got)
		}
	}
	if got := new(playFilter).play("\x1b[?1000;25;1006l\x1b[3\n1m"); got != "\x1b[?25l\n\x1b[31m" {
		t.Errorf("%q", got)
	}
}

// FuzzPlayFilter: any cut comes out the same, nothing is answered or asked for, and filtering again
// changes nothing.
func FuzzPlayFilter(f *testing.F) {
	for _, s := range broken {
		f.Add(s, 1, 2)
	}
	f.Add("\x1b]52;c;ZXZpbA==\u009c\u009b6n\xc2\x1b[?1;25h", 3, 9)
	f.Fuzz(func(t *testing.T, text string, i, j int) {
		text = strings.ToValidUTF8(text, "\uFFFD") // JSON is
		var whole, cut, again playFilter
		i, j = min(max(i, 0), len(text)), min(max(j, 0), len(text))
		i, j = min(i, j), max(i, j)
		want := whole.play(text)
		got := cut.play(text[:i]) + cut.play(text[i:j]) + cut.play(text[j:])
		if got != want || whole.end() != cut.end() {
			t.Fatalf("%q is played, whole %q", got, want)
		}
		if twice := again.play(want); twice != want {
			t.Fatalf("%q is played again as %q", want, twice)
		}
		if strings.Contains(want, "\x1b]52") || strings.Contains(want, "\x1bP") || strings.Contains(want, "\x1b_") || strings.Contains(want, "\u009d") {
			t.Fatalf("%q", want)
		}
		term := vt.New(5, 20, vt.Options{})
		if e := term.Feed([]byte(want)); len(e.Reply) > 0 {
			t.Fatalf("%q is answered %q", want, e.Reply)
		}
		term.Feed([]byte(whole.end()))
		fresh := vt.New(5, 20, vt.Options{}).Snapshot()
		if s := term.Snapshot(); s.Modes != fresh.Modes {
			t.Fatalf("%q leaves %+v", want, s.Modes)
		}
	})
}
