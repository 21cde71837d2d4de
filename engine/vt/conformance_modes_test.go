package vt

import (
	"fmt"
	"testing"
)

// TestConformanceScreens is about the alternate screen.
func TestConformanceScreens(t *testing.T) {
	const source = "xterm ctlseqs, The Alternate Screen Buffer"
	conformance(t,
		group{name: "47", source: source, before: "ab\r\ncd", checks: []check{
			{name: "shows another screen, the cursor stays", in: "␛[?47h", at: "2,3", modes: "alt"},
			{name: "the main one comes back, the cursor stays", in: "␛[?47h␛[4;5Hx␛[?47l", at: "4,6", screen: "ab|cd"},
			{name: "what was on the alternate one is still there", in: "␛[?47h␛[1;1Hxy␛[?47l␛[?47h", at: "1,3", screen: "xy", modes: "alt"},
			{name: "set twice", in: "␛[?47hx␛[?47h", at: "2,4", screen: "|  x", modes: "alt"},
			{name: "reset twice", in: "␛[?47hx␛[?47l␛[?47l", at: "2,4", screen: "ab|cd"},
			{name: "attributes go on", in: "␛[?47h␛[1mx␛[?47ly", at: "2,5", screen: "ab|cd y", style: "2,4+1 bold"},
			{name: "1049 finds it blank", in: "␛[?47hxy␛[?47l␛[?1049h", at: "2,5", modes: "alt"},
			{name: "RIS leaves nothing on it", in: "␛[?47hxy␛[?47l␛c␛[?47h", at: "1,1", modes: "alt"},
			{name: "scrolling off it is gone", in: "␛[?47h␛[6;1Hx\n\n\n\n\n\n", history: "-"},
			{name: "DECRQM", in: "␛[?47$p␛[?47h␛[?47$p", at: "2,3", reply: "␛[?47;2$y␛[?47;1$y"},
		}},
		group{name: "1047", source: source, before: "ab\r\ncd", checks: []check{
			{name: "shows another screen, the cursor stays", in: "␛[?1047h", at: "2,3", modes: "alt"},
			{name: "the main one comes back, the cursor stays", in: "␛[?1047h␛[4;5Hx␛[?1047l", at: "4,6", screen: "ab|cd"},
			{name: "leaving clears the alternate one", in: "␛[?1047hx␛[?1047l␛[?47h", at: "2,4", modes: "alt"},
			{name: "entering does not", in: "␛[?47h␛[1;1Hxy␛[?47l␛[?1047h", at: "1,3", screen: "xy", modes: "alt"},
			{name: "DECRQM", in: "␛[?1047$p␛[?1047h␛[?1047$p", at: "2,3", reply: "␛[?1047;2$y␛[?1047;1$y"},
		}},
		group{name: "1049", source: source, before: "ab\r\ncd", checks: []check{
			{name: "shows a blank screen, the cursor stays", in: "␛[?1049h", at: "2,3", modes: "alt"},
			{name: "the main one comes back with its cursor", in: "␛[?1049h␛[4;5Hx␛[?1049l", at: "2,3", screen: "ab|cd"},
			{name: "blank the second time", in: "␛[?1049hx␛[?1049l␛[?1049h", at: "2,3", modes: "alt"},
			{name: "attributes come back", in: "␛[1m␛[?1049h␛[m␛[?1049lx", screen: "ab|cdx", style: "2,3+1 bold"},
			{name: "those of the alternate screen do not stay", in: "␛[?1049h␛[1m␛[?1049lx", screen: "ab|cdx"},
			{name: "character sets come back", in: "␛[?1049h␛(0␛[?1049lq", screen: "ab|cdq"},
			{name: "origin mode comes back", in: "␛[?1049h␛[2;4r␛[?6h␛[?1049l␛[H", at: "1,1", screen: "ab|cd"},
			{name: "set twice", in: "␛[?1049hx␛[?1049hy␛[?1049l", at: "2,3", screen: "ab|cd"},
			{name: "no scrollback of it", in: "␛[?1049h\n\n\n\n\n\n\n\n␛[S␛[?1049l", at: "2,3", screen: "ab|cd", history: "-"},
			{name: "left by RIS", in: "␛[?1049hx␛c", at: "1,1"},
			{name: "not left by DECSTR", in: "␛[?1049hx␛[!p", at: "2,4", screen: "|  x", modes: "alt"},
			{name: "DECRQM", in: "␛[?1049$p␛[?1049h␛[?1049$p", at: "2,3", reply: "␛[?1049;2$y␛[?1049;1$y"},
		}},
		group{name: "shared by both screens", source: "xterm, tmux", before: "ab\r\ncd", checks: []check{
			{name: "margins", in: "␛[2;4r␛[?47h␛[4;1Hx\n", at: "4,2", screen: "||x", modes: "alt"},
			{name: "tab stops", in: "␛[1;5H␛H␛[?47h\r\t", at: "1,5"},
			{name: "modes", in: "␛[4h␛[?47h␛[4$p", reply: "␛[4;1$y"},
			{name: "the title", in: "␛]2;t\a␛[?1049h", title: `"t"`},
		}},
	)
}

