package protocol_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ptywright/ptywright/protocol"
)

var allRights = []protocol.Rights{protocol.RightRead, protocol.RightType, protocol.RightAdmin}

// entitled serves a fake whose method do needs needs, and wait nothing, to a client that has has.
func entitled(t *testing.T, has, needs protocol.Rights, audit func(protocol.Act)) *client {
	a, b := halves()
	s := &state{needs: map[string]protocol.Rights{"do": needs, "big": protocol.RightRead, "wait": protocol.RightRead,
		"session.list": protocol.RightRead}, audited: map[string]bool{"session.list": true}}
	c := serve(t, a, b, s, protocol.Config{Log: quiet, Rights: has, Audit: audit,
		Peer: protocol.Peer{Door: "test", UID: 7, PID: 8}})
	go c.read()
	return c
}

// TestRights: each right allows what needs it and what needs less, and nothing else; the names are
// read back, in their own case only.
func TestRights(t *testing.T) {
	for i, has := range allRights {
		for j, needs := range allRights {
			t.Run(fmt.Sprintf("%s for %s", has, needs), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := entitled(t, has, needs, nil)
					c.send(named("a", "do", "s1", 0), named("b", "nothing", "s1", 0))
					want := `"a": a, "b": -32601`
					if i < j {
						want = `"a": -32004, "b": -32601`
					}
					c.expect(want)
					if ran := c.state.events(); (ran == "") != (i < j) {
						t.Errorf("ran: %s", ran)
					}
					c.end(nil)
				})
			})
		}
		if r, err := protocol.ParseRights(has.String()); r != has || err != nil {
			t.Errorf("%v, %v", r, err)
		}
	}
	for _, name := range []string{"", "Admin", "READ", "read ", "full", "0", "read,admin"} {
		if r, err := protocol.ParseRights(name); err == nil || r != protocol.RightRead {
			t.Errorf("%q is %v", name, r)
		}
	}
	if got := fmt.Sprint(protocol.RightNames(), protocol.Rights(9)); got != "[read type admin] Rights(9)" {
		t.Error(got)
	}
}

// TestMethodWithoutRights: one that does not say what it needs is for connections that have
// everything.
func TestMethodWithoutRights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := entitled(t, protocol.RightType, protocol.RightAdmin, nil)
		c.send(named("a", "echo", "s1", 0), named("b", "change", "s1", 0))
		c.expect(`"a": -32004, "b": -32004`)
		c.end(nil)
	})
}

// TestLowered: rights that were taken away are gone for requests that queue, too, in batches as
// outside, and nothing brings them back; what runs goes on.
func TestLowered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := entitled(t, protocol.RightAdmin, protocol.RightType, nil)
		c.send(named("a", "wait", "s1", 1000), named("b", "do", "s1", 0), named("c", "do", "s2", 0))
		c.expect(`"c": c`)
		conn := c.state.conn
		for _, to := range []protocol.Rights{protocol.RightAdmin, protocol.RightType, protocol.RightType} {
			if err := conn.Lower("lower", to); err != nil || conn.Rights() != to {
				t.Errorf("to %v: %v, has %v", to, err, conn.Rights())
			}
		}
		c.send(named("d", "do", "s2", 0), named("e", "echo", "s2", 0))
		c.expect(`"d": d, "e": -32004`)
		if err := conn.Lower("lower", protocol.RightRead); err != nil {
			t.Error(err)
		}
		for _, to := range []protocol.Rights{protocol.RightAdmin, protocol.RightType} {
			var e *protocol.ForbiddenError
			if err := conn.Lower("lower", to); !errors.As(err, &e) || e.Needs != to || e.Has != protocol.RightRead ||
				!strings.Contains(e.Error(), to.String()) {
				t.Errorf("raised to %v: %v", to, err)
			}
		}
		c.send("["+named("f", "do", "s2", 0)+","+named("g", "wait", "s2", 10)+"]",
			strings.Replace(named("h", "do", "s2", 0), `"id":"h",`, "", 1))
		pass(10e6)
		c.expect(`["f": -32004, "g": g]`)
		pass(990e6)
		c.expect(`"a": a, "b": -32004`)
		if ran := c.state.events(); strings.Contains(ran, "start b") || strings.Contains(ran, "start f") || strings.Contains(ran, "start h") {
			t.Errorf("ran: %s", ran)
		}
		c.end(nil)
	})
}

