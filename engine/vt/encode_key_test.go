package vt

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A sent is what a key sends once the program has written modes.
type sent struct{ modes, key, want string }

func checkKeys(t *testing.T, event KeyEvent, all []sent) {
	t.Helper()
	for _, c := range all {
		term := New(24, 80, Options{})
		term.Feed([]byte(c.modes))
		k, err := ParseKey(c.key)
		if err != nil {
			t.Error(err)
			continue
		}
		k.Event = event
		if got := term.EncodeKey(k); string(got) != c.want {
			t.Errorf("%q after %q sends %q, want %q", c.key, c.modes, got, c.want)
		}
	}
}

// TestKeysOfKitty: what kitty's protocol says of keys that are not characters, in its own words and
// code: with any of the flags
// 1, 2 and 8 there is no SS3, whatever DECCKM and DECKPAM say.
func TestKeysOfKitty(t *testing.T) {
	const k1, k2, k8, cursor, pad = "\x1b[>1u", "\x1b[>2u", "\x1b[>8u", "\x1b[?1h", "\x1b="
	checkKeys(t, KeyPress, []sent{
		{k1 + cursor, "up", "\x1b[A"}, {k1 + cursor, "down", "\x1b[B"},
		{k1 + cursor, "right", "\x1b[C"}, {k1 + cursor, "left", "\x1b[D"},
		{k1 + cursor, "home", "\x1b[H"}, {k1 + cursor, "end", "\x1b[F"},
		{k2 + cursor, "up", "\x1b[A"}, {k8 + cursor, "up", "\x1b[A"},
		{"\x1b[>4u" + cursor, "up", "\x1bOA"}, {"\x1b[>16u" + cursor, "up", "\x1bOA"},
		{"\x1b[>4u", "f1", "\x1bOP"},
		{k1, "f1", "\x1b[P"}, {k1, "f2", "\x1b[Q"}, {k1, "f3", "\x1b[13~"}, {k1, "f4", "\x1b[S"},
		{k2, "f1", "\x1b[P"}, {k8, "f4", "\x1b[S"},
		{k1, "shift+f1", "\x1b[1;2P"}, {k1, "f5", "\x1b[15~"}, {k1, "f12", "\x1b[24~"},
		{k1, "f13", "\x1b[57376u"}, {k1, "f20", "\x1b[57383u"}, {k1, "f21", "\x1b[57384u"},
		{k1, "f35", "\x1b[57398u"}, {k1, "ctrl+f35", "\x1b[57398;5u"},
		{k1, "print_screen", "\x1b[57361u"}, {k1, "pause", "\x1b[57362u"},
		{k1, "menu", "\x1b[57363u"}, {k1, "alt+pause", "\x1b[57362;3u"},
		{k1, "caps_lock", ""}, {k1, "scroll_lock", ""}, {k1, "num_lock", ""},
		{k1, "left_shift", ""}, {k1, "iso_level3_shift", ""},
		{k8, "caps_lock", "\x1b[57358u"}, {k8, "scroll_lock", "\x1b[57359u"},
		{k8, "num_lock", "\x1b[57360u"},
		{k8, "left_shift", "\x1b[57441u"}, {k8, "shift+left_shift", "\x1b[57441;2u"},
		{k8, "right_meta", "\x1b[57452u"}, {k8, "iso_level5_shift", "\x1b[57454u"},
		{k1, "media_play", "\x1b[57428u"}, {k1, "media_track_next", "\x1b[57435u"},
		{k1, "media_record", "\x1b[57437u"},
		{k1, "lower_volume", "\x1b[57438u"}, {k1, "mute_volume", "\x1b[57440u"},
		{k2, "media_play_pause", "\x1b[57430u"},
		{k1, "kp_5", "5"}, {k1 + pad, "kp_5", "5"}, {k1, "ctrl+kp_5", "\x1b[57404;5u"},
		{k8, "kp_5", "\x1b[57404u"}, {k2, "ctrl+kp_5", "\x1d"},
		{k1, "kp_enter", "\x1b[57414u"}, {k1 + pad, "kp_enter", "\x1b[57414u"},
		{k2, "kp_enter", "\r"},
		{k1, "kp_plus", "+"}, {k1, "kp_add", "+"}, {k1, "alt+kp_minus", "\x1b[57412;3u"},
		{k1, "kp_separator", ","},
		{k1, "kp_left", "\x1b[57417u"}, {k1, "kp_page_down", "\x1b[57422u"},
		{k1, "kp_delete", "\x1b[57426u"}, {k1, "kp_begin", "\x1b[E"},
		{k1, "ctrl+kp_begin", "\x1b[1;5E"}, {k2, "kp_left", "\x1b[D"}, {k2, "kp_insert", "\x1b[2~"},
		{"\x1b[>24u", "kp_5", "\x1b[57404;;53u"},
	})
}

