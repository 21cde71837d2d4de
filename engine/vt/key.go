package vt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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
	KeyF13
	KeyF14
	KeyF15
	KeyF16
	KeyF17
	KeyF18
	KeyF19
	KeyF20
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
)

// A Key is one press of a key with its modifiers. Rune is the character without modifiers ("a" with
// Shift, not "A"; an upper-case letter is taken as itself); it counts when Code is KeyRune.
type Key struct {
	Code KeyCode
	Rune rune
	Mods Mods
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
		why = "known are single characters, " + strings.Join(KeyNames(), ", ") +
			", and any of these behind ctrl+, alt+, shift+, super+ or meta+"
	}
	return fmt.Sprintf("key %q: %v: %s", e.Name, ErrUnknownKey, why)
}

// Unwrap returns ErrUnknownKey.
func (e *KeyError) Unwrap() error { return ErrUnknownKey }

// keyNames are the names of keys that are not characters.
var keyNames = func() map[string]Key {
	names := map[string]Key{
		"enter": {Code: KeyEnter}, "escape": {Code: KeyEscape}, "tab": {Code: KeyTab},
		"shift_tab": {Code: KeyTab, Mods: Shift}, "backspace": {Code: KeyBackspace}, "delete": {Code: KeyDelete},
		"insert": {Code: KeyInsert}, "space": {Rune: ' '}, "up": {Code: KeyUp}, "down": {Code: KeyDown},
		"right": {Code: KeyRight}, "left": {Code: KeyLeft}, "home": {Code: KeyHome}, "end": {Code: KeyEnd},
		"page_up": {Code: KeyPageUp}, "page_down": {Code: KeyPageDown}, "shift_enter": {Code: KeyEnter, Mods: Shift},
		"ctrl_space": {Rune: ' ', Mods: Ctrl}, "ctrl_backslash": {Rune: '\\', Mods: Ctrl},
		"ctrl_right_bracket": {Rune: ']', Mods: Ctrl}, "ctrl_underscore": {Rune: '_', Mods: Ctrl},
		"ctrl_caret":     {Rune: '^', Mods: Ctrl},
		"keypad_decimal": {Code: KeyKeypadDecimal}, "keypad_divide": {Code: KeyKeypadDivide},
		"keypad_multiply": {Code: KeyKeypadMultiply}, "keypad_subtract": {Code: KeyKeypadSubtract},
		"keypad_add": {Code: KeyKeypadAdd}, "keypad_enter": {Code: KeyKeypadEnter}, "keypad_equal": {Code: KeyKeypadEqual},
	}
	for i := range 20 {
		names[fmt.Sprintf("f%d", i+1)] = Key{Code: KeyF1 + KeyCode(i)}
	}
	for i := range 10 {
		names[fmt.Sprintf("keypad_%d", i)] = Key{Code: KeyKeypad0 + KeyCode(i)}
	}
	for c := 'a'; c <= 'z'; c++ {
		names["ctrl_"+string(c)] = Key{Rune: c, Mods: Ctrl}
	}
	return names
}()

// KeyNames returns the names of keys that ParseKey knows beside single characters, sorted.
func KeyNames() []string {
	names := make([]string, 0, len(keyNames))
	for n := range keyNames {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		// f2 before f10
		if len(a) != len(b) && a[0] == 'f' && b[0] == 'f' && strings.TrimLeft(a[1:], "0123456789") == "" && strings.TrimLeft(b[1:], "0123456789") == "" {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return names
}

var modNames = map[string]Mods{"shift": Shift, "alt": Alt, "ctrl": Ctrl, "super": Super, "hyper": Hyper, "meta": Meta}

// ParseKey reads the name of a key: "enter", "shift_tab", "ctrl_a", "f5", a single character, and any
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
	if k, ok := keyNames[rest]; ok {
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

// meant guesses which key somebody means who is used to another tool's names; "" when there is no telling.
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
	if _, ok := keyNames[n]; ok {
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
