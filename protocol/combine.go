package protocol

import (
	"context"
	"encoding/json"
)

// Combine returns a dialect with the methods of several on one connection; where two have a method
// of the same name, the first one's wins. A row's own dialect maps the row's errors to codes; the
// first dialect maps all others.
func Combine(first Dialect, others ...Dialect) Dialect { return combined{first, others} }

type combined struct {
	first  Dialect
	others []Dialect
}

func (d combined) Open(c *Conn) Handler {
	h := &combinedHandler{Handler: d.first.Open(c)}
	for _, o := range d.others {
		h.others = append(h.others, o.Open(c))
	}
	return h
}

// A combinedHandler is the first dialect's handler, with the others as fallbacks.
type combinedHandler struct {
	Handler
	others []Handler
}

// A foreignError is an error of a row that is not the first dialect's.
type foreignError struct {
	error
	judge Handler
}

func (e *foreignError) Unwrap() error { return e.error }

func (h *combinedHandler) Method(name string) (Method, bool) {
	if m, ok := h.Handler.Method(name); ok {
		return m, true
	}
	for _, o := range h.others {
		m, ok := o.Method(name)
		if !ok {
			continue
		}
		call := m.Call
		m.Call = func(ctx context.Context, params json.RawMessage) (any, error) {
			result, err := call(ctx, params)
			if err != nil {
				err = &foreignError{err, o}
			}
			return result, err
		}
		return m, true
	}
	return Method{}, false
}

func (h *combinedHandler) Error(err error) *Error {
	if f, ok := err.(*foreignError); ok {
		return f.judge.Error(f.error)
	}
	return h.Handler.Error(err)
}

func (h *combinedHandler) Close() {
	for _, o := range h.others {
		o.Close()
	}
	h.Handler.Close()
}
