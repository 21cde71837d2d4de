package native

import (
	"context"
	"fmt"
)

// What a connection may do.
const (
	accessFull = "full" // everything; the default
	accessRead = "read" // the rows that [reads] marks
)

type accessParams struct {
	Access *string `json:"access" jsonschema:"read: from now on this connection can only read; full: nothing changes"`
}

type accessResult struct {
	Access string `json:"access"`
}

// reads marks a row that changes nothing and runs nothing: a read-only connection may call it.
func reads(r row) row {
	r.reads = true
	return r
}

// readingMethods are the names of the rows that [reads] marks.
func readingMethods() map[string]bool {
	names := map[string]bool{}
	for _, r := range table {
		if r.reads {
			names[r.name] = true
		}
	}
	return names
}

// A readOnlyError reports a request that a read-only connection may not make.
type readOnlyError struct{ what string }

func (e *readOnlyError) Error() string {
	return fmt.Sprintf("%s is refused: this connection only reads, as it has said with server.set_access, until it ends; connect anew to do more", e.what)
}

// setAccess narrows what the connection may do. Nothing widens it again: a client may hand the
// connection on, to a page or to a person who should only look, without trusting them.
func (c *client) setAccess(_ context.Context, p accessParams) (accessResult, error) {
	switch {
	case p.Access == nil:
		return accessResult{}, notOneOf("access", "")
	case *p.Access == accessFull && c.readsOnly.Load():
		return accessResult{}, &readOnlyError{`access "full"`}
	case *p.Access == accessFull:
		return accessResult{accessFull}, nil
	case *p.Access != accessRead:
		return accessResult{}, notOneOf("access", *p.Access)
	}
	if !c.readsOnly.Swap(true) {
		allowed := readingMethods()
		c.conn.Narrow(func(method string) error {
			if allowed[method] {
				return nil
			}
			return &readOnlyError{method}
		})
	}
	c.release() // other clients may type again
	return accessResult{accessRead}, nil
}
