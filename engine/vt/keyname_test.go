package vt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestKeySpellings has the names of tmux (its manual, "KEY BINDINGS"), VHS, Vim's notation and the
// key values of browsers (UI Events), beside those that are ours.
func TestKeySpellings(t *testing.T) {
	for want, spellings := range map[string]string{
		"enter": "Enter ENTER Return return CR cr kp_x", "escape": "Escape Esc esc ESC",
		"tab": "Tab TAB", "space": "Space SPACE spacebar", "backspace": "Backspace BSpace BS back-space",
		"delete": "Delete Del DC del dc", "insert": "Insert Ins IC",
		"up": "Up UP ArrowUp arrow_up arrow-up UpArrow", "down": "Down ArrowDown",
		"left": "Left ArrowLeft", "right": "Right ArrowRight", "home": "Home", "end": "End",
		"page_up":   "PageUp PgUp PPage page-up Page_Up pageup Prior",
		"page_down": "PageDown PgDn NPage page-down PageDn_ Next",
		"shift+tab": "shift_tab Shift-Tab S-Tab BTab backtab Shift+Tab shift-tab",
		"ctrl+c":    "ctrl_c C-c c-c ^C ^c ctrl-c Ctrl-C Ctrl+C control+c CTRL+C Control-C ctl_x C-C",
		"ctrl+r":    "C-r c-r ^R", "ctrl+g": "C-G C-g", "ctrl+[": "^[ C-[", "ctrl+\\": "ctrl_backslash ^\\ C-\\",
		"ctrl++": "C-+ ^+ ctrl+plus Ctrl-Plus", "ctrl+-": "C-- ctrl+minus ^-", "ctrl+^": "^^ ctrl_caret",
		"ctrl+space": "C-Space ctrl_space Ctrl+Space ^Space",
		"alt+x":      "M-x A-x alt-x Alt+x option+x opt-x Option-x alt_x", "alt+X": "M-X Alt+X",
		"shift+up": "S-Up S-up Shift+ArrowUp shift_up", "ctrl+alt+x": "C-M-x M-C-x ctrl+alt+x Ctrl-Alt-X",
		"ctrl+shift+a": "Ctrl+Shift+A C-S-a S-C-A", "ctrl+shift+up": "C-S-Up ctrl_shift_up",
		"super+c": "cmd+c Cmd+C command-c super+c win+c", "meta+x": "Meta+x meta-x", "hyper+x": "Hyper+X",
		"f1": "F1", "f12": "F12", "ctrl+f5": "C-F5 ctrl+F5 Ctrl-F5", "f35": "F35",
		"keypad_0": "KP0 kp_0 Numpad0 keypad0", "keypad_enter": "KPEnter kp_enter NumpadEnter KP-Enter",
		"keypad_add": "KP+ kp_plus NumpadAdd kp_add", "keypad_subtract": "KP- kp_minus NumpadSubtract",
		"keypad_multiply": "KP* NumpadMultiply", "keypad_divide": "KP/", "keypad_decimal": "KP. NumpadDecimal",
		"ctrl+keypad_subtract": "C-KP-", "keypad_page_up": "KPPageUp kp_page_up kp_pgup",
		"caps_lock": "CapsLock Caps-Lock", "print_screen": "PrintScreen PrtSc", "menu": "ContextMenu Menu",
		"media_play_pause": "MediaPlayPause", "raise_volume": "AudioVolumeUp", "media_track_next": "MediaTrackNext",
		"G": "G", "g": "g KeyG", "5": "5 Digit5", "+": "+ plus", "-": "- minus", "^": "^", "_": "_", "é": "é",
	} {
		k, err := ParseKey(want)
		if err != nil || k.String() != want {
			t.Errorf("%q is %q, %v", want, k, err)
		}
		for name := range strings.FieldsSeq(spellings) {
			switch name {
			case "kp_x", "PageDn_", "ctl_x": // near ones that are none
				if k, err := ParseKey(name); err == nil {
					t.Errorf("%q is taken for %q", name, k)
				}
				continue
			}
			if got, err := ParseKey(name); err != nil || got != k {
				t.Errorf("%q is %q, %v; want %q", name, got, err, want)
			}
		}
	}
	if k, err := ParseKey("Page Up"); err != nil || k.Code != KeyPageUp {
		t.Errorf("Page Up: %v, %v", k, err)
	}
	if k, err := ParseKey(" "); err != nil || k.Rune != ' ' {
		t.Errorf("a blank: %v, %v", k, err)
	}
}

// TestKeyTables: every alias leads to a key, and none hides a name of ours.
func TestKeyTables(t *testing.T) {
	ours := map[string]Key{}
	for name, k := range keyNames() {
		ours[fold(name)] = k
	}
	for alias, name := range keyAliases() {
		want, ok := keyNames()[name]
		if was, taken := ours[alias]; !ok || taken && was != want || alias != fold(alias) {
			t.Errorf("%q for %q: %v", alias, name, was)
		}
		if k, err := ParseKey(alias); err != nil || k != want {
			t.Errorf("%q is %v, %v", alias, k, err)
		}
	}
	for rest, name := range keypadAliases {
		if _, ok := keyNames()["keypad_"+name]; !ok {
			t.Errorf("kp%s is keypad_%s, which there is not", rest, name)
		}
	}
	for name := range keyCharacters {
		if _, taken := ours[name]; taken {
			t.Errorf("%q is a key's name", name)
		}
	}
}

// TestKeyCase: a letter's case counts where the name has nothing else, and nowhere else.
func TestKeyCase(t *testing.T) {
	names := KeyNames()
	for alias := range keyAliases() {
		names = append(names, alias)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		for _, m := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ctrl+", "alt-", "super+", "hyper_"}), 0, 3, rapid.ID[string]).Draw(t, "mods") {
			name = m + name
		}
		want, err := ParseKey(name)
		if err != nil { // a modifier twice
			return
		}
		shouted := strings.Map(func(r rune) rune {
			if rapid.Bool().Draw(t, "shout") {
				return []rune(strings.ToUpper(string(r)))[0]
			}
			return r
		}, name)
		if got, err := ParseKey(shouted); err != nil || got != want {
			t.Fatalf("%q is %q, %v; want %q", shouted, got, err, want)
		}
	})
}

// FuzzKeyName: what is parsed has a name, and that name means the same.
func FuzzKeyName(f *testing.F) {
	for _, name := range []string{"enter", "C-M-S-x", "^C", "ctrl++", "C--", "KP-", "page up", "G", "C-G", "é", "alt_x", "KeyA"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		k, err := ParseKey(name)
		if err != nil {
			if k != (Key{}) || !utf8.ValidString(err.Error()) {
				t.Fatalf("%q: %v, %v", name, k, err)
			}
			return
		}
		if again, err := ParseKey(k.String()); err != nil || again != k {
			t.Fatalf("%q is %q, which is %q, %v", name, k, again, err)
		}
	})
}
