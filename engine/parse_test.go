package engine_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

type tree = map[string]any

// TestParseActionMakesEveryType, with numbers as JSON, Lua and Go give them.
func TestParseActionMakesEveryType(t *testing.T) {
	for _, c := range []struct {
		kind  string
		value any
		want  engine.Action
	}{
		{"text", "a", engine.Text("a")},
		{"paste", "b", engine.Paste("b")},
		{"bracketed_paste", "", engine.BracketedPaste("")},
		{"mark_transcript", tree{"label": "here"}, engine.MarkTranscript("here")},
		{"stream_text", tree{"text": "x"}, engine.StreamText{Text: "x", Chars: 64, Delay: 2 * time.Millisecond}},
		{"stream_text", tree{"text": "x", "chunk_chars": int64(1 << 20), "delay_ms": 0}, engine.StreamText{Text: "x", Chars: 1024}},
		{"stream_text", tree{"text": "x", "chunk_chars": nil, "delay_ms": 5000.0}, engine.StreamText{Text: "x", Chars: 64, Delay: 100 * time.Millisecond}},
		{"key", "ctrl+up", engine.Key{Code: vt.KeyUp, Mods: vt.Ctrl}},
		{"signal", "hup", engine.Signal("hup")},
		{"resize", tree{"rows": int64(30), "cols": 90.0}, engine.Resize{Rows: 30, Cols: 90}},
		{"resize", tree{"rows": 1, "cols": 1000, "pixel_width": 65535, "pixel_height": 7}, engine.Resize{Rows: 1, Cols: 1000, PixelWidth: 65535, PixelHeight: 7}},
		{"mouse", tree{"row": 0, "col": int64(999)}, engine.Mouse{Col: 999, Button: vt.MouseLeft, Action: vt.MousePress}},
		{"mouse", tree{"row": 1.0, "col": 2.0, "button": "wheel_up", "action": "release", "mods": []any{"ctrl", "shift"}},
			engine.Mouse{Row: 1, Col: 2, Button: vt.MouseWheelUp, Action: vt.MouseRelease, Mods: vt.Ctrl | vt.Shift}},
		{"interrupt", "ignored", engine.Interrupt{}},
		{"eof", nil, engine.EOF{}},
		{"kill", nil, engine.Kill{}},
	} {
		got, err := engine.ParseAction(tree{"type": c.kind, "value": c.value, "more": 1})
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %v: %#v, %v; want %#v", c.kind, c.value, got, err, c.want)
		}
	}
}

func TestParseActionSaysWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct {
		tree any
		want string // the whole of it
	}{
		{nil, "action: expected an object with type and value, got nothing"},
		{[]any{1}, "action: expected an object with type and value, got an array"},
		{tree{"type": int64(3)}, "action.type: expected a string, got 3"},
		{tree{"type": "dance"}, "action.type: expected one of " + strings.Join(engine.ActionTypes(), ", ") + `, got "dance"`},
		{tree{"type": "text", "value": false}, "action.value: expected a string, got a boolean"},
		{tree{"type": "signal", "value": "stop"}, `action.value: unknown signal "stop": use term, hup, quit, int, kill, user1 or user2`},
		{tree{"type": "mark_transcript", "value": tree{"label": strings.Repeat("y", 257)}},
			`action.value.label: expected a string of 1 to 256 bytes, got "` + strings.Repeat("y", 32) + `..."`},
		{tree{"type": "resize", "value": tree{"rows": int64(1001), "cols": 1}}, "action.value.rows: expected an integer from 1 to 1000, got 1001"},
		{tree{"type": "resize", "value": tree{"rows": 1, "cols": math.NaN()}}, "action.value.cols: expected an integer from 1 to 1000, got NaN"},
		{tree{"type": "mouse", "value": tree{"row": -1, "col": 0}}, "action.value.row: expected an integer from 0 to 999, got -1"},
		{tree{"type": "mouse", "value": tree{"row": 0}}, "action.value.col: expected an integer from 0 to 999, got nothing"},
		{tree{"type": "mouse", "value": tree{"row": 0, "col": 0, "button": tree{}}},
			"action.value.button: expected one of left, middle, none, right, wheel_down, wheel_left, wheel_right, wheel_up, got an object"},
	} {
		_, err := engine.ParseAction(c.tree)
		var bad *engine.ActionError
		if !errors.As(err, &bad) || err.Error() != c.want || !strings.HasPrefix(c.want, bad.Path+": ") {
			t.Errorf("%v:\n got %v\nwant %s", c.tree, err, c.want)
		}
	}
	if _, err := engine.ParseAction(tree{"type": "key", "value": "nokey"}); !errors.Is(err, vt.ErrUnknownKey) {
		t.Errorf("a key that is not known: %v", err)
	}
}

// FuzzParseAction: whatever comes as JSON is an action or an [engine.ActionError], and whole
// numbers may come in any type.
func FuzzParseAction(f *testing.F) {
	for _, s := range []string{
		`{"type":"text","value":"a"}`, `{"type":"key","value":"ctrl+c"}`, `{"type":"stream_text","value":{"text":"a","chunk_chars":1,"delay_ms":1e3}}`,
		`{"type":"mouse","value":{"row":1,"col":2,"button":"left","mods":["alt"]}}`, `{"type":"resize","value":{"rows":24,"cols":-1e400}}`,
		`{"type":"mark_transcript","value":{"label":"\u0000"}}`, `{"type":"signal","value":"int"}`, `[]`, `{"type":{}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var v any
		if json.Unmarshal([]byte(s), &v) != nil {
			return
		}
		action, err := engine.ParseAction(v)
		var bad *engine.ActionError
		switch {
		case err == nil && action == nil:
			t.Fatal("neither an action nor an error")
		case err != nil && (!errors.As(err, &bad) || !strings.HasPrefix(err.Error(), "action") || len(err.Error()) > 4096):
			t.Fatalf("error %.200v", err)
		}
		again, err2 := engine.ParseAction(integers(v))
		if (err == nil) != (err2 == nil) || err == nil && !reflect.DeepEqual(action, again) {
			t.Fatalf("%v, %v; with integers %v, %v", action, err, again, err2)
		}
	})
}

// integers returns v with int64 in place of whole float64, as Lua has them.
func integers(v any) any {
	switch v := v.(type) {
	case float64:
		if n := int64(v); float64(n) == v && n != math.MaxInt64 {
			return n
		}
	case map[string]any:
		out := maps.Clone(v)
		for k, x := range out {
			out[k] = integers(x)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, x := range out {
			out[i] = integers(x)
		}
		return out
	}
	return v
}

func TestQuoteSaysThatThereIsMore(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("é", 32): `"` + strings.Repeat("é", 32) + `"`, strings.Repeat("é", 33): `"` + strings.Repeat("é", 32) + `..."`, "a\x1b": `"a\x1b"`,
	} {
		if got := engine.Quote(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
