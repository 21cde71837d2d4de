package plugins

import "errors"

// ErrParams: a client's params exceed what a plugin's function accepts.
var ErrParams = errors.New("params for a plugin's function may have 20000 values, in at most 30 levels")

const (
	// maxParams bounds the values, each of which the machine has to convert before the plugin can
	// pay for it: as many as a plugin may return.
	maxParams = 20_000
	// maxParamDepth bounds the levels. The machine takes 32; two are around the client's params.
	maxParamDepth = 30
)

// checkParams refuses params that would cost a machine before the plugin has done anything. The
// error is [ErrParams].
func checkParams[T any](params T) error {
	left := maxParams
	if !withinParams(params, maxParamDepth, &left) {
		return ErrParams
	}
	return nil
}

func withinParams(value any, depth int, left *int) bool {
	if *left--; *left < 0 || depth < 0 {
		return false
	}
	switch x := value.(type) {
	case []any:
		for _, e := range x {
			if !withinParams(e, depth-1, left) {
				return false
			}
		}
	case map[string]any:
		for _, e := range x {
			if !withinParams(e, depth-1, left) {
				return false
			}
		}
	}
	return true
}
