//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestMCPHostileURI: no address of a resource ends the server or a session of it, in either
// profile.
func TestMCPHostileURI(t *testing.T) {
	t.Parallel()
	for profile, tools := range map[string][3]string{ // what makes a session, what lists it, and how it is listed
		"ptywright":    {`{"name":"start","arguments":{"program":"cat"}}`, `{"name":"sessions","arguments":{}}`, `"s1"`},
		"terminal-mcp": {`{"name":"createSession","arguments":{}}`, `{"name":"listSessions","arguments":{}}`, `\"isDefault\": false`},
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			c := startMCP(t, "--profile", profile)
			c.initialize("2025-06-18")
			c.send(`{"jsonrpc":"2.0","id":"made","method":"tools/call","params":` + tools[0] + `}`)
			if m := c.answer(`"made"`); m.Error != nil {
				t.Fatalf("%s: %+v", tools[0], m.Error)
			}
			for i, uri := range []string{`x\u001b`, `x\u007f`, `ptywright://sessions/s1/screen\u0000`, `\udb40\udc01`} {
				for j, method := range []string{"resources/read", "resources/subscribe", "resources/unsubscribe"} {
					id := fmt.Sprint(10*i + j)
					c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"uri":"%s"}}`, id, method, uri))
					if m := c.answer(id); m.Error == nil || m.Error.Code != -32602 && m.Error.Code != -32601 {
						t.Errorf("%s %s is answered %s %+v", method, uri, m.Result, m.Error)
					}
				}
			}
			c.send(`{"jsonrpc":"2.0","id":"list","method":"tools/call","params":` + tools[1] + `}`)
			if m := c.answer(`"list"`); !strings.Contains(string(m.Result), tools[2]) {
				t.Errorf("the session is gone: %s %+v", m.Result, m.Error)
			}
			c.end()
			if said := c.p.Stderr.String(); strings.Contains(said, "the connection ended early") {
				t.Error(said)
			}
		})
	}
}
