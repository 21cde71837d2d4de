package vt

import (
	"bytes"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

// seeds are inputs with a name: what once broke a terminal, and one of each class of sequence.
var seeds = map[string]string{
	"plain":                                 "hello\r\nworld\t!\x07\b\x0b\x0c\x0e\x0f",
	"DECSTBM behind the last row":           "\x1b[1;999r\x1b[S\x1b[T\x1b[L\x1b[M\x1b[999;1H\n\n\n",
	"margins, then shrink":                  "\x1b[3;20r\x1b[20;1H\n\n\x1b[5;1H\x1bM\x1bM",
	"REP without end":                       "a\x1b[99999999b\x1b[b",
	"CHT without end":                       "\x1b[1073741824I\x1b[99999Z",
	"colon SGR (CVE-2020-27347)":            "\x1b[4:" + strings.Repeat("1:", 200) + "m\x1b[38:2:1:2:3:4:5:6:7m",
	"null pointer in tmux (CVE-2022-47016)": "\x1b]0;" + strings.Repeat("x", 5000) + "\x07\x1bk\x1b\\",
	"title reported (CVE-2003-0063)":        "\x1b]2;; rm -rf /\x07\x1b[21t\x1b[20t",
	"title stack":                           strings.Repeat("\x1b[22;0t", 30) + strings.Repeat("\x1b[23;0t", 40),
	"DECRQSS repeats (CVE-2008-2383)":       "\x1bP$q\nwhoami\n\x1b\\\x1bP$qm\x1b\\\x1bP$qr\x1b\\\x1bP$q q\x1b\\\x1bP$qx;y\x1b\\",
	"font query (CVE-2022-45063)":           "\x1b]50;?\x1b\\\x1b]50;i$(x)\x07",
	"colour queries":                        "\x1b]4;1;?\x07\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]12;?\x07",
	"rxvt graphics query (CVE-2021-33477)":  "\x1bGQ\x1b[5;999u",
	"tmux control mode (CVE-2019-9535)":     "\x1bP1000p%begin 1 1 1\n%output %1 x\x1b\\\x1b]1337;File=:AAAA\x07",
	"clipboard":                             "\x1b]52;c;?\x07\x1b]52;c;aGVsbG8=\x1b\\\x1b]52;;YQBiChtjDQpk4oCu\x07\x1b]52;c;!\x07\x1b]52;ps;==\x07\x1b]52;c;aGVs\x18x",
	"kitty graphics":                        "\x1b_Gf=24,s=10,v=10;AAAA\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\",
	"XTGETTCAP":                             "\x1bP+q544e;436F;zz;\x1b\\\x1bP+p\x1b\\\x1bP+q52\x18\x1bP+q524742\x07\x1b\\",
	"palette":                               "\x1b]4;1;?;300;?;7;#fff;255;?\x07\x1b]10;?;?;?;?\x1b\\\x1b]11;red\x07\x1b]111\x07\x1b[?996n\x1b[?2031h\x1b[?2031$p",
	"sized text":                            "\x1b[?69h\x1b[3;9s\x1b]66;s=2:w=1;日e\u0301 abcdefgh\x07\x1b[3b\x1b]66;;\xff\r\n\x1b\\\x1b]66;x",
	"screen's title":                        "\x1bkvi\x1b\\x\x1bkab\x07c\r\nd\x1b[3;3Hy\x1bkz\x18w",
	"VS15":                                  "\x1b[?2027h⌚\ufe0ex\x1b[1;19H⌚\ufe0e\x1b[1;18H\x1b[@\x1b[2;20H⌚\ufe0e日\ufe0e🦀\ufe0e",
	"ENQ and queries":                       "\x05\x1b[c\x1b[>c\x1b[=c\x1b[5n\x1b[6n\x1b[?6n\x1b[?u\x1b[>q\x1b[18t\x1b[14t\x1b[x\x1b[?2026$p\x1b[4$p\x1b[?9999$p",
	"strings cut off":                       "\x1b]0;abc\x18d\x1bPq\x1adef\x1b]2;x\x1b[31mred",
	"C0 inside of a sequence":               "\x1b[3\r\n1mX\x1b[2\x1b[32mY\x1b[\x7f1mZ",
	"sequence cut by text":                  "\x1b[12é\x1b(é\x1b[1;2;3",
	"8-bit controls":                        "a\x9b31mb\xc2\x9b32mc\x85d\xc2\x85e",
	"invalid UTF-8":                         "a\xe6\x97Xb\xffc\xc0\x80d\xed\xa0\x80e\xf4\x90\x80\x80f\xf0\x9f\x98",
	"wide at the edge":                      "0123456789012345678日本語\x1b[1;20H한\x1b[1;19H한x\x1b[1;18H\x1b[P\x1b[@",
	"combining":                             "e\u0301\x1b[31m\u0302\u0303" + strings.Repeat("\u0304", 40) + "\r\u0301x",
	"ZWJ and flags":                         "\x1b[?2027h👩\u200d👩\u200d👧🇩🇪🇯🇵👍🏽❤\ufe0f\u1100\u1161\u11a8क्ष\x1b[?2027l👩\u200d👩🇩🇪",
	"VS16 in the last column":               "\x1b[?2027h\x1b[1;20H❤\ufe0f\x1b[2;19H❤\ufe0fx\x1b[3;20H🇩🇪",
	"alternate screens":                     "main\x1b[?1049halt\x1b[?1049l\x1b[?47h\x1b[44m\x1b[2J\x1b[?47l\x1b[?1047h\x1b[?1048h\x1b[?1047l",
	"synchronized update":                   "a\x1b[?2026hb\r\nc\x1b[2Jd\x1b[?1049he\x1b[?2026l\x1b[?2026hf",
	"links":                                 "\x1b]8;id=1;http://a\x1b\\x\x1b]8;;\x07y\x1b]8;;http://b\x07" + "日\x1b[58:5:3mz\n",
	"insert, delete, erase":                 "abcdefghij\r\x1b[4h12\x1b[4l\x1b[3C\x1b[2P\x1b[2@\x1b[3X\x1b[1K\x1b[J\x1b[41m\x1b[K\x1b[1J\x1b[2J",
	"scrolling":                             "1\n2\n3\n4\n5\n6\n7\n8\n9\x1b[2S\x1b[3T\x1bM\x1b[2;4r\x1b[L\x1b[2M\n\n\n\x1b[S\x1b[r\x1b#8\x1b[5S",
	"columns":                               "abcdef\x1b[2 @\x1b[3 A\x1b[2'}\x1b['~",
	"selective erase":                       "\x1b[1\"qkeep\x1b[\"qgo日\x1b[?K\x1b[?1J\x1b[?2J",
	"marks":                                 "\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07out\r\n\x1b]133;D;1\x07\x1b]633;E;ls;nonce\x07\x1b]633;P;Cwd=/x\\x3b\\\\y\x07\x1b[?2026h\x1b]133;A\x07\x1b[?2026l\x1b]7;file://h/x\x07\x1b]9;4;1;50\x07\x1b]9;hi\x07\x1b]7501;state=idle\x1b\\\x1b]7501;?\x1b\\",
	"keyboard":                              "\x1b[>1u\x1b[>31u\x1b[?u\x1b[<u\x1b[=5;2u\x1b[=1;3u\x1b[<99u\x1b[>4;2m\x1b[?4m\x1b[>4n\x1b[?1h\x1b=",
	"modes saved":                           "\x1b[?1;7;25;1000;1049s\x1b[?1h\x1b[?7l\x1b[?1003h\x1b[?1049h\x1b[?1;7;25;1000;1049r",
	"reset":                                 "\x1b[5;10r\x1b[?6h\x1b[31mx\x1b[!p\x1bc\x1b[3J",
	"tabs":                                  "\x1b[3g\x1b[5C\x1bH\r\t\x1b[I\x1b[Z\x1b[?5W\t",
	"reverse wrap":                          "\x1b[?45h01234567890123456789x\b\b\b\b",
	"many parameters":                       "\x1b[" + strings.Repeat("1;", 300) + "1m\x1b[" + strings.Repeat("9", 300) + "C\x1b[?" + strings.Repeat("2004;", 40) + "h",
	"half of a character behind the margin": "\x1b[4G本x\x1b[?69h\x1b[1;4s\x1b[4G日",
	"pattern rows on two screens":           "\x1b#8\x1b[?47hx\x1b[?47l\x1b[2S",
	"work that runs out":                    strings.Repeat("\x1b#8\x1b['~", 300) + strings.Repeat("é", 480) + "\x1b[31m\x1b[H\x1b#8\x1b['~",
	"marks of no character":                 "\u0301x\x1b#8\r\u0301\x1b[S",
	"VS16 over what was written":            "\x1b[?2027h\x1b[0;20H0\x1b[;19H0\ufe0f0",
	"in-band size":                          "\x1b[?2048h\x1b[8;99;99t",
}

func addSeeds(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), uint16(1), uint8(6), uint8(20))
	}
}

