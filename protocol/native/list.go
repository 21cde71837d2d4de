package native

import (
	"context"
	"os"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/redact"
)

type listParams struct {
	Details bool    `json:"details,omitempty" jsonschema:"add one object a session"`
	Session *string `json:"session,omitempty" jsonschema:"only this one, by its id or its name"`
	readParams
}

type listResult struct {
	Sessions []string      `json:"sessions"`
	Details  []sessionInfo `json:"details,omitzero"`
}

type sessionInfo struct {
	Session         string     `json:"session"`
	Name            string     `json:"name,omitempty" jsonschema:"as it was created with"`
	Adapter         string     `json:"adapter,omitempty" jsonschema:"that drives it"`
	Program         string     `json:"program"`
	Args            []string   `json:"args"`
	Cwd             string     `json:"cwd"`
	PID             int        `json:"pid"`
	Started         time.Time  `json:"started"`
	Rows            int        `json:"rows"`
	Cols            int        `json:"cols"`
	Title           *string    `json:"title"`
	Sequence        uint64     `json:"sequence"`
	QuietMS         int64      `json:"quiet_ms"`
	AlternateScreen bool       `json:"alternate_screen"`
	Theme           string     `json:"theme"`
	Exit            *exitInfo  `json:"exit"`
	Lease           *leaseInfo `json:"lease"`
	TranscriptError string     `json:"transcript_error,omitempty"`
	Ended           *time.Time `json:"ended,omitempty" jsonschema:"when the program did"`
	Owner           string     `json:"owner,omitempty" jsonschema:"connection: it is ended with the connection that created it"`
	MaxMS           int64      `json:"max_ms,omitempty" jsonschema:"as it was created with"`
	IdleMS          int64      `json:"idle_ms,omitempty" jsonschema:"likewise"`
	MaxMemory       int64      `json:"max_memory,omitempty" jsonschema:"likewise"`
	lately
}

type exitInfo struct {
	Code     *int    `json:"exit_code"`
	Signal   *string `json:"signal"`
	Draining bool    `json:"draining"`
	Limit    string  `json:"limit,omitempty" jsonschema:"that the session went over, which ended it: max_ms, idle_ms, max_memory or owner"`
	Killed   bool    `json:"killed,omitempty" jsonschema:"somebody ended it, with session.kill or session.close"`
}

func (c *client) sessionList(_ context.Context, p listParams) (listResult, error) {
	all := c.Engine.List()
	if p.Session != nil {
		s, err := c.session(sessionParams{p.Session})
		if err != nil {
			return listResult{}, err
		}
		all = []*engine.Session{s}
	}
	r := listResult{Sessions: make([]string, len(all))}
	for i, s := range all {
		r.Sessions[i] = string(s.ID())
		if p.Details {
			info := c.describe(s, p.redactor())
			if a := c.Catalog.Owner(s.ID()); a != nil {
				info.Adapter = a.ID()
			}
			r.Details = append(r.Details, info)
		}
	}
	if p.Details && r.Details == nil {
		r.Details = []sessionInfo{}
	}
	return r, nil
}

func (c *client) describe(s *engine.Session, hide *redact.Redactor) sessionInfo {
	v, config := s.View(), s.Config()
	if config.Dir == "" {
		config.Dir, _ = os.Getwd() // the server's, which never changes
	}
	l := reading.New(v, hide)
	info := sessionInfo{
		Session: string(s.ID()), Name: config.Name, Program: l.Clean(config.Program),
		Cwd: l.Clean(config.Dir), PID: s.PID(), Args: l.Args(config.Program, config.Args),
		Started: s.Started().UTC(), Rows: v.Screen.Rows, Cols: v.Screen.Cols, Sequence: v.Sequence,
		QuietMS: v.StableFor().Milliseconds(), AlternateScreen: v.Screen.Modes.AltScreen,
		Theme: v.Screen.Theme.String(), MaxMS: config.MaxTime.Milliseconds(),
		IdleMS: config.MaxIdle.Milliseconds(), MaxMemory: config.MaxMemory,
	}
	if config.Owned {
		info.Owner = ownerConnection
	}
	if v.Exit != nil {
		at := v.Exit.At.UTC()
		info.Ended = &at
	}
	if v.Screen.TitleSet {
		title := l.Clean(v.Screen.Title)
		info.Title = &title
	}
	info.Exit, info.Lease = exitOf(v.Exit), c.leaseOf(l)
	info.lately = c.lately(s, hide)
	if err := s.TapError(); err != nil {
		info.TranscriptError = redact.Default.String(err.Error())
	}
	return info
}

// exitOf says how a session's program ended; nil while it runs.
func exitOf(e *engine.Exit) *exitInfo {
	if e == nil {
		return nil
	}
	x := &exitInfo{Draining: e.Draining, Limit: string(e.Limit), Killed: e.Killed}
	if e.Signal != "" {
		x.Signal = &e.Signal
	} else if e.Code >= 0 {
		x.Code = &e.Code
	}
	return x
}
