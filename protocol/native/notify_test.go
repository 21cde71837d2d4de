package native_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// told reads notifications of a session until done says so.
func (w *wire) told(session string, done func(method string, params map[string]any) bool) (output string, methods []string) {
	w.t.Helper()
	for {
		m := w.read()
		if m.Method == "" || m.Params["session"] != session {
			continue
		}
		methods = append(methods, m.Method)
		if m.Method == "session.output" {
			output += m.Params["output"].(string)
		}
		if done(m.Method, m.Params) {
			return output, methods
		}
	}
}

func TestNotificationsTellWhatComesAfter(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print("before\r\n")
	w.until(id, "before")
	if r := w.result("server.set_notifications", obj{"enabled": true, "adapters": []string{}, "sessions": []string{id}}); r["enabled"] != true || r["sessions"].([]any)[0] != id || r["adapters"] != nil {
		t.Errorf("%v", r)
	}
	p.Print("after\r\n")
	out, methods := w.told(id, func(m string, _ map[string]any) bool { return m == "session.output" })
	if out != "after\r\n" || methods[0] != "session.changed" {
		t.Errorf("told %q by %v", out, methods)
	}
	p.Print("the end")
	p.Exit(pty.Exit{Code: -1, Signal: "SIGTERM"})
	p.HangUp()
	var exited map[string]any
	out, methods = w.told(id, func(m string, p map[string]any) bool { exited = p; return m == "session.exited" })
	if out != "the end" || exited["exit_code"] != nil || exited["signal"] != "SIGTERM" || exited["sequence"] == nil {
		t.Errorf("told %q by %v, then %v", out, methods, exited)
	}
}

func TestNotificationsComeDuringAWait(t *testing.T) {
	a, b := enginetest.New(), enginetest.New()
	w := newWire(t, enginetest.Engine(a, b))
	w.result("server.set_notifications", obj{"enabled": true})
	s1 := w.create()
	wait := w.send("session.wait", obj{"session": s1, "matcher": text("never"), "timeout_ms": 30_000})
	a.Print("printed meanwhile\r\n")
	if out, _ := w.told(s1, func(m string, _ map[string]any) bool { return m == "session.output" }); out != "printed meanwhile\r\n" {
		t.Errorf("told %q", out)
	}
	s2 := w.create()
	b.Print("second")
	w.until(s2, "second")
	queued := w.send("session.snapshot", obj{"session": s1})
	w.send("$/cancelRequest", obj{"id": wait})
	if m := w.reply(wait); m.Error == nil || m.Error.Code != -32005 || m.Error.Data["reason"] != "cancelled" || m.Error.Data["matcher"] == nil {
		t.Errorf("%s", m.line)
	}
	if m := w.reply(queued); m.Error != nil {
		t.Errorf("%s", m.line)
	}
}

func TestNotificationsHideASecretThatComesInPieces(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	w.result("server.set_notifications", obj{"enabled": true})
	id := w.create()
	for _, c := range "password=hunter2hunter2 ok" {
		p.Print(string(c))
		if c != ' ' {
			w.until(id, string(c)) // so that each is a batch of its own
		}
	}
	out, _ := w.told(id, func(m string, p map[string]any) bool {
		return m == "session.output" && strings.HasSuffix(p["output"].(string), "ok")
	})
	if strings.Contains(out, "unter2") {
		t.Errorf("told %q", out)
	}
	w.result("server.set_notifications", obj{"enabled": true, "redact": false})
	p.Print("\r\npassword=hunter2hunter2\r\n")
	if out, _ := w.told(id, func(_ string, p map[string]any) bool {
		s, _ := p["output"].(string)
		return strings.HasSuffix(s, "\r\n")
	}); !strings.Contains(out, "password=hunter2hunter2") {
		t.Errorf("asked for as it is, told %q", out)
	}
}

func TestNotificationsAreScoped(t *testing.T) {
	a, b := enginetest.New(), enginetest.New()
	w := newWire(t, enginetest.Engine(a, b))
	s1, s2 := w.create(), w.create()
	w.result("server.set_notifications", obj{"enabled": true, "sessions": []string{s2}})
	a.Print("not for you\r\n")
	w.until(s1, "not for you")
	b.Print("for you\r\n")
	if out, _ := w.told(s2, func(m string, _ map[string]any) bool { return m == "session.output" }); out != "for you\r\n" {
		t.Errorf("told %q", out)
	}
	w.result("server.set_notifications", obj{"enabled": true, "adapters": []string{"e99"}})
	b.Print("nobody\r\n")
	w.until(s2, "nobody")
	w.result("server.set_notifications", obj{"enabled": false})
	if all := w.all.String(); strings.Contains(all, "method") && (strings.Contains(all, `"output":"not`) || strings.Contains(all, `"output":"nobody`)) {
		t.Errorf("told what was not asked for: %s", all)
	}
}

