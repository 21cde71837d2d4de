package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newStore returns settings of a root that is not there yet, on a machine that knows no proxy.
func newStore(t *testing.T) *Store {
	s := New(filepath.Join(t.TempDir(), "root", "proxy.json"))
	s.getenv = func(string) string { return "" }
	s.system = func(context.Context) found { return found{} }
	s.ports = nil
	return s
}

// listen returns the address of somebody who takes connections.
func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// dead returns an address at which nobody is: it was taken a moment ago.
func dead(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// configure calls Configure as a client does.
func configure(t *testing.T, s *Store, params string) Configuration {
	t.Helper()
	c, err := s.Configure(t.Context(), read(t, params))
	if err != nil {
		t.Fatalf("%s: %v", params, err)
	}
	return c
}

func read(t testing.TB, params string) ConfigureParams {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(params), &all); err != nil {
		t.Fatal(err)
	}
	return ReadConfigure(all)
}

// is compares a result as it stands on the wire.
func is(t *testing.T, what string, got any, err error, want string, but ...func(any)) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var g, w any
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	for _, f := range but {
		f(g)
	}
	if d := cmp.Diff(w, g); d != "" {
		t.Errorf("%s: %s", what, d)
	}
}

const nothing = `{"enabled":false,"mode":"off","http_proxy":null,"socks_proxy":null,"no_proxy":"localhost,127.0.0.1,::1","current_node":null,"node_count":0,"health":null}`

