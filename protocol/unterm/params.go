package unterm

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// params are a request's members. As in Unterm, a member of another type than wanted is absent.
type params map[string]jsontext.Value

// readParams treats a value that is not an object as one without members.
func readParams(v jsontext.Value) params {
	var p params
	if json.Unmarshal(v, &p, lenient) != nil {
		return nil
	}
	return p
}

func (p params) text(name string) (value string, ok bool) {
	ok = p[name].Kind() == '"' && json.Unmarshal(p[name], &value) == nil
	return value, ok
}

// needText returns a required text.
func (p params) needText(name, missing string) (string, error) {
	value, ok := p.text(name)
	if !ok {
		return "", errors.New(missing)
	}
	return value, nil
}

// number is a whole number from 0; 1.0 is not one.
func (p params) number(name string) (value uint64, ok bool) {
	ok = p[name].Kind() == '0' && json.Unmarshal(p[name], &value) == nil
	return value, ok
}

// count is a bounded number with a default.
func (p params) count(name string, otherwise, most int) int {
	n, ok := p.number(name)
	if !ok {
		return otherwise
	}
	return int(min(n, uint64(most)))
}

func (p params) is(name string) bool { return p[name].Kind() == 't' }

// maxTimeout bounds a wait: a day. More is a mistake, after which the client would never get an
// answer.
const maxTimeout = 24 * time.Hour

func (p params) timeout(otherwise time.Duration) time.Duration {
	return time.Duration(p.count("timeout_ms", int(otherwise/time.Millisecond),
		int(maxTimeout/time.Millisecond))) * time.Millisecond
}

// namesPane reports whether a request names a pane, valid or not.
func (p params) namesPane() bool { return p["id"] != nil || p["session_id"] != nil }

// pane is the number of a pane, under either name and of either type.
func (p params) pane() (int, error) {
	for _, name := range []string{"id", "session_id"} {
		v, ok := p[name]
		if !ok {
			continue
		}
		if text, ok := p.text(name); ok {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("Invalid session_id: %q", clip(text))
			}
			return int(min(n, math.MaxInt)), nil
		}
		if n, ok := p.number(name); ok && v != nil {
			return int(min(n, math.MaxInt)), nil
		}
		break // a value that is not a number hides the other name
	}
	return 0, errors.New("Missing 'id' or 'session_id' parameter")
}
