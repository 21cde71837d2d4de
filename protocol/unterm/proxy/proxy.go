package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/ptywright/ptywright/protocol/unterm/internal/shared"
)

const (
	// nodesMax is how many nodes can be configured. A speed test checks one after the other.
	nodesMax = 256
	// defaultTimeout is how long a speed test waits for one node by default.
	defaultTimeout = 3 * time.Second
	// testBound is how long a speed test takes in all: Unterm's own client times out after 30 s.
	testBound = 25 * time.Second
)

// A Store is the proxy settings of one root. Its methods may be called by any number of goroutines,
// and by several processes. Each reads the file; those that change it wait for its lock, at most 10
// s.
type Store struct {
	path string
	lock *shared.Lock // held while the file is changed

	// Replaced by tests.
	patience time.Duration
	getenv   func(string) string
	system   func(context.Context) found
	ports    []int
	connect  func(ctx context.Context, hostPort string) error
}

// New returns the settings in the file at that path. The file and its folder may be missing.
func New(path string) *Store {
	return &Store{
		path: path, lock: shared.NewLock(), patience: shared.Patience,
		getenv: os.Getenv, system: fromSystem, ports: ports, connect: connect,
	}
}

// Status is the result of proxy.status. Passwords in it are [Hidden].
type Status struct {
	Enabled     bool    `json:"enabled"`
	Mode        string  `json:"mode"` // "off", "manual" or "auto", or what was stored
	HTTPProxy   *string `json:"http_proxy"`
	SOCKSProxy  *string `json:"socks_proxy"`
	NoProxy     string  `json:"no_proxy"`
	CurrentNode *string `json:"current_node"`
	NodeCount   int     `json:"node_count"`
	Health      Health  `json:"health"`            // null when disabled
	Problem     string  `json:"problem,omitempty"` // why the file is not used
}

// Health is [Configured], [Found] or [Missing].
type Health interface{ health() }

// Configured is the health of a configured proxy.
type Configured struct {
	Source    string `json:"source"` // "manual"
	URL       string `json:"url"`
	Reachable bool   `json:"reachable"`
	Hint      string `json:"hint"` // for people: why it is not reachable; "" when it is
}

// Found is the health of a proxy that was found and answers.
type Found struct {
	Source    string  `json:"source"` // where: "GNOME gsettings", "process env", "scan:7890" ...
	URL       string  `json:"url"`
	SOCKS     *string `json:"socks"`
	NoProxy   string  `json:"no_proxy"`
	Reachable bool    `json:"reachable"`
}

// Missing is the health when there is no proxy.
type Missing struct {
	Source    string `json:"source"` // "auto", or "manual" when none was looked for
	Reachable bool   `json:"reachable"`
	Hint      string `json:"hint"`
}

func (Configured) health() {}
func (Found) health()      {}
func (Missing) health()    {}

// resolve returns the settings in force: with mode auto and no URL, those of a proxy that was
// found.
func (s *Store) resolve(ctx context.Context) (c settings, by *found, problem error) {
	c, problem = s.load()
	if !c.Enabled || c.Mode != modeAuto || c.HTTPProxy != nil || c.SOCKSProxy != nil {
		return c, nil, problem
	}
	if by = s.detect(ctx); by != nil {
		if by.http != "" {
			c.HTTPProxy = &by.http
		}
		if by.socks != "" {
			c.SOCKSProxy = &by.socks
		}
		if by.noProxy == "" || !plain(by.noProxy) {
			by.noProxy = c.NoProxy
		}
		c.NoProxy = by.noProxy
	}
	return c, by, problem
}

// Status returns the settings in force, and whether their proxy answers: connecting to it takes at
// most 200 ms, and looking for one at most 2 s. The error is ctx's.
func (s *Store) Status(ctx context.Context) (Status, error) {
	c, by, problem := s.resolve(ctx)
	st := Status{
		Enabled: c.Enabled, Mode: c.Mode, HTTPProxy: hideOf(c.HTTPProxy),
		SOCKSProxy: hideOf(c.SOCKSProxy), NoProxy: c.NoProxy, CurrentNode: c.CurrentNode,
		NodeCount: len(c.Nodes), Problem: text(problem),
	}
	switch url := cmp.Or(c.HTTPProxy, c.SOCKSProxy); {
	case !c.Enabled:
	case by != nil:
		st.Health = Found{Source: by.source, URL: hide(by.url()), SOCKS: hideOf(c.SOCKSProxy),
			NoProxy: by.noProxy, Reachable: true}
	case url != nil:
		h := Configured{Source: modeManual, URL: hide(*url), Reachable: true}
		if err := s.probe(ctx, *url, statusProbe); err != nil {
			h.Reachable, h.Hint = false, err.Error()
		}
		st.Health = h
	case c.Mode == modeAuto:
		st.Health = Missing{Source: modeAuto,
			Hint: "no proxy was found in the system's settings, the environment or on the usual ports of this machine; start one, or configure its URL"}
	default:
		st.Health = Missing{Source: modeManual,
			Hint: "no proxy is configured; configure http_proxy or socks_proxy, or the mode auto"}
	}
	return st, context.Cause(ctx)
}

