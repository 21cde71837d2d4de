package vt

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

// A KeyCode names a key that is not a character. The zero KeyCode means the character in Key.Rune.
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

// The keys from here on each have a number in the kitty keyboard protocol, in the order of its
// table of functional keys. Terminals without that protocol have no bytes for most of them: see
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

// A KeyEvent is what happens to a key. Only programs that ask for it (flag 2 of the kitty keyboard
// protocol) can tell events apart.
type KeyEvent uint8

const (
	KeyTap     KeyEvent = iota // pressed and released
	KeyPress                   // pressed and held
	KeyRepeat                  // held long enough to repeat
	KeyRelease                 // released
)

// A Key is an event of one key, with its modifiers. Rune is the character without modifiers ("a"
// with Shift, not "A"; an upper-case letter is taken as itself); it applies when Code is KeyRune.
type Key struct {
	Code  KeyCode
	Rune  rune
	Mods  Mods
	Event KeyEvent // the zero value is a tap
}