// TestParamsNeedRights: params can need more than their method, however they are written, and what
// does not decode is refused as always; a row that breaks over its rights does not run.
func TestParamsNeedRights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := entitled(t, protocol.RightRead, protocol.RightAdmin, nil)
		big := func(id, params string) string { return call(`"`+id+`"`, "big", params) }
		c.send(big("a", `"bytes":3`), big("b", `"bytes":101`), big("c", `"b\u0079tes":101`),
			big("d", `"bytes":3,"bytes":101`), big("e", `"bytes":101,"bytes":3`), big("f", `"Bytes":101`),
			big("g", `"bytes":"101"`), big("h", `"name":"panic in rights"`),
			`{"jsonrpc":"2.0","id":"i","method":"big","params":[101]}`)
		c.expect(`"a": xxx, "b": -32004, "c": -32004, "d": -32602, "e": -32602, "f": , "g": -32602, "h": -32603, "i": -32602`)
		c.end(nil)
	})
}

// TestCombinedRights: the rights are the connection's, in each of its dialects.
func TestCombinedRights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := halves()
		c := &client{t: t, stream: a, state: &state{}, served: make(chan error, 1), stop: func() {}, lines: make(chan string, 10)}
		first := fake{&state{needs: map[string]protocol.Rights{"do": protocol.RightRead}}}
		go func() {
			c.served <- protocol.NewConn(b, protocol.Combine(first, echoDialect{}, fake{c.state}),
				protocol.Config{Log: quiet, Rights: protocol.RightRead}).Serve(t.Context())
		}()
		go c.read()
		c.send(named("a", "do", "s1", 0), named("b", "echo", "s1", 0), named("c", "wait", "s1", 0))
		c.expect(`"a": a, "b": -32004, "c": -32004`)
		c.end(nil)
	})
}

// TestAudit: what needed more than reading is told once it has ended, with who asked and how it
// ended, and so is what was forbidden and what is told always; looking is not.
func TestAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []string
		c := entitled(t, protocol.RightType, protocol.RightType, func(a protocol.Act) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprint(a.Method, "/", a.Needs, "/", a.With, "/", a.Rights, "/", a.Reason, "/", a.Peer))
		})
		synctest.Wait()
		c.state.conn.Introduce("mine", "")
		c.send(named("a", "do", "s1", 0), named("b", "wait", "s1", 10), call(`"c"`, "session.list", ""),
			call(`"d"`, "big", `"bytes":7`), call(`"e"`, "big", `"bytes":700`), named("f", "echo", "s2", 0),
			named("g", "nothing", "s1", 0), call(`"h"`, "do", `"session":1`))
		c.state.conn.Introduce("", "far "+strings.Repeat("long ", 40))
		c.send(strings.Replace(named("i", "do", "s1", 0), `"id":"i",`, "", 1))
		pass(10e6)
		c.got()
		c.end(nil)
		want := []string{
			"do/type//type//{test 7 8  mine }",
			"session.list/read//type//{test 7 8  mine }",
			"big/admin/many bytes/type/forbidden/{test 7 8  mine }",
			"echo/admin//type/forbidden/{test 7 8  mine }",
			"do/type//type/invalid_params/{test 7 8  mine }",
		}
		if len(told) != 6 || !slices.Equal(told[:5], want) || !strings.HasPrefix(told[5], "do/type//type//{test 7 8  mine far long") {
			t.Errorf("told\n%s", strings.Join(told, "\n"))
		}
		if host := c.state.conn.Peer().Host; len([]rune(host)) > 64 || !strings.HasSuffix(host, "…") {
			t.Errorf("%q", host)
		}
	})
}
