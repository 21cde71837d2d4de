package native

import (
	"errors"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol"
)

// parseAction makes an action of {"type": ..., "value": ...}. What is wrong with one is told as of any parameter.
func parseAction(tree any) (engine.Action, error) {
	action, err := engine.ParseAction(tree)
	var bad *engine.ActionError
	if !errors.As(err, &bad) {
		return action, err
	}
	if bad.Err != nil {
		return nil, &paramError{path: bad.Path, reason: "invalid_action", problem: bad.Err.Error()}
	}
	return nil, &protocol.ParamError{Path: bad.Path, Expected: bad.Expected, Got: kind(bad.Got), Reason: "invalid_action"}
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
