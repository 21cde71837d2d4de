package vt

import (
	"strings"
	"testing"
)

// TestConformanceReports is about queries. Every answer is checked against the closed list of forms
// as well.
func TestConformanceReports(t *testing.T) {
	conformance(t,
		group{name: "DA", source: "ECMA-48 8.3.24; VT510 DA1, DA2, DA3", checks: []check{
			{name: "DA1", in: "␛[c", reply: "␛[?62;22c"},
			{name: "DA1 with 0", in: "␛[0c", reply: "␛[?62;22c"},
			{name: "DA1 with another parameter is none", in: "␛[1c"},
			{name: "an answer that comes back is no query", in: "␛[?62;22c"},
			{name: "DECID", in: "␛Z", reply: "␛[?62;22c"},
			{name: "DA2", in: "␛[>c", reply: "␛[>0;276;0c"},
			{name: "DA2 with 0", in: "␛[>0c", reply: "␛[>0;276;0c"},
			{name: "DA2 with another parameter is none", in: "␛[>1c"},
			{name: "DA3", in: "␛[=c", reply: "␛P!|00000000␛\\"},
			{name: "DA3 with another parameter is none", in: "␛[=1c"},
		}},
		group{name: "DSR", source: "ECMA-48 8.3.35; VT510 DSR", checks: []check{
			{name: "the terminal is well", in: "␛[5n", reply: "␛[0n"},
			{name: "CPR", in: "␛[3;7H␛[6n", reply: "␛[3;7R"},
			{name: "CPR at home", in: "␛[6n", reply: "␛[1;1R"},
			{name: "CPR behind the last column", in: "␛[2;10Hx␛[6n", screen: "|         x", reply: "␛[2;10R"},
			{name: "CPR outside of origin mode counts all rows", in: "␛[3;5r␛[4;2H␛[6n", reply: "␛[4;2R"},
			{name: "CPR in origin mode", in: "␛[3;5r␛[?6h␛[2;2H␛[6n", reply: "␛[2;2R"},
			{name: "DECXCPR", in: "␛[3;7H␛[?6n", reply: "␛[?3;7R"},
			{name: "DECXCPR in origin mode", in: "␛[3;5r␛[?6h␛[2;2H␛[?6n", reply: "␛[?2;2R"},
			{name: "printer, keys, keyboard", in: "␛[?15n␛[?25n␛[?26n", reply: "␛[?13n␛[?21n␛[?27;1;0;0n"},
			{name: "what a VT220 does not know", in: "␛[?53n␛[?55n␛[?56n␛[?62n␛[?63;1n␛[?75n␛[?85n"},
			{name: "nothing asked", in: "␛[n␛[0n␛[1n␛[?n"},
		}},
		group{name: "XTVERSION", source: "xterm ctlseqs, CSI > q", checks: []check{
			{name: "by default", in: "␛[>q", reply: "␛P>|ptywright␛\\"},
			{name: "0", in: "␛[>0q", reply: "␛P>|ptywright␛\\"},
			{name: "others are none", in: "␛[>1q"},
		}},
		group{name: "DECRQSS", source: "VT510 DECRQSS, DECRPSS; xterm: 1 is valid", checks: []check{
			{name: "SGR", in: "␛P$qm␛\\", reply: "␛P1$r0m␛\\"},
			{name: "SGR with attributes", in: "␛[1;4;31m␛P$qm␛\\", reply: "␛P1$r0;1;4;31m␛\\"},
			{name: "DECSTBM", in: "␛P$qr␛\\", reply: "␛P1$r1;6r␛\\"},
			{name: "DECSTBM set", in: "␛[2;4r␛P$qr␛\\", reply: "␛P1$r2;4r␛\\"},
			{name: "DECSCA", in: "␛P$q\"q␛\\␛[1\"q␛P$q\"q␛\\", reply: "␛P1$r0\"q␛\\␛P1$r1\"q␛\\"},
			{name: "DECSCL", in: "␛P$q\"p␛\\", reply: "␛P1$r62;1\"p␛\\"},
			{name: "DECSLPP", in: "␛P$qt␛\\", reply: "␛P1$r6t␛\\"},
			{name: "nothing", in: "␛P$q␛\\", reply: "␛P0$r␛\\"},
			{name: "not known", in: "␛P$qz␛\\␛P$q*x␛\\␛P$q$|␛\\", reply: "␛P0$r␛\\␛P0$r␛\\␛P0$r␛\\"},
			{name: "what was asked is not repeated", in: "␛P$q\r\nid\r\n␛\\", reply: "␛P0$r␛\\"},
			{name: "BEL does not end it", in: "␛P$qm\a"},
			{name: "cut off", in: "␛P$qm\x18␛P$qm␛[m"},
		}},
		group{name: "XTWINOPS", source: "xterm ctlseqs, CSI t", checks: []check{
			{name: "size in characters", in: "␛[18t", reply: "␛[8;6;10t"},
			{name: "pixels are not known", in: "␛[14t␛[14;2t␛[16t"},
			{name: "state, position and screen are not told", in: "␛[11t␛[13t␛[13;2t␛[15t␛[19t"},
			{name: "titles are not told", in: "␛]0;ls\a␛[20t␛[21t", title: `"ls"`},
			{name: "nothing moves or resizes", in: "␛[1t␛[2t␛[3;0;0t␛[4;100;100t␛[8;3;3t␛[9;1t␛[10;1t␛[24t␛[36t␛[18t", reply: "␛[8;6;10t"},
		}},
		group{name: "DECREQTPARM", source: "VT100 DECREPTPARM", checks: []check{
			{name: "0 and 1", in: "␛[x␛[1x", reply: "␛[2;1;1;128;128;1;0x␛[3;1;1;128;128;1;0x"},
			{name: "others are none", in: "␛[2x"},
		}},
		group{name: "silent", source: "profile Strict: nothing that a program wrote comes back, and nothing is read off the screen", checks: []check{
			{name: "ENQ", in: "\x05"},
			{name: "DECRQCRA", in: "abc␛[1;1;1;1;1;3*y", screen: "abc"},
			{name: "XTGETXRES", in: "␛P+Qfont␛\\"},
			{name: "graphics attributes", in: "␛[?1;1;0S"},
			{name: "presentation state, colour table", in: "␛[1$w␛[2$w␛[2;2$u␛P1$t␛\\"},
			{name: "user preference set", in: "␛[&u"},
			{name: "locator", in: "␛['|"},
			{name: "kitty graphics", in: "␛_Gi=1,a=q;AAAA␛\\"},
		}},
		group{name: "S7C1T and S8C1T", source: "VT510 S8C1T; answers are 7-bit only", checks: []check{
			{name: "S8C1T", in: "␛ G␛[c␛P$qr␛\\", reply: "␛[?62;22c␛P1$r1;6r␛\\"},
			{name: "S7C1T", in: "␛ F␛[c", reply: "␛[?62;22c"},
			{name: "DECSCL with 8-bit controls", in: "␛[62;0\"p␛[c", reply: "␛[?62;22c"},
			{name: "ANSI levels", in: "␛ L␛ M␛ N␛[c", reply: "␛[?62;22c"},
		}},
	)
}

