package vt

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestEncodeKey holds keys against what xterm (ctlseqs, "PC-Style Function Keys", modifyOtherKeys)
// and the kitty keyboard protocol say that they send.
func TestEncodeKey(t *testing.T) {
	const legacy, cursor, pad, other1, other2 = "", "\x1b[?1h", "\x1b=", "\x1b[>4;1m", "\x1b[>4;2m"
	const k1, k5, k8, k29 = "\x1b[>1u", "\x1b[>5u", "\x1b[>8u", "\x1b[>29u"
	for _, c := range []struct{ modes, key, want string }{
		{legacy, "enter", "\r"}, {legacy, "escape", "\x1b"}, {legacy, "tab", "\t"}, {legacy, "shift_tab", "\x1b[Z"},
		{legacy, "backspace", "\x7f"}, {legacy, "delete", "\x1b[3~"}, {legacy, "insert", "\x1b[2~"}, {legacy, "space", " "},
		{legacy, "up", "\x1b[A"}, {legacy, "down", "\x1b[B"}, {legacy, "right", "\x1b[C"}, {legacy, "left", "\x1b[D"},
		{legacy, "home", "\x1b[H"}, {legacy, "end", "\x1b[F"}, {legacy, "page_up", "\x1b[5~"}, {legacy, "page_down", "\x1b[6~"},
		{legacy, "f1", "\x1bOP"}, {legacy, "f4", "\x1bOS"}, {legacy, "f5", "\x1b[15~"}, {legacy, "f6", "\x1b[17~"},
		{legacy, "f10", "\x1b[21~"}, {legacy, "f11", "\x1b[23~"}, {legacy, "f12", "\x1b[24~"}, {legacy, "f13", "\x1b[25~"},
		{legacy, "f20", "\x1b[34~"},
		{legacy, "ctrl_a", "\x01"}, {legacy, "ctrl_z", "\x1a"}, {legacy, "ctrl_space", "\x00"}, {legacy, "ctrl_backslash", "\x1c"},
		{legacy, "ctrl_underscore", "\x1f"}, {legacy, "ctrl+[", "\x1b"}, {legacy, "ctrl+?", "\x7f"}, {legacy, "ctrl+8", "\x7f"},
		{legacy, "a", "a"}, {legacy, "shift+a", "A"}, {legacy, "é", "é"}, {legacy, "alt+x", "\x1bx"}, {legacy, "alt+shift+x", "\x1bX"},
		{legacy, "ctrl+alt+c", "\x1b\x03"}, {legacy, "meta+x", "\x1bx"}, {legacy, "alt+enter", "\x1b\r"}, {legacy, "alt+backspace", "\x1b\x7f"},
		{legacy, "ctrl+backspace", "\x08"}, {legacy, "shift+enter", "\r"}, {legacy, "+", "+"}, {legacy, "ctrl++", "+"},
		{legacy, "shift+up", "\x1b[1;2A"}, {legacy, "alt+up", "\x1b[1;3A"}, {legacy, "ctrl+up", "\x1b[1;5A"},
		{legacy, "ctrl+shift+up", "\x1b[1;6A"}, {legacy, "ctrl+alt+shift+left", "\x1b[1;8D"}, {legacy, "ctrl+home", "\x1b[1;5H"},
		{legacy, "shift+f1", "\x1b[1;2P"}, {legacy, "ctrl+f5", "\x1b[15;5~"}, {legacy, "ctrl+delete", "\x1b[3;5~"},
		{legacy, "keypad_5", "5"}, {legacy, "keypad_enter", "\r"}, {legacy, "keypad_add", "+"},
		{cursor, "up", "\x1bOA"}, {cursor, "home", "\x1bOH"}, {cursor, "end", "\x1bOF"}, {cursor, "ctrl+up", "\x1b[1;5A"}, {cursor, "page_up", "\x1b[5~"},
		{pad, "keypad_5", "\x1bOu"}, {pad, "keypad_enter", "\x1bOM"}, {pad, "keypad_add", "\x1bOk"}, {pad, "up", "\x1b[A"},
		{"\x1b[20h", "enter", "\r\n"}, {"\x1b[?67h", "backspace", "\x08"}, {"\x1b[?67h", "ctrl+backspace", "\x7f"},

		{other1, "ctrl+a", "\x01"}, {other1, "shift+enter", "\x1b[27;2;13~"}, {other1, "ctrl+enter", "\x1b[27;5;13~"},
		{other1, "alt+x", "\x1bx"}, {other1, "ctrl+1", "\x1b[27;5;49~"}, {other1, "enter", "\r"},
		{other2, "ctrl+a", "\x1b[27;5;97~"}, {other2, "alt+x", "\x1b[27;3;120~"}, {other2, "shift+a", "A"}, {other2, "a", "a"},
		{other2, "shift+tab", "\x1b[Z"},

		{k1, "a", "a"}, {k1, "shift+a", "A"}, {k1, "ctrl+a", "\x1b[97;5u"}, {k1, "alt+x", "\x1b[120;3u"}, {k1, "escape", "\x1b[27u"},
		{k1, "enter", "\r"}, {k1, "tab", "\t"}, {k1, "backspace", "\x7f"}, {k1, "shift+enter", "\x1b[13;2u"}, {k1, "shift+tab", "\x1b[9;2u"},
		{k1, "ctrl+backspace", "\x1b[127;5u"}, {k1, "ctrl+shift+a", "\x1b[97;6u"}, {k1, "up", "\x1b[A"}, {k1, "ctrl+up", "\x1b[1;5A"},
		{k1 + cursor, "up", "\x1b[A"}, {k1, "f3", "\x1b[13~"}, {k1, "f1", "\x1b[P"}, {k1, "f13", "\x1b[57376u"}, {k1, "keypad_enter", "\x1b[57414u"},
		{k1, "keypad_5", "5"}, {k1, "super+a", "\x1b[97;9u"}, {k1, "é", "é"},
		{k5, "ctrl+shift+a", "\x1b[97:65;6u"}, {k5, "alt+shift+x", "\x1b[120:88;4u"},
		{k8, "a", "\x1b[97u"}, {k8, "enter", "\x1b[13u"}, {k8, "backspace", "\x1b[127u"}, {k8, "keypad_5", "\x1b[57404u"},
		{k29, "a", "\x1b[97;;97u"}, {k29, "shift+a", "\x1b[97:65;2;65u"}, {k29, "ctrl+a", "\x1b[97;5u"}, {k29, "A", "\x1b[97:65;2;65u"},
	} {
		term := New(24, 80, Options{})
		term.Feed([]byte(c.modes))
		k, err := ParseKey(c.key)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := term.EncodeKey(k); string(got) != c.want {
			t.Errorf("%q after %q sends %q, want %q", c.key, c.modes, got, c.want)
		}
	}
}

