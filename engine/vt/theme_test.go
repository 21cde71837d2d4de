package vt

import (
	"fmt"
	"strings"
	"testing"
)

// TestConformanceColours is about queries of colours and of the theme.
func TestConformanceColours(t *testing.T) {
	const (
		red   = "rgb:cdcd/3131/3131"
		green = "rgb:0d0d/bcbc/7979"
		text  = "rgb:d8d8/d8d8/d8d8"
		paper = "rgb:1818/1818/1818"
	)
	conformance(t,
		group{name: "OSC 4", source: "xterm ctlseqs; xterm 379 measured, but for the colours", checks: []check{
			{name: "with BEL", in: "␛]4;1;?\a", reply: "␛]4;1;" + red + "\a"},
			{name: "with ST", in: "␛]4;1;?␛\\", reply: "␛]4;1;" + red + "␛\\"},
			{name: "several", in: "␛]4;1;?;2;?\a", reply: "␛]4;1;" + red + "\a␛]4;2;" + green + "\a"},
			{name: "the cube and the greys", in: "␛]4;16;?;196;?;231;?;232;?;255;?\a",
				reply: "␛]4;16;rgb:0000/0000/0000\a␛]4;196;rgb:ffff/0000/0000\a␛]4;231;rgb:ffff/ffff/ffff\a" +
					"␛]4;232;rgb:0808/0808/0808\a␛]4;255;rgb:eeee/eeee/eeee\a"},
			{name: "no such colour", in: "␛]4;256;?\a␛]4;-1;?\a␛]4;+1;?\a␛]4;x;?\a␛]4;;?\a␛]4\a␛]4;\a␛]4;1\a"},
			{name: "what a program sets is not told", in: "␛]4;1;rgb:12/34/56\a␛]4;1;?\a␛]104;1\a␛]104\a␛]4;1;?\a",
				reply: "␛]4;1;" + red + "\a␛]4;1;" + red + "\a"},
			{name: "setting and asking at once", in: "␛]4;1;#fff;2;?\a", reply: "␛]4;2;" + green + "\a"},
		}},
		group{name: "OSC 10, 11, 12", source: "xterm ctlseqs; xterm 379 measured, but for the colours", checks: []check{
			{name: "text", in: "␛]10;?\a", reply: "␛]10;" + text + "\a"},
			{name: "paper", in: "␛]11;?␛\\", reply: "␛]11;" + paper + "␛\\"},
			{name: "cursor", in: "␛]12;?\a", reply: "␛]12;" + text + "\a"},
			{name: "several, each the next number's", in: "␛]10;?;?;?;?;?\a",
				reply: "␛]10;" + text + "\a␛]11;" + paper + "\a␛]12;" + text + "\a"},
			{name: "one in between is set", in: "␛]10;?;#fff;?\a", reply: "␛]10;" + text + "\a␛]12;" + text + "\a"},
			{name: "from the second on", in: "␛]11;?;?␛\\", reply: "␛]11;" + paper + "␛\\␛]12;" + text + "␛\\"},
			{name: "what a program sets is not told", in: "␛]11;red\a␛]11;?\a␛]111\a␛]11;?\a",
				reply: "␛]11;" + paper + "\a␛]11;" + paper + "\a"},
			{name: "nothing asked", in: "␛]10\a␛]10;\a␛]11;??\a␛]12;? \a␛]110\a␛]111\a␛]112\a"},
		}},
		group{name: "dark and light", source: "contour: Dark and Light Mode detection", checks: []check{
			{name: "DSR 996", in: "␛[?996n", reply: "␛[?997;1n"},
			{name: "mode 2031 says nothing at once", in: "␛[?2031h"},
			{name: "an answer that comes back is no query", in: "␛[?997;1n"},
		}},
	)
}

// TestLightTheme: a light terminal says so, and all of the palette in one Feed is answered whole.
func TestLightTheme(t *testing.T) {
	term := New(6, 10, Options{Theme: ThemeLight})
	in := "\x1b]10;?;?\a\x1b[?996n"
	want := "\x1b]10;rgb:2020/2020/2020\a\x1b]11;rgb:ffff/ffff/ffff\a\x1b[?997;2n"
	for i := range 256 {
		in += fmt.Sprintf("\x1b]4;%d;?\x1b\\", i)
	}
	got := string(term.Feed([]byte(in)).Reply)
	if !strings.HasPrefix(got, want) || strings.Count(got, "\x1b]4;") != 256 {
		t.Errorf("%d bytes: %.200q", len(got), got)
	}
	if s := verifyReply([]byte(got)); s != "" {
		t.Error(s)
	}
	if s := term.Snapshot(); s.Theme != ThemeLight {
		t.Errorf("the screen is %s", s.Theme)
	}
}

