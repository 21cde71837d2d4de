package native_test

import (
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
)

// TestBadActionsInWords holds what a client is told about a bad action, to the letter: clients show
// it to people.
func TestBadActionsInWords(t *testing.T) {
	w := newWire(t, enginetest.Engine(enginetest.New()))
	id := w.create()
	_, unknown := vt.ParseKey("Enter!")
	names := "bracketed_paste, click, drag, eof, interrupt, key, kill, mark_transcript, mouse, paste, resize, scroll, signal, stream_text, text, theme"
	for _, c := range []struct {
		action any
		want   string
	}{
		{7, "params.action: expected an object with type and value, got 7"},
		{nil, "params.action: expected an object with type and value, got nothing"},
		{[]any{}, "params.action: expected an object with type and value, got an array"},
		{obj{}, "params.action.type: expected a string, got nothing"},
		{obj{"type": true}, "params.action.type: expected a string, got a boolean"},
		{obj{"type": "da\x1bnce"}, `params.action.type: expected one of ` + names + `, got "da\x1bnce"`},
		{obj{"type": strings.Repeat("ä", 40)}, `params.action.type: expected one of ` + names + `, got "` + strings.Repeat("ä", 8) + `…"`},
		{obj{"type": strings.Repeat("ä ", 20)}, `params.action.type: expected one of ` + names + `, got "` + strings.Repeat("ä ", 15) + `ä…"`},
		{obj{"type": "text", "value": 7.5}, "params.action.value: expected a string, got 7.5"},
		{obj{"type": "text", "value": obj{}}, "params.action.value: expected a string, got an object"},
		{obj{"type": "key", "value": "Enter!"}, "params.action.value: " + unknown.Error()},
		{obj{"type": "key", "value": 7}, "params.action.value: expected a string, got 7"},
		{obj{"type": "key", "value": obj{"event": "press"}}, "params.action.value.key: expected a string, got nothing"},
		{obj{"type": "key", "value": obj{"key": "Enter!"}}, "params.action.value.key: " + unknown.Error()},
		{obj{"type": "key", "value": obj{"key": "a", "event": "down"}},
			`params.action.value.event: expected one of press, release, repeat, got "down"`},
		{obj{"type": "key", "value": obj{"key": "a", "event": 1}},
			"params.action.value.event: expected one of press, release, repeat, got 1"},
		{obj{"type": "theme", "value": "pink"}, `params.action.value: expected dark or light, got "pink"`},
		{obj{"type": "theme"}, "params.action.value: expected a string, got nothing"},
		{obj{"type": "signal", "value": "stop"}, `params.action.value: unknown signal "stop": use term, hup, quit, int, kill, user1 or user2`},
		{obj{"type": "mark_transcript"}, "params.action.value: expected an object with label, got nothing"},
		{obj{"type": "mark_transcript", "value": obj{"label": ""}}, `params.action.value.label: expected a string of 1 to 256 bytes, got ""`},
		{obj{"type": "stream_text", "value": "x"}, `params.action.value: expected an object with text, got "x"`},
		{obj{"type": "stream_text", "value": obj{"text": "x", "chunk_chars": 0}}, "params.action.value.chunk_chars: expected an integer from 1 to 2147483647, got 0"},
		{obj{"type": "stream_text", "value": obj{"text": "x", "delay_ms": "2"}}, `params.action.value.delay_ms: expected an integer from 0 to 2147483647, got "2"`},
		{obj{"type": "resize", "value": obj{"rows": 5}}, "params.action.value.cols: expected an integer from 1 to 1000, got nothing"},
		{obj{"type": "resize", "value": obj{"rows": 5.5}}, "params.action.value.rows: expected an integer from 1 to 1000, got 5.5"},
		{obj{"type": "mouse", "value": obj{"row": 1, "col": 1000}}, "params.action.value.col: expected an integer from 0 to 999, got 1000"},
		{obj{"type": "mouse", "value": obj{"row": 1, "col": 1, "action": "click"}}, `params.action.value.action: expected one of move, press, release, got "click"`},
		{obj{"type": "mouse", "value": obj{"row": 1, "col": 1, "mods": "alt"}}, `params.action.value.mods: expected an array, got "alt"`},
		{obj{"type": "mouse", "value": obj{"row": 1, "col": 1, "mods": []any{"meta"}}}, `params.action.value.mods: expected one of alt, ctrl, shift, got "meta"`},
	} {
		m := w.fails("session.input", obj{"session": id, "action": c.action}, -32602, "invalid_action")
		if got := m.Error.Message; got != c.want {
			t.Errorf("%v:\n got %s\nwant %s", c.action, got, c.want)
		}
	}
}
