//go:build unix

package native_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/protocol/native"
)

// A vector is a line of sdk/vectors.json.
type vector struct {
	Def, Case string
	Valid     bool
	Value     any
}

// misfits are the reasons of params that do not have their shape.
var misfits = []string{
	"invalid_params", "invalid_matcher", "invalid_locator", "invalid_action", "invalid_redaction", "size_out_of_range", "duplicate_member",
}

// TestVectors: the validator and the server judge each alike. The server gets params, and matchers,
// actions and rules in params of a method that takes them.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../../sdk/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	methods := map[string]string{}
	for name, m := range theModel.Methods {
		if !strings.HasPrefix(name, "$/") {
			methods[defOf(m.Params.Ref)] = name
		}
	}
	ptys := make([]*enginetest.PTY, 64)
	for i := range ptys {
		ptys[i] = enginetest.New()
	}
	w := newWire(t, enginetest.Engine(ptys...))
	live, id := w.adapter(nil), w.create()
	t.Chdir(t.TempDir()) // for what writes files
	asked := 0
	for _, v := range vectors {
		if err := native.Validate(v.Def, v.Value); (err == nil) != v.Valid {
			t.Errorf("%s, %s: the validator says %v", v.Def, v.Case, err)
		}
		method, params := methods[v.Def], v.Value
		around := obj{"session": "nobody"}
		switch {
		case method != "":
		case v.Def == "Matcher" || strings.HasSuffix(v.Def, "Matcher"):
			method, around["matcher"], params = "session.wait", v.Value, around
		case v.Def == "Action" || strings.HasSuffix(v.Def, "Action"):
			method, around["action"], params = "session.input", v.Value, around
		case v.Def == "LocatorTree" || strings.HasSuffix(v.Def, "Locator"):
			method, around["locator"], params = "session.locate", v.Value, around
		case v.Def == "ClickTarget":
			method, params = "session.input", around
			around["action"] = obj{"type": "click", "value": v.Value}
		case v.Def == "Redaction":
			method, around["redaction"], params = "session.snapshot", v.Value, around
		case v.Def == "Selection":
			method, params = "session.wait_many", obj{"select": v.Value, "matcher": obj{"type": "bell"}, "timeout_ms": 0}
		case v.Def == "Position":
			method, around["since"], params = "session.transcript", v.Value, around
		case v.Def == "Moment" || v.Def == "Instant":
			method, around["at"], params = "session.snapshot", v.Value, around
		default:
			continue // the server sends it
		}
		if strings.Contains(v.Case, "LuaMatcher") || strings.Contains(v.Case, "GuessLocator") ||
			(v.Def == "LuaMatcher" || v.Def == "GuessLocator") && v.Valid {
			continue // it names a plugin that there is not
		}
		if o, ok := params.(map[string]any); ok && !v.Valid { // what is live is looked for first
			for name, there := range map[string]string{"adapter": live, "plugin": "ask", "session": id} {
				if s, _ := o[name].(string); s != "" {
					o[name] = there
				}
			}
			if s, _ := o["host"].(string); s != "" {
				delete(o, "host") // this server has none
			}
		}
		for _, strict := range []bool{true, false} {
			w.result("server.set_strict", obj{"strict": strict})
			m := w.call(method, params)
			refused := m.Error != nil && (slices.Contains(misfits, m.Error.Data["reason"].(string)) || !v.Valid && m.Error.Data["reason"] == "invalid_manifest")
			if valid := v.Valid && !(strict && v.Case == "an unknown member that is ignored"); refused == valid {
				t.Errorf("%s, %s, strict %v: made to be valid is %v, and the server says %.300s to %v", v.Def, v.Case, strict, valid, m.line, v.Value)
			}
			asked++
		}
	}
	if asked < 1000 {
		t.Errorf("the server was asked only %d times", asked)
	}
}
