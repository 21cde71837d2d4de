package far_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// sessionsOf are the sessions of a list of objects.
func sessionsOf(list any) []string {
	all := []string{}
	for _, v := range list.([]any) {
		all = append(all, v.(obj)["session"].(string))
	}
	return all
}

// A fleet is a desk with sessions here and at two hosts.
type fleet struct {
	*peer
	sites []*site
	ids   []string
	ptys  []*enginetest.PTY
}

// newFleet has one session here, "s1", and two each at web-3 and db-1.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{}
	for range 5 {
		f.ptys = append(f.ptys, enginetest.New())
	}
	f.sites = []*site{newSite(t, "web-3", f.ptys[1:3]...), newSite(t, "db-1", f.ptys[3:5]...)}
	f.peer = newDesk(t, f.sites, f.ptys[0]).dial()
	for _, at := range []string{"", "web-3", "web-3", "db-1", "db-1"} {
		f.ids = append(f.ids, f.ask("session.create", obj{"program": "fake", "host": at, "tags": []string{"build"}})["session"].(string))
	}
	return f
}

// TestWaitForManyHosts: one wait for sessions here and at two hosts, until one, all and each of them
// match.
func TestWaitForManyHosts(t *testing.T) {
	t.Parallel()
	for _, selects := range []bool{false, true} {
		t.Run(fmt.Sprintf("selects=%v", selects), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			params := func(until string) obj {
				p := obj{"matcher": contains("done"), "until": until, "evidence": "none", "wait": "w"}
				if selects {
					p["select"] = obj{"tag": "build"}
				} else {
					p["sessions"] = f.ids
				}
				return p
			}
			f.ptys[3].Print("done\r\n")
			r := f.ask("session.wait_many", params("any"))
			if got := sessionsOf(r["matched"]); !slices.Equal(got, []string{"db-1/s1"}) || r["complete"] == true || len(r["lost"].([]any)) != 0 {
				t.Errorf("any: %v", r)
			}
			for _, p := range f.ptys {
				p.Print("done\r\n")
			}
			r = f.ask("session.wait_many", params("all"))
			got := sessionsOf(r["matched"])
			slices.Sort(got)
			if want := []string{"db-1/s1", "db-1/s2", "s1", "web-3/s1", "web-3/s2"}; !slices.Equal(got, want) || r["complete"] != true || r["waiting"] != 0.0 {
				t.Errorf("all: %v", r)
			}
			f.ask("session.wait_many", params("each"))
			for _, id := range f.ids {
				f.note(`"wait.matched"`, `"wait":"w"`, `"session":"`+id+`"`)
			}
		})
	}
}

// TestHostsWithNothingSelected do not hold up a wait for each of what is selected.
func TestHostsWithNothingSelected(t *testing.T) {
	t.Parallel()
	p := enginetest.New()
	c := newDesk(t, []*site{newSite(t, "web-3", p), newSite(t, "db-1")}).dial()
	id := c.ask("session.create", obj{"program": "fake", "host": "web-3", "tags": []string{"build"}})["session"]
	p.Print("done\r\n")
	for _, until := range []string{"all", "each", "any"} {
		r := c.ask("session.wait_many", obj{"select": obj{"tag": "build"}, "matcher": contains("done"), "until": until})
		if got := sessionsOf(r["matched"]); !slices.Equal(got, []string{id.(string)}) {
			t.Errorf("%s: %v", until, r)
		}
	}
	r := c.ask("session.wait_many", obj{"select": obj{"tag": "build", "host": "web-3"}, "matcher": contains("done")})
	if got := sessionsOf(r["matched"]); !slices.Equal(got, []string{id.(string)}) {
		t.Errorf("of one host: %v", r)
	}
	c.refused("unknown_session", "session.wait_many", obj{"sessions": []any{id, "db-1/s7"}, "matcher": contains("done"), "until": "all"})
	c.refused("unknown_host", "session.wait_many", obj{"sessions": []any{id, "db-2/s7"}, "matcher": contains("done")})
	c.refused("invalid_matcher", "session.wait_many", obj{"sessions": []any{id, "db-1/s7"}, "matcher": obj{"type": "nothing"}})
}

// A counter counts the messages of a method that a hub sends.
type counter struct {
	io.ReadWriteCloser
	what string
	n    *atomic.Int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(strings.Count(string(p), c.what)))
	return c.ReadWriteCloser.Write(p)
}

