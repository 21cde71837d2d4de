package vt

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/internal/lanes"
)

// replyForms are all answers that there are.
var replyForms = func() (out []*regexp.Regexp) {
	for _, s := range []string{
		`\x1b\[\?62;22c`,                        // DA1
		`\x1b\[>0;276;0c`,                       // DA2
		`\x1bP!\|00000000\x1b\\`,                // DA3
		`\x1b\[0n`,                              // DSR 5
		`\x1b\[\??\d+;\d+R`,                     // CPR, DECXCPR
		`\x1b\[\?(13|21|27;1;0;0)n`,             // DSR of printer, keys, keyboard
		`\x1b\[\?997;[12]n`,                     // DSR 996, mode 2031
		`\x1b\[\?\d+;[0-4]\$y`,                  // DECRQM, private
		`\x1b\[\d+;[0-4]\$y`,                    // DECRQM, ANSI
		`\x1bP>\|ptywright(\(1\.2\.3\))?\x1b\\`, // XTVERSION
		`\x1b\[\?\d+u`,                          // kitty keyboard
		`\x1b\[>4;[012]m`,                       // XTQMODKEYS
		`\x1b\[(4|6|8);\d+;\d+t`,                // sizes
		`\x1b\[48;\d+;\d+;\d+;\d+t`,             // mode 2048
		`\x1b\[[23];1;1;128;128;1;0x`,           // DECREQTPARM
		`\x1bP0\$r\x1b\\`,                       // DECRQSS, not known
		`\x1bP1\$r[0-9;:]*m\x1b\\`,              // SGR
		`\x1bP1\$r\d+;\d+[rs]\x1b\\`,            // DECSTBM, DECSLRM
		`\x1bP1\$r[0-6] q\x1b\\`,                // DECSCUSR
		`\x1bP1\$r(62;1"p|[01]"q|\d+t)\x1b\\`,   // DECSCL, DECSCA, DECSLPP
		`\x1b\]7501;\?\x1b\\`,                   // Program Status Protocol
		`\x1bP0\+r\x1b\\`,                       // XTGETTCAP, not known
		// XTGETTCAP: TN, name, Co, colors, RGB, Tc, each in lower or upper case
		`\x1bP1\+r(544e|544E|6e616d65|6E616D65)=787465726D2D323536636F6C6F72\x1b\\`,
		`\x1bP1\+r(436f|436F|636f6c6f7273|636F6C6F7273)=323536\x1b\\`,
		`\x1bP1\+r(524742=382F382F38|5463)\x1b\\`,
	} {
		out = append(out, regexp.MustCompile(`^(?:`+s+`)`))
	}
	// Colours: nothing but those of the themes.
	colour := func(c Color) string {
		r, g, b, _ := c.RGB()
		return fmt.Sprintf("rgb:%02x%02x/%02x%02x/%02x%02x(\x1b\\\\|\a)", r, r, g, g, b, b)
	}
	for _, theme := range []Theme{ThemeDark, ThemeLight} {
		for head, c := range map[string]Color{"10": theme.Foreground(), "11": theme.Background(), "12": theme.Cursor()} {
			out = append(out, regexp.MustCompile(`^\x1b\]`+head+";"+colour(c)))
		}
	}
	for i := range 256 {
		out = append(out, regexp.MustCompile(fmt.Sprintf(`^\x1b\]4;%d;`, i)+colour(PaletteColor(uint8(i)))))
	}
	return out
}()

