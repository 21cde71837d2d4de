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
)

// Mods are the modifiers held with a key or a mouse button, in the bits of the kitty protocol.
type Mods uint8

const (
	Shift Mods = 1 << iota
	Alt
	Ctrl
	Super
	Hyper
	Meta
)

// A KeyCode names a key that is not a character. The zero KeyCode stands for the character in
// Key.Rune.
type KeyCode uint8

const (
	KeyRune KeyCode = iota
	KeyEnter
	KeyEscape
	KeyTab
	KeyBackspace
	KeyDelete
	KeyInsert
	KeyUp
	KeyDown
	KeyRight
	KeyLeft
	KeyHome
	KeyEnd
	KeyPageUp
	KeyPageDown
	KeyF1
	KeyF2
	KeyF3
	KeyF4
	KeyF5
	KeyF6
	KeyF7
	KeyF8
	KeyF9
	KeyF10
	KeyF11
	KeyF12
)

// The keys from here on have a block of numbers each in the kitty keyboard protocol, in the order
// of its table of
// functional keys. Terminals without that protocol have no bytes for most of them: see
// [Terminal.EncodeKey].
const (
	KeyCapsLock KeyCode = iota + KeyF12 + 1
	KeyScrollLock
	KeyNumLock
	KeyPrintScreen
	KeyPause
	KeyMenu
)

const (
	KeyF13 KeyCode = iota + KeyMenu + 1
	KeyF14
	KeyF15
	KeyF16
	KeyF17
	KeyF18
	KeyF19
	KeyF20
	KeyF21
	KeyF22
	KeyF23
	KeyF24
	KeyF25
	KeyF26
	KeyF27
	KeyF28
	KeyF29
	KeyF30
	KeyF31
	KeyF32
	KeyF33
	KeyF34
	KeyF35
	KeyKeypad0
	KeyKeypad1
	KeyKeypad2
	KeyKeypad3
	KeyKeypad4
	KeyKeypad5
	KeyKeypad6
	KeyKeypad7
	KeyKeypad8
	KeyKeypad9
	KeyKeypadDecimal
	KeyKeypadDivide
	KeyKeypadMultiply
	KeyKeypadSubtract
	KeyKeypadAdd
	KeyKeypadEnter
	KeyKeypadEqual
	KeyKeypadSeparator
	KeyKeypadLeft
	KeyKeypadRight
	KeyKeypadUp
	KeyKeypadDown
	KeyKeypadPageUp
	KeyKeypadPageDown
	KeyKeypadHome
	KeyKeypadEnd
	KeyKeypadInsert
	KeyKeypadDelete
	KeyKeypadBegin // the 5 without num lock
	KeyMediaPlay
	KeyMediaPause
	KeyMediaPlayPause
	KeyMediaReverse
	KeyMediaStop
	KeyMediaFastForward
	KeyMediaRewind
	KeyMediaNext
	KeyMediaPrevious
	KeyMediaRecord
	KeyLowerVolume
	KeyRaiseVolume
	KeyMuteVolume
	KeyLeftShift
	KeyLeftControl
	KeyLeftAlt
	KeyLeftSuper
	KeyLeftHyper
	KeyLeftMeta
	KeyRightShift
	KeyRightControl
	KeyRightAlt
	KeyRightSuper
	KeyRightHyper
	KeyRightMeta
	KeyISOLevel3Shift // AltGr
	KeyISOLevel5Shift
)

// A KeyEvent is what is done to a key. Only programs that ask for it (flag 2 of the kitty keyboard
// protocol) can tell
// events apart.
type KeyEvent uint8

const (
	KeyTap     KeyEvent = iota // pressed and let go
	KeyPress                   // pressed and held
	KeyRepeat                  // held for so long that it counts once more
	KeyRelease                 // let go
)

// A Key is what is done to one key, with its modifiers. Rune is the character without modifiers
// ("a" with
// Shift, not "A"; an upper-case letter is taken as itself); it counts when Code is KeyRune.
type Key struct {
	Code  KeyCode
	Rune  rune
	Mods  Mods
	Event KeyEvent // the zero one is a tap
}

// ErrUnknownKey is what a KeyError wraps.
var ErrUnknownKey = errors.New("unknown key")

