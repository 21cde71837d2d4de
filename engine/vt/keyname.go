package vt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/nearest"
)

// ErrUnknownKey is what a KeyError wraps.
var ErrUnknownKey = errors.New("unknown key")

// A KeyError names a key that is not known, and lists those that are.
type KeyError struct {
	Name string // as requested, at most 32 characters
	Why  string // "" or what is wrong with the name
}

func (e *KeyError) Error() string {
	why := e.Why
	if why == "" {
		why = e.Guess() + "known are single characters, " + namesInShort() + ", and any of these behind " +
			"ctrl+, alt+, shift+, super+, hyper+ or meta+, in any case and as tmux, VHS and " +
			"browsers spell them (Esc, C-c, PgUp, ArrowUp)"
	}
	return fmt.Sprintf("key %q: %v: %s", e.Name, ErrUnknownKey, why)
}

// Guess is "did you mean enter? " where one name is near, to put before a list; else "".
func (e *KeyError) Guess() string {
	if meant := nearest.Of(strings.ToLower(e.Name), KeyNames()); meant != "" {
		return "did you mean " + meant + "? "
	}
	return ""
}

// Unwrap returns ErrUnknownKey.
func (e *KeyError) Unwrap() error { return ErrUnknownKey }

// codeNames are the names of the codes, in their order: kitty's in lower case, but keypad for kp.
var codeNames = sync.OnceValue(func() []string {
	return strings.Fields(`rune
	enter escape tab backspace delete insert up down right left home end page_up page_down
	f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12
	caps_lock scroll_lock num_lock print_screen pause menu
	f13 f14 f15 f16 f17 f18 f19 f20 f21 f22 f23 f24 f25 f26 f27 f28 f29 f30 f31 f32 f33 f34 f35
	keypad_0 keypad_1 keypad_2 keypad_3 keypad_4 keypad_5 keypad_6 keypad_7 keypad_8 keypad_9
	keypad_decimal keypad_divide keypad_multiply keypad_subtract keypad_add keypad_enter keypad_equal
	keypad_separator keypad_left keypad_right keypad_up keypad_down keypad_page_up keypad_page_down
	keypad_home keypad_end keypad_insert keypad_delete keypad_begin
	media_play media_pause media_play_pause media_reverse media_stop media_fast_forward media_rewind
	media_track_next media_track_previous media_record lower_volume raise_volume mute_volume
	left_shift left_control left_alt left_super left_hyper left_meta
	right_shift right_control right_alt right_super right_hyper right_meta
	iso_level3_shift iso_level5_shift`)
})

// keyNames are the names of keys that are not characters.
var keyNames = sync.OnceValue(func() map[string]Key {
	names := map[string]Key{
		"space": {Rune: ' '}, "shift_tab": {Code: KeyTab, Mods: Shift},
		"shift_enter": {Code: KeyEnter, Mods: Shift},
		"ctrl_space":  {Rune: ' ', Mods: Ctrl}, "ctrl_backslash": {Rune: '\\', Mods: Ctrl},
		"ctrl_right_bracket": {Rune: ']', Mods: Ctrl}, "ctrl_underscore": {Rune: '_', Mods: Ctrl},
		"ctrl_caret": {Rune: '^', Mods: Ctrl},
	}
	for code, name := range codeNames()[1:] {
		names[name] = Key{Code: KeyCode(code + 1)}
	}
	for c := 'a'; c <= 'z'; c++ {
		names["ctrl_"+string(c)] = Key{Rune: c, Mods: Ctrl}
	}
	return names
})

// KeyNames returns the names of keys that ParseKey knows besides single characters, sorted. It does
// not list the keypad's keys a second time with kp_.
func KeyNames() []string {
	names := slices.Collect(maps.Keys(keyNames()))
	slices.SortFunc(names, func(a, b string) int {
		if m, n := functionKey(a), functionKey(b); m != 0 && n != 0 { // f2 before f10
			return m - n
		}
		return strings.Compare(a, b)
	})
	return names
}

// functionKey returns 12 for "f12", 0 for what is not a function key.
func functionKey(name string) int {
	digits, ok := strings.CutPrefix(name, "f")
	if n, err := strconv.ParseUint(digits, 10, 8); ok && err == nil {
		return int(n)
	}
	return 0
}