// TestConformanceSizeReports: sizes in pixels, once they are known (xterm ctlseqs, CSI t; In-Band
// Window Resize Notifications).
func TestConformanceSizeReports(t *testing.T) {
	term := New(6, 10, Options{})
	term.Resize(6, 10, 80, 96)
	for in, want := range map[string]string{
		"\x1b[14t": "\x1b[4;96;80t", "\x1b[16t": "\x1b[6;16;8t", "\x1b[18t": "\x1b[8;6;10t", "\x1b[14;2t": "", "\x1b[?2048h": "\x1b[48;6;10;96;80t",
	} {
		if got := string(term.Feed([]byte(in)).Reply); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got, want := string(term.Resize(3, 5, 40, 48).Reply), "\x1b[48;3;5;48;40t"; got != want {
		t.Errorf("resize: %q, want %q", got, want)
	}
	term.Feed([]byte("\x1b[?2048l"))
	if got := term.Resize(6, 10, 80, 96).Reply; len(got) > 0 {
		t.Errorf("resize with 2048 reset: %q", got)
	}
}

// TestConformanceChecksum: DECRQCRA (VT420) in the profile Conformance, the sum of the characters
// taken from 0x10000.
func TestConformanceChecksum(t *testing.T) {
	term := New(6, 10, Options{Profile: Conformance})
	term.Feed([]byte("AB\r\nCD\x1b[2;3r\x1b[?6h"))
	for in, want := range map[string]string{
		"\x1b[1;1;1;1;1;1*y":   "FFBD", // C: origin mode counts from the margin
		"\x1b[1;1;1;1;1;2*y":   "FF79",
		"\x1b[1;1;1;1;9;1*y":   "FF9D", // C and a blank: not behind the bottom margin
		"\x1b[1;1;1;3;1;3*y":   "FFE0", // a cell that was never written counts as a blank
		"\x1b[1;1;2;1;1;1*y":   "0000", // no rectangle
		"\x1b[1;1;1;99;1;99*y": "0000", // nothing on the screen
	} {
		if got := string(term.Feed([]byte(in)).Reply); got != "\x1bP1!~"+want+"\x1b\\" {
			t.Errorf("%q: %q, want %s", in, got, want)
		}
	}
}

// TestConformanceStrings is about operating system commands.
func TestConformanceStrings(t *testing.T) {
	const clip = "␛]52;c;aGVsbG8=␛\\"
	conformance(t,
		group{name: "OSC 0, 1, 2", source: "xterm ctlseqs, OSC", checks: []check{
			{name: "0 with BEL", in: "␛]0;a b\a", title: `"a b"`},
			{name: "2 with ST", in: "␛]2;a b␛\\", title: `"a b"`},
			{name: "1 is the icon", in: "␛]2;a\a␛]1;b\a", title: `"a"`},
			{name: "empty", in: "␛]2;a\a␛]2;\a", title: `""`},
			{name: "semicolons are text", in: "␛]2;a;b;c\a", title: `"a;b;c"`},
			{name: "Unicode", in: "␛]2;日本\a", title: `"日本"`},
			{name: "controls are not", in: "␛]2;a\r\n\tb\a", title: `"ab"`},
			{name: "the cursor does not move", in: "␛[2;3H␛]2;a\r\n\a", at: "2,3", title: `"a"`},
		}},
		group{name: "the title stack", source: "xterm ctlseqs, CSI 22 t and CSI 23 t", checks: []check{
			{name: "push and pop", in: "␛]2;a\a␛[22t␛]2;b\a␛[23t", title: `"a"`},
			{name: "0", in: "␛]2;a\a␛[22;0t␛]2;b\a␛[23;0t", title: `"a"`},
			{name: "2 is the window", in: "␛]2;a\a␛[22;2t␛]2;b\a␛[23;2t", title: `"a"`},
			{name: "1 is the icon", in: "␛]2;a\a␛[22;1t␛]2;b\a␛[23;1t", title: `"b"`},
			{name: "several", in: "␛]2;a\a␛[22t␛]2;b\a␛[22t␛]2;c\a␛[23t␛[23t", title: `"a"`},
			{name: "nothing to pop", in: "␛]2;a\a␛[23t", title: `"a"`},
			{name: "only once", in: "␛]2;a\a␛[22t␛]2;b\a␛[23t␛]2;c\a␛[23t", title: `"c"`},
		}},
		group{name: "colours that are never told", source: "xterm ctlseqs, OSC 4-19, 104-119", checks: []check{
			{name: "special colours", in: "␛]5;0;red\a␛]5;0;?\a␛]6;0;1\a␛]105;0\a"},
			{name: "the mouse's, Tektronix's, highlighting", in: "␛]13;?\a␛]14;?\a␛]15;?\a␛]16;?\a␛]17;?\a␛]18;?\a␛]19;?\a␛]117\a␛]119\a"},
			{name: "kitty's", in: "␛]21;foreground=?\a"},
			{name: "font, log, mouse pointer", in: "␛]50;?\a␛]46;f\a␛]22;?\a"},
		}},
		group{name: "OSC 7", source: "OSC 7 of VTE: the working directory", checks: []check{
			{name: "a URI", in: "␛]7;file://host/tmp\a", events: `directory "file://host/tmp"`},
			{name: "with ST", in: "␛]7;file:///a;b␛\\", events: `directory "file:///a;b"`},
		}},
		group{name: "OSC 8", source: "Hyperlinks in terminal emulators", checks: []check{
			{name: "a link", in: "␛]8;;http://x\aab␛]8;;\ac", screen: "abc", style: "1,1+2 link=http://x"},
			{name: "with ST and an id", in: "␛]8;id=1;http://x␛\\a␛]8;;␛\\b", screen: "ab", style: "1,1+1 link=http://x"},
			{name: "semicolons in the URI", in: "␛]8;;http://x/;y\aa␛]8;;\a", screen: "a", style: "1,1+1 link=http://x/;y"},
			{name: "another one", in: "␛]8;;u:1\aa␛]8;;u:2\ab", screen: "ab", style: "1,1+1 link=u:1; 1,2+1 link=u:2"},
			{name: "SGR 0 leaves it", in: "␛]8;;u:1\a␛[0ma", screen: "a", style: "1,1+1 link=u:1"},
			{name: "goes on in the next row", in: "␛[1;10H␛]8;;u:1\aab", screen: "         a|b", style: "1,10+1 link=u:1; 2,1+1 link=u:1"},
			{name: "erased cells have none", in: "␛]8;;u:1\aab␛[1K", screen: ""},
			{name: "without its second field it is none", in: "␛]8;http://x\aa", screen: "a"},
		}},
		group{name: "OSC 9, 99, 777", source: "iTerm2, kitty, rxvt: notifications; ConEmu: progress", checks: []check{
			{name: "9", in: "␛]9;done\a", events: `notification "done"`},
			{name: "9;4 is progress", in: "␛]9;4;1;50\a␛]9;4;0\a", events: "progress 1 50; progress 0 0"},
			{name: "percent is at most 100", in: "␛]9;4;1;999\a", events: "progress 1 100"},
			{name: "states that are not defined", in: "␛]9;4;5;1\a"},
			{name: "777", in: "␛]777;notify;a;b\a", events: `notification "notify;a;b"`},
			{name: "99", in: "␛]99;i=1;a␛\\", events: `notification "i=1;a"`},
		}},
		group{name: "OSC 52", source: "xterm ctlseqs, OSC 52; the clipboard is never told", checks: []check{
			{name: "the text is told", in: clip, events: `clipboard "hello"`},
			{name: "a query is nothing", in: clip + "␛]52;c;?\a␛]52;p;?␛\\␛]52;;?\a", events: `clipboard "hello"`},
			{name: "selections", in: "␛]52;;YQ==\a␛]52;p;Yg==\a␛]52;s0;Yw==\a␛]52;cp;ZA==\a␛]52;qc;ZQ==\a",
				events: `clipboard "a"; clipboard "b"; clipboard "c"; clipboard "d"; clipboard "e"`},
			{name: "cut buffers and the secondary are not told", in: "␛]52;q;YQ==\a␛]52;0;YQ==\a␛]52;07q;YQ==\a␛]52;x;YQ==\a"},
			{name: "cleared", in: "␛]52;c;\a␛]52;c;!\a", events: "clipboard; clipboard"},
			{name: "without padding, with line ends", in: "␛]52;c;aGVsbG8\a␛]52;c;aGVs\r\nbG8=\a", events: `clipboard "hello"; clipboard "hello"`},
			{name: "no base64", in: "␛]52;c;a b\a␛]52;c;a\a␛]52;c;aGVsbG8=;x\a␛]52;c;????\a␛]52;c;=\a",
				events: strings.TrimSuffix(strings.Repeat("clipboard cut false, bad true; ", 5), "; ")},
			{name: "half a sequence", in: "␛]52;c\a␛]52\a␛]52;c;aGVs␛[mx", screen: "x"},
		}},
		group{name: "OSC 133", source: "FinalTerm: semantic prompts", checks: []check{
			{name: "a command", in: "␛]133;A\a␛]133;B\a␛]133;C\a␛]133;D;0\a", events: "mark A; mark B; mark C; mark D exit 0 \"0\""},
			{name: "with options", in: "␛]133;A;k=s\a␛]133;D;1;x=y␛\\", events: `mark A "k=s"; mark D exit 1 "1;x=y"`},
			{name: "D without a status", in: "␛]133;D\a", events: "mark D"},
			{name: "no letter", in: "␛]133;\a␛]133\a␛]133;AB\a"},
		}},
		group{name: "OSC 633", source: "VS Code: shell integration", checks: []check{
			{name: "a command", in: "␛]633;A\a␛]633;E;ls\\x3b -l;nonce\a␛]633;D;2\a", events: `mark633 A; mark633 E "ls; -l"; mark633 D exit 2 "2"`},
			{name: "a property", in: "␛]633;P;Cwd=/tmp\a", events: `mark633 P "Cwd=/tmp"`},
		}},
		group{name: "what is none", source: "ECMA-48 8.3.89; xterm ctlseqs", checks: []check{
			{name: "not known", in: "␛]9999;x\a␛]99999999999;x\ay", screen: "y"},
			{name: "without a number", in: "␛];x\a␛]\a␛]x\ay", screen: "y"},
			{name: "with a sign", in: "␛]2;t\a␛]+2;a\a␛]-2;b\a", title: `"t"`},
			{name: "the palette of the Linux console", in: "␛]P0000000\a␛]R\ay", screen: "y"},
		}},
	)
}

// TestConformanceLongStrings: strings longer than what is kept do not spill onto the screen,
// whatever they are.
func TestConformanceLongStrings(t *testing.T) {
	long := strings.Repeat("x", 3*stringMax)
	for _, in := range []string{"\x1b]2;" + long + "\x1b\\", "\x1b]9999;" + long + "\x07", "\x1bP$q" + long + "\x1b\\", "\x1bPq" + long + "\x1b\\",
		"\x1b_G" + long + "\x1b\\", "\x1b^" + long + "\x1b\\", "\x1bX" + long + "\x1b\\"} {
		term := New(6, 10, Options{})
		e := term.Feed([]byte(in + "y"))
		if got := term.Snapshot().Lines()[0]; got != "y" || len(e.Reply) > 0 {
			t.Errorf("%.10q: %q, answer %q", in, got, e.Reply)
		}
	}
}