// TestTheLifeOfSettings goes through all methods as a client does: results and file, member by
// member.
func TestTheLifeOfSettings(t *testing.T) {
	s, up, down := newStore(t), listen(t), dead(t)
	st, err := s.Status(t.Context())
	is(t, "status without a file", st, err, nothing)
	env, err := s.Env(t.Context())
	is(t, "env without a file", env, err, `{"enabled":false,"env":{}}`)
	is(t, "nodes without a file", s.Nodes(), nil, `{"current_node":null,"nodes":[]}`)
	tests, err := s.Speedtest(t.Context(), "", 0)
	is(t, "speedtest without nodes", tests, err, `{"results":[]}`)
	if _, err := os.Stat(filepath.Dir(s.path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading has made %s: %v", filepath.Dir(s.path), err)
	}

	c := configure(t, s, fmt.Sprintf(`{"nodes":[{"name":"up","url":"http://%s"},{"name":"down","http_proxy":"socks5://%s"}],"current_node":"up"}`, up, down))
	is(t, "configure", c, nil, fmt.Sprintf(`{"configured":true,"status":{"enabled":true,"mode":"manual","http_proxy":"http://%[1]s","socks_proxy":null,
		"no_proxy":"localhost,127.0.0.1,::1","current_node":"up","node_count":2,"health":{"source":"manual","url":"http://%[1]s","reachable":true,"hint":""}}}`, up))
	is(t, "nodes", s.Nodes(), nil, fmt.Sprintf(`{"current_node":"up","nodes":[{"name":"up","url":"http://%s","latency_ms":null,"available":true},
		{"name":"down","url":"socks5://%s","latency_ms":null,"available":true}]}`, up, down))
	env, err = s.Env(t.Context())
	is(t, "env", env, err, fmt.Sprintf(`{"enabled":true,"env":{"HTTP_PROXY":"http://%[1]s","HTTPS_PROXY":"http://%[1]s","NO_PROXY":"localhost,127.0.0.1,::1"}}`, up))

	sw, err := s.Switch("down")
	is(t, "switch", sw, err, fmt.Sprintf(`{"switched":true,"current_node":"down","http_proxy":"socks5://%s"}`, down))
	env, err = s.Env(t.Context())
	is(t, "env of a SOCKS node", env, err, fmt.Sprintf(`{"enabled":true,"env":{"HTTP_PROXY":"socks5://%[1]s","HTTPS_PROXY":"socks5://%[1]s","ALL_PROXY":"socks5://%[1]s","NO_PROXY":"localhost,127.0.0.1,::1"}}`, down))
	if got := s.Environment(); len(got) != 8 || got["all_proxy"] != "socks5://"+down || got["https_proxy"] != got["HTTPS_PROXY"] || got["no_proxy"] != noProxy {
		t.Errorf("environment %v", got)
	}
	st, err = s.Status(t.Context())
	is(t, "status of one that is down", st, err, fmt.Sprintf(`{"enabled":true,"mode":"manual","http_proxy":"socks5://%[1]s","socks_proxy":"socks5://%[1]s",
		"no_proxy":"localhost,127.0.0.1,::1","current_node":"down","node_count":2,"health":{"source":"manual","url":"socks5://%[1]s","reachable":false,
		"hint":"no proxy at %[1]s: connection refused; start it, or configure another"}}`, down))

	tests, err = s.Speedtest(t.Context(), "", time.Second)
	if err != nil || len(tests.Results) != 2 || !tests.Results[0].Available || tests.Results[0].LatencyMS == nil || tests.Results[1].Available || tests.Results[1].LatencyMS != nil {
		t.Errorf("speedtest: %+v, %v", tests, err)
	}
	if n := s.Nodes().Nodes; !n[0].Available || n[0].LatencyMS == nil || n[1].Available || n[1].LatencyMS != nil {
		t.Errorf("what the speedtest has stored: %+v", n)
	}
	tests, err = s.Speedtest(t.Context(), "down", time.Second)
	is(t, "speedtest of one", tests, err, fmt.Sprintf(`{"results":[{"name":"down","url":"socks5://%s","available":false,"latency_ms":null}]}`, down))

	d, err := s.Disable()
	is(t, "disable", d, err, `{"disabled":true}`)
	env, err = s.Env(t.Context())
	is(t, "env when disabled", env, err, `{"enabled":false,"env":{}}`)
	if got := s.Environment(); got == nil || len(got) != 0 {
		t.Errorf("environment when disabled: %v", got)
	}
	if n := s.Nodes(); len(n.Nodes) != 2 || *n.CurrentNode != "down" {
		t.Errorf("nodes when disabled: %+v", n)
	}
	var stored map[string]any
	if err := json.Unmarshal([]byte(file(t, s)), &stored); err != nil {
		t.Fatal(err)
	}
	if stored["enabled"] != false || stored["mode"] != "off" || stored["http_proxy"] != "socks5://"+down || len(stored["nodes"].([]any)) != 2 {
		t.Errorf("the file: %v", stored)
	}
	for _, name := range []string{"", "Up", "none\n"} {
		var ne *NodeError
		if _, err := s.Switch(name); !errors.As(err, &ne) || err.Error() != "Proxy node '"+name+"' not found" {
			t.Errorf("switch to %q: %v", name, err)
		}
		if _, err := s.Speedtest(t.Context(), name, 0); name != "" && (!errors.As(err, &ne) || err.Error() != "Proxy node '"+name+"' not found") {
			t.Errorf("speedtest of %q: %v", name, err)
		}
	}
	if err := (&NodeError{strings.Repeat("x", 1<<20)}).Error(); len(err) > 2*textMax {
		t.Errorf("%d bytes of an error", len(err))
	}
}

// TestWhatConfigureTakes: members of a wrong type are not there, null keeps, "" takes away,
// disabled is off.
func TestWhatConfigureTakes(t *testing.T) {
	s := newStore(t)
	view := func() string {
		c, problem := s.load()
		if problem != nil {
			t.Fatal(problem)
		}
		show := func(p *string) string {
			if p == nil {
				return "-"
			}
			return *p
		}
		names := []string{}
		for _, n := range c.Nodes {
			names = append(names, n.Name+"="+n.URL)
		}
		return fmt.Sprintln(c.Enabled, c.Mode, show(c.HTTPProxy), show(c.SOCKSProxy), c.NoProxy, show(c.CurrentNode), names)
	}
	for _, step := range []struct{ params, want string }{
		{`{}`, "true manual - - localhost,127.0.0.1,::1 - []\n"},
		{`{"http_proxy":"http://a:1","socks_proxy":"socks5://b:2","no_proxy":"x"}`, "true manual http://a:1 socks5://b:2 x - []\n"},
		{`{"http_proxy":null,"socks_proxy":5,"no_proxy":["y"],"mode":true,"enabled":"no","current_node":{},"nodes":"all"}`, "true manual http://a:1 socks5://b:2 x - []\n"},
		{`{"mode":"auto","enabled":false,"socks_proxy":""}`, "false off http://a:1 - x - []\n"},
		{`{"mode":"auto","current_node":"later"}`, "true auto http://a:1 - x later []\n"},
		{`{"nodes":[{"name":"n","url":"u:1"},{"name":"m","http_proxy":"h:2"},{"name":"no"},{"url":"no:1"},{"name":"no","url":""},{"name":3,"url":"no:1"},7,null,{"name":"n","url":"second:1"}],"current_node":"n"}`,
			"true manual u:1 - x n [n=u:1 m=h:2 n=second:1]\n"},
		{`{"nodes":[]}`, "true manual u:1 - x n []\n"},
	} {
		configure(t, s, step.params)
		if got := view(); got != step.want {
			t.Errorf("%s: %swant %s", step.params, got, step.want)
		}
	}
	before := file(t, s)
	many := make([]Node, nodesMax+1)
	long := strings.Repeat("x", textMax+1)
	bad := "http://a:1\x00"
	for name, p := range map[string]ConfigureParams{
		"too many nodes": {Nodes: many}, "a long URL": {HTTPProxy: &long}, "a NUL": {SOCKSProxy: &bad}, "in a node": {Nodes: []Node{{Name: "n", URL: bad}}}, "a long node": {CurrentNode: &long},
	} {
		if _, err := s.Configure(t.Context(), p); err == nil || !strings.HasPrefix(err.Error(), "configure the proxy: ") || len(err.Error()) > 200 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if file(t, s) != before {
		t.Error("what was refused has changed the file")
	}
	configure(t, s, `{}`)
	many = make([]Node, nodesMax)
	for i := range many {
		many[i] = Node{Name: fmt.Sprint(i), URL: strings.Repeat("x", textMax)}
	}
	if _, err := s.Configure(t.Context(), ConfigureParams{Nodes: many}); err != nil || len(s.Nodes().Nodes) != nodesMax {
		t.Errorf("as much as can be: %v", err)
	}
}

// TestPasswordsAreHidden in all that is shown, and are where they belong; a client that hands back
// what it was shown changes none.
func TestPasswordsAreHidden(t *testing.T) {
	s, up := newStore(t), listen(t)
	url := "http://me:hunter2@" + up
	shown := []any{configure(t, s, `{"http_proxy":"`+url+`","socks_proxy":"socks5://me:hunter2@`+up+`","nodes":[{"name":"n","url":"`+url+`"},{"name":"down","url":"http://:hunter2@`+dead(t)+`/x"},{"name":"bad","url":"me:hunter2@nowhere"}],"current_node":"none"}`)}
	call := func(result any, err error) {
		t.Helper()
		shown = append(shown, result)
		if err != nil {
			shown = append(shown, err.Error())
		}
	}
	call(s.Status(t.Context()))
	call(s.Nodes(), nil)
	call(s.Env(t.Context()))
	call(s.Speedtest(t.Context(), "", time.Second))
	call(s.Switch("down"))
	call(s.Status(t.Context()))
	call(s.Switch("bad"))
	call(s.Status(t.Context()))
	call(s.Switch("n"))
	call(s.Switch(url)) // a URL is no name, but what a client sends is its own
	all, err := json.Marshal(shown[:len(shown)-1])
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all), "hunter2") || !strings.Contains(string(all), "http://me:"+Hidden+"@") {
		t.Errorf("shown: %s", all)
	}
	if env := s.Environment(); env["HTTP_PROXY"] != url || env["https_proxy"] != url || env["ALL_PROXY"] != "socks5://me:hunter2@"+up {
		t.Errorf("environment %v", env)
	}
	before := s.Nodes()
	data, err := json.Marshal(map[string]any{"nodes": before.Nodes, "http_proxy": hide(url), "no_proxy": "changed"})
	if err != nil {
		t.Fatal(err)
	}
	configure(t, s, string(data))
	if text := file(t, s); strings.Contains(text, "REDACTED") || strings.Count(text, "hunter2") != 5 || !strings.Contains(text, "changed") {
		t.Errorf("after it was handed back: %s", text)
	}
	kept := file(t, s)
	for _, params := range []string{`{"http_proxy":"http://you:[REDACTED]@` + up + `"}`, `{"nodes":[{"name":"x","url":"http://[REDACTED]@h:1"}]}`} {
		if _, err := s.Configure(t.Context(), read(t, params)); err == nil || !strings.Contains(err.Error(), "give the whole URL") {
			t.Errorf("%s: %v", params, err)
		}
	}
	if file(t, s) != kept {
		t.Error("a password that nobody knows was stored")
	}
}