// namesInShort are the names of keys for an error: the common ones, and an example of the others.
var namesInShort = sync.OnceValue(func() string {
	short := []string{"f1 to f35", "ctrl_a to ctrl_z"}
	for _, n := range KeyNames() {
		letter, ctrl := strings.CutPrefix(n, "ctrl_")
		if keyNames()[n].Code < KeyCapsLock && functionKey(n) == 0 && (!ctrl || len(letter) > 1) {
			short = append(short, n)
		}
	}
	return strings.Join(short, ", ") + ", menu, pause, print_screen, keys of the keypad (keypad_0, " +
		"keypad_enter), media keys (media_play), locks and modifiers (caps_lock, left_shift)"
})

// keyAliases maps the key names of tmux, VHS, Vim and browsers, folded by fold, to the names used
// here. Those of the keypad are in keypadAliases.
var keyAliases = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"esc": "escape", "return": "enter", "cr": "enter", "ret": "enter",
		"bs": "backspace", "bspace": "backspace", "del": "delete", "dc": "delete",
		"ins": "insert", "ic": "insert", "btab": "shift_tab", "backtab": "shift_tab",
		"pgup": "page_up", "ppage": "page_up", "prior": "page_up",
		"pgdn": "page_down", "pgdown": "page_down", "npage": "page_down", "next": "page_down",
		"arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right",
		"uparrow": "up", "downarrow": "down", "leftarrow": "left", "rightarrow": "right",
		"spacebar": "space", "spc": "space", "contextmenu": "menu", "prtsc": "print_screen",
		"altgraph": "iso_level3_shift", "altgr": "iso_level3_shift",
		"medianext":     "media_track_next",
		"mediaprevious": "media_track_previous", "audiovolumeup": "raise_volume",
		"audiovolumedown": "lower_volume", "audiovolumemute": "mute_volume",
		"volumeup": "raise_volume", "volumedown": "lower_volume",
	}
})

// keyCharacters are names of characters that are awkward to write after a modifier.
var keyCharacters = map[string]rune{
	"plus": '+', "minus": '-', "backslash": '\\', "underscore": '_', "caret": '^',
}

// keypadPrefixes are how the names of keypad keys begin: here, in kitty and tmux, in browsers.
var keypadPrefixes = []string{"keypad", "kp", "numpad"}

// keypadAliases are what follows those prefixes elsewhere.
var keypadAliases = map[string]string{
	"+": "add", "plus": "add", "-": "subtract", "minus": "subtract", "*": "multiply", "/": "divide",
	".": "decimal", "dot": "decimal", "=": "equal", ",": "separator", "comma": "separator",
	"pgup": "page_up", "pgdn": "page_down", "del": "delete", "ins": "insert", "center": "begin",
}

// modNames are the names of modifiers. Those of one letter are tmux's and Vim's, and only count
// before a "-": M- is Alt there, not Meta.
var modNames = map[string]Mods{
	"shift": Shift, "s": Shift, "alt": Alt, "option": Alt, "opt": Alt, "m": Alt, "a": Alt,
	"ctrl": Ctrl, "control": Ctrl, "c": Ctrl, "hyper": Hyper, "meta": Meta,
	"super": Super, "cmd": Super, "command": Super, "win": Super, "windows": Super,
}

// foldedNames are the keys' names, folded.
var foldedNames = sync.OnceValue(func() map[string]Key {
	folded := make(map[string]Key, len(keyNames())+len(keyAliases())+len(keyCharacters))
	for name, k := range keyNames() {
		folded[fold(name)] = k
	}
	for alias, name := range keyAliases() {
		folded[alias] = keyNames()[name]
	}
	for name, r := range keyCharacters {
		folded[name] = Key{Rune: r}
	}
	return folded
})