func TestNotificationsSkipWhatWasMissedWhileOff(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	w.result("server.set_notifications", obj{"enabled": true})
	p.Print("one\r\n")
	w.told(id, func(m string, _ map[string]any) bool { return m == "session.output" })
	w.result("server.set_notifications", obj{"enabled": false})
	p.Print("two\r\n")
	w.until(id, "two")
	w.result("server.set_notifications", obj{"enabled": true})
	p.Print("three\r\n")
	if out, _ := w.told(id, func(m string, _ map[string]any) bool { return m == "session.output" }); out != "three\r\n" {
		t.Errorf("told %q", out)
	}
}

// TestNotificationsMergeForASlowReader floods a client that does not read, beside one that does.
func TestNotificationsMergeForASlowReader(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	slow, fast := newWire(t, e), newWire(t, e)
	id := fast.create()
	slow.result("server.set_notifications", obj{"enabled": true})
	block := strings.Repeat("0123456789abcdef\r\n", 4096)
	for i := range 200 {
		p.Print(block + fmt.Sprintf("block %d\r\n", i))
		fast.until(id, fmt.Sprintf("block %d", i))
	}
	dropped := false
	slow.told(id, func(m string, p map[string]any) bool {
		dropped = dropped || p["dropped"] == true
		s, _ := p["output"].(string)
		return strings.Contains(s, "block 199")
	})
	if !dropped {
		t.Error("nothing was said to be dropped")
	}
	if n := slow.all.Len(); n > 8<<20 {
		t.Errorf("%d bytes were kept for a client that did not read", n)
	}
}

// TestNotificationsTellOfShortSessions: a session that is gone before anyone looked was there all
// the same.
func TestNotificationsTellOfShortSessions(t *testing.T) {
	const n = 40
	ptys := make([]*enginetest.PTY, n)
	for i := range ptys {
		ptys[i] = enginetest.New()
	}
	w := newWire(t, enginetest.Engine(ptys...))
	w.result("server.set_notifications", obj{"enabled": true})
	exited := map[string]bool{}
	hear := func(m message) {
		if m.Method == "session.exited" {
			exited[m.Params["session"].(string)] = true
		}
	}
	for i := range n {
		p := ptys[i]
		p.Print("short")
		p.End(i)
		for _, call := range []struct {
			method string
			params obj
		}{{"session.create", obj{"program": "fake"}}, {"session.close", obj{"session": fmt.Sprintf("s%d", i+1)}}} {
			for id := w.send(call.method, call.params); ; {
				m := w.read()
				if hear(m); m.ID != nil && *m.ID == id {
					break
				}
			}
		}
	}
	for len(exited) < n {
		hear(w.read())
	}
}

// TestNotificationsThatBeginWithinAKey: who subscribes while a private key is being printed sees
// none of its lines.
func TestNotificationsThatBeginWithinAKey(t *testing.T) {
	for _, indent := range []string{"", "web-1  | "} {
		for _, cut := range []int{1, 7, 20, 60, 500} {
			p := enginetest.New()
			w := newWire(t, enginetest.Engine(p))
			id := w.create()
			key := func(i int) string {
				return fmt.Sprintf("%sMIIEpAIBAAKCAQEA%04dq8Zr5tYw0uVbNn1m2Lk3Jh4Gg5Ff6Dd7Ss8Aa9Pp0OoIi\r\n", indent, i)
			}
			p.Print("$ cat key\r\n" + indent + "-----BEGIN RSA \x1b[1mPRIVATE\x1b[m KEY-----\r\n")
			for i := range cut {
				p.Print(key(i))
			}
			half := len(indent) + 30
			p.Print(key(cut)[:half])
			w.until(id, key(cut)[:half])
			w.result("server.set_notifications", obj{"enabled": true})
			p.Print(key(cut)[half:])
			for i := cut + 1; i < cut+9; i++ {
				p.Print(key(i))
			}
			p.Print(indent + "-----END RSA PRIVATE KEY-----\r\nthe end MIIE\r\n")
			ended := false
			told, _ := w.told(id, func(_ string, p map[string]any) bool {
				out, _ := p["output"].(string)
				ended = ended || strings.Contains(out, "the end")
				return ended
			})
			if strings.Contains(told, "q8Zr5tYw0u") || strings.Contains(told, "Dd7Ss8Aa9") || !strings.Contains(told, "the end MIIE") {
				t.Errorf("%q, %d lines in: %q", indent, cut, told)
			}
		}
	}
}