// TestReplies holds each query against its answer.
func TestReplies(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"DA1", "\x1b[c", "\x1b[?62;22c"},
		{"DA1 with 0", "\x1b[0c", "\x1b[?62;22c"},
		{"DECID", "\x1bZ", "\x1b[?62;22c"},
		{"DA2", "\x1b[>c", "\x1b[>0;276;0c"},
		{"DA3", "\x1b[=c", "\x1bP!|00000000\x1b\\"},
		{"DSR", "\x1b[5n", "\x1b[0n"},
		{"CPR", "\x1b[3;7H\x1b[6n", "\x1b[3;7R"},
		{"CPR with a pending wrap", "\x1b[3;80Hx\x1b[6n", "\x1b[3;80R"},
		{"CPR in origin mode", "\x1b[5;10r\x1b[?6h\x1b[3;7H\x1b[6n", "\x1b[3;7R"},
		{"DECXCPR", "\x1b[3;7H\x1b[?6n", "\x1b[?3;7R"},
		{"DECRQM set", "\x1b[?7$p", "\x1b[?7;1$y"},
		{"DECRQM reset", "\x1b[?2026$p", "\x1b[?2026;2$y"},
		{"DECRQM not known", "\x1b[?9999$p", "\x1b[?9999;0$y"},
		{"DECRQM ANSI", "\x1b[4h\x1b[4$p\x1b[20$p\x1b[6$p", "\x1b[4;1$y\x1b[20;2$y\x1b[6;0$y"},
		{"DECRQSS SGR", "\x1b[1;4:3;38;5;200;48;2;1;2;3m\x1bP$qm\x1b\\", "\x1bP1$r0;1;4:3;38:5:200;48:2::1:2:3m\x1b\\"},
		{"DECRQSS DECSTBM", "\x1b[2;9r\x1bP$qr\x1b\\", "\x1bP1$r2;9r\x1b\\"},
		{"DECRQSS DECSCUSR", "\x1b[4 q\x1bP$q q\x1b\\", "\x1bP1$r4 q\x1b\\"},
		{"DECRQSS that is not known repeats nothing", "\x1bP$q\nwhoami\n\x1b\\", "\x1bP0$r\x1b\\"},
		{"XTVERSION", "\x1b[>q", "\x1bP>|ptywright\x1b\\"},
		{"kitty keyboard", "\x1b[>5u\x1b[?u\x1b[<u\x1b[?u", "\x1b[?5u\x1b[?0u"},
		{"XTQMODKEYS", "\x1b[>4;2m\x1b[?4m", "\x1b[>4;2m"},
		{"size in cells", "\x1b[18t", "\x1b[8;24;80t"},
		{"size in pixels is not known", "\x1b[14t\x1b[16t", ""},
		{"in-band size", "\x1b[?2048h", "\x1b[48;24;80;0;0t"},
		{"status protocol, unless the caller wants it", "\x1b]7501;?\x1b\\", ""},

		{"ENQ", "\x05", ""},
		{"title", "\x1b]2;; rm -rf /\x07\x1b[21t\x1b[20t", ""},
		{"colours that a program set", "\x1b]10;#123456\x07\x1b]10;?\x07",
			"\x1b]10;rgb:d8d8/d8d8/d8d8\x07"},
		{"other colours", "\x1b]5;0;?\x07\x1b]13;?\x07\x1b]17;?\x07\x1b]19;?\x1b\\", ""},
		{"font", "\x1b]50;?\x07", ""},
		{"clipboard", "\x1b]52;c;?\x07\x1b]52;;?\x1b\\", ""},
		{"XTGETTCAP repeats nothing", "\x1bP+q\nwhoami\n;77686f616d69\x1b\\",
			"\x1bP0+r\x1b\\\x1bP0+r\x1b\\"},
		{"DECRQCRA", "\x1b[1;1;1;1;1;1*y", ""},
		{"window state and position", "\x1b[11t\x1b[13t\x1b[19t", ""},
		{"resize and move", "\x1b[8;10;10t\x1b[3;1;1t\x1b[9;1t", ""},
		{"tmux control mode", "\x1bP1000p", ""},
		{"rxvt graphics", "\x1bGQ\x1b[u", ""},
		{"iTerm2 file", "\x1b]1337;ReportCellSize\x07", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got outcome
			got.feed(New(24, 80, Options{}), []byte(c.in))
			if string(got.reply) != c.want {
				t.Errorf("%q is answered %q, want %q", c.in, got.reply, c.want)
			}
			if s := verifyReply(got.reply); s != "" {
				t.Error(s)
			}
		})
	}
}

// TestProgramStatusIsAnsweredOnRequest of the caller only, with a constant, and a query is no
// report.
func TestProgramStatusIsAnsweredOnRequest(t *testing.T) {
	for _, on := range []bool{false, true} {
		var got outcome
		got.feed(New(24, 80, Options{ProgramStatus: on}), []byte("\x1b]7501;?\x07\x1b]7501;state=idle\x1b\\\x1b]7501;?x\x07"))
		want := ""
		if on {
			want = "\x1b]7501;?\x1b\\"
		}
		if string(got.reply) != want || len(got.events) != 2 || got.events[0].Text != "state=idle" {
			t.Errorf("with %v: answered %q, events %+v", on, got.reply, got.events)
		}
	}
}

// TestReplyBound: a program that asks without end gets 4 KiB of whole answers a Feed.
func TestReplyBound(t *testing.T) {
	term := New(24, 80, Options{})
	for range 3 {
		e := term.Feed([]byte(strings.Repeat("\x1b[c", lanes.Few(100_000, 10_000))))
		if len(e.Reply) > replyMax || len(e.Reply) < replyMax/2 {
			t.Errorf("%d bytes of answers", len(e.Reply))
		}
		if s := verifyReply(e.Reply); s != "" {
			t.Error(s)
		}
	}
}

// TestConformanceProfile: DECRQCRA is answered there, and only there.
func TestConformanceProfile(t *testing.T) {
	e := New(24, 80, Options{Profile: Conformance}).Feed([]byte("AB\x1b[7;1;1;1;1;2*y"))
	if want := "\x1bP7!~FF7D\x1b\\"; string(e.Reply) != want { // 0x10000 - 0x41 - 0x42
		t.Errorf("%q, want %q", e.Reply, want)
	}
}
