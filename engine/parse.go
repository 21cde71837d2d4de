package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// An ActionError says what is wrong with a tree that was to be an action, and where.
type ActionError struct {
	Path     string // "action.value.rows"
	Expected string // what should be there, with an article and the range; "" when Err says it
	Got      any    // what is there; nil: nothing. It is input as it came: Error quotes at most 32 characters of it
	Err      error  // *[vt.KeyError], or why there is no such signal; nil otherwise
}

func (e *ActionError) Error() string {
	if e.Err != nil {
		return e.Path + ": " + e.Err.Error()
	}
	got := "an object"
	switch v := e.Got.(type) {
	case nil:
		got = "nothing"
	case string:
		got = Quote(v)
	case bool:
		got = "a boolean"
	case float64, int64, int:
		got = fmt.Sprint(v)
	case []any:
		got = "an array"
	}
	return e.Path + ": expected " + e.Expected + ", got " + got
}

// Unwrap returns Err.
func (e *ActionError) Unwrap() error { return e.Err }

// ActionTypes returns the names of the types that [ParseAction] knows, sorted.
func ActionTypes() []string { return slices.Sorted(maps.Keys(actions)) }

// actions are the types of an action and what makes each from its value.
var actions = map[string]func(value any) (Action, error){
	"text":            stringAction(func(s string) (Action, error) { return Text(s), nil }),
	"paste":           stringAction(func(s string) (Action, error) { return Paste(s), nil }),
	"bracketed_paste": stringAction(func(s string) (Action, error) { return BracketedPaste(s), nil }),
	"mark_transcript": parseMark,
	"stream_text":     parseStream,
	"key":             parseKey,
	"signal":          stringAction(parseSignal),
	"mouse":           parseMouse,
	"resize":          parseResize,
	"theme":           stringAction(parseTheme),
	"interrupt":       func(any) (Action, error) { return Interrupt{}, nil },
	"eof":             func(any) (Action, error) { return EOF{}, nil },
	"kill":            func(any) (Action, error) { return Kill{}, nil },
}

// ParseAction makes an action of a tree of maps, slices, strings, booleans and numbers, as JSON and Lua give it:
// {"type": ..., "value": ...}. Numbers are float64, int64 or int and whole. Members that are not known are ignored.
// Errors are *[ActionError].
func ParseAction(tree any) (Action, error) {
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, badAction("action", "an object with type and value", tree)
	}
	name, ok := object["type"].(string)
	if !ok {
		return nil, badAction("action.type", "a string", object["type"])
	}
	make, ok := actions[name]
	if !ok {
		return nil, badAction("action.type", oneOf(actions), name)
	}
	return make(object["value"])
}

func badAction(path, expected string, got any) error {
	return &ActionError{Path: path, Expected: expected, Got: got}
}

func stringAction(make func(string) (Action, error)) func(any) (Action, error) {
	return func(value any) (Action, error) {
		s, ok := value.(string)
		if !ok {
			return nil, badAction("action.value", "a string", value)
		}
		return make(s)
	}
}

var keyEvents = map[string]vt.KeyEvent{
	"press": vt.KeyPress, "repeat": vt.KeyRepeat, "release": vt.KeyRelease,
}

// parseKey reads the name of a key, or {key, event?}: a tap of it, unless an event is given.
func parseKey(value any) (Action, error) {
	path, event := "action.value", vt.KeyTap
	if object, ok := value.(map[string]any); ok {
		path, value = "action.value.key", object["key"]
		if v, ok := object["event"]; ok {
			name, _ := v.(string)
			if event, ok = keyEvents[name]; !ok {
				return nil, badAction("action.value.event", oneOf(keyEvents), v)
			}
		}
	}
	name, ok := value.(string)
	if !ok {
		return nil, badAction(path, "a string", value)
	}
	k, err := vt.ParseKey(name)
	if err != nil {
		return nil, &ActionError{Path: path, Got: name, Err: err}
	}
	k.Event = event
	return Key(k), nil
}

func parseTheme(name string) (Action, error) {
	theme, ok := vt.ParseTheme(name)
	if !ok {
		return nil, badAction("action.value", "dark or light", name)
	}
	return Theme(theme), nil
}

func parseSignal(name string) (Action, error) {
	s, err := pty.ParseSignal(name)
	if err != nil {
		return nil, &ActionError{Path: "action.value", Got: name, Err: err}
	}
	return Signal(s), nil
}

// maxLabel bounds a transcript mark's label, in bytes: it is a name.
const maxLabel = 256

func parseMark(value any) (Action, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, badAction("action.value", "an object with label", value)
	}
	label, ok := object["label"].(string)
	if !ok || label == "" || len(label) > maxLabel {
		return nil, badAction("action.value.label", fmt.Sprintf("a string of 1 to %d bytes", maxLabel), object["label"])
	}
	return MarkTranscript(label), nil
}

