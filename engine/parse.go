package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ptywright/ptywright/engine/locate"
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

// An actionType is one type of an action.
type actionType struct {
	about string
	make  func(o ActionOptions, value tree.Value) Action
	shape func() tree.Shape // of its value; nil: it takes none
}

// ActionOptions extend what [ParseActionWith] accepts. The zero value works.
type ActionOptions struct {
	Locators locate.Options
}

// alone is a make that needs no options.
func alone(make func(tree.Value) Action) func(ActionOptions, tree.Value) Action {
	return func(_ ActionOptions, v tree.Value) Action { return make(v) }
}

func textShape(about string) func() tree.Shape {
	return func() tree.Shape { return tree.TextShape(about) }
}

// actions are the types of an action.
var actions = map[string]actionType{
	"text": {"types a text as it is", alone(func(v tree.Value) Action { return Text(v.Text()) }),
		textShape("what to type")},
	"paste": {"writes a text as it is, without brackets",
		alone(func(v tree.Value) Action { return Paste(v.Text()) }),
		textShape("what to write")},
	"bracketed_paste": {"pastes a text in brackets, without control characters other than tabs and line ends",
		alone(func(v tree.Value) Action { return BracketedPaste(v.Text()) }), textShape("what to paste")},
	"mark_transcript": {"sets a label at the end of the output", alone(parseMark), markShape},
	"stream_text": {"types a text in chunks, with a pause after each", alone(parseStream),
		streamShape},
	"key": {"presses a key", alone(parseKey), keyShape},
	"signal": {"signals the foreground process group", alone(parseSignal),
		func() tree.Shape { return tree.EnumShape(pty.Signals(), "the signal's name") }},
	"mouse":  {"presses, releases or moves the mouse", alone(parseMouse), mouseShape},
	"click":  {"clicks on what a locator means, or on a cell", ActionOptions.parseClick, clickShape},
	"drag":   {"presses on one target and releases on another", ActionOptions.parseDrag, dragShape},
	"scroll": {"turns the wheel on a target", ActionOptions.parseScroll, scrollShape},
	"resize": {"changes the terminal's size", alone(parseResize), resizeShape},
	"theme": {"changes the colours that the program sees when it asks for them", alone(parseTheme),
		func() tree.Shape { return tree.EnumShape(vt.Themes(), "the theme's name") }},
	"interrupt": {"types the byte 0x03", alone(func(tree.Value) Action { return Interrupt{} }), nil},
	"eof":       {"types the byte 0x04", alone(func(tree.Value) Action { return EOF{} }), nil},
	"kill": {"ends the program and all it started",
		alone(func(tree.Value) Action { return Kill{} }), nil},
}

// ActionSchemas returns the JSON Schema (2020-12) of each type of an action, as a tree.
func ActionSchemas() map[string]map[string]any {
	all := map[string]map[string]any{}
	for name, a := range actions {
		all[name] = tree.TypedShape(name, a.about, a.shape, false)
	}
	return all
}

// ParseAction makes an action of a tree of maps, slices, strings, booleans and numbers, as JSON and
// Lua give it: {"type": ..., "value": ...}. Numbers are float64, int64 or int and whole. Unknown
// members are ignored. Errors are *[ActionError].
func ParseAction(t any) (Action, error) { return ParseActionWith(t, ActionOptions{}) }

// ParseActionWith is ParseAction with options.
func ParseActionWith(t any, o ActionOptions) (Action, error) {
	v := tree.New("action", t)
	v.Object("an object with type and value")
	v.At("type").Text()
	var a Action
	if t := tree.Choice(v.At("type"), actions, actionType{}); t.make != nil {
		a = t.make(o, v.At("value"))
	}
	if f := v.Fault(); f != nil {
		return nil, (*ActionError)(f)
	}
	return a, nil
}

var keyEvents = map[string]vt.KeyEvent{
	"press": vt.KeyPress, "repeat": vt.KeyRepeat, "release": vt.KeyRelease,
}

func keyShape() tree.Shape {
	return tree.Shape{"oneOf": []any{
		tree.Shape{"type": "string", "description": "the key's name: a tap of it",
			"examples": []any{"enter"}},
		tree.ObjectShape(map[string]tree.Shape{
			"key": {"type": "string", "description": "the key's name",
				"examples": []any{"enter"}},
			"event": tree.ChoiceShape(keyEvents, "what happens to the key; without it a tap"),
		}, "event"),
	}}
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

func markShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"label": {"type": "string", "minLength": 1, "maxLength": maxLabel,
			"description": fmt.Sprintf("1 to %d bytes", maxLabel)},
	})
}

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

func streamShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"text": tree.TextShape("what to type"),
		"chunk_chars": tree.IntOrShape(defaultChunkChars, 1, math.MaxInt32,
			fmt.Sprintf("characters of a chunk; more than %d are taken for %[1]d", maxChunkChars)),
		"delay_ms": tree.IntOrShape(defaultDelayMS, 0, math.MaxInt32,
			fmt.Sprintf("pause after each chunk; more than %d are taken for %[1]d", maxDelayMS)),
	}, "chunk_chars", "delay_ms")
}

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

func resizeShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"rows":         tree.IntShape(1, MaxSide, "rows of the terminal"),
		"cols":         tree.IntShape(1, MaxSide, "columns of the terminal"),
		"pixel_width":  tree.IntOrShape(0, 0, math.MaxUint16, "width in pixels; 0: not known"),
		"pixel_height": tree.IntOrShape(0, 0, math.MaxUint16, "height in pixels; 0: not known"),
	}, "pixel_width", "pixel_height")
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
	"wheel_up": vt.MouseWheelUp, "wheel_down": vt.MouseWheelDown, "wheel_left": vt.MouseWheelLeft,
	"wheel_right": vt.MouseWheelRight,
}

var mouseActions = map[string]vt.MouseAction{"press": vt.MousePress, "release": vt.MouseRelease,
	"move": vt.MouseMotion}

var mouseMods = map[string]vt.Mods{"shift": vt.Shift, "alt": vt.Alt, "ctrl": vt.Ctrl}

func mouseShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"row": tree.IntShape(0, MaxSide-1, "from 0"), "col": tree.IntShape(0, MaxSide-1, "from 0"),
		"button": tree.ChoiceShape(mouseButtons, "left (default), or another"),
		"action": tree.ChoiceShape(mouseActions, "press (default), release or move"),
		"mods":   modsShape(),
	}, "button", "action", "mods")
}

// parseMouse reads {row, col, button?, action?, mods?}: by default a press of the left button.
func parseMouse(v tree.Value) Action {
	v.Object("an object with row and col")
	m := vt.Mouse{
		Row: v.At("row").Int(0, MaxSide-1), Col: v.At("col").Int(0, MaxSide-1),
		Button: tree.Choice(v.At("button"), mouseButtons, vt.MouseLeft),
		Action: tree.Choice(v.At("action"), mouseActions, vt.MousePress),
	}
	m.Mods = parseMods(v)
	return Mouse(m)
}

// Quote quotes a caller's value for a message: at most 32 characters of it, and "..." where there
// is more.
func Quote(s string) string { return tree.Quote(s) }
