package tools

import (
	"context"
	"encoding/json"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol"
)

// A demanding is arguments that can need more than the least that their tool needs.
type demanding interface {
	// needs returns what they need, and the part of them that does.
	needs() (protocol.Rights, string)
}

func (a *rawAsked) needs() (protocol.Rights, string) {
	if a.Raw {
		return protocol.RightAdmin, "raw"
	}
	return protocol.RightRead, ""
}

func (in *shotParams) needs() (protocol.Rights, string) {
	if in.Path != "" {
		return protocol.RightAdmin, "path"
	}
	return in.rawAsked.needs()
}

func (in *runParams) needs() (protocol.Rights, string) {
	if in.Session == "" {
		return protocol.RightAdmin, "a fresh shell, as no session is named"
	}
	return in.rawAsked.needs()
}

func (in *adapterParams) needs() (protocol.Rights, string) {
	raw, with := in.rawAsked.needs()
	switch in.Action {
	case "start":
		return protocol.RightAdmin, "action start"
	case "send":
		if raw == protocol.RightRead {
			return protocol.RightType, "action send"
		}
	}
	return raw, with
}

// permit decides whether clients may make a call, and tells an audit what it acts on.
func (p *profile) permit(ctx context.Context, tool string, least protocol.Rights,
	arguments json.RawMessage, args any) error {
	needs, with := least, ""
	if d, ok := args.(demanding); ok {
		if more, what := d.needs(); !needs.Covers(more) {
			needs, with = more, what
		}
	}
	if act := protocol.ActOf(ctx); act != nil {
		var named struct{ Session, Name, Program, Plugin, Path, Secret string }
		_ = json.Unmarshal(arguments, &named) // they have been decoded: null means absent
		act.Name, act.Program, act.Plugin, act.Path = named.Name, named.Program, named.Plugin, named.Path
		act.Secret = named.Secret != ""
		p.acts(act, named.Session)
	}
	return p.grant.Permit(ctx, tool, needs, with)
}

// acts adds a session to an act: its id and its name.
func (p *profile) acts(act *protocol.Act, session string) {
	if session == "" {
		return
	}
	act.Session = session // as the client has it, when there is no such session
	if s, err := p.Engine.Session(engine.ID(session)); err == nil {
		act.Session, act.Name = string(s.ID()), s.Config().Name
	}
}

// noteResult adds to an act what a result says of it.
func (p *profile) noteResult(ctx context.Context, result []byte) {
	act := protocol.ActOf(ctx)
	if act == nil {
		return
	}
	var said struct {
		Session string
		Written int
		Receipt struct{ Written int }
	}
	_ = json.Unmarshal(result, &said) // ours; a tool without these members leaves them empty
	if act.Session == "" {
		p.acts(act, said.Session)
	}
	if !act.Secret {
		act.Bytes = said.Written + said.Receipt.Written
	}
}

// reasonOf is an error's reason as an audit has it; "" without one.
func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	if e := protocol.Standard(err); e != nil {
		return e.Reason
	}
	return "failed"
}