// outcome is all that came of feeding a terminal.
type outcome struct {
	reply  []byte
	events []Event
	bell   int
}

func (o *outcome) feed(t *Terminal, p []byte) {
	e := t.Feed(p)
	o.reply = append(o.reply, e.Reply...)
	o.events = append(o.events, e.Events...)
	o.bell += e.Bell
}

// checkChunks feeds data whole, byte by byte and in random pieces, and says what differs.
func checkChunks(data []byte, seed int64, rows, cols int) string {
	whole := New(rows, cols, Options{Scrollback: 50, ProgramStatus: true})
	var want outcome
	want.feed(whole, data)
	if s := verify(whole); s != "" {
		return "fed whole: " + s
	}
	if s := verifyReply(want.reply); s != "" {
		return s
	}
	rnd := rand.New(rand.NewSource(seed))
	for _, how := range []string{"byte by byte", "in pieces"} {
		term := New(rows, cols, Options{Scrollback: 50, ProgramStatus: true})
		var got outcome
		var last *Screen
		var text string
		for p := data; len(p) > 0; {
			n := 1
			if how == "in pieces" {
				n = 1 + rnd.Intn(min(len(p), 40))
			}
			got.feed(term, append([]byte(nil), p[:n]...))
			p = p[n:]
			if s := verify(term); s != "" {
				return "fed " + how + ": " + s
			}
			// Snapshots in between share rows; what was taken before must not change.
			if rnd.Intn(8) == 0 {
				if last != nil && show(last) != text {
					return "fed " + how + ": a snapshot has changed"
				}
				last = term.Snapshot()
				text = show(last)
			}
		}
		term.Release()
		whole.Release()
		if d := diffScreens(whole.Snapshot(), term.Snapshot()); d != "" {
			return "fed " + how + ": " + d
		}
		if len(want.reply) < replyMax-256 && !bytes.Equal(want.reply, got.reply) {
			return fmt.Sprintf("fed %s: replies %q, want %q", how, got.reply, want.reply)
		}
		if len(want.events) < eventsMax && !reflect.DeepEqual(want.events, got.events) || want.bell != got.bell {
			return fmt.Sprintf("fed %s: events %+v, want %+v", how, got.events, want.events)
		}
	}
	return ""
}