// A KeyError says which key name is not known, and which ones are.
type KeyError struct {
	Name string // as it was asked for, at most 32 characters
	Why  string // "" or what is wrong with the name
}

func (e *KeyError) Error() string {
	why := e.Why
	if why == "" {
		why = "known are single characters, " + namesInShort() + ", and any of these behind " +
			"ctrl+, alt+, shift+, super+, hyper+ or meta+"
	}
	return fmt.Sprintf("key %q: %v: %s", e.Name, ErrUnknownKey, why)
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

// KeyNames returns the names of keys that ParseKey knows beside single characters, sorted. It does
// not list those of
// the keypad once more with kp_.
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

// functionKey returns 12 for "f12", 0 for what is no function key.
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

// keyNamed returns the key of that name. Keys of the keypad have kitty's names, too, and the signs
// of add and subtract.
func keyNamed(name string) (Key, bool) {
	if rest, ok := strings.CutPrefix(name, "kp_"); ok {
		switch rest {
		case "plus":
			rest = "add"
		case "minus":
			rest = "subtract"
		}
		name = "keypad_" + rest
	}
	k, ok := keyNames()[name]
	return k, ok
}

var modNames = map[string]Mods{"shift": Shift, "alt": Alt, "ctrl": Ctrl, "super": Super, "hyper": Hyper, "meta": Meta}

// ParseKey reads the name of a key: "enter", "shift_tab", "ctrl_a", "f5", "kp_enter", a single
// character, and any
// of them behind modifiers: "ctrl+shift+up", "alt+x". Names are exact: lower case with underscores.
// The error is a *KeyError that names what is known.
func ParseKey(name string) (Key, error) {
	rest, mods := name, Mods(0)
	for {
		i := strings.IndexByte(rest, '+')
		if i <= 0 || i == len(rest)-1 && i == 0 {
			break
		}
		m, ok := modNames[rest[:i]]
		if !ok {
			return Key{}, keyError(name, "")
		}
		if mods&m != 0 {
			return Key{}, keyError(name, rest[:i]+" is given twice")
		}
		mods |= m
		rest = rest[i+1:]
	}
	if k, ok := keyNamed(rest); ok {
		if mods&k.Mods != 0 {
			return Key{}, keyError(name, "a modifier is given twice")
		}
		k.Mods |= mods
		return k, nil
	}
	if r, n := utf8.DecodeRuneInString(rest); n > 0 && n == len(rest) && r != utf8.RuneError && unicode.IsPrint(r) {
		return Key{Rune: r, Mods: mods}, nil
	}
	return Key{}, keyError(name, "")
}

// keyAliases are names that other tools have for keys, in lower case with underscores.
var keyAliases = map[string]string{
	"return": "enter", "cr": "enter", "esc": "escape", "del": "delete", "ins": "insert", "bs": "backspace", "backtab": "shift_tab",
	"pgup": "page_up", "pageup": "page_up", "pgdn": "page_down", "pgdown": "page_down", "pagedown": "page_down",
	"arrow_up": "up", "arrow_down": "down", "arrow_left": "left", "arrow_right": "right",
	"arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right", "spacebar": "space",
}

// meant guesses which key somebody means who is used to another tool's names; "" when there is no
// telling.
func meant(name string) string {
	n := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(name))
	for prefix, mod := range map[string]string{"c_": "ctrl+", "^": "ctrl+", "control_": "ctrl+", "ctrl_": "ctrl+", "m_": "alt+", "a_": "alt+", "alt_": "alt+", "s_": "shift+", "shift_": "shift+"} {
		if rest, ok := strings.CutPrefix(n, prefix); ok && rest != "" {
			if _, err := ParseKey(mod + rest); err == nil {
				return mod + rest
			}
		}
	}
	if a, ok := keyAliases[n]; ok {
		n = a
	}
	if _, ok := keyNamed(n); ok {
		return n
	}
	return ""
}

func keyError(name, why string) *KeyError {
	if guess := meant(name); why == "" && guess != "" && guess != name {
		why = fmt.Sprintf("did you mean %q?", guess)
	}
	if r := []rune(name); len(r) > 32 {
		name = string(r[:32]) + "…"
	}
	return &KeyError{Name: name, Why: why}
}