// Bounds and defaults of stream_text, as the earlier implementation has them.
const (
	defaultChunkChars = 64
	maxChunkChars     = 1024
	defaultDelayMS    = 2
	maxDelayMS        = 100
)

func parseStream(value any) (Action, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, badAction("action.value", "an object with text", value)
	}
	text, ok := object["text"].(string)
	if !ok {
		return nil, badAction("action.value.text", "a string", object["text"])
	}
	chars, err := member(object, "chunk_chars", defaultChunkChars, 1, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	delay, err := member(object, "delay_ms", defaultDelayMS, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	return StreamText{
		Text: text, Chars: min(chars, maxChunkChars), Delay: time.Duration(min(delay, maxDelayMS)) * time.Millisecond,
	}, nil
}

// member reads a whole number of an action's value; one that is absent is the default.
func member(object map[string]any, name string, absent, least, most int) (int, error) {
	v, ok := object[name]
	if !ok || v == nil {
		if absent < least {
			return 0, badAction("action.value."+name, fmt.Sprintf("an integer from %d to %d", least, most), nil)
		}
		return absent, nil
	}
	var n float64
	switch v := v.(type) {
	case float64:
		n = v
	case int64:
		n = float64(v)
	case int:
		n = float64(v)
	default:
		n = math.NaN()
	}
	if n != math.Trunc(n) || n < float64(least) || n > float64(most) {
		return 0, badAction("action.value."+name, fmt.Sprintf("an integer from %d to %d", least, most), v)
	}
	return int(n), nil
}

// needed stands for a member without a default.
const needed = math.MinInt

func parseResize(value any) (Action, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, badAction("action.value", "an object with rows and cols", value)
	}
	var size pty.Size
	for _, f := range []struct {
		name   string
		absent int
		least  int
		most   int
		to     *uint16
	}{
		{"rows", needed, 1, MaxSide, &size.Rows},
		{"cols", needed, 1, MaxSide, &size.Cols},
		{"pixel_width", 0, 0, math.MaxUint16, &size.PixelWidth},
		{"pixel_height", 0, 0, math.MaxUint16, &size.PixelHeight},
	} {
		n, err := member(object, f.name, f.absent, f.least, f.most)
		if err != nil {
			return nil, err
		}
		*f.to = uint16(n)
	}
	return Resize(size), nil
}

var mouseButtons = map[string]vt.MouseButtonCode{
	"none": vt.MouseNone, "left": vt.MouseLeft, "middle": vt.MouseMiddle, "right": vt.MouseRight,
	"wheel_up": vt.MouseWheelUp, "wheel_down": vt.MouseWheelDown, "wheel_left": vt.MouseWheelLeft, "wheel_right": vt.MouseWheelRight,
}

var mouseActions = map[string]vt.MouseAction{"press": vt.MousePress, "release": vt.MouseRelease, "move": vt.MouseMotion}

var mouseMods = map[string]vt.Mods{"shift": vt.Shift, "alt": vt.Alt, "ctrl": vt.Ctrl}

// parseMouse reads {row, col, button?, action?, mods?}: a press of the left button unless told otherwise.
func parseMouse(value any) (Action, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, badAction("action.value", "an object with row and col", value)
	}
	row, err := member(object, "row", needed, 0, MaxSide-1)
	if err != nil {
		return nil, err
	}
	col, err := member(object, "col", needed, 0, MaxSide-1)
	if err != nil {
		return nil, err
	}
	m := vt.Mouse{Row: row, Col: col, Button: vt.MouseLeft, Action: vt.MousePress}
	if v, ok := object["button"]; ok {
		name, _ := v.(string)
		if m.Button, ok = mouseButtons[name]; !ok {
			return nil, badAction("action.value.button", oneOf(mouseButtons), v)
		}
	}
	if v, ok := object["action"]; ok {
		name, _ := v.(string)
		if m.Action, ok = mouseActions[name]; !ok {
			return nil, badAction("action.value.action", oneOf(mouseActions), v)
		}
	}
	if v, ok := object["mods"]; ok {
		mods, ok := v.([]any)
		if !ok {
			return nil, badAction("action.value.mods", "an array", v)
		}
		for _, x := range mods {
			name, _ := x.(string)
			mod, ok := mouseMods[name]
			if !ok {
				return nil, badAction("action.value.mods", oneOf(mouseMods), x)
			}
			m.Mods |= mod
		}
	}
	return Mouse(m), nil
}

// oneOf lists the keys of a table for an error.
func oneOf[V any](table map[string]V) string {
	return "one of " + strings.Join(slices.Sorted(maps.Keys(table)), ", ")
}

// Quote quotes what came from a caller for a message: at most 32 characters of it, and "..." where there is more.
func Quote(s string) string {
	if short := fmt.Sprintf("%.32s", s); len(short) < len(s) {
		s = short + "..."
	}
	return strconv.Quote(s)
}
