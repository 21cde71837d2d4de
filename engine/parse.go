package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/tree"
)

// An ActionError says what is wrong with a tree that should be an action, and where.
type ActionError struct {
	Path     string // "action.value.rows"
	Expected string // what should be there, with an article and the range; "" when Err says it
	// Got is what is there, unchanged; nil: nothing. Error quotes at most 32 characters of it.
	Got any
	Err error // *[vt.KeyError], or why the signal is unknown; nil otherwise
}

func (e *ActionError) Error() string { return (*tree.Fault)(e).Error() }

// Unwrap returns Err.
func (e *ActionError) Unwrap() error { return e.Err }

// ActionTypes returns the names of the types that [ParseAction] accepts, sorted.
func ActionTypes() []string { return slices.Sorted(maps.Keys(actions)) }

// actions are the types of an action, each with what makes it from its value.
var actions = map[string]func(value tree.Value) Action{
	"text":            func(v tree.Value) Action { return Text(v.Text()) },
	"paste":           func(v tree.Value) Action { return Paste(v.Text()) },
	"bracketed_paste": func(v tree.Value) Action { return BracketedPaste(v.Text()) },
	"mark_transcript": parseMark,
	"stream_text":     parseStream,
	"key":             parseKey,
	"signal":          parseSignal,
	"mouse":           parseMouse,
	"resize":          parseResize,
	"theme":           parseTheme,
	"interrupt":       func(tree.Value) Action { return Interrupt{} },
	"eof":             func(tree.Value) Action { return EOF{} },
	"kill":            func(tree.Value) Action { return Kill{} },
}

// ParseAction makes an action of a tree of maps, slices, strings, booleans and numbers, as JSON and
// Lua give it: {"type": ..., "value": ...}. Numbers are float64, int64 or int and whole. Unknown
// members are ignored. Errors are *[ActionError].
func ParseAction(t any) (Action, error) {
	v := tree.New("action", t)
	v.Object("an object with type and value")
	v.At("type").Text()
	var a Action
	if make := tree.Choice(v.At("type"), actions, nil); make != nil {
		a = make(v.At("value"))
	}
	if f := v.Fault(); f != nil {
		return nil, (*ActionError)(f)
	}
	return a, nil
}

var keyEvents = map[string]vt.KeyEvent{
	"press": vt.KeyPress, "repeat": vt.KeyRepeat, "release": vt.KeyRelease,
}

// parseKey reads the name of a key, or {key, event?}: a tap of it, unless an event is given.
func parseKey(v tree.Value) Action {
	event := tree.Choice(v.At("event"), keyEvents, vt.KeyTap)
	if _, ok := v.V.(map[string]any); ok {
		v = v.At("key")
	}
	k, err := vt.ParseKey(v.Text())
	if err != nil {
		v.Fail(err)
	}
	k.Event = event
	return Key(k)
}

func parseTheme(v tree.Value) Action {
	theme, ok := vt.ParseTheme(v.Text())
	if !ok {
		v.Refuse("dark or light")
	}
	return Theme(theme)
}

func parseSignal(v tree.Value) Action {
	s, err := pty.ParseSignal(v.Text())
	if err != nil {
		v.Fail(err)
	}
	return Signal(s)
}

// maxLabel bounds a transcript mark's label, in bytes.
const maxLabel = 256

func parseMark(v tree.Value) Action {
	v.Object("an object with label")
	v = v.At("label")
	label, _ := v.V.(string)
	if label == "" || len(label) > maxLabel {
		v.Refuse(fmt.Sprintf("a string of 1 to %d bytes", maxLabel))
	}
	return MarkTranscript(label)
}

// Bounds and defaults of stream_text, as in the earlier implementation.
const (
	defaultChunkChars = 64
	maxChunkChars     = 1024
	defaultDelayMS    = 2
	maxDelayMS        = 100
)

func parseStream(v tree.Value) Action {
	v.Object("an object with text")
	text := v.At("text").Text()
	chars := v.At("chunk_chars").IntOr(defaultChunkChars, 1, math.MaxInt32)
	delay := v.At("delay_ms").IntOr(defaultDelayMS, 0, math.MaxInt32)
	return StreamText{
		Text: text, Chars: min(chars, maxChunkChars),
		Delay: time.Duration(min(delay, maxDelayMS)) * time.Millisecond,
	}
}

func parseResize(v tree.Value) Action {
	v.Object("an object with rows and cols")
	return Resize{
		Rows: uint16(v.At("rows").Int(1, MaxSide)), Cols: uint16(v.At("cols").Int(1, MaxSide)),
		PixelWidth:  uint16(v.At("pixel_width").IntOr(0, 0, math.MaxUint16)),
		PixelHeight: uint16(v.At("pixel_height").IntOr(0, 0, math.MaxUint16)),
	}
}

var mouseButtons = map[string]vt.MouseButtonCode{
	"none": vt.MouseNone, "left": vt.MouseLeft, "middle": vt.MouseMiddle, "right": vt.MouseRight,
	"wheel_up": vt.MouseWheelUp, "wheel_down": vt.MouseWheelDown, "wheel_left": vt.MouseWheelLeft, "wheel_right": vt.MouseWheelRight,
}

var mouseActions = map[string]vt.MouseAction{"press": vt.MousePress, "release": vt.MouseRelease, "move": vt.MouseMotion}

var mouseMods = map[string]vt.Mods{"shift": vt.Shift, "alt": vt.Alt, "ctrl": vt.Ctrl}

// parseMouse reads {row, col, button?, action?, mods?}: by default a press of the left button.
func parseMouse(v tree.Value) Action {
	v.Object("an object with row and col")
	m := vt.Mouse{
		Row: v.At("row").Int(0, MaxSide-1), Col: v.At("col").Int(0, MaxSide-1),
		Button: tree.Choice(v.At("button"), mouseButtons, vt.MouseLeft),
		Action: tree.Choice(v.At("action"), mouseActions, vt.MousePress),
	}
	for _, mod := range v.At("mods").List() {
		m.Mods |= tree.Choice(mod, mouseMods, 0)
	}
	return Mouse(m)
}

// Quote quotes a caller's value for a message: at most 32 characters of it, and "..." where there
// is more.
func Quote(s string) string { return tree.Quote(s) }