// TestSetTheme: a change is told to who asked for it, once, and shows in the screen.
func TestSetTheme(t *testing.T) {
	term := New(6, 10, Options{})
	step := func(theme Theme, reply string, dirty bool) {
		t.Helper()
		e := term.SetTheme(theme)
		if string(e.Reply) != reply || e.Dirty != dirty || term.Snapshot().Theme != theme {
			t.Errorf("to %s: %q, dirty %v; the screen is %s", theme, e.Reply, e.Dirty, term.Snapshot().Theme)
		}
		if s := term.Snapshot(); s.Sequence != term.Sequence() {
			t.Errorf("sequence %d of %d", s.Sequence, term.Sequence())
		}
	}
	before := term.Snapshot()
	step(ThemeLight, "", true)
	term.Feed([]byte("\x1b[?2031h"))
	step(ThemeDark, "\x1b[?997;1n", true)
	step(ThemeDark, "", false)
	step(ThemeLight, "\x1b[?997;2n", true)
	if got := string(term.Feed([]byte("\x1b[?2031$p\x1b]11;?\a")).Reply); got != "\x1b[?2031;1$y\x1b]11;rgb:ffff/ffff/ffff\a" {
		t.Errorf("%q", got)
	}
	term.Feed([]byte("\x1bc"))
	step(ThemeDark, "", true)
	if before.Theme != ThemeDark {
		t.Error("a snapshot has changed")
	}
	if New(1, 1, Options{Theme: 99}).Snapshot().Theme != ThemeDark {
		t.Error("a number that is no theme is not dark")
	}
	for _, name := range []string{"dark", "light"} {
		if theme, ok := ParseTheme(name); !ok || theme.String() != name {
			t.Errorf("%s is %s, %v", name, theme, ok)
		}
	}
	if _, ok := ParseTheme("Dark"); ok {
		t.Error("Dark is a theme")
	}
}

// TestConformanceIdentity is about what a program asks to know which terminal it is on.
func TestConformanceIdentity(t *testing.T) {
	const (
		term256 = "=787465726D2D323536636F6C6F72␛\\" // xterm-256color
		unknown = "␛P0+r␛\\"
	)
	conformance(t,
		group{name: "XTGETTCAP", source: "xterm ctlseqs; xterm 379 measured, but that each name has an answer", checks: []check{
			{name: "TN", in: "␛P+q544e␛\\", reply: "␛P1+r544e" + term256},
			{name: "in upper case", in: "␛P+q544E␛\\", reply: "␛P1+r544E" + term256},
			{name: "name", in: "␛P+q6e616d65␛\\", reply: "␛P1+r6e616d65" + term256},
			{name: "Co and colors", in: "␛P+q436f;636F6C6F7273␛\\", reply: "␛P1+r436f=323536␛\\␛P1+r636F6C6F7273=323536␛\\"},
			{name: "RGB", in: "␛P+q524742␛\\", reply: "␛P1+r524742=382F382F38␛\\"},
			{name: "Tc", in: "␛P+q5463␛\\", reply: "␛P1+r5463␛\\"},
			{name: "what is not known is not repeated", in: "␛P+q7a7a␛\\", reply: unknown},
			{name: "among others", in: "␛P+q544e;7a7a;5463␛\\", reply: "␛P1+r544e" + term256 + unknown + "␛P1+r5463␛\\"},
			{name: "nothing, half of a digit, no digits", in: "␛P+q␛\\␛P+q544␛\\␛P+qTN␛\\", reply: unknown + unknown + unknown},
			{name: "too long", in: "␛P+q" + strings.Repeat("544e;", 2000) + "␛\\"},
			{name: "BEL does not end it, CAN gives it up", in: "␛P+q544e\a\x18"},
		}},
		group{name: "modes that cannot be switched", source: "VT510 DECRQM: 3 always set, 4 always reset", checks: []check{
			{name: "DECANM, DECNRCM", in: "␛[?2$p␛[?42$p", reply: "␛[?2;3$y␛[?42;4$y"},
			{name: "no effect", in: "␛[?2l␛[?2$p", reply: "␛[?2;3$y"},
			{name: "KAM, SRM", in: "␛[2$p␛[12$p", reply: "␛[2;4$y␛[12;3$y"},
			{name: "Meta sends ESC", in: "␛[?1036$p", reply: "␛[?1036;3$y"},
		}},
	)
	for version, want := range map[string]string{
		"": "", "1.2.3": "(1.2.3)", "v1.0.0-rc.1+abc_d": "(v1.0.0-rc.1+abc_d)", "1\x1b\\2 é%d": "(12d)", "\x1b": "",
		strings.Repeat("1", 99): "(" + strings.Repeat("1", 64) + ")",
	} {
		term := New(6, 10, Options{Version: version})
		if got := string(term.Feed([]byte("\x1b[>q")).Reply); got != "\x1bP>|ptywright"+want+"\x1b\\" {
			t.Errorf("version %q: %q", version, got)
		}
	}
}

