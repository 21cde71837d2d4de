package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/redact"
)

// TestToolsAreBrief: what every conversation pays for stays below a bound, raw is shown only where
// it may be asked for, and results still keep to their schemas.
func TestToolsAreBrief(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{false, true} {
		w := serveOn(t, enginetest.Engine(enginetest.New()), new(redact.Known), trusted, nil)
		list, err := w.client.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 28_500 {
			t.Errorf("tools/list has %d bytes", len(text))
		}
		if strings.Contains(string(text), `"raw"`) != trusted {
			t.Errorf("raw in the schemas with trust %v: %v", trusted, !trusted)
		}
		if r := w.try("sessions", obj{"raw": true}); r.IsError == trusted {
			t.Errorf("raw with trust %v: %+v", trusted, r)
		}
		if trusted {
			continue
		}
		if r := w.try("start", obj{"program": "cat", "sesion": 1}); !r.IsError || strings.Contains(r.Content[0].(*sdk.TextContent).Text, "raw") {
			t.Errorf("a mistyped argument: %+v", r)
		}
		w.session()
		for _, tool := range list.Tools {
			if tool.Name != "wait" && tool.Name != "read" && tool.Name != "sessions" {
				continue
			}
			var schema jsonschema.Schema
			text, err := json.Marshal(tool.OutputSchema)
			if err != nil || json.Unmarshal(text, &schema) != nil {
				t.Fatalf("%s: %s, %v", tool.Name, text, err)
			}
			resolved, err := schema.Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			args := obj{"session": "s1"}
			if tool.Name == "sessions" {
				args = obj{}
			}
			if err := resolved.Validate(map[string]any(w.call(tool.Name, args))); err != nil {
				t.Errorf("%s: %v", tool.Name, err)
			}
		}
	}
}