func TestParseKeyErrors(t *testing.T) {
	for _, name := range []string{"", "foo", "ctrl+", "ctrl+foo", "up+ctrl", "ctrl+ctrl+a", "C-c-c", "shift+shift_tab", "S-BTab", "ab",
		"C+c", "c_c", "ctrl--c", "C-", "--", "key5", "digita", "kp", "hyper", "g g",
		"\x01", "\xff", strings.Repeat("x", 1000)} {
		_, err := ParseKey(name)
		var k *KeyError
		if !errors.As(err, &k) || !errors.Is(err, ErrUnknownKey) {
			t.Errorf("%.20q: %v", name, err)
			continue
		}
		if len(err.Error()) > 2000 || strings.ContainsFunc(err.Error(), unicode.IsControl) {
			t.Errorf("%.20q: message %q", name, err)
		}
	}
	if _, err := ParseKey("entr"); !strings.Contains(err.Error(), "enter") {
		t.Errorf("the error does not say what is known: %v", err)
	}
}

// TestEncodeMouse follows xterm's "Mouse Tracking".
func TestEncodeMouse(t *testing.T) {
	at := Mouse{Row: 4, Col: 9, PixelX: 95, PixelY: 83, Button: MouseLeft}
	with := func(f func(m *Mouse)) Mouse {
		m := at
		f(&m)
		return m
	}
	release := with(func(m *Mouse) { m.Action = MouseRelease })
	drag := with(func(m *Mouse) { m.Action = MouseMotion })
	move := with(func(m *Mouse) { m.Action, m.Button = MouseMotion, MouseNone })
	wheel := with(func(m *Mouse) { m.Button = MouseWheelDown })
	mods := with(func(m *Mouse) { m.Mods = Shift | Alt | Ctrl })
	right := with(func(m *Mouse) { m.Button = MouseRight })
	far := with(func(m *Mouse) { m.Col = 250 })
	for _, c := range []struct {
		name, modes string
		m           Mouse
		want        string
	}{
		{"off", "", at, ""},
		{"X10 press", "\x1b[?9h", mods, "\x1b[M *%"},
		{"X10 has no release", "\x1b[?9h", release, ""},
		{"normal press", "\x1b[?1000h", at, "\x1b[M *%"},
		{"normal release has no button", "\x1b[?1000h", with(func(m *Mouse) { m.Button, m.Action = MouseRight, MouseRelease }), "\x1b[M#*%"},
		{"normal right", "\x1b[?1000h", right, "\x1b[M\"*%"},
		{"normal modifiers", "\x1b[?1000h", mods, "\x1b[M<*%"},
		{"normal wheel", "\x1b[?1000h", wheel, "\x1b[Ma*%"},
		{"normal has no motion", "\x1b[?1000h", drag, ""},
		{"button motion", "\x1b[?1002h", drag, "\x1b[M@*%"},
		{"button has no free motion", "\x1b[?1002h", move, ""},
		{"any motion", "\x1b[?1003h", move, "\x1b[MC*%"},
		{"too far for bytes", "\x1b[?1000h", far, ""},
		{"SGR press", "\x1b[?1000;1006h", at, "\x1b[<0;10;5M"},
		{"SGR release", "\x1b[?1000;1006h", release, "\x1b[<0;10;5m"},
		{"SGR wheel", "\x1b[?1000;1006h", wheel, "\x1b[<65;10;5M"},
		{"SGR motion", "\x1b[?1003;1006h", move, "\x1b[<35;10;5M"},
		{"SGR far", "\x1b[?1000;1006h", far, "\x1b[<0;251;5M"},
		{"pixels", "\x1b[?1000;1016h", at, "\x1b[<0;96;84M"},
		{"urxvt", "\x1b[?1000;1015h", at, "\x1b[32;10;5M"},
		{"UTF-8 far", "\x1b[?1000;1005h", far, "\x1b[M \u011b%"},
		{"outside", "\x1b[?1000;1006h", with(func(m *Mouse) { m.Row = 24 }), ""},
		{"wheel on the alternate screen", "\x1b[?1049h", wheel, "\x1b[B"},
		{"the same with application cursor keys", "\x1b[?1049;1h", wheel, "\x1bOB"},
		{"the same switched off", "\x1b[?1049h\x1b[?1007l", wheel, ""},
		{"wheel on the main screen", "", wheel, ""},
	} {
		term := New(24, 300, Options{})
		term.Feed([]byte(c.modes))
		if got := term.EncodeMouse(c.m); string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEncodeFocus(t *testing.T) {
	term := New(24, 80, Options{})
	if term.EncodeFocus(true) != nil {
		t.Error("focus is reported although nobody asked")
	}
	term.Feed([]byte("\x1b[?1004h"))
	if in, out := term.EncodeFocus(true), term.EncodeFocus(false); string(in) != "\x1b[I" || string(out) != "\x1b[O" {
		t.Errorf("%q %q", in, out)
	}
}

// checkPaste says how a paste can be left, "" when it cannot.
func checkPaste(s string) string {
	out, stripped := BracketedPaste(s)
	body, ok := bytes.CutPrefix(out, []byte("\x1b[200~"))
	body, ok2 := bytes.CutSuffix(body, []byte("\x1b[201~"))
	if !ok || !ok2 {
		return "the marks are missing"
	}
	for _, c := range body {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			return "a control byte came through"
		}
	}
	for p := body; len(p) > 0; {
		r, n := utf8.DecodeRune(p)
		if r >= 0x80 && r < 0xa0 || r == utf8.RuneError && n == 1 && p[0] < 0xa0 {
			return "a C1 control came through"
		}
		p = p[n:]
	}
	removed := 0
	for p := s; len(p) > 0; {
		r, n := utf8.DecodeRuneInString(p)
		if r < 0x20 && !strings.ContainsRune("\t\n\r", r) || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && n == 1 && p[0] < 0xa0 {
			removed++
		}
		p = p[n:]
	}
	if removed != stripped {
		return "the count is wrong"
	}
	return ""
}

func TestBracketedPaste(t *testing.T) {
	out, n := BracketedPaste("a\tb\nc\rd é 日 😀")
	if n != 0 || string(out) != "\x1b[200~a\tb\nc\rd é 日 😀\x1b[201~" {
		t.Errorf("%q, %d stripped", out, n)
	}
	out, n = BracketedPaste("x\x1b[201~; rm -rf /\n")
	if n != 1 || string(out) != "\x1b[200~x[201~; rm -rf /\n\x1b[201~" {
		t.Errorf("%q, %d stripped", out, n)
	}
	// The end mark in all its forms, cut at every place by bytes that are taken out.
	for _, mark := range []string{"\x1b[201~", "\x9b201~", "\u009b201~", "\x1b\x1b[201~", "\x1b[\x00201~", "\xc2\x1b\x9b201~", "\xe0\x82\x9b201~"} {
		for i := range len(mark) + 1 {
			for _, cut := range []string{"", "\x00", "\x1b", "\x7f", "\u0085", "\x9b", "é"} {
				if s := checkPaste("a" + mark[:i] + cut + mark[i:] + "b"); s != "" {
					t.Errorf("%q cut at %d by %q: %s", mark, i, cut, s)
				}
			}
		}
	}
}

func FuzzBracketedPaste(f *testing.F) {
	for _, s := range []string{"", "\x1b[201~", "\x9b201~", "\u009b201~", "é\xff\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if why := checkPaste(s); why != "" {
			t.Errorf("%q: %s", s, why)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	for name := range keyNames() {
		f.Add(name)
	}
	f.Add("ctrl+alt+shift+x")
	f.Fuzz(func(t *testing.T, name string) {
		k, err := ParseKey(name)
		if err != nil {
			return
		}
		for _, modes := range []string{"", "\x1b[?1h\x1b=", "\x1b[>4;1m", "\x1b[>4;2m", "\x1b[>1u", "\x1b[>2u", "\x1b[>31u"} {
			term := New(2, 2, Options{})
			term.Feed([]byte(modes))
			some := k.Code < KeyCapsLock || keySequences()[k.Code].final != 0 || keypad[k.Code].char != 0 || keypadAs[k.Code] != 0
			some = some || modes == "\x1b[>31u"
			some = some || strings.HasSuffix(modes, "u") && k.Code > KeyNumLock && k.Code < KeyLeftShift
			if b := term.EncodeKey(k); (len(b) > 0) != some || len(b) > 64 {
				t.Errorf("%q after %q sends %q", name, modes, b)
			}
			for e := KeyPress; e <= KeyRelease; e++ {
				k.Event = e
				if b := term.EncodeKey(k); len(b) > 32 || e == KeyRelease && len(b) > 0 && !strings.HasSuffix(modes, "[>2u") && modes != "\x1b[>31u" {
					t.Errorf("event %d of %q after %q sends %q", e, name, modes, b)
				}
			}
			k.Event = KeyTap
		}
	})
}