// fold maps all spellings of a name to one: "Page-Up", "page up" and "PageUp".
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// keyNamed returns the key that a name without modifiers means. Case only matters for a single
// character.
func keyNamed(name string) (Key, bool) {
	if r, n := utf8.DecodeRuneInString(name); n > 0 && n == len(name) {
		return Key{Rune: r}, r != utf8.RuneError && unicode.IsPrint(r)
	}
	lower := strings.ToLower(name)
	if k, ok := keyNames()[lower]; ok {
		return k, true
	}
	for _, prefix := range keypadPrefixes {
		rest, ok := strings.CutPrefix(lower, prefix)
		if !ok || rest == "" {
			continue
		}
		if len(rest) > 1 {
			rest = fold(rest)
		}
		if alias, ok := keypadAliases[rest]; ok {
			rest = fold(alias)
		}
		if k, ok := foldedNames()["keypad"+rest]; ok {
			return k, true
		}
	}
	for _, prefix := range []string{"key", "digit"} { // browsers also name keys by position
		if c, ok := strings.CutPrefix(lower, prefix); ok && len(c) == 1 {
			return Key{Rune: rune(c[0])}, c >= "a" == (prefix == "key") && isLetterOrDigit(c[0])
		}
	}
	return Key{}, false
}

func isLetterOrDigit(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// cutModifier takes one modifier off a name: "ctrl+" or "C-" or "^" before more. The result is 0
// where the name does not begin with one.
func cutModifier(name string) (m Mods, said, rest string) {
	if rest, ok := strings.CutPrefix(name, "^"); ok && rest != "" {
		return Ctrl, "ctrl", rest
	}
	i := strings.IndexAny(name, "+-_")
	if i <= 0 || i == len(name)-1 || i == 1 && name[i] != '-' {
		return 0, "", name
	}
	said = strings.ToLower(name[:i])
	return modNames[said], said, name[i+1:]
}

// ParseKey reads the name of a key: "enter", "shift_tab", "f5", "kp_enter", a single character, and
// any of them after modifiers: "ctrl+shift+up", "alt+x".
//
// Names are accepted in any case, and in the spellings of tmux, VHS and browsers: "Esc", "Return",
// "ArrowUp", "PgUp", "C-c", "^C", "M-x", "Ctrl+C". Only a single character keeps its case: "G" is
// Shift and g. After a modifier that does not produce capital letters (Ctrl, Super, Hyper, Meta) it
// does not, as on a keyboard and in tmux: "C-G" is "ctrl+g", and with Shift it is "ctrl+shift+g".
//
// The error is a [*KeyError] that lists the known names.
func ParseKey(name string) (Key, error) {
	rest, mods := name, Mods(0)
	for {
		if k, ok := keyNamed(rest); ok {
			return k.with(mods, name)
		}
		m, said, behind := cutModifier(rest)
		if m == 0 {
			break
		}
		if mods&m != 0 {
			return Key{}, keyError(name, said+" is given twice")
		}
		mods, rest = mods|m, behind
	}
	if k, ok := foldedNames()[fold(rest)]; ok {
		return k.with(mods, name)
	}
	return Key{}, keyError(name, "")
}

// with adds the modifiers that precede a key's name.
func (k Key) with(mods Mods, name string) (Key, error) {
	if mods&k.Mods != 0 {
		return Key{}, keyError(name, "a modifier is given twice")
	}
	k.Mods |= mods
	if k.Mods&(Ctrl|Super|Hyper|Meta) != 0 && k.Rune >= 'A' && k.Rune <= 'Z' {
		k.Rune += 'a' - 'A'
	}
	return k, nil
}

// String is the key's name as ParseKey reads it: "ctrl+shift+up". It omits the event.
func (k Key) String() string {
	var b strings.Builder
	for _, m := range []struct {
		mod  Mods
		name string
	}{{Ctrl, "ctrl+"}, {Alt, "alt+"}, {Shift, "shift+"}, {Super, "super+"}, {Hyper, "hyper+"}, {Meta, "meta+"}} {
		if k.Mods&m.mod != 0 {
			b.WriteString(m.name)
		}
	}
	switch {
	case k.Code == KeyRune && k.Rune == ' ':
		b.WriteString("space")
	case k.Code == KeyRune:
		b.WriteRune(k.Rune)
	case int(k.Code) < len(codeNames()):
		b.WriteString(codeNames()[k.Code])
	}
	return b.String()
}

func keyError(name, why string) *KeyError {
	if r := []rune(name); len(r) > 32 {
		name = string(r[:32]) + "…"
	}
	return &KeyError{Name: name, Why: why}
}