// Nodes is the result of proxy.nodes. Passwords in it are [Hidden].
type Nodes struct {
	CurrentNode *string `json:"current_node"`
	Nodes       []Node  `json:"nodes"`
	Problem     string  `json:"problem,omitempty"` // why the file is not used
}

// Nodes returns what is stored.
func (s *Store) Nodes() Nodes {
	c, problem := s.load()
	for i := range c.Nodes {
		c.Nodes[i].URL = hide(c.Nodes[i].URL)
	}
	return Nodes{c.CurrentNode, c.Nodes, text(problem)}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// ConfigureParams are those of proxy.configure. A nil field keeps its setting; a URL of "" removes
// it.
type ConfigureParams struct {
	Enabled                                     *bool   // nil: true
	Mode                                        *string // nil: "manual"; without Enabled it is "off"
	HTTPProxy, SOCKSProxy, NoProxy, CurrentNode *string
	Nodes                                       []Node // if not nil, all there are. Only Name and URL count
}

// ReadConfigure reads params, members of a JSON object. As in Unterm a member of the wrong type
// counts as absent, as does a node without a name, or without a URL, which may be called
// http_proxy.
func ReadConfigure[V ~[]byte](params map[string]V) (p ConfigureParams) {
	p.Enabled = member[bool](params, "enabled")
	p.Mode = member[string](params, "mode")
	p.HTTPProxy = member[string](params, "http_proxy")
	p.SOCKSProxy = member[string](params, "socks_proxy")
	p.NoProxy = member[string](params, "no_proxy")
	p.CurrentNode = member[string](params, "current_node")
	if nodes := member[[]json.RawMessage](params, "nodes"); nodes != nil {
		p.Nodes = []Node{}
		for _, n := range *nodes {
			var all map[string]json.RawMessage
			if json.Unmarshal(n, &all) != nil {
				continue
			}
			name, url := member[string](all, "name"), member[string](all, "url")
			if url == nil {
				url = member[string](all, "http_proxy")
			}
			if name != nil && url != nil && *url != "" {
				p.Nodes = append(p.Nodes, Node{Name: *name, URL: *url})
			}
		}
	}
	return p
}

// member returns a member of type T, nil when it is absent, null, or of another type.
func member[T any, V ~[]byte](params map[string]V, name string) *T {
	value, ok := params[name]
	if !ok {
		return nil
	}
	var to *T
	if json.Unmarshal(value, &to) != nil {
		return nil
	}
	return to
}

// Configuration is the result of proxy.configure.
type Configuration struct {
	Configured bool   `json:"configured"`
	Status     Status `json:"status"`
}

// Configure stores settings and returns their status. A URL that shows [Hidden] means the stored
// one that looks the same.
func (s *Store) Configure(ctx context.Context, p ConfigureParams) (Configuration, error) {
	if err := p.check(); err != nil {
		return Configuration{}, fmt.Errorf("configure the proxy: %w", err)
	}
	if _, err := s.update(func(c *settings) error { return p.apply(c) }); err != nil {
		return Configuration{}, err
	}
	st, err := s.Status(ctx)
	return Configuration{true, st}, err
}

// check refuses values that cannot be part of an environment, or of the file.
func (p *ConfigureParams) check() error {
	if len(p.Nodes) > nodesMax {
		return fmt.Errorf("there are %d nodes; give %d at most", len(p.Nodes), nodesMax)
	}
	const problem = "%s holds a control character, or more than %d bytes; take that out"
	for name, text := range map[string]*string{
		"mode": p.Mode, "http_proxy": p.HTTPProxy, "socks_proxy": p.SOCKSProxy,
		"no_proxy": p.NoProxy, "current_node": p.CurrentNode,
	} {
		if text != nil && !plain(*text) {
			return fmt.Errorf(problem, name, textMax)
		}
	}
	for i, n := range p.Nodes {
		if !plain(n.Name) || !plain(n.URL) {
			return fmt.Errorf(problem, fmt.Sprintf("node %d", i+1), textMax)
		}
	}
	return nil
}

// apply changes c as the params say.
func (p *ConfigureParams) apply(c *settings) error {
	var stored []string
	for _, url := range []*string{c.HTTPProxy, c.SOCKSProxy} {
		if url != nil {
			stored = append(stored, *url)
		}
	}
	for _, n := range c.Nodes {
		stored = append(stored, n.URL)
	}
	var hidden error
	// reveal returns the URL that a shown one stands for; if several look the same, the first, but
	// before any other the one that was in its place.
	reveal := func(what, url string, before ...string) string {
		if !strings.Contains(url, Hidden) {
			return url
		}
		for _, known := range append(before, stored...) {
			if hide(known) == url {
				return known
			}
		}
		hidden = fmt.Errorf("configure the proxy: the password of %s is %s, and no such URL is stored; give the whole URL", what, Hidden)
		return url
	}
	at := func(url *string) []string {
		if url == nil {
			return nil
		}
		return []string{*url}
	}

	c.Enabled = p.Enabled == nil || *p.Enabled
	switch {
	case !c.Enabled:
		c.Mode = modeOff
	case p.Mode != nil:
		c.Mode = *p.Mode
	default:
		c.Mode = modeManual
	}
	if p.HTTPProxy != nil {
		c.HTTPProxy = given(reveal("http_proxy", *p.HTTPProxy, at(c.HTTPProxy)...))
	}
	if p.SOCKSProxy != nil {
		c.SOCKSProxy = given(reveal("socks_proxy", *p.SOCKSProxy, at(c.SOCKSProxy)...))
	}
	if p.NoProxy != nil {
		c.NoProxy = *p.NoProxy
	}
	if p.Nodes != nil {
		nodes := make([]Node, len(p.Nodes))
		for i, n := range p.Nodes {
			var before []string
			if old := c.node(n.Name); old != nil {
				before = []string{old.URL}
			}
			nodes[i] = Node{Name: n.Name,
				URL: reveal(fmt.Sprintf("node %d", i+1), n.URL, before...), Available: true}
		}
		c.Nodes = nodes
	}
	if p.CurrentNode != nil {
		c.CurrentNode = p.CurrentNode
		if n := c.node(*p.CurrentNode); n != nil {
			c.HTTPProxy = given(n.URL)
		}
	}
	return hidden
}

// given is a URL, nil for none: "" removes one.
func given(url string) *string {
	if url == "" {
		return nil
	}
	return &url
}

// Disabled is the result of proxy.disable.
type Disabled struct {
	Disabled bool `json:"disabled"`
}

// Disable turns the proxy off. URLs and nodes are kept.
func (s *Store) Disable() (Disabled, error) {
	_, err := s.update(func(c *settings) error {
		c.Enabled, c.Mode = false, modeOff
		return nil
	})
	return Disabled{err == nil}, err
}

// A NodeError reports an unknown node.
type NodeError struct{ Name string }

// Error has the text that clients know.
func (e *NodeError) Error() string {
	name := e.Name
	if len(name) > textMax { // no node has a name that long
		name = name[:textMax] + "..."
	}
	return fmt.Sprintf("Proxy node '%s' not found", name)
}

// Switched is the result of proxy.switch. The URL's password is [Hidden].
type Switched struct {
	Switched    bool   `json:"switched"`
	CurrentNode string `json:"current_node"`
	HTTPProxy   string `json:"http_proxy"`
}

// Switch turns the proxy on with a node's URL, as Unterm does: it becomes the URL for HTTP even
// when it is a SOCKS proxy's, and then also the one for SOCKS, unless there is one. The error for
// an unknown name is a *[NodeError].
func (s *Store) Switch(name string) (Switched, error) {
	c, err := s.update(func(c *settings) error {
		n := c.node(name)
		if n == nil {
			return &NodeError{name}
		}
		url := n.URL
		c.Enabled, c.Mode, c.HTTPProxy, c.CurrentNode = true, modeManual, &url, &name
		if c.SOCKSProxy == nil && strings.HasPrefix(url, "socks") {
			c.SOCKSProxy = &url
		}
		return nil
	})
	if err != nil {
		return Switched{}, err
	}
	return Switched{true, name, hide(*c.HTTPProxy)}, nil
}

// Speedtests are the result of proxy.speedtest. Passwords in it are [Hidden].
type Speedtests struct {
	Results []Speedtest `json:"results"`
	Skipped int         `json:"skipped,omitempty"` // nodes that were not tested in time; they are unchanged
}

// A Speedtest is that of one node.
type Speedtest struct {
	Name      string `json:"name"`
	URL       string `json:"url"`
	Available bool   `json:"available"`
	LatencyMS *int64 `json:"latency_ms"` // null when it is not available
}

// Speedtest connects to the named node, or for "" to all nodes, one after the other, and stores
// which answered and how fast. Each gets timeout, three seconds unless that is above 0; all
// together 25 seconds. Nothing is stored when ctx ends before. Errors: *[NodeError], ctx's.
func (s *Store) Speedtest(ctx context.Context, name string,
	timeout time.Duration) (Speedtests, error) {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	c, _ := s.load() // an unusable file has no nodes
	nodes := c.Nodes
	if name != "" {
		n := c.node(name)
		if n == nil {
			return Speedtests{}, &NodeError{name}
		}
		nodes = []Node{*n}
	}
	all, stop := context.WithTimeout(ctx, testBound)
	defer stop()
	tested := make([]Node, 0, len(nodes))
	for _, n := range nodes[:min(len(nodes), nodesMax)] {
		from := time.Now()
		err := s.probe(all, n.URL, timeout)
		took := time.Since(from).Milliseconds()
		if err := context.Cause(ctx); err != nil {
			return Speedtests{}, fmt.Errorf("test the speed of proxies: %w", err)
		}
		if err != nil && all.Err() != nil {
			break // it might have answered
		}
		n.Available, n.LatencyMS = err == nil, nil
		if err == nil {
			n.LatencyMS = &took
		}
		tested = append(tested, n)
	}
	result := Speedtests{Results: make([]Speedtest, 0, len(tested)),
		Skipped: len(nodes) - len(tested)}
	for _, n := range tested {
		result.Results = append(result.Results,
			Speedtest{n.Name, hide(n.URL), n.Available, n.LatencyMS})
	}
	if len(tested) == 0 {
		return result, nil
	}
	_, err := s.update(func(c *settings) error {
		for _, n := range tested {
			for i := range c.Nodes { // those that have not changed since the test
				if c.Nodes[i].Name == n.Name && c.Nodes[i].URL == n.URL {
					c.Nodes[i].Available, c.Nodes[i].LatencyMS = n.Available, n.LatencyMS
				}
			}
		}
		return nil
	})
	return result, err
}

// Env is the result of proxy.env. Passwords in it are [Hidden].
type Env struct {
	Enabled bool              `json:"enabled"`
	Env     map[string]string `json:"env"`
}

// Env returns the environment that the settings in force make, by upper-case names; looking for a
// proxy takes at most 2 s. The error is ctx's.
func (s *Store) Env(ctx context.Context) (Env, error) {
	c, _, _ := s.resolve(ctx)
	env := Env{c.Enabled, c.environ()}
	for name, value := range env.Env {
		if name != "NO_PROXY" {
			env.Env[name] = hide(value)
		}
	}
	return env, context.Cause(ctx)
}

// Environment returns a child's variables, by upper-case and lower-case names, including passwords:
// it must not be shown. It is empty, and the caller's, when the proxy is disabled. Looking for a
// proxy takes at most 2 s.
func (s *Store) Environment() map[string]string {
	c, _, _ := s.resolve(context.Background())
	env := c.environ()
	for name, value := range maps.Clone(env) {
		env[strings.ToLower(name)] = value
	}
	return env
}

// environ leaves out what an environment cannot contain: the file may hold anything.
func (c *settings) environ() map[string]string {
	env := map[string]string{}
	set := func(value *string, names ...string) {
		for _, name := range names {
			if value != nil && plain(*value) {
				env[name] = *value
			}
		}
	}
	if c.Enabled {
		set(c.HTTPProxy, "HTTP_PROXY", "HTTPS_PROXY")
		set(c.SOCKSProxy, "ALL_PROXY")
		set(&c.NoProxy, "NO_PROXY")
	}
	return env
}
