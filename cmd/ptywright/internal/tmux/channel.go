package tmux

import (
	"cmp"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// What a bell is told.
const (
	bellWake = "w" // go on
	bellEnd  = "e" // the server has ended, or the pipe is closed
)

// A bell is a socket of its own in a folder that only its owner can enter, where a process waits to
// be told something once.
type bell struct {
	path string
	rung chan string // gets what it was told
	l    net.Listener
}

// bellPlace makes the place of a bell: what others ring.
func bellPlace() (string, error) {
	dir, err := os.MkdirTemp("", "ptywright-bell-") // 0700; a socket's path has to be short
	return filepath.Join(dir, "s"), err
}

// listen makes a bell in a place of its own.
func listen() (*bell, error) {
	path, err := bellPlace()
	if err != nil {
		return nil, err
	}
	return listenAt(path)
}

// listenAt makes a bell, which takes its place with it when it is closed.
func listenAt(path string) (b *bell, err error) {
	b = &bell{path: path, rung: make(chan string, 1)}
	if b.l, err = net.Listen("unix", path); err != nil {
		os.RemoveAll(filepath.Dir(path))
		return nil, err
	}
	go func() {
		for {
			c, err := b.l.Accept()
			if err != nil {
				return // closed
			}
			c.SetDeadline(time.Now().Add(bellBound))
			told, err := io.ReadAll(io.LimitReader(c, 1))
			if err == nil && len(told) == 1 {
				_, err = c.Write(told) // so that who rings knows that it was heard
			}
			c.Close()
			if err == nil && len(told) == 1 {
				b.rung <- string(told)
				return
			}
		}
	}()
	return b, nil
}

// bellBound is how long each side of a ring waits for the other, which takes microseconds; a stopped
// process must not hold up the others.
const bellBound = 2 * time.Second

func (b *bell) close() {
	b.l.Close()
	os.RemoveAll(filepath.Dir(b.path))
}

// ring tells a bell something, and reports whether somebody heard it.
func ring(path, what string) bool {
	c, err := net.DialTimeout("unix", path, bellBound)
	if err != nil {
		return false
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(bellBound))
	if _, err := io.WriteString(c, what); err != nil {
		return false
	}
	_, err = io.ReadFull(c, make([]byte, 1))
	return err == nil
}

// waitFor waits for a channel, wakes who waits for it (-S), or locks it (-L) and unlocks it (-U). A
// channel that was woken while nobody waited lets the next one through at once.
func waitFor(ctx context.Context, t *tmux, a *args) error {
	if !t.known() {
		return t.noServer()
	}
	name := a.rest[0]
	var own *bell
	err := locked(t.socket, func() error {
		empty, err := t.look(ctx, false)
		if err == nil && empty {
			err = t.noServer()
		}
		if err != nil {
			return err
		}
		if t.state.Channels == nil {
			t.state.Channels = map[string]*channel{}
		}
		c := t.state.Channels[name]
		if c == nil {
			c = &channel{}
			t.state.Channels[name] = c
		}
		switch {
		case a.has('S'):
			heard := false
			for _, b := range c.Waiters {
				heard = ring(b, bellWake) || heard // others were killed while they waited
			}
			c.Waiters, c.Woken = nil, !heard
		case a.has('U'):
			if !c.Locked {
				return failf("channel %s not locked", name)
			}
			c.unlock()
		case a.has('L') && !c.Locked:
			c.Locked = true
		case a.has('L'):
			if own, err = listen(); err == nil {
				c.Lockers = append(c.Lockers, own.path)
			}
		case c.Woken:
			c.Woken = false
		default:
			if own, err = listen(); err == nil {
				c.Waiters = append(c.Waiters, own.path)
			}
		}
		if err == nil && !c.Woken && !c.Locked && c.Waiters == nil && c.Lockers == nil {
			delete(t.state.Channels, name)
		}
		if err == nil {
			err = t.state.save(t.socket)
		}
		return err
	})
	if own == nil || err != nil {
		if own != nil {
			own.close()
		}
		return err
	}
	defer own.close()
	select {
	case told := <-own.rung:
		if told == bellEnd {
			return failf("server exited unexpectedly")
		}
		return nil
	case <-ctx.Done():
		return t.leave(name, own.path)
	}
}

// unlock gives the lock to the next who waits for it and is still there.
func (c *channel) unlock() {
	for len(c.Lockers) > 0 {
		next := c.Lockers[0]
		c.Lockers = c.Lockers[1:]
		if ring(next, bellWake) {
			return
		}
	}
	c.Locked = false
}

// leave takes who was interrupted from those who wait.
func (t *tmux) leave(name, own string) error {
	err := t.change(func() {
		if c := t.state.Channels[name]; c != nil {
			is := func(b string) bool { return b == own }
			c.Waiters, c.Lockers = slices.DeleteFunc(c.Waiters, is),
				slices.DeleteFunc(c.Lockers, is)
		}
	})
	return cmp.Or(err, failf("interrupted"))
}
