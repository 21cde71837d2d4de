package protocol_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/protocol"
	"pgregory.net/rapid"
)

// pass lets virtual time go on; nothing in a bubble really waits.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestOrder(t *testing.T) {
	run := func(name string, limits protocol.Limits, f func(t *testing.T, c *client)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := dial(t, limits)
				f(t, c)
				c.end(nil)
			})
		})
	}

	run("a session's requests queue behind its wait and nothing else does", protocol.Limits{}, func(t *testing.T, c *client) {
		c.send(
			named("a", "wait", "s1", 1000),
			named("b", "do", "s1", 0),
			named("c", "do", "s2", 0),
			named("d", "wait", "s1", 500),
			named("e", "do", "s1", 0),
			named("f", "do", "", 0),
		)
		c.expect(`"c": c, "f": f`)
		pass(999 * time.Millisecond)
		c.expect("")
		pass(time.Millisecond)
		c.expect(`"a": a, "b": b`)
		pass(500 * time.Millisecond)
		c.expect(`"d": d, "e": e`)
	})

	run("requests that do not wait are answered in the order read, whoever asks", protocol.Limits{}, func(t *testing.T, c *client) {
		var lines, want []string
		for i := range 200 {
			n := fmt.Sprint("r", i)
			lines = append(lines, named(n, "do", fmt.Sprint("s", i%7), 0))
			want = append(want, fmt.Sprintf("%q: %s", n, n))
		}
		c.send(lines...)
		c.expect(strings.Join(want, ", "))
	})

	run("cancelling ends a wait and starts what queued behind it", protocol.Limits{}, func(t *testing.T, c *client) {
		c.send(named("a", "wait", "s1", 30000), named("b", "do", "s1", 0))
		c.expect("")
		c.send(cancelNote(`"a"`))
		c.expect(fmt.Sprintf(`"a": %d, "b": b`, codeCancelled))
	})

	run("a queued request is cancelled without being started", protocol.Limits{}, func(t *testing.T, c *client) {
		c.send(named("a", "wait", "s1", 100), named("b", "do", "s1", 0), named("c", "do", "s1", 0), cancelNote(`"b"`))
		c.expect(fmt.Sprintf(`"b": %d`, codeCancelled))
		pass(100 * time.Millisecond)
		c.expect(`"a": a, "c": c`)
		if e := c.state.order; strings.Contains(strings.Join(e, " "), "start b") {
			t.Errorf("the cancelled request ran: %v", e)
		}
	})

	run("cancel is a request too, and tells ids apart", protocol.Limits{}, func(t *testing.T, c *client) {
		c.send(
			call("1", "wait", `"session":"s1","name":"number","ms":50`),
			call(`"1"`, "wait", `"session":"s2","name":"string","ms":50`),
			call(`"c1"`, "$/cancelRequest", `"id":"\u0031"`),
			call(`"c2"`, "$/cancelRequest", `"id":"1"`),
			call(`"c3"`, "$/cancelRequest", ``),
			call(`"c4"`, "$/cancelRequest", `"id":[1]`),
		)
		got := c.got()
		for _, want := range []string{
			fmt.Sprintf(`"1": %d`, codeCancelled),
			`"c1": {"cancelled":true}`, `"c3": -32602`, `"c4": -32602`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is missing in %s", want, got)
			}
		}
		pass(50 * time.Millisecond)
		c.expect("1: number")
	})

	run("all requests with one id are cancelled", protocol.Limits{}, func(t *testing.T, c *client) {
		c.send(
			call("1", "wait", `"session":"s1","name":"x","ms":50`),
			call("1", "wait", `"session":"s2","name":"y","ms":50`),
			call("1", "do", `"session":"s2","name":"z"`),
		)
		c.send(cancelNote("1"))
		c.expect(fmt.Sprintf("1: %[1]d, 1: %[1]d, 1: %[1]d", codeCancelled))
	})

	run("concurrent ordering starts what is queued and queues nothing more", protocol.Limits{}, func(t *testing.T, c *client) {
		c.send(
			named("a", "wait", "s1", 1000), named("b", "do", "s1", 0), named("c", "do", "s1", 0),
			named("x", "wait", "s2", 1000), named("y", "do", "s2", 0),
		)
		c.expect("")
		c.send(call("0", "server.set_ordering", `"name":"concurrent"`))
		c.expect(`0: concurrent, "b": b, "c": c, "y": y`)
		c.send(named("d", "do", "s1", 0))
		c.expect(`"d": d`)
		// Back to one at a time: the wait that still runs is in the way again.
		c.send(call("1", "server.set_ordering", `"name":"session"`), named("e", "do", "s1", 0))
		c.expect(`1: session`)
		pass(time.Second)
		got := c.got()
		if !strings.Contains(got, `"a": a`) || strings.Index(got, `"e": e`) < strings.Index(got, `"a": a`) {
			t.Errorf("got %s: e queues behind a", got)
		}
	})

	run("past the bound on executing requests they queue, and cancelling gets through", protocol.Limits{Executing: 3}, func(t *testing.T, c *client) {
		for i := range 6 {
			n := fmt.Sprint("w", i)
			c.send(named(n, "wait", n, 1000*(i+1)))
		}
		c.send(named("late", "do", "other", 0), named("free", "do", "", 0))
		c.expect(`"free": free`)
		if c.state.running != 3 {
			t.Errorf("%d requests run, the bound is 3", c.state.running)
		}
		c.send(cancelNote(`"w1"`))
		c.expect(fmt.Sprintf(`"w1": %d`, codeCancelled))
		pass(20 * time.Second)
		got := c.got()
		for _, n := range []string{"w0", "w2", "w3", "w4", "w5", "late"} {
			if !strings.Contains(got, fmt.Sprintf("%q: %s", n, n)) {
				t.Errorf("no answer for %s in %s", n, got)
			}
		}
		// "free" has no key: it ran beside the three.
		if c.state.most > 4 {
			t.Errorf("%d requests ran at once", c.state.most)
		}
	})

	run("requests without a key are bounded too", protocol.Limits{Executing: 2}, func(t *testing.T, c *client) {
		c.send(named("a", "loose.wait", "", 1000), named("b", "loose.wait", "", 1000))
		go c.send(named("c", "loose.wait", "", 500), named("d", "do", "", 0))
		pass(time.Millisecond)
		c.expect("") // c waits with the turn in its hand
		pass(499 * time.Millisecond)
		c.expect(`"c": c, "d": d`)
		pass(500 * time.Millisecond)
		if got := c.got(); got != `"a": a, "b": b` && got != `"b": b, "a": a` {
			t.Errorf("got %s", got)
		}
	})

	run("a request behind a cancelled one of the backlog starts", protocol.Limits{Executing: 1}, func(t *testing.T, c *client) {
		c.send(
			named("a", "wait", "s1", 100), named("b", "wait", "s2", 100), named("c", "do", "s2", 0), named("d", "do", "s3", 0),
			cancelNote(`"b"`),
		)
		c.expect(fmt.Sprintf(`"b": %d`, codeCancelled))
		pass(100 * time.Millisecond)
		c.expect(`"a": a, "d": d, "c": c`)
	})

	run("a request is not held up by one that is about to start before it", protocol.Limits{}, func(t *testing.T, c *client) {
		c.send(
			named("a", "wait", "s1", 10), named("b", "wait", "s1", 1000), // b is due at 10 ms and
			named("h", "hold", "s3", 50), // gets the turn at 50 ms,
			named("c", "do", "s2", 0),    // which is when c is read
		)
		pass(60 * time.Millisecond)
		if got := c.got(); !strings.Contains(got, `"c": c`) {
			t.Errorf("got %s", got)
		}
		pass(time.Second)
		c.expect(`"b": b`)
	})

	run("nothing is left of a cancelled one that was the whole backlog", protocol.Limits{Executing: 1}, func(t *testing.T, c *client) {
		c.send(named("a", "wait", "s1", 100), named("b", "wait", "s2", 100), cancelNote(`"b"`))
		pass(100 * time.Millisecond)
		c.send(named("c", "wait", "s2", 100), named("d", "do", "s2", 0))
		pass(100 * time.Millisecond)
		c.expect(fmt.Sprintf(`"b": %d, "a": a, "c": c, "d": d`, codeCancelled))
	})

	run("a cancelled request gives its bytes back at once", protocol.Limits{Queued: 10_000}, func(t *testing.T, c *client) {
		long := `"session":"s1","long":"` + strings.Repeat("x", 8000) + `"`
		c.send(named("a", "wait", "s1", 100), call("1", "do", long), cancelNote("1"), call("2", "do", long), named("free", "do", "", 0))
		c.expect(fmt.Sprintf(`1: %d, "free": free`, codeCancelled))
		pass(100 * time.Millisecond)
		c.expect(`"a": a, 2: `)
	})

	run("a batch is answered when all of it has ended", protocol.Limits{}, func(t *testing.T, c *client) {
		c.send("[" + strings.Join([]string{
			named("a", "wait", "s1", 100), named("b", "do", "s1", 0), named("c", "do", "s2", 0),
			`{"jsonrpc":"2.0","method":"do","params":{"name":"silent"}}`, `7`, `{"jsonrpc":"2.0","id":1,"result":1}`,
		}, ",") + "]")
		c.send(named("z", "do", "s2", 0))
		c.expect(`"z": z`)
		pass(100 * time.Millisecond)
		c.expect(`["a": a, "b": b, "c": c, null: -32600]`)
		if want := "start c, end c, start silent, end silent"; !strings.Contains(strings.Join(c.state.order, ", "), want) {
			t.Errorf("order %v lacks %s", c.state.order, want)
		}
		c.send("["+cancelNote("1")+"]", `[{"jsonrpc":"2.0","id":1,"result":1}]`)
		c.expect("")
	})

	run("a reply is written before what it caused, alone and in a batch", protocol.Limits{}, func(t *testing.T, c *client) {
		for i := range 50 {
			n := fmt.Sprint("n", i)
			c.send(named(n, "change", "", 0))
			c.expect(fmt.Sprintf(`%q: %[2]s, changed{"name":"%[2]s"}`, n, n))
		}
		c.send("[" + named("x", "change", "", 0) + "," + named("y", "do", "", 0) + "]")
		c.expect(`["x": x, "y": y], changed{"name":"x"}`)
	})

	run("a row cannot wait for itself by notifying", protocol.Limits{}, func(t *testing.T, c *client) {
		c.send(named("a", "notify.inside", "", 0))
		c.expect(`changed{}, "a": `)
	})

	run("notifications flow while a wait is pending", protocol.Limits{}, func(t *testing.T, c *client) {
		c.send(named("a", "wait", "s1", 1000))
		if err := c.state.conn.Notify(t.Context(), "changed", none{}); err != nil {
			t.Error(err)
		}
		c.expect("changed{}")
		pass(time.Second)
		c.expect(`"a": a`)
	})
}

