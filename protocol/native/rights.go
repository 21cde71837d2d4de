package native

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol"
)

// forRead marks a row that changes nothing and runs nothing.
func forRead(r row) row { return needing(r, protocol.RightRead) }

// forType marks a row that uses what runs.
func forType(r row) row { return needing(r, protocol.RightType) }

// forAdmin marks a row that starts or ends something, or writes a file.
func forAdmin(r row) row { return needing(r, protocol.RightAdmin) }

// audited marks a row of which an audit is told whatever it needs.
func audited(r row) row {
	r.audited = true
	return r
}

func needing(r row, needs protocol.Rights) row {
	r.rights, r.stated = needs, true
	return r
}

// A demanding is params that can need more than their method.
type demanding interface {
	// needs returns what they need, and the part of them that does, as "redact false".
	needs() (protocol.Rights, string)
}

// needs is that of a read: what redaction hides is for admins.
func (p *readParams) needs() (protocol.Rights, string) {
	if p.Redact != nil && !*p.Redact {
		return protocol.RightAdmin, "redact false"
	}
	return protocol.RightRead, ""
}

// needs is that of a picture: one that goes into a file is for admins.
func (p *screenshotParams) needs() (protocol.Rights, string) {
	if p.Path != "" {
		return protocol.RightAdmin, "path"
	}
	return p.readParams.needs()
}

// typedSignals are the signals that a person sends by typing, with Ctrl+C and Ctrl+\.
var typedSignals = []string{"int", "quit"}

// needs is that of input: what ends a program in a way that no typing does is for admins.
func (p *inputParams) needs() (protocol.Rights, string) {
	for _, t := range append(p.Actions, p.Action) {
		value, _ := tree("action", t.RawMessage) // what is no action is refused by parse
		action, _ := value.(map[string]any)
		switch signal, _ := action["value"].(string); {
		case action["type"] == "kill":
			return protocol.RightAdmin, "the action kill"
		case action["type"] == "signal" && !slices.Contains(typedSignals, signal):
			return protocol.RightAdmin, "a signal other than " + strings.Join(typedSignals, " and ")
		}
	}
	return protocol.RightRead, ""
}

type rightsParams struct {
	Rights *string `json:"rights" jsonschema:"what this connection may do from now on: read, type or admin; nothing raises them again"`
}

type rightsResult struct {
	Rights string `json:"rights"`
}

// setRights lowers what the connection may do: a client may hand the connection on, to a page or to
// another machine, without trusting them with more.
func (c *client) setRights(_ context.Context, p rightsParams) (rightsResult, error) {
	if p.Rights == nil {
		return rightsResult{}, notOneOf("rights", "")
	}
	to, err := protocol.ParseRights(*p.Rights)
	if err != nil {
		return rightsResult{}, notOneOf("rights", *p.Rights)
	}
	if err := c.conn.Lower("server.set_rights", to); err != nil {
		return rightsResult{}, err
	}
	if !to.Covers(protocol.RightAdmin) {
		c.hideFromNowOn()
	}
	if !to.Covers(protocol.RightType) {
		c.release() // other clients may type again
	}
	return rightsResult{to.String()}, nil
}

type clientParams struct {
	Name *string `json:"name" jsonschema:"the program, for others to read: with its number in events, and as the holder of leases; at most 64 characters of it"`
	Host string  `json:"host,omitempty" jsonschema:"the machine that it is a link for, for the audit; at most 64 characters of it"`
}

type clientResult struct {
	Name string `json:"name" jsonschema:"as it is kept"`
	Host string `json:"host,omitempty" jsonschema:"likewise"`
}

// setClient notes what the client says that it is. Nothing verifies it.
func (c *client) setClient(_ context.Context, p clientParams) (clientResult, error) {
	if err := required("name", p.Name); err != nil {
		return clientResult{}, err
	}
	for _, x := range []struct{ path, said string }{{"name", *p.Name}, {"host", p.Host}} {
		if strings.ContainsFunc(x.said, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return clientResult{}, &protocol.ParamError{Path: x.path,
				Expected: "a name of printable characters", Got: protocol.Got(x.said)}
		}
	}
	c.introduce(*p.Name)
	c.conn.Introduce(c.title(), p.Host)
	return clientResult{c.title(), c.hide.String(c.conn.Peer().Host)}, nil
}