func TestHide(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:7890": "http://127.0.0.1:7890", "": "", "x": "x",
		"http://me:pw@h:1/x?y=z": "http://me:[REDACTED]@h:1/x?y=z", "http://key@h:1": "http://[REDACTED]@h:1", "http://:pw@h:1": "http://:[REDACTED]@h:1",
		"http://key:@h:1": "http://[REDACTED]@h:1", "me:pw@h:1": "me:[REDACTED]@h:1", "http://me:p/w@x?@h:1": "http://me:[REDACTED]@h:1", "http://me:a@b:c@h:1": "http://me:[REDACTED]@h:1",
		"http://@h:1": "http://[REDACTED]@h:1", "http://me:[REDACTED]@h:1": "http://me:[REDACTED]@h:1",
	} {
		if got := hide(url); got != want {
			t.Errorf("%q is shown as %q, want %q", url, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:7890": "127.0.0.1:7890", "socks5://h:1/path": "h:1", "h:1?x": "h:1", "http://u:p@h:1#x": "h:1", "http://u@x:p@h:1": "h:1", "http://:7890": "127.0.0.1:7890",
		"http://[::1]:8080": "[::1]:8080", "http://[::1]": "", "http://h": "", "h": "", "": "", "http://h:0": "", "http://h:65536": "", "http://h:x": "", "http://h:+1": "", "http://": "", "http://u:p@": "",
		"http://h:1:2": "", "://h:1": "h:1",
	} {
		if got, ok := address(url); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", url, got, ok, want)
		}
	}
}

