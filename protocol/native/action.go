package native

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/protocol"
)

// parseAction makes an action of {"type": ..., "value": ...}. Its errors are those of any
// parameter.
func parseAction(tree any, o engine.ActionOptions) (engine.Action, error) {
	action, err := engine.ParseActionWith(tree, o)
	var bad *engine.ActionError
	if !errors.As(err, &bad) {
		return action, err
	}
	if bad.Err != nil {
		return nil, &paramError{path: bad.Path, reason: "invalid_action", problem: bad.Err.Error()}
	}
	return nil, &protocol.ParamError{Path: bad.Path, Expected: bad.Expected, Got: kind(bad.Got),
		Reason: "invalid_action"}
}

// parse makes one action of the input to type, or the action to perform.
func (p *inputParams) parse(asking *asking) (engine.Action, error) {
	one := len(p.Action.RawMessage) > 0
	if one == (p.Actions != nil) {
		return nil, &protocol.ParamError{
			Expected: "action or actions",
			Got:      map[bool]string{true: "both", false: "neither"}[one], Reason: "invalid_action",
		}
	}
	trees := p.Actions
	if one {
		trees = []actionTree{p.Action}
	}
	if len(trees) == 0 || len(trees) > engine.MaxTyping {
		return nil, &protocol.ParamError{
			Path: "actions", Expected: fmt.Sprintf("1 to %d actions", engine.MaxTyping),
			Got: fmt.Sprint(len(trees)), Reason: "invalid_action",
		}
	}
	delay, err := milliseconds("delay_ms", p.DelayMS, 0)
	if err != nil {
		return nil, err
	}
	typing := engine.Typing{Delay: delay}
	for i, t := range trees {
		value, err := tree("action", t.RawMessage)
		if err != nil {
			return nil, err
		}
		a, err := parseAction(value, engine.ActionOptions{Locators: locate.Options{Guesser: asking}})
		if err != nil {
			if !one {
				err = within(fmt.Sprintf("actions[%d]", i), err)
			}
			return nil, err
		}
		typing.Actions = append(typing.Actions, a)
	}
	if one && delay == 0 {
		return typing.Actions[0], nil
	}
	return typing, nil
}

// within adds an action's place in its list to an error.
func within(place string, err error) error {
	var param *paramError
	var wrong *protocol.ParamError
	switch {
	case errors.As(err, &param):
		param.path = place + strings.TrimPrefix(param.path, "action")
	case errors.As(err, &wrong):
		wrong.Path = place + strings.TrimPrefix(wrong.Path, "action")
	}
	return err
}

// kind describes an input value: an unknown name is worth showing, any other value is not.
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
