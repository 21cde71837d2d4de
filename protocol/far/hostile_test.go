package far_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/protocol/client"
)

// TestFloodOfAHost: a host that tells without end of what nobody asked for costs its own link, and no
// memory to speak of.
func TestFloodOfAHost(t *testing.T) {
	t.Parallel()
	host := &stub{epoch: "e"}
	sent := make(chan int, 1)
	host.answer = func(id int, method string, _ json.RawMessage) []string {
		if method != "server.set_notifications" {
			return []string{reply(id, `{"sessions":[]}`)}
		}
		all := []string{reply(id, `{"enabled":true}`)}
		for i := range 3_000 {
			all = append(all, `{"jsonrpc":"2.0","method":"session.output","params":{"session":"s`+strconv.Itoa(i)+`","sequence":1,"output":"`+strings.Repeat("x", 1000)+`"}}`)
		}
		select {
		case sent <- len(all):
		default:
		}
		return all
	}
	p := enginetest.New()
	d := newDesk(t, []*site{stubSite(t, "bad", host), newSite(t, "good", p)})
	c := d.dial()
	c.ask("server.set_notifications", obj{"enabled": true})
	<-sent
	c.create("good")
	p.Print("alive\r\n")
	c.until("good/s1", "alive")
	c.note(`"session":"good/s1"`, "alive")
}

// FuzzHost: whatever a host says after its greeting, the hub lives, every request is answered, and no
// id of another host comes of it.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{
		reply(2, `{"sessions":["s1"]}`), reply(2, `{"sessions":["good/s1"]}`), reply(3, `null`), reply(2, `[]`),
		`{"jsonrpc":"2.0","method":"session.output","params":{"session":"good/s1","output":"x"}}`,
		`{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m","data":{"reason":"name_taken","session":"a/b"}}}`,
		"[]", "{}", "\n\n", `{"id":"2","result":{}}`, `{"id":2.0,"result":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		synctest.Test(t, func(t *testing.T) {
			once := sync.OnceValue(func() []string { return []string{string(text), hangUp} })
			bad := stubSite(t, "bad", &stub{epoch: "e", answer: func(int, string, json.RawMessage) []string { return once() }})
			d := newDesk(t, []*site{bad})
			c := d.dial()
			var list struct{ Sessions []string }
			if err := c.Call(c.ctx, "session.list", obj{"host": "bad"}, &list); err != nil {
				var e *client.Error
				if !errors.As(err, &e) {
					t.Fatalf("%q: %v", text, err)
				}
			}
			for _, id := range list.Sessions {
				if !strings.HasPrefix(id, "bad/") || strings.Count(id, "/") != 1 {
					t.Fatalf("%q made %q", text, id)
				}
			}
			c.ask("session.list", obj{"host": ""})
		})
	})
}