// TestKeysOfXterm holds what xterm 379 sent under Xvfb.
func TestKeysOfXterm(t *testing.T) {
	const other1, other2, cursor, pad, lnm = "\x1b[>4;1m", "\x1b[>4;2m", "\x1b[?1h", "\x1b=", "\x1b[20h"
	checkKeys(t, KeyPress, []sent{
		{"", "f21", "\x1b[42~"}, {"", "f22", "\x1b[43~"}, {"", "f24", "\x1b[45~"},
		{"", "f25", "\x1b[46~"}, {"", "f35", "\x1b[56~"}, {"", "ctrl+f25", "\x1b[46;5~"},
		{"", "menu", "\x1b[29~"}, {"", "pause", ""}, {"", "print_screen", ""},
		{"", "scroll_lock", ""}, {"", "caps_lock", ""}, {"", "num_lock", ""},
		{"", "media_play", ""}, {"", "mute_volume", ""}, {"", "left_super", ""},
		{"", "alt+pause", ""},
		{"", "kp_begin", "\x1b[E"}, {"", "kp_home", "\x1b[H"}, {"", "kp_left", "\x1b[D"},
		{"", "kp_insert", "\x1b[2~"}, {"", "kp_delete", "\x1b[3~"},
		{pad, "kp_begin", "\x1b[E"}, {pad, "kp_home", "\x1b[H"}, {pad, "kp_left", "\x1b[D"},
		{pad, "kp_insert", "\x1b[2~"},
		{cursor, "kp_begin", "\x1bOE"}, {cursor, "kp_up", "\x1bOA"},
		{"", "kp_separator", ","}, {pad, "kp_separator", "\x1bOl"}, {pad, "kp_add", "\x1bOk"},
		{pad, "kp_enter", "\x1bOM"},
		{"", "ctrl+`", "\x00"}, {"", "ctrl+~", "\x1e"}, {"", "ctrl+{", "\x1b"},
		{"", "ctrl+|", "\x1c"}, {"", "ctrl+}", "\x1d"},
		{"", "ctrl+@", "\x00"}, {"", "ctrl+/", "\x1f"}, {"", "ctrl+9", "9"}, {"", "ctrl+?", "\x7f"},
		{lnm, "enter", "\r\n"}, {lnm, "ctrl+m", "\r\n"}, {lnm, "ctrl_m", "\r\n"},
		{lnm, "kp_enter", "\r\n"}, {lnm, "alt+enter", "\x1b\r\n"}, {"", "ctrl+m", "\r"},
		{other1, "shift+tab", "\x1b[Z"}, {other1, "ctrl+tab", "\x1b[27;5;9~"},
		{other1, "ctrl+backspace", "\x08"}, {other1, "shift+backspace", "\x7f"},
		{other1, "ctrl+shift+backspace", "\x08"}, {other1, "ctrl+`", "\x00"},
		{other1, "shift+escape", "\x1b"}, {other1, "shift+space", " "},
		{other2, "shift+tab", "\x1b[Z"}, {other2, "ctrl+tab", "\x1b[27;5;9~"},
		{other2, "ctrl+shift+tab", "\x1b[27;6;9~"},
		{other2, "backspace", "\x7f"}, {other2, "ctrl+backspace", "\x08"},
		{other2, "shift+backspace", "\x1b[27;2;127~"},
		{other2, "alt+backspace", "\x1b[27;3;127~"},
		{other2, "ctrl+shift+backspace", "\x1b[27;6;8~"}, {other2, "ctrl+`", "\x1b[27;5;96~"},
		{other2, "ctrl+m", "\x1b[27;5;109~"}, {other2, "shift+enter", "\x1b[27;2;13~"},
		{other2, "shift+escape", "\x1b[27;2;27~"},
		{other2, "ctrl+space", "\x1b[27;5;32~"}, {other2, "shift+space", "\x1b[27;2;32~"},
		{other2, "ctrl+delete", "\x1b[3;5~"}, {other2, "shift+1", "1"},
	})
}

