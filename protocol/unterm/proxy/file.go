package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/protocol/unterm/internal/shared"
)

const (
	// fileMax bounds proxy.json in bytes: the most nodes with the longest URLs, and room for other
	// programs' members.
	fileMax = 4 << 20
	// textMax bounds a name, a URL and a list of hosts, in bytes: far more than any has, small
	// enough for an environment.
	textMax = 4 << 10
)

// noProxy are the hosts that are not reached through a proxy by default.
const noProxy = "localhost,127.0.0.1,::1"

// Modes of the settings. Others may be stored, and have no effect.
const (
	modeOff    = "off"
	modeManual = "manual"
	modeAuto   = "auto"
)

// A Node is a proxy with a name.
type Node struct {
	Name      string `json:"name"`
	URL       string `json:"url"`
	LatencyMS *int64 `json:"latency_ms"` // of the last speed test; null when there was none, or it did not answer
	Available bool   `json:"available"`  // it answered, or was never tested
}

// settings are the content of the file.
type settings struct {
	Enabled     bool    `json:"enabled"`
	Mode        string  `json:"mode"`
	HTTPProxy   *string `json:"http_proxy"`
	SOCKSProxy  *string `json:"socks_proxy"`
	NoProxy     string  `json:"no_proxy"`
	CurrentNode *string `json:"current_node"`
	Nodes       []Node  `json:"nodes"`

	others map[string]json.RawMessage // unknown members, to be kept
}

func defaults() settings { return settings{Mode: modeOff, NoProxy: noProxy, Nodes: []Node{}} }

// node returns the first one of that name, nil when there is none.
func (c *settings) node(name string) *Node {
	if i := slices.IndexFunc(c.Nodes, func(n Node) bool { return n.Name == name }); i >= 0 {
		return &c.Nodes[i]
	}
	return nil
}

// decode reads settings. Members that are missing or null have their defaults; one of a wrong type
// is an error.
func decode(data []byte) (settings, error) {
	c := defaults()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil || all == nil {
		return defaults(), errors.New("not a JSON object")
	}
	for name, to := range map[string]any{
		"enabled": &c.Enabled, "mode": &c.Mode, "http_proxy": &c.HTTPProxy,
		"socks_proxy": &c.SOCKSProxy, "no_proxy": &c.NoProxy, "current_node": &c.CurrentNode,
	} {
		if value, ok := all[name]; ok && json.Unmarshal(value, to) != nil {
			return defaults(), fmt.Errorf("its member %s has a wrong type", name)
		}
		delete(all, name)
	}
	var nodes []struct {
		Name, URL *string
		LatencyMS *int64 `json:"latency_ms"`
		Available *bool
	}
	if value, ok := all["nodes"]; ok && json.Unmarshal(value, &nodes) != nil {
		return defaults(), errors.New("its member nodes has a wrong type")
	}
	delete(all, "nodes")
	for i, n := range nodes {
		if n.Name == nil || n.URL == nil {
			return defaults(), fmt.Errorf("its node %d has no name or no url", i+1)
		}
		c.Nodes = append(c.Nodes,
			Node{Name: *n.Name, URL: *n.URL, LatencyMS: n.LatencyMS,
				Available: n.Available == nil || *n.Available})
	}
	for _, url := range []**string{&c.HTTPProxy, &c.SOCKSProxy} {
		if *url != nil && **url == "" {
			*url = nil
		}
	}
	c.others = all
	return c, nil
}

// encode writes settings, known members first.
func (c *settings) encode() ([]byte, error) {
	if c.Nodes == nil {
		c.Nodes = []Node{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read it
	enc.SetIndent("", "  ")
	if err := enc.Encode(c); err != nil {
		return nil, err
	}
	data := bytes.TrimSuffix(b.Bytes(), []byte("\n}\n"))
	for _, name := range slices.Sorted(maps.Keys(c.others)) {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		data = fmt.Appendf(data, ",\n  %s: %s", key, c.others[name])
	}
	if data = append(data, "\n}\n"...); len(data) > fileMax {
		return nil, fmt.Errorf("they have %d bytes, at most %d: give fewer nodes", len(data),
			fileMax)
	}
	return data, nil
}

// load returns the settings; without a file their defaults. For an unusable file it returns the
// defaults and a problem. Problems quote nothing of the file.
func (s *Store) load() (c settings, problem error) {
	data, err := s.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return defaults(), nil
	case err == nil:
		c, err = decode(data)
	}
	if err != nil {
		return defaults(), fmt.Errorf("%s cannot be used, the defaults are: %w", s.path, err)
	}
	return c, nil
}

func (s *Store) read() ([]byte, error) {
	// Checked before opening, which would block forever on a pipe.
	info, err := os.Stat(s.path)
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a file")
	}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, fileMax+1))
	if err == nil && len(data) > fileMax {
		err = fmt.Errorf("it has more than %d bytes", fileMax)
	}
	return data, bare(err)
}

// update changes the file under its lock. change gets what was read under it; if it fails nothing
// is changed.
func (s *Store) update(change func(c *settings) error) (settings, error) {
	fail := func(err error) (settings, error) {
		return settings{}, fmt.Errorf("write the proxy settings to %s: %w", s.path, bare(err))
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fail(err)
	}
	unlock, err := s.lock.Take(s.path+".lock", s.patience)
	if err != nil {
		return fail(err)
	}
	defer unlock()
	c, problem := s.load()
	if err := change(&c); err != nil {
		return settings{}, err
	}
	data, err := c.encode()
	if err != nil {
		return fail(err)
	}
	if problem != nil {
		if _, err := shared.SetAside(s.path); err != nil {
			return fail(err)
		}
	}
	if err := replace(s.path, data); err != nil {
		return fail(err)
	}
	return c, nil
}

// replace writes a file that only its owner can read: completely, or not at all.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// bare removes the call and the path from an error: callers add them.
func bare(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	if link := (*os.LinkError)(nil); errors.As(err, &link) {
		return link.Err
	}
	return err
}

// plain reports whether text can be part of an environment, and of a URL: without control
// characters, and not too long.
func plain(text string) bool {
	return len(text) <= textMax &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r == 0x7f })
}
