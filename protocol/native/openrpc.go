package native

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// OpenRPC turns a model, as encoding/json decodes it, into an OpenRPC 1.3 document
// (spec.open-rpc.org) of a server of that version.
func OpenRPC(model map[string]any, version string) (map[string]any, error) {
	b, err := json.Marshal(model)
	if err != nil {
		return nil, err
	}
	var m struct {
		Description string
		Protocol    int
		Defs        map[string]map[string]any `json:"$defs"`
		Methods     map[string]methodModel
		Errors      map[string]faultModel
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(b), `"#/$defs/`, `"#/components/schemas/`)), &m); err != nil {
		return nil, err
	}
	failures := map[string]any{}
	for reason, f := range m.Errors {
		failures[reason] = map[string]any{"code": f.Code, "message": f.About, "data": f.Data}
	}
	methods := []any{}
	for _, name := range slices.Sorted(maps.Keys(m.Methods)) {
		of := m.Methods[name]
		def := m.Defs[camel(name)+"Params"]
		required, _ := def["required"].([]any)
		properties, _ := def["properties"].(map[string]any)
		params := []any{}
		for _, p := range slices.Sorted(maps.Keys(properties)) {
			params = append(params, map[string]any{"name": p, "required": slices.Contains(required, any(p)), "schema": properties[p]})
		}
		can := []any{}
		for _, reason := range of.Reasons {
			can = append(can, map[string]any{"$ref": "#/components/errors/" + reason})
		}
		methods = append(methods, map[string]any{
			"name": name, "summary": of.About, "paramStructure": "by-name", "params": params, "errors": can,
			"result": map[string]any{"name": "result", "schema": of.Result},
		})
	}
	return map[string]any{
		"openrpc": "1.3.2", "info": map[string]any{"title": "ptywright", "version": version, "description": m.Description},
		"methods": methods, "components": map[string]any{"schemas": m.Defs, "errors": failures},
	}, nil
}