// An acting is params, or a result, that tell an audit what their request acts on.
type acting interface {
	act(c *client, a *protocol.Act)
}

// fill fills in the act of a request, if it is audited. Params are described before the row
// runs: the session may be gone by its end.
func (c *client) fill(ctx context.Context, paramsOrResult any) {
	if a := protocol.ActOf(ctx); a != nil {
		if x, ok := paramsOrResult.(acting); ok {
			x.act(c, a)
		}
	}
}

// onSession adds a session to an act: its id and its name.
func (c *client) onSession(a *protocol.Act, id string) {
	a.Session = id // as the client has it, when there is no such session
	if s, err := c.Engine.Session(engine.ID(id)); err == nil {
		a.Session, a.Name = string(s.ID()), s.Config().Name
	}
}

func (p *sessionParams) act(c *client, a *protocol.Act) {
	if p.Session != nil {
		c.onSession(a, *p.Session)
	}
}

func (p *adapterParams) act(c *client, a *protocol.Act) {
	if p.Adapter == nil {
		return
	}
	a.Adapter = *p.Adapter
	if x, err := c.Catalog.Adapter(*p.Adapter); err == nil {
		a.Plugin = x.Plugin().Manifest.Name
		c.onSession(a, string(x.Session().ID()))
	}
}

func (p *pluginParams) act(_ *client, a *protocol.Act) {
	if p.Plugin != nil {
		a.Plugin = *p.Plugin
	}
}

func (p *createParams) act(_ *client, a *protocol.Act) {
	if p.Program != nil {
		a.Program = *p.Program
	}
	a.Name, a.Path = p.Name, p.RawTranscriptPath
}

func (r *createResult) act(_ *client, a *protocol.Act) { a.Session = r.Session }

func (p *startParams) act(c *client, a *protocol.Act) {
	p.pluginParams.act(c, a)
	a.Program, a.Name = p.Program, p.Name
}

func (r *startResult) act(_ *client, a *protocol.Act) { a.Session, a.Adapter = r.Session, r.Adapter }

func (p *resizeParams) act(c *client, a *protocol.Act) {
	p.sessionParams.act(c, a)
	if p.Rows != nil && p.Cols != nil {
		a.What = fmt.Sprintf("%d rows, %d columns", *p.Rows, *p.Cols)
	}
}

func (p *leaseParams) act(c *client, a *protocol.Act) {
	p.sessionParams.act(c, a)
	if a.What = p.Holder; p.Take {
		a.What = strings.TrimSpace(p.Holder + " takes it over")
	}
}

func (p *screenshotParams) act(c *client, a *protocol.Act) {
	p.sessionParams.act(c, a)
	a.Path = p.Path
}

func (p *recordStartParams) act(c *client, a *protocol.Act) {
	p.sessionParams.act(c, a)
	if a.Path = p.Path; p.Path == "" {
		a.Path = p.Dir
	}
}

func (r *recordStartResult) act(_ *client, a *protocol.Act) { a.Path = r.Path }

func (p *recordStopParams) act(c *client, a *protocol.Act) {
	if p.Recording == nil {
		return
	}
	if x := c.Recordings.Find(*p.Recording); x != nil {
		a.Path = x.Status().Path
		c.onSession(a, string(x.Session))
	}
}

func (p *loadParams) act(_ *client, a *protocol.Act) {
	if p.Path != nil {
		a.Path = *p.Path
	}
}

func (r *forgetResult) act(_ *client, a *protocol.Act) { a.What = strings.Join(r.Forgotten, " ") }

func (p *rightsParams) act(_ *client, a *protocol.Act) {
	if p.Rights != nil {
		a.What = *p.Rights
	}
}

// typedBytes tells an act how much was typed; of a secret not even that.
func typedBytes(ctx context.Context, n int, secret bool) {
	if a := protocol.ActOf(ctx); a != nil {
		if a.Secret = secret; !secret {
			a.Bytes = n
		}
	}
}