// TestConformanceKitty is about text that kitty sizes and the attributes that it takes back one by
// one.
func TestConformanceKitty(t *testing.T) {
	conformance(t,
		group{name: "OSC 66", source: "kitty: The text sizing protocol; here there is one size", checks: []check{
			{name: "the text is kept", in: "␛]66;s=2;hi\ax", at: "1,4", screen: "hix"},
			{name: "with ST", in: "␛]66;n=1:d=2:w=1;hi␛\\x", at: "1,4", screen: "hix"},
			{name: "in the style that there is", in: "␛[1m␛]66;s=3;hi\a␛[mx", screen: "hix", style: "1,1+2 bold"},
			{name: "wide, combining, semicolons", in: "␛]66;;日e\u0301;é\ax", at: "1,7", screen: "日e\u0301;éx"},
			{name: "wraps", in: "␛]66;;abcdefghijkl\a", at: "2,3", screen: "abcdefghij|kl"},
			{name: "controls in it do nothing", in: "␛]66;;a\r\n\tb\u009bc\a", at: "1,4", screen: "abc"},
			{name: "without text", in: "␛]66;s=2\a␛]66;\a␛]66;s=2;\a␛]66\a", at: "1,1"},
			{name: "a program that looks for larger text finds none", in: "␛]66;s=2;a\a␛[6n", screen: "a", reply: "␛[1;2R"},
			{name: "between side margins", in: "␛[?69h␛[3;4s␛]66;;abc\a", at: "1,4", screen: "abc"},
			{name: "REP repeats it", in: "␛]66;;ab\a␛[2b", screen: "abbb"},
		}},
		group{name: "SGR 221 and 222", source: "kitty: Misc. protocol extensions", checks: []check{
			{name: "221 leaves dim", in: "␛[1;2m␛[221mx", screen: "x", style: "1,1+1 dim"},
			{name: "222 leaves bold", in: "␛[1;2m␛[222mx", screen: "x", style: "1,1+1 bold"},
			{name: "22 takes both", in: "␛[1;2m␛[22mx", screen: "x"},
			{name: "220 and 223 are nothing", in: "␛[1m␛[220;223mx", screen: "x", style: "1,1+1 bold"},
		}},
		group{name: "ESC k", source: "screen: Control Sequences; tmux", checks: []check{
			{name: "a title", in: "␛kvi a.txt␛\\x", at: "1,2", screen: "x", title: `"vi a.txt"`},
			{name: "BEL does not end it", in: "␛ka\ab␛\\", title: `"ab"`},
			{name: "empty", in: "␛ka␛\\␛k␛\\", title: `""`},
			{name: "given up", in: "␛kab\x18x", at: "1,2", screen: "x"},
			{name: "another sequence ends it", in: "␛kab␛[3;3Hx", at: "3,4", screen: "||  x"},
			{name: "on the title stack", in: "␛ka␛\\␛[22t␛kb␛\\␛[23t", title: `"a"`},
			{name: "controls in it are dropped", in: "␛ka\r\n\tb\u202ec␛\\", title: `"abc"`},
		}},
	)
}
