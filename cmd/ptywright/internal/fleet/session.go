package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// listBound is how long an instance may take to list its sessions before it is shown without them:
// people look at the list to find the one that hangs.
const listBound = 2 * time.Second

// A Session is a session of an instance. One that has ended is kept for a minute, with its last
// screen.
type Session struct {
	Number  int    `json:"session"`
	Title   string `json:"title"`
	Dead    bool   `json:"is_dead"`
	Running string `json:"foreground_process"` // path; "": not known
	Cwd     string `json:"cwd"`                // "": not known
}

// A Status is an instance with its sessions.
type Status struct {
	instance.Entry
	Sessions []Session `json:"sessions"` // nil when not known
	Error    string    `json:"error,omitempty"`
	Err      error     `json:"-"` // why they are not known
}

// List returns the selected instances, in the order of the selection's names, with their sessions.
// An error with one of them is in its [Status]. Errors: those of the selection.
func (f Fleet) List(ctx context.Context, s Selection) ([]Status, error) {
	records, err := f.pick(s)
	if err != nil {
		return nil, err
	}
	var all []Status
	each(ctx, records, func(ctx context.Context, r instance.Record) Status {
		status := Status{Entry: r.Entry()}
		var err error
		if status.Sessions, err = sessions(ctx, r); err != nil {
			status.Error, status.Err = err.Error(), named(r, err)
		}
		return status
	}, func(one Status) { all = append(all, one) })
	place := make(map[string]int, len(records))
	for i, r := range records {
		place[r.ID] = i
	}
	slices.SortFunc(all, func(a, b Status) int { return place[a.ID] - place[b.ID] })
	return all, nil
}

// sessions asks an instance for its sessions.
func sessions(ctx context.Context, r instance.Record) ([]Session, error) {
	ctx, cancel := patient(ctx, r, listBound)
	defer cancel()
	m, err := dial(ctx, r, listBound)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	return m.sessions(ctx)
}

func (m *member) sessions(ctx context.Context) ([]Session, error) {
	var list struct {
		Sessions []struct {
			ID    int    `json:"id"`
			Title string `json:"title"`
			Dead  bool   `json:"is_dead"`
			Shell struct {
				Process string `json:"process_name"`
				Cwd     string `json:"cwd"`
			} `json:"shell"`
		} `json:"sessions"`
	}
	if err := m.call(ctx, answerBound, "session.list", nil, &list); err != nil {
		return nil, err
	}
	all := []Session{}
	for _, s := range list.Sessions {
		cwd := s.Shell.Cwd
		if u, err := url.Parse(cwd); err == nil && u.Scheme == "file" {
			cwd = u.Path
		}
		all = append(all, Session{s.ID, s.Title, s.Dead, s.Shell.Process, cwd})
	}
	return all, nil
}

// A SessionError says that the requested session has ended, or that no session has its number.
type SessionError struct {
	Instance string
	Session  int
	Ended    bool
}

func (e *SessionError) Error() string {
	what := fmt.Sprintf("there is no session %d", e.Session)
	if e.Ended {
		what = fmt.Sprintf("session %d has ended", e.Session)
	}
	return fmt.Sprintf("%s: 'ptywright fleet sessions %s' lists those that run, 'ptywright fleet open %[2]s' begins one", what, e.Instance)
}

// about returns the error of a call about a session: a [SessionError] when that is why the instance
// refused.
func (m *member) about(ctx context.Context, session int, err error) error {
	var refused *client.Error
	if !errors.As(err, &refused) {
		return err
	}
	all, failed := m.sessions(ctx)
	if failed != nil {
		return err
	}
	at := slices.IndexFunc(all, func(s Session) bool { return s.Number == session })
	if at >= 0 && !all[at].Dead {
		return err
	}
	return &SessionError{m.record.ID, session, at >= 0 || session == 0} // session 0 existed
}

// Opened is a new session.
type Opened struct {
	ID      string `json:"id"`
	Session int    `json:"session"`
}

// Open starts a session, a shell in a folder, and types command into it unless that is empty. An
// empty folder means the instance's own.
func (f Fleet) Open(ctx context.Context, name, dir, command string) (Opened, error) {
	records, err := f.pick(Selection{Names: []string{name}})
	if err != nil {
		return Opened{}, err
	}
	if dir == "" {
		dir = string(records[0].Cwd)
	}
	method, params := "session.create", map[string]string{"cwd": dir}
	if command != "" {
		method, params["command"] = "orchestrate.launch", command
	}
	var made struct {
		ID int `json:"id"`
	}
	err = with(ctx, records[0],
		func(m *member) error { return m.call(ctx, answerBound, method, params, &made) })
	return Opened{name, made.ID}, err
}
