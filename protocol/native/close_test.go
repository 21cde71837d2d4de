package native_test

import (
	"context"
	"sync"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// together is a program whose kill takes until all of its group are being killed.
type together struct {
	*enginetest.PTY
	group *sync.WaitGroup
	once  sync.Once
}

func (p *together) Kill(ctx context.Context) error {
	p.once.Do(p.group.Done)
	p.group.Wait()
	return p.PTY.Kill(ctx)
}

// TestManyClosesAtOnce: a client that wants no order ends as many sessions at the same time as it
// may have requests; one after the other, each with the patience of those that have an order, would
// take longer than the bound of a read.
func TestManyClosesAtOnce(t *testing.T) {
	const sessions = 256
	var group sync.WaitGroup
	group.Add(sessions)
	w := newWire(t, engine.New(engine.Options{Start: func(pty.Command) (engine.PTY, error) {
		return &together{PTY: enginetest.New(), group: &group}, nil
	}}))
	w.result("server.set_ordering", obj{"ordering": "concurrent"})
	var ids []string
	for range sessions {
		ids = append(ids, w.create())
	}
	for _, id := range ids {
		w.send("session.close", obj{"session": id})
	}
	for range ids { // in any order
		if m := w.read(); m.Error != nil {
			t.Fatalf("%s", m.line)
		}
	}
}
