package unterm

import (
	"context"
	"os"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail any    `json:"detail"`
}

// A probe is one check: a method to call as a client would, and what its result must be.
type probe struct {
	name, method string
	params       params
	holds        func(result any) bool // nil: any result will do
}

// selftest calls methods of its own server and returns each answer or error in full. ok is true
// when every check is; the one of an administrator's window fails except on Windows, as Unterm's
// clients know.
func selftest(ctx context.Context, s *reader, p params) (any, error) {
	probes := []probe{
		{name: "mux.available", method: "server.health",
			holds: func(r any) bool { return r.(health).Mux.Available }},
		{name: "server.health", method: "server.health",
			holds: func(r any) bool { return r.(health).Status == "ok" }},
		{name: "server.capabilities", method: "server.capabilities", holds: hasScreen},
		{name: "policy.check", method: "policy.check",
			params: params{"command": text("echo selftest")}},
		{name: "system.launch_admin", method: "system.launch_admin",
			params: params{"dry_run": jsontext.Value("true")}},
		{name: "proxy.status", method: "proxy.status"},
		{name: "capture.window", method: "capture.window",
			holds: func(r any) bool { return exists(r.(windowShot).Image.Path) }},
	}
	if id, ok := p.text("session_id"); ok {
		at := params{"session_id": text(id)}
		probes = append(probes,
			probe{name: "session.status", method: "session.status", params: at},
			probe{name: "screen.text", method: "screen.text", params: at},
			probe{name: "screen.detect_errors", method: "screen.detect_errors", params: at})
	}
	first := 0
	if all := s.panes.all(); len(all) > 0 {
		first = all[0].number
	}
	probes = append(probes,
		probe{name: "session.recording_status", method: "session.recording_status",
			params: params{"id": text(strconv.Itoa(first))}})

	r := struct {
		OK     bool    `json:"ok"`
		Checks []check `json:"checks"`
	}{OK: true}
	for _, probe := range probes {
		c := s.check(ctx, probe)
		r.OK = r.OK && c.OK
		r.Checks = append(r.Checks, c)
	}
	return r, nil
}

func (s *reader) check(ctx context.Context, p probe) check {
	c := check{Name: p.name}
	result, err := rows[p.method].call(ctx, s, p.params)
	if err != nil {
		c.Detail = map[string]string{"error": s.errorText(err)}
		return c
	}
	c.OK, c.Detail = p.holds == nil || p.holds(result), result
	return c
}

func hasScreen(result any) bool { return len(result.(map[string][]string)["screen"]) > 0 }

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// text is a string as a parameter.
func text(s string) jsontext.Value {
	v, _ := json.Marshal(s) // a string always encodes
	return v
}