// TestConformanceAlternateResized: what 47 keeps is cut or padded with the screen, and whole when
// there is room again.
func TestConformanceAlternateResized(t *testing.T) {
	term := New(4, 10, Options{})
	term.Feed([]byte("main\x1b[?47h\x1b[Habcdefghij\r\n日日日日日\r\nx\r\ny\x1b[?47l"))
	for _, size := range [][2]int{{3, 9}, {5, 12}} {
		term.Resize(size[0], size[1], 0, 0)
		if s := verify(term); s != "" {
			t.Fatal(s)
		}
	}
	term.Feed([]byte("\x1b[?47h"))
	if got, want := fmt.Sprintf("%q", term.Snapshot().Lines()), `["abcdefghij" "日日日日日" "x" "" ""]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	term.Feed([]byte("z\x1b[?47l"))
	if got := term.Snapshot().Lines()[0]; got != "main" {
		t.Errorf("the main screen shows %q", got)
	}
	if s := verify(term); s != "" {
		t.Error(s)
	}
}

// TestConformanceReset is about the soft and the hard reset.
func TestConformanceReset(t *testing.T) {
	conformance(t,
		group{name: "DECSTR", source: "VT510 DECSTR: table of settings; autowrap as in xterm", checks: []check{
			{name: "the screen and the cursor stay", in: "ab␛[3;4H␛[!p", at: "3,4", screen: "ab"},
			{name: "the cursor is shown", in: "␛[?25l␛[!p␛[?25$p", reply: "␛[?25;1$y"},
			{name: "replace mode", in: "␛[4h␛[!p␛[4$p", reply: "␛[4;2$y"},
			{name: "no origin mode", in: "␛[3;5r␛[?6h␛[!p␛[H", at: "1,1"},
			{name: "autowrap", in: "␛[?7l␛[!p␛[?7$p", reply: "␛[?7;1$y"},
			{name: "normal cursor keys", in: "␛[?1h␛[!p␛[?1$p", reply: "␛[?1;2$y"},
			{name: "numeric keypad", in: "␛=␛[!p␛[?66$p", reply: "␛[?66;2$y"},
			{name: "margins", in: letters + "␛[2;4r␛[!p␛[6H\n", at: "6,1", screen: "BBBBB|CCCCC|DDDDD|EEEEE|FFFFF"},
			{name: "character sets", in: "␛(0␛)0\x0e␛[!pq", screen: "q"},
			{name: "attributes", in: "␛[1;31m␛[!px", screen: "x"},
			{name: "protection", in: "␛[1\"q␛[!px␛[?2J"},
			{name: "the saved cursor", in: "␛[3;4H␛7␛[!p␛8", at: "1,1"},
			{name: "not LNM", in: "␛[20h␛[!p␛[20$p", reply: "␛[20;1$y"},
			{name: "not bracketed paste", in: "␛[?2004h␛[!p␛[?2004$p", reply: "␛[?2004;1$y"},
			{name: "not the mouse", in: "␛[?1000h␛[!p␛[?1000$p", reply: "␛[?1000;1$y"},
			{name: "not the title", in: "␛]2;t\a␛[!p", title: `"t"`},
			{name: "not the scrollback", in: "a␛[6;1H\n␛[!p", history: "a"},
		}},
		group{name: "RIS", source: "ECMA-48 8.3.105; VT510 RIS", checks: []check{
			{name: "clears and homes", in: "ab␛[3;4H␛c", at: "1,1"},
			{name: "in the default background", in: "␛[41m␛[2J␛c", at: "1,1"},
			{name: "attributes", in: "␛[1;31m␛cx", screen: "x"},
			{name: "margins", in: "␛[3;5r␛c␛[5;1Hx\n", at: "6,2", screen: "||||x"},
			{name: "origin mode", in: "␛[3;5r␛[?6h␛c␛[2;1H␛[6n", at: "2,1", reply: "␛[2;1R"},
			{name: "tab stops", in: "␛[3g␛[1;4H␛H␛c\t", at: "1,9"},
			{name: "character sets", in: "␛(0␛)0\x0e␛cq", screen: "q"},
			{name: "the saved cursor", in: "␛[3;4H␛7␛c␛[2;2H␛8", at: "1,1"},
			{name: "the main screen", in: "␛[?1049h␛c", at: "1,1"},
			{name: "modes", in: "␛[4h␛[20h␛[?1;5;6;45;67;1003;1004;1006;2004;2027;2048h␛[?7;25;1007l␛=␛[>5u␛[>4;2m␛[3 q␛c" +
				"␛[4$p␛[?7$p␛[?25$p␛[?66$p␛[?u␛[?4m␛P$q q␛\\",
				reply: "␛[48;6;10;0;0t␛[4;2$y␛[?7;1$y␛[?25;1$y␛[?66;2$y␛[?0u␛[>4;0m␛P1$r0 q␛\\"},
			{name: "the title stack", in: "␛]2;t\a␛[22t␛c␛]2;u\a␛[23t", title: `"u"`},
			{name: "the link", in: "␛]8;;http://x\a␛cx", screen: "x"},
			{name: "the scrollback", in: "a␛[6;1H\n␛c", history: "-"},
			{name: "the character for REP", in: "a␛c␛[3b"},
			{name: "a synchronized update", in: "␛[?2026hab␛c␛[?2026$p", reply: "␛[?2026;2$y"},
		}},
	)
}

// TestConformanceModeReports: DECRQM (VT510) answers for each mode that is known what it was set
// to.
func TestConformanceModeReports(t *testing.T) {
	ask := func(term *Terminal, in string) string { return string(term.Feed([]byte(in)).Reply) }
	// As after power-on: what xterm's manual gives as the default.
	set := map[int]bool{7: true, 25: true, 1007: true}
	for _, m := range decModes {
		term := New(6, 10, Options{})
		query := fmt.Sprintf("\x1b[?%d$p", m.number)
		answer := func(state int) string { return fmt.Sprintf("\x1b[?%d;%d$y", m.number, state) }
		want := 2
		if set[m.number] {
			want = 1
		}
		if got := ask(term, query); got != answer(want) {
			t.Errorf("%d at first: %q", m.number, got)
		}
		for _, c := range []struct {
			final string
			state int
		}{{"h", 1}, {"h", 1}, {"l", 2}, {"l", 2}, {"h", 1}} {
			if m.number == 1048 && c.final == "l" {
				continue // it stays saved
			}
			ask(term, fmt.Sprintf("\x1b[?%d%s", m.number, c.final))
			if got := ask(term, query); got != answer(c.state) {
				t.Errorf("%d after %s: %q", m.number, c.final, got)
			}
		}
	}
	for modes, format := range map[*map[int]bool]string{&fixedModes: "\x1b[?%d", &fixedANSIModes: "\x1b[%d"} {
		for number, set := range *modes {
			state := 4
			if set {
				state = 3
			}
			mode := fmt.Sprintf(format, number)
			for _, in := range []string{"", mode + "h", mode + "l"} {
				if got := ask(New(6, 10, Options{}), in+mode+"$p"); got != fmt.Sprintf("%s;%d$y", mode, state) {
					t.Errorf("%q: %q, want %d", in+mode+"$p", got, state)
				}
			}
		}
	}
	for in, want := range map[string]string{
		"\x1b[?9999$p": "\x1b[?9999;0$y", "\x1b[?$p": "\x1b[?0;0$y", "\x1b[$p": "\x1b[0;0$y", "\x1b[6$p": "\x1b[6;0$y",
		"\x1b[?1;7$p": "\x1b[?1;2$y", "\x1b[>1$p": "", "\x1b[1$q": "",
	} {
		if got := ask(New(6, 10, Options{}), in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestConformanceModes is about how modes are set, and those that shut each other out.
func TestConformanceModes(t *testing.T) {
	conformance(t,
		group{name: "SM and RM", source: "ECMA-48 8.3.125, 106", checks: []check{
			{name: "several at once", in: "␛[4;20h␛[4$p␛[20$p", reply: "␛[4;1$y␛[20;1$y"},
			{name: "unknown ones among them", in: "␛[4;99;20h␛[4$p␛[20$p␛[99$p", reply: "␛[4;1$y␛[20;1$y␛[99;0$y"},
			{name: "none", in: "␛[h␛[l"},
			{name: "ANSI 7 is not DECAWM", in: "␛[7l␛[?7$p", reply: "␛[?7;1$y"},
			{name: "DEC 4 is not IRM", in: "␛[?4h␛[4$p", reply: "␛[4;2$y"},
		}},
		group{name: "DECSET and DECRST", source: "VT510 DECSET; xterm ctlseqs", checks: []check{
			{name: "several at once", in: "␛[?1;2004h", modes: "app-cursor paste"},
			{name: "unknown ones among them", in: "␛[?1;9999;2004h", modes: "app-cursor paste"},
			{name: "none", in: "␛[?h␛[?l"},
			{name: "keypad", in: "␛=", modes: "app-keypad"},
			{name: "keypad by 66", in: "␛[?66h", modes: "app-keypad"},
			{name: "keypad off", in: "␛=␛>␛[?66$p", reply: "␛[?66;2$y"},
		}},
		group{name: "the mouse", source: "xterm ctlseqs, Mouse Tracking", checks: []check{
			{name: "X10", in: "␛[?9h", modes: "mouse=x10"},
			{name: "presses and releases", in: "␛[?1000h", modes: "mouse=vt200"},
			{name: "drags", in: "␛[?1002h", modes: "mouse=drag"},
			{name: "all motion", in: "␛[?1003h", modes: "mouse=any"},
			{name: "the last one counts", in: "␛[?1003;1000h␛[?1003$p", reply: "␛[?1003;2$y", modes: "mouse=vt200"},
			{name: "resetting any turns it off", in: "␛[?1003h␛[?1000l␛[?1003$p", reply: "␛[?1003;2$y"},
			{name: "the encoding is apart", in: "␛[?1003;1006h␛[?1003l", modes: "encoding=2"},
			{name: "the last encoding counts", in: "␛[?1005;1006;1015h", modes: "encoding=3"},
			{name: "resetting another encoding leaves it", in: "␛[?1006h␛[?1005;1015;1016l", modes: "encoding=2"},
			{name: "resetting it", in: "␛[?1006h␛[?1006l␛[?1006$p", reply: "␛[?1006;2$y"},
		}},
		group{name: "XTSAVE and XTRESTORE", source: "xterm ctlseqs", checks: []check{
			{name: "what was set", in: "␛[?2004h␛[?2004s␛[?2004l␛[?2004r", modes: "paste"},
			{name: "what was reset", in: "␛[?7l␛[?7s␛[?7h␛[?7r␛[?7$p", reply: "␛[?7;2$y"},
			{name: "several", in: "␛[?1;2004h␛[?1;2004s␛[?1;2004l␛[?1;2004r", modes: "app-cursor paste"},
			{name: "each for itself", in: "␛[?1;2004h␛[?1;2004s␛[?1;2004l␛[?1r", modes: "app-cursor"},
			{name: "not DECSTBM", in: "␛[?2004s␛[2;4r␛[3;3H␛[?2004r", at: "3,3"},
			{name: "unknown ones", in: "␛[?9999s␛[?9999r"},
		}},
		group{name: "DECSCUSR", source: "VT510 DECSCUSR; xterm: 5 and 6; what DECRQSS reports", checks: []check{
			{name: "underline", in: "␛[3 q␛P$q q␛\\", reply: "␛P1$r3 q␛\\"},
			{name: "steady bar", in: "␛[6 q␛P$q q␛\\", reply: "␛P1$r6 q␛\\"},
			{name: "the default", in: "␛[6 q␛[ q␛P$q q␛\\", reply: "␛P1$r0 q␛\\"},
			{name: "another one changes nothing", in: "␛[4 q␛[7 q␛P$q q␛\\", reply: "␛P1$r4 q␛\\"},
			{name: "12 makes it steady", in: "␛[3 q␛[?12l␛P$q q␛\\", reply: "␛P1$r4 q␛\\"},
			{name: "12 makes it blink", in: "␛[6 q␛[?12h␛P$q q␛\\", reply: "␛P1$r5 q␛\\"},
			{name: "a steady one resets 12", in: "␛[2 q␛[?12$p", reply: "␛[?12;2$y"},
		}},
		group{name: "DECCOLM", source: "VT510 DECCOLM; the width stays, as in tmux", before: "ab", checks: []check{
			{name: "clears and homes", in: "␛[3;3H␛[?3h", at: "1,1"},
			{name: "resetting too", in: "␛[3;3H␛[?3l", at: "1,1"},
			{name: "resets the margins", in: "␛[2;4r␛[?3h␛[4;1Hx\n", at: "5,2", screen: "|||x"},
		}},
		group{name: "synchronized updates", source: "Synchronized Output, DEC private mode 2026", checks: []check{
			{name: "nothing is shown before the end", in: "a␛[?2026hb", at: "1,2", screen: "a", modes: "synchronized"},
			{name: "all is at the end", in: "a␛[?2026hb␛[?2026l", at: "1,3", screen: "ab"},
			{name: "they do not nest", in: "␛[?2026ha␛[?2026hb␛[?2026l", at: "1,3", screen: "ab"},
			{name: "queries are answered inside", in: "␛[?2026hab␛[6n", at: "1,1", reply: "␛[1;3R"},
		}},
		group{name: "the kitty keyboard", source: "kitty, Comprehensive keyboard handling", checks: []check{
			{name: "push", in: "␛[>5u␛[?u", reply: "␛[?5u"},
			{name: "push without flags", in: "␛[>5u␛[>u␛[?u", reply: "␛[?0u"},
			{name: "pop", in: "␛[>5u␛[>1u␛[<u␛[?u", reply: "␛[?5u"},
			{name: "pop several", in: "␛[>5u␛[>1u␛[>3u␛[<2u␛[?u", reply: "␛[?5u"},
			{name: "pop all", in: "␛[>5u␛[<9u␛[?u", reply: "␛[?0u"},
			{name: "set", in: "␛[>5u␛[=3u␛[?u", reply: "␛[?3u"},
			{name: "add", in: "␛[>5u␛[=2;2u␛[?u", reply: "␛[?7u"},
			{name: "take away", in: "␛[>5u␛[=4;3u␛[?u", reply: "␛[?1u"},
			{name: "flags that are not defined", in: "␛[>255u␛[?u", reply: "␛[?31u"},
			{name: "each screen has its own", in: "␛[>5u␛[?1049h␛[?u␛[>1u␛[?1049l␛[?u", reply: "␛[?0u␛[?5u"},
		}},
	)
}