// FuzzChunks: any cutting of any input gives the same screen, answers and events.
func FuzzChunks(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, seed uint16, rows, cols uint8) {
		if len(data) > 4096 {
			return
		}
		if s := checkChunks(data, int64(seed), int(rows%60), int(cols%200)); s != "" {
			t.Error(s)
		}
	})
}

// FuzzResize: any input with any resizes in between keeps the invariants, and snapshots taken
// before do not change.
func FuzzResize(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, seed uint16, rows, cols uint8) {
		if len(data) > 4096 {
			return
		}
		rnd := rand.New(rand.NewSource(int64(seed)))
		term := New(int(rows%60), int(cols%200), Options{Scrollback: 50})
		for p := data; len(p) > 0; {
			n := 1 + rnd.Intn(len(p))
			term.Feed(p[:n])
			p = p[n:]
			before := term.Snapshot()
			text := show(before)
			term.Resize(rnd.Intn(40), rnd.Intn(60), rnd.Intn(3)*100, 0)
			if s := verify(term); s != "" {
				t.Fatal(s)
			}
			if show(before) != text {
				t.Fatal("a snapshot has changed")
			}
		}
	})
}

// FuzzDump: painting what a screen shows gives the same screen.
func FuzzDump(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, _ uint16, rows, cols uint8) {
		if len(data) > 4096 {
			return
		}
		term := New(int(rows%60), int(cols%200), Options{})
		term.Feed(data)
		term.Release()
		want := term.Snapshot()
		again := New(want.Rows, want.Cols, Options{})
		again.Feed(dump(want))
		got := again.Snapshot()
		for y := range want.Rows {
			for x := range want.Cols {
				a, b := want.Cell(y, x), got.Cell(y, x)
				for _, c := range []*Cell{&a, &b} {
					if c.Text == "" && !c.Continuation {
						c.Text = " " // an erased cell looks like a space
					}
				}
				if a != b {
					t.Fatalf("cell %d,%d is %+v, want %+v", y, x, b, a)
				}
			}
		}
	})
}

// verifyReply says what in the answers is not of the closed grammar.
func verifyReply(p []byte) string {
	for len(p) > 0 {
		n := 0
		for _, form := range replyForms {
			if m := form.FindIndex(p); m != nil && m[1] > n {
				n = m[1]
			}
		}
		if n == 0 {
			return fmt.Sprintf("%q is not an answer that the terminal gives", p)
		}
		p = p[n:]
	}
	return ""
}