// TestDetection: only when it is asked for, in its order, and only what answers.
func TestDetection(t *testing.T) {
	up, other, down := listen(t), listen(t), dead(t)
	port := func(address string) (n int) {
		_, p, _ := net.SplitHostPort(address)
		fmt.Sscan(p, &n)
		return n
	}
	system := found{source: "GNOME gsettings", http: "http://" + up, socks: "socks5://" + down, noProxy: "corp"}
	environ := map[string]string{"https_proxy": "http://" + down, "HTTP_PROXY": "http://ignored:1", "ALL_PROXY": "socks5://" + other, "NO_PROXY": "own"}
	for name, c := range map[string]struct {
		params  string
		system  found
		environ map[string]string
		ports   []int
		want    string // health
		env     string
	}{
		"nothing anywhere": {params: `{"mode":"auto"}`, want: `{"source":"auto","reachable":false,"hint":"no proxy was found in the system's settings, the environment or on the usual ports of this machine; start one, or configure its URL"}`,
			env: `{"NO_PROXY":"localhost,127.0.0.1,::1"}`},
		"the system": {params: `{"mode":"auto"}`, system: system, environ: environ, ports: []int{port(up)},
			want: `{"source":"GNOME gsettings","url":"http://` + up + `","socks":null,"no_proxy":"corp","reachable":true}`,
			env:  `{"HTTP_PROXY":"http://` + up + `","HTTPS_PROXY":"http://` + up + `","NO_PROXY":"corp"}`},
		"the environment": {params: `{"mode":"auto"}`, environ: environ, ports: []int{port(up)},
			want: `{"source":"process env","url":"socks5://` + other + `","socks":"socks5://` + other + `","no_proxy":"own","reachable":true}`,
			env:  `{"ALL_PROXY":"socks5://` + other + `","NO_PROXY":"own"}`},
		"a port": {params: `{"mode":"auto"}`, system: found{http: "http://" + down}, ports: []int{port(down), port(other), port(up)},
			want: fmt.Sprintf(`{"source":"scan:%[1]d","url":"http://%[2]s","socks":"socks5://%[2]s","no_proxy":"localhost,127.0.0.1,::1","reachable":true}`, port(other), other),
			env:  fmt.Sprintf(`{"HTTP_PROXY":"http://%[1]s","HTTPS_PROXY":"http://%[1]s","ALL_PROXY":"socks5://%[1]s","NO_PROXY":"localhost,127.0.0.1,::1"}`, other)},
		"a URL wins": {params: `{"mode":"auto","http_proxy":"http://` + down + `"}`, system: system,
			want: `{"source":"manual","url":"http://` + down + `","reachable":false,"hint":"no proxy at ` + down + `: connection refused; start it, or configure another"}`,
			env:  `{"HTTP_PROXY":"http://` + down + `","HTTPS_PROXY":"http://` + down + `","NO_PROXY":"localhost,127.0.0.1,::1"}`},
		"not in manual": {params: `{}`, system: system, want: `{"source":"manual","reachable":false,"hint":"no proxy is configured; configure http_proxy or socks_proxy, or the mode auto"}`,
			env: `{"NO_PROXY":"localhost,127.0.0.1,::1"}`},
		"not when disabled": {params: `{"mode":"auto","enabled":false}`, system: system, want: `null`, env: `{}`},
		"hostile": {params: `{"mode":"auto"}`, environ: map[string]string{"HTTPS_PROXY": "http://" + up + "/\n", "ALL_PROXY": "socks5://" + up, "NO_PROXY": "a\x1bb"},
			want: `{"source":"process env","url":"socks5://` + up + `","socks":"socks5://` + up + `","no_proxy":"localhost,127.0.0.1,::1","reachable":true}`,
			env:  `{"ALL_PROXY":"socks5://` + up + `","NO_PROXY":"localhost,127.0.0.1,::1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			asked := false
			s.system = func(context.Context) found { asked = true; return c.system }
			s.getenv = func(name string) string { asked = true; return c.environ[name] }
			s.ports = c.ports
			st := configure(t, s, c.params).Status
			is(t, "health", st.Health, nil, c.want)
			if want := strings.Contains(c.params, "auto") && st.Enabled && !strings.Contains(c.want, "manual"); asked != want {
				t.Errorf("looked for a proxy: %v, want %v", asked, want)
			}
			env, err := s.Env(t.Context())
			is(t, "env", env.Env, err, c.env)
			if f, ok := st.Health.(Found); ok && strings.HasPrefix(f.URL, "http") && *st.HTTPProxy != f.URL {
				t.Errorf("found %s, in force %s", f.URL, *st.HTTPProxy)
			}
			if text := file(t, s); strings.Contains(text, up) || strings.Contains(text, other) {
				t.Errorf("what was found was stored: %s", text)
			}
		})
	}
}

// TestASpeedtestKeepsWhatChangedMeanwhile: it stores what it has measured, of nodes that are still
// what was measured, and nothing else.
func TestASpeedtestKeepsWhatChangedMeanwhile(t *testing.T) {
	s := newStore(t)
	configure(t, s, `{"nodes":[{"name":"a","url":"http://a:1"},{"name":"b","url":"http://b:1"},{"name":"gone","url":"http://gone:1"},{"name":"d","url":"http://d:1"}],"no_proxy":"old"}`)
	s.connect = func(_ context.Context, to string) error {
		switch to {
		case "b:1":
			_, err := New(s.path).Configure(t.Context(), read(t, `{"nodes":[{"name":"d","url":"http://d:1"},{"name":"a","url":"http://a:1"},{"name":"b","url":"http://new:1"}],"no_proxy":"new"}`))
			return err
		case "d:1":
			return errors.New("nobody is there")
		}
		return nil
	}
	r, err := s.Speedtest(t.Context(), "", 0)
	is(t, "results", r, err, `{"results":[{"name":"a","url":"http://a:1","available":true,"latency_ms":0},{"name":"b","url":"http://b:1","available":true,"latency_ms":0},
		{"name":"gone","url":"http://gone:1","available":true,"latency_ms":0},{"name":"d","url":"http://d:1","available":false,"latency_ms":null}]}`,
		func(r any) { // how long it took is not the matter
			for _, one := range r.(map[string]any)["results"].([]any) {
				if one := one.(map[string]any); one["latency_ms"] != nil {
					one["latency_ms"] = 0.
				}
			}
		})
	c, problem := s.load()
	if problem != nil || c.NoProxy != "new" || len(c.Nodes) != 3 {
		t.Fatalf("%+v, %v", c, problem)
	}
	if d, a, b := c.Nodes[0], c.Nodes[1], c.Nodes[2]; d.Available || a.LatencyMS == nil || b.LatencyMS != nil || b.URL != "http://new:1" || !b.Available {
		t.Errorf("%+v", c.Nodes)
	}
}

// TestTimeIsBounded: each probe has its time, a speed test and looking for a proxy have theirs in
// all, and a client that has gone is not waited for. Nodes that the time was not enough for are not
// called dead.
func TestTimeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		deaf := func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
		s.connect = deaf
		took := func(what string, want time.Duration, f func()) {
			t.Helper()
			from := time.Now()
			if f(); time.Since(from) != want {
				t.Errorf("%s took %v, want %v", what, time.Since(from), want)
			}
		}
		took("configure", statusProbe, func() {
			c := configure(t, s, `{"http_proxy":"http://h:1","nodes":[{"name":"a","url":"http://a:1"},{"name":"b","url":"http://b:1"},{"name":"c","url":"http://c:1"}]}`)
			is(t, "health", c.Status.Health, nil, `{"source":"manual","url":"http://h:1","reachable":false,"hint":"no proxy at h:1: no answer within 200ms; start it, or configure another"}`)
		})
		took("a speed test", 9*time.Second, func() {
			if r, err := s.Speedtest(t.Context(), "", 0); err != nil || len(r.Results) != 3 || r.Skipped != 0 {
				t.Errorf("%+v, %v", r, err)
			}
		})
		configure(t, s, `{"nodes":[{"name":"a","url":"http://a:1"},{"name":"b","url":"http://b:1"},{"name":"c","url":"http://c:1"}]}`)
		took("a patient speed test", testBound, func() {
			r, err := s.Speedtest(t.Context(), "", 10*time.Second)
			is(t, "patient", r, err, `{"results":[{"name":"a","url":"http://a:1","available":false,"latency_ms":null},{"name":"b","url":"http://b:1","available":false,"latency_ms":null}],"skipped":1}`)
			if n := s.Nodes().Nodes; n[0].Available || n[1].Available || !n[2].Available {
				t.Errorf("%+v", n)
			}
		})
		configure(t, s, `{"mode":"auto","http_proxy":""}`)
		s.ports = ports
		took("a scan", time.Duration(len(ports))*scanProbe, func() {
			if env := s.Environment(); len(env) != 2 || env["NO_PROXY"] != noProxy {
				t.Errorf("%v", env)
			}
		})
		s.system = func(ctx context.Context) found { <-ctx.Done(); return found{} }
		took("a system that does not answer", detectBound, func() { s.Environment() })

		before := file(t, s)
		gone, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("the client is gone")
		time.AfterFunc(time.Second, func() { cancel(cause) })
		took("for a client that goes", time.Second, func() {
			if r, err := s.Speedtest(gone, "", time.Hour); !errors.Is(err, cause) {
				t.Errorf("%+v, %v", r, err)
			}
		})
		took("for one that has gone", 0, func() {
			if _, err := s.Status(gone); !errors.Is(err, cause) {
				t.Errorf("status: %v", err)
			}
			if _, err := s.Env(gone); !errors.Is(err, cause) {
				t.Errorf("env: %v", err)
			}
		})
		if file(t, s) != before {
			t.Error("for a client that has gone something was stored")
		}
	})
}