// TestOrderProperties runs scripts of random requests and holds the record of what ran against the
// rules.
func TestOrderProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		executing := rapid.SampledFrom([]int{1, 2, 5, 256}).Draw(rt, "executing")
		concurrent := rapid.Bool().Draw(rt, "concurrent")
		type req struct {
			name, session string
			ms            int
		}
		reqs := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) req {
			return req{
				session: rapid.SampledFrom([]string{"", "s1", "s2", "s3"}).Draw(rt, "session"),
				ms:      rapid.SampledFrom([]int{0, 0, 1, 5, 20}).Draw(rt, "ms"),
			}
		}), 1, 40).Draw(rt, "requests")
		lines := make([]string, 0, len(reqs))
		for i := range reqs {
			r := &reqs[i]
			r.name = fmt.Sprint("r", i)
			method := "do"
			if r.ms > 0 {
				method = "wait"
			}
			if r.session == "" {
				method = "do" // a wait without a key may keep the turn, which is not what this is about
			}
			lines = append(lines, named(r.name, method, r.session, r.ms))
		}
		cancelled := map[string]bool{}
		for range rapid.IntRange(0, 10).Draw(rt, "cancels") {
			i := rapid.IntRange(0, len(reqs)-1).Draw(rt, "cancelled")
			name := fmt.Sprint("r", i)
			cancelled[name] = true
			// Anywhere: of a request that runs, is queued, is over, or has not come yet.
			at := rapid.IntRange(0, len(lines)).Draw(rt, "at")
			lines = slices.Insert(lines, at, cancelNote(`"`+name+`"`))
		}
		if rapid.Bool().Draw(rt, "batch") {
			lines = []string{"[" + strings.Join(lines, ",") + "]"}
		}
		pauses := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 7}), len(lines), len(lines)).Draw(rt, "pauses in ms")
		var events []string
		var replies string
		synctest.Test(t, func(t *testing.T) {
			c := dial(t, protocol.Limits{Executing: executing})
			if concurrent {
				c.send(call("0", "server.set_ordering", `"name":"concurrent"`))
				c.got()
			}
			for i, line := range lines {
				c.send(line)
				pass(time.Duration(pauses[i]) * time.Millisecond)
			}
			c.end(nil)
			events, replies = c.state.order, c.got()
		})
		running, last := map[string]bool{}, map[string]int{}
		open, lastStart := 0, -1
		for _, e := range events {
			var i int
			if n, _ := fmt.Sscanf(e, "start r%d", &i); n == 1 {
				s := reqs[i].session
				if s != "" && !concurrent {
					if running[s] {
						rt.Fatalf("%s overlaps another of its session: %v", e, events)
					}
					if before, ok := last[s]; ok && before > i {
						rt.Fatalf("%s after r%d of the same session: %v", e, before, events)
					}
				}
				if s != "" && concurrent && i < lastStart {
					rt.Fatalf("%s after r%d: %v", e, lastStart, events)
				}
				if s != "" {
					lastStart = max(lastStart, i)
					if open++; open > executing {
						rt.Fatalf("%d at once, the bound is %d: %v", open, executing, events)
					}
				}
				running[s], last[s] = true, i
			} else if n, _ := fmt.Sscanf(e, "end r%d", &i); n == 1 {
				if s := reqs[i].session; s != "" {
					running[s] = false
					open--
				}
			}
		}
		for _, r := range reqs {
			n := strings.Count(replies, fmt.Sprintf("%q: %s", r.name, r.name)+",") +
				strings.Count(replies, fmt.Sprintf("%q: %s", r.name, r.name)+"]")
			if cancelled[r.name] {
				n += strings.Count(replies, fmt.Sprintf("%q: %d", r.name, codeCancelled))
			}
			if n != 1 {
				rt.Fatalf("%d replies to %s: %s", n, r.name, replies)
			}
		}
	})
}
