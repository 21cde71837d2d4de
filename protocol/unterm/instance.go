package unterm

import (
	"context"
	"fmt"
	"os"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// record is what the instance publishes about itself at its start.
func (s *Server) record() instance.Record {
	dir := s.opts.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	return instance.Record{
		MCPPort: s.port(), AuthToken: s.token, PID: os.Getpid(), Cwd: instance.Optional(dir),
		Version: s.Version, Platform: platform(),
	}
}

// moved matches a shell that has changed its directory.
func moved(from string) engine.Func {
	return func(v *engine.View) bool {
		sh := v.Reports.Shell
		return sh != nil && sh.Dir != "" && sh.Dir != from
	}
}

// follow keeps the record's directory that of pane 0's shell, until the pane is closed.
func (s *Server) follow(zero *engine.Session) {
	at := string(s.record().Cwd)
	for {
		out, err := zero.Wait(context.Background(), moved(at), engine.Within(-1))
		if err != nil {
			return
		}
		at = out.View.Reports.Shell.Dir
		if err := s.instance.SetCwd(s.covered.String(at)); err != nil {
			s.Log.Warn("write the directory into the instance's record", "error", err)
		}
	}
}

// instanceList returns all live instances of the root, and removes what dead ones have left behind.
func instanceList(_ context.Context, s *reader, _ params) (any, error) {
	all, err := instance.List(s.opts.Root)
	if err != nil {
		return nil, err
	}
	r := struct {
		Instances []instance.Entry `json:"instances"`
	}{[]instance.Entry{}}
	for _, i := range all {
		e := i.Entry()
		e.Title, e.Cwd = instance.Optional(s.clean(string(e.Title))),
			instance.Optional(s.clean(string(e.Cwd)))
		r.Instances = append(r.Instances, e)
	}
	return r, nil
}

// instanceInfo returns this instance, including its token: the client has already shown it.
func instanceInfo(_ context.Context, s *reader, _ params) (any, error) {
	r, err := s.instance.Record()
	if err != nil {
		return nil, err
	}
	return r.Info(), nil
}

func instanceSetTitle(_ context.Context, s *reader, p params) (any, error) {
	title, _ := p.text("title")
	if err := s.instance.SetTitle(title); err != nil {
		return nil, fmt.Errorf("failed to write instance title: %w", err)
	}
	return struct {
		OK    bool              `json:"ok"`
		Title instance.Optional `json:"title"`
	}{true, instance.Optional(title)}, nil
}

// instanceFocus answers that nothing was raised: Unterm's answers that it was, and raises nothing
// either.
func instanceFocus(context.Context, *reader, params) (any, error) {
	return struct {
		OK   bool   `json:"ok"`
		Note string `json:"note"`
	}{false, "no window to raise: this server is headless"}, nil
}
