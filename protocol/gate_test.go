package protocol_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ptywright/ptywright/protocol"
)

// TestNarrowedConnection: what is refused by name is not started, of queued requests too, whatever
// dialect the method is of; what runs goes on, and nothing widens it again.
func TestNarrowedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, protocol.Limits{})
		c.send(named("a", "wait", "s1", 1000), named("b", "do", "s1", 0), named("c", "do", "s2", 0))
		c.expect(`"c": c`)
		c.state.conn.Narrow(func(method string) error {
			if method == "do" {
				return errors.New("not any more")
			}
			return nil
		})
		c.state.conn.Narrow(func(string) error { return nil })
		c.send(named("d", "do", "s2", 0), named("e", "wait", "s2", 10))
		c.expect(`"d": -32603`)
		pass(10e6)
		c.expect(`"e": e`)
		pass(990e6)
		c.expect(`"a": a, "b": -32603`)
		c.end(nil)
	})
}