// TestOneMessageAHost: however many sessions are waited for, each host is asked once.
func TestOneMessageAHost(t *testing.T) {
	t.Parallel()
	const hosts, each = 10, 20
	var sent atomic.Int64
	var sites []*site
	var ptys []*enginetest.PTY
	for i := range hosts {
		var some []*enginetest.PTY
		for range each {
			some = append(some, enginetest.New())
		}
		s := newSite(t, fmt.Sprintf("h%d", i), some...)
		s.through = func(stream io.ReadWriteCloser) io.ReadWriteCloser {
			return &counter{stream, `"method":"session.wait_many"`, &sent}
		}
		sites, ptys = append(sites, s), append(ptys, some...)
	}
	c := newDesk(t, sites).dial()
	var ids []string
	for i := range hosts {
		for range each {
			ids = append(ids, c.create(fmt.Sprintf("h%d", i)))
		}
	}
	ptys[137].Print("blocked\r\n")
	r := c.ask("session.wait_many", obj{"sessions": ids, "matcher": contains("blocked"), "evidence": "none"})
	if got := sessionsOf(r["matched"]); !slices.Equal(got, []string{ids[137]}) {
		t.Errorf("%v", got)
	}
	if n := sent.Load(); n != hosts {
		t.Errorf("%d messages were sent to %d hosts", n, hosts)
	}
}

// TestManyWithAHostThatIsLost: what the others have is told, and of the host that is away that it is,
// since when, and up to where it is known.
func TestManyWithAHostThatIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.ptys[0].Print("done\r\n")
		for _, p := range f.ptys[3:] {
			p.Print("done\r\n")
		}
		answers := make(chan error, 1)
		go func() {
			answers <- f.Call(f.ctx, "session.wait_many", obj{"sessions": f.ids, "matcher": contains("done"), "until": "all", "timeout_ms": 20_000}, nil)
		}()
		synctest.Wait()
		f.sites[0].set(func() { f.sites[0].down = errors.New("no route to it") })
		f.sites[0].cut()
		e := wantReason(t, <-answers, "timeout")
		var data struct {
			Matched []obj
			Lost    []struct {
				Host, Reason string
				Sessions     []string
				Since        map[string]uint64
				ForMS        int64 `json:"for_ms"`
			}
			Complete bool
		}
		if err := json.Unmarshal(e.Data, &data); err != nil || len(data.Lost) != 1 || len(data.Matched) != 3 || data.Complete {
			t.Fatalf("%s, %v", e.Data, err)
		}
		l := data.Lost[0]
		if l.Host != "web-3" || !slices.Equal(l.Sessions, f.ids[1:3]) || len(l.Since) != 2 || l.ForMS < 15_000 {
			t.Errorf("%+v", l)
		}
		answers = make(chan error, 1)
		go func() { // a match elsewhere is told at once, though the host is away
			answers <- f.Call(f.ctx, "session.wait_many", obj{"sessions": f.ids, "matcher": contains("done")}, nil)
		}()
		began := time.Now()
		if err := <-answers; err != nil || time.Since(began) > time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// TestManyOverACutLink: what was shown and wiped at a host while its link was down is found, and each
// match is told once.
func TestManyOverACutLink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		answers := make(chan error, 1)
		go func() {
			answers <- f.Call(f.ctx, "session.wait_many", obj{"sessions": f.ids[1:], "matcher": contains("ready now"), "until": "each", "wait": "w", "evidence": "none"}, nil)
		}()
		synctest.Wait()
		f.ptys[1].Print("ready now\r\n")
		f.note(`"wait.matched"`, `"web-3/s1"`)
		f.sites[0].set(func() { f.sites[0].down = errors.New("no route to it") })
		f.sites[0].cut()
		f.ptys[2].Print("ready now\r\n\x1b[2J\x1b[H\r\nwiped\r\n")
		time.Sleep(3 * time.Second)
		f.sites[0].set(func() { f.sites[0].down = nil })
		for _, p := range f.ptys[3:] {
			p.Print("ready now\r\n")
		}
		if err := <-answers; err != nil {
			t.Error(err)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, id := range f.ids[1:] {
			n := 0
			for _, note := range f.notes {
				if strings.Contains(note, `"wait.matched"`) && strings.Contains(note, `"session":"`+id+`"`) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s was told %d times: %q", id, n, f.notes)
			}
		}
	})
}