// TestKeyEvents: repeats and releases are told to who asks for them (flag 2), and a tap is what a
// person does: press and release.
func TestKeyEvents(t *testing.T) {
	const k1, k2, k3, k11, k27 = "\x1b[>1u", "\x1b[>2u", "\x1b[>3u", "\x1b[>11u", "\x1b[>27u"
	checkKeys(t, KeyRepeat, []sent{
		{"", "up", "\x1b[A"}, {"", "a", "a"}, {k1, "up", "\x1b[A"}, {k1, "ctrl+c", "\x1b[99;5u"},
		{k3, "up", "\x1b[1;1:2A"}, {k3, "ctrl+up", "\x1b[1;5:2A"}, {k3, "f5", "\x1b[15;1:2~"},
		{k3, "ctrl+c", "\x1b[99;5:2u"}, {k2, "ctrl+c", "\x1b[99;5:2u"},
		{k3, "a", "a"}, {k3, "enter", "\r"}, {k3, "escape", "\x1b[27;1:2u"}, {k2, "escape", "\x1b"},
		{k3, "kp_5", "5"}, {k3, "kp_left", "\x1b[57417;1:2u"},
		{k11, "a", "\x1b[97;1:2u"}, {k11, "enter", "\x1b[13;1:2u"}, {k27, "a", "\x1b[97;1:2;97u"},
		{k27, "shift+a", "\x1b[97;2:2;65u"},
	})
	checkKeys(t, KeyRelease, []sent{
		{"", "up", ""}, {"", "a", ""}, {"", "enter", ""}, {k1, "up", ""}, {"\x1b[>29u", "a", ""},
		{k3, "up", "\x1b[1;1:3A"}, {k3, "f3", "\x1b[13;1:3~"}, {k3, "a", "\x1b[97;1:3u"},
		{k2, "a", "\x1b[97;1:3u"}, {k3, "ctrl+c", "\x1b[99;5:3u"},
		{k3, "enter", ""}, {k3, "tab", ""}, {k3, "backspace", ""}, {k3, "shift+enter", ""},
		{k3, "escape", "\x1b[27;1:3u"}, {k2, "escape", "\x1b[27;1:3u"},
		{k3, "kp_5", "\x1b[57404;1:3u"}, {k3, "left_shift", ""},
		{k11, "enter", "\x1b[13;1:3u"}, {k11, "left_shift", "\x1b[57441;1:3u"},
		{k27, "a", "\x1b[97;1:3u"},
	})
	checkKeys(t, KeyTap, []sent{
		{"", "a", "a"}, {k1, "up", "\x1b[A"}, {k3, "up", "\x1b[A\x1b[1;1:3A"},
		{k3, "a", "a\x1b[97;1:3u"}, {k3, "enter", "\r"},
		{k11, "enter", "\x1b[13u\x1b[13;1:3u"}, {k27, "a", "\x1b[97;;97u\x1b[97;1:3u"},
		{k3, "pause", "\x1b[57362u\x1b[57362;1:3u"}, {"", "pause", ""},
	})
	wheel := New(24, 80, Options{})
	wheel.Feed([]byte("\x1b[?1049h\x1b[>3u"))
	if got, want := string(wheel.EncodeMouse(Mouse{Button: MouseWheelUp})), "\x1b[A\x1b[1;1:3A"; got != want {
		t.Errorf("the wheel sends %q, want %q", got, want)
	}
}

// TestKeyNames: every code has one name that leads to it, and kitty's short names of the keypad
// lead to the same keys.
func TestKeyNames(t *testing.T) {
	all := KeyNames()
	for code := KeyRune + 1; code <= KeyISOLevel5Shift; code++ {
		name := codeNames()[code]
		if k, err := ParseKey(name); err != nil || k != (Key{Code: code}) || !slices.Contains(all, name) {
			t.Errorf("code %d is %q: %+v, %v", code, name, k, err)
		}
		if rest, ok := strings.CutPrefix(name, "keypad_"); ok {
			if k, err := ParseKey("shift+kp_" + rest); err != nil || k != (Key{Code: code, Mods: Shift}) {
				t.Errorf("kp_%s: %+v, %v", rest, k, err)
			}
		}
	}
	if len(codeNames()) != int(KeyISOLevel5Shift)+1 {
		t.Errorf("%d names of %d codes", len(codeNames()), KeyISOLevel5Shift)
	}
	if i, j := slices.Index(all, "f2"), slices.Index(all, "f10"); i < 0 || j < i {
		t.Errorf("f2 is at %d, f10 at %d", i, j)
	}
	_, err := ParseKey("f36")
	if k := (*KeyError)(nil); !errors.As(err, &k) || !strings.Contains(err.Error(), "f1 to f35") {
		t.Errorf("f36: %v", err)
	}
}
