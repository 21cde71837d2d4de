package native

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/protocol"
)

// actions are the types of an action and what makes each from its value.
var actions = map[string]func(value any) (engine.Action, error){
	"text":            stringAction(func(s string) (engine.Action, error) { return engine.Text(s), nil }),
	"paste":           stringAction(func(s string) (engine.Action, error) { return engine.Paste(s), nil }),
	"bracketed_paste": stringAction(func(s string) (engine.Action, error) { return engine.BracketedPaste(s), nil }),
	"mark_transcript": parseMark,
	"stream_text":     parseStream,
	"key":             stringAction(parseKey),
	"signal":          stringAction(parseSignal),
	"mouse":           parseMouse,
	"resize":          parseResize,
	"interrupt":       func(any) (engine.Action, error) { return engine.Interrupt{}, nil },
	"eof":             func(any) (engine.Action, error) { return engine.EOF{}, nil },
	"kill":            func(any) (engine.Action, error) { return engine.Kill{}, nil },
}

// parseAction makes an action of {"type": ..., "value": ...}.
func parseAction(tree any) (engine.Action, error) {
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
	return &protocol.ParamError{Path: path, Expected: expected, Got: kind(got), Reason: "invalid_action"}
}

// kind describes a value of the input: a name that was not found is worth seeing, anything else is not.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return protocol.Got(v)
	case bool:
		return "a boolean"
	case float64:
		return protocol.Got(v)
	case []any:
		return "an array"
	}
	return "an object"
}

func stringAction(make func(string) (engine.Action, error)) func(any) (engine.Action, error) {
	return func(value any) (engine.Action, error) {
		s, ok := value.(string)
		if !ok {
			return nil, badAction("action.value", "a string", value)
		}
		return make(s)
	}
}

func parseKey(name string) (engine.Action, error) {
	k, err := vt.ParseKey(name)
	if err != nil {
		return nil, &paramError{path: "action.value", reason: "invalid_action", problem: err.Error()}
	}
	return engine.Key(k), nil
}

func parseSignal(name string) (engine.Action, error) {
	s, err := pty.ParseSignal(name)
	if err != nil {
		return nil, &paramError{path: "action.value", reason: "invalid_action", problem: err.Error()}
	}
	return engine.Signal(s), nil
}

// maxLabel bounds a transcript mark's label, in bytes: it is a name.
const maxLabel = 256

func parseMark(value any) (engine.Action, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, badAction("action.value", "an object with label", value)
	}
	label, ok := object["label"].(string)
	if !ok || label == "" || len(label) > maxLabel {
		return nil, badAction("action.value.label", fmt.Sprintf("a string of 1 to %d bytes", maxLabel), object["label"])
	}
	return engine.MarkTranscript(label), nil
}

// Bounds and defaults of stream_text, as the earlier implementation has them.
const (
	defaultChunkChars = 64
	maxChunkChars     = 1024
	defaultDelayMS    = 2
	maxDelayMS        = 100
)

func parseStream(value any) (engine.Action, error) {
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
	return engine.StreamText{
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
	n, ok := v.(float64)
	if !ok || n != math.Trunc(n) || n < float64(least) || n > float64(most) {
		return 0, badAction("action.value."+name, fmt.Sprintf("an integer from %d to %d", least, most), v)
	}
	return int(n), nil
}

// needed stands for a member without a default.
const needed = math.MinInt

func parseResize(value any) (engine.Action, error) {
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
		{"rows", needed, 1, engine.MaxSide, &size.Rows},
		{"cols", needed, 1, engine.MaxSide, &size.Cols},
		{"pixel_width", 0, 0, math.MaxUint16, &size.PixelWidth},
		{"pixel_height", 0, 0, math.MaxUint16, &size.PixelHeight},
	} {
		n, err := member(object, f.name, f.absent, f.least, f.most)
		if err != nil {
			return nil, err
		}
		*f.to = uint16(n)
	}
	return engine.Resize(size), nil
}

var mouseButtons = map[string]vt.MouseButtonCode{
	"none": vt.MouseNone, "left": vt.MouseLeft, "middle": vt.MouseMiddle, "right": vt.MouseRight,
	"wheel_up": vt.MouseWheelUp, "wheel_down": vt.MouseWheelDown, "wheel_left": vt.MouseWheelLeft, "wheel_right": vt.MouseWheelRight,
}

var mouseActions = map[string]vt.MouseAction{"press": vt.MousePress, "release": vt.MouseRelease, "move": vt.MouseMotion}

var mouseMods = map[string]vt.Mods{"shift": vt.Shift, "alt": vt.Alt, "ctrl": vt.Ctrl}

// parseMouse reads {row, col, button?, action?, mods?}: a press of the left button unless told otherwise.
func parseMouse(value any) (engine.Action, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, badAction("action.value", "an object with row and col", value)
	}
	row, err := member(object, "row", needed, 0, engine.MaxSide-1)
	if err != nil {
		return nil, err
	}
	col, err := member(object, "col", needed, 0, engine.MaxSide-1)
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
	return engine.Mouse(m), nil
}

// oneOf lists the keys of a table for an error.
func oneOf[V any](table map[string]V) string {
	return "one of " + strings.Join(slices.Sorted(maps.Keys(table)), ", ")
}
