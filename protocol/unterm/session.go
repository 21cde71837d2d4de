package unterm

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/protocol"
)

// done is the result of methods without another.
type done struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

var statusOK = done{Status: "ok"}

type sessionList struct {
	Sessions []paneInfo `json:"sessions"`
}

func listPanes(_ context.Context, s *reader, _ params) (any, error) {
	r := sessionList{Sessions: []paneInfo{}}
	for _, p := range s.panes.all() {
		r.Sessions = append(r.Sessions, s.info(p))
	}
	return r, nil
}

func getPane(_ context.Context, s *reader, at *pane, _ params) (any, error) {
	i := s.info(at)
	screen := at.session.View().Screen
	rows := screen.History().Len() + screen.Rows
	i.Scrollback = &rows
	return i, nil
}

type created struct {
	ID        int    `json:"id"`
	SessionID string `json:"session_id"`
	Title     string `json:"title"`
	Cols      int    `json:"cols"`
	Rows      int    `json:"rows"`
}

// creation reads what to create. A member of another type counts as absent, unless Unterm does not
// have it.
func (p params) creation() (creation, error) {
	c := creation{cols: p.count("cols", paneCols, engine.MaxSide+1),
		rows: p.count("rows", paneRows, engine.MaxSide+1)}
	dir, ok := p.text("cwd")
	if c.dir = pathOf(dir); !ok || dir == "" {
		c.dir, _ = os.UserHomeDir() // "": the server's own
	}
	c.program, _ = p.text("program")
	if v, ok := p["args"]; ok {
		if err := decode(v, &c.args); err != nil || c.program == "" {
			return c, errors.New("'args' is a list of strings, and needs 'program'")
		}
	}
	if v, ok := p["env"]; ok {
		if err := decode(v, &c.env); err != nil {
			return c, errors.New("'env' is an object of strings")
		}
	}
	return c, nil
}

func createPane(ctx context.Context, s *reader, p params) (any, error) {
	made, err := s.createFrom(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.created(made), nil
}

func (s *reader) createFrom(ctx context.Context, p params) (*pane, error) {
	c, err := p.creation()
	if err == nil {
		err = s.mayStart(c)
	}
	if err != nil {
		return nil, err
	}
	made, err := s.create(c)
	if act := protocol.ActOf(ctx); act != nil {
		if act.Program = c.program; err == nil {
			act.Session = string(made.session.ID())
		}
	}
	return made, err
}

func (s *reader) created(made *pane) created {
	i := s.info(made)
	return created{ID: i.ID, SessionID: strconv.Itoa(i.ID), Title: i.Title, Cols: i.Cols,
		Rows: i.Rows}
}

func inputPane(ctx context.Context, s *reader, at *pane, p params) (any, error) {
	return s.input(ctx, "session.input", at, p, "input", "Missing 'input' parameter")
}

func sendText(ctx context.Context, s *reader, at *pane, p params) (any, error) {
	return s.input(ctx, "session.send_text", at, p, "text", "Missing 'text' parameter")
}

// input types the bytes of a member.
func (s *reader) input(ctx context.Context, method string, at *pane, p params, name,
	missing string) (any, error) {
	text, err := p.needText(name, missing)
	if err != nil {
		return nil, err
	}
	if err := s.typeText(ctx, method, at, text, ""); err != nil {
		return nil, err
	}
	return statusOK, nil
}

func resizePane(_ context.Context, s *reader, at *pane, p params) (any, error) {
	cols, ok := p.number("cols")
	if !ok {
		return nil, errors.New("Missing 'cols'")
	}
	rows, ok := p.number("rows")
	if !ok {
		return nil, errors.New("Missing 'rows'")
	}
	over := uint64(engine.MaxSide + 1)
	if err := at.session.Resize(pty.Size{Rows: uint16(min(rows, over)),
		Cols: uint16(min(cols, over))}); err != nil {
		return nil, err
	}
	return statusOK, nil
}

type destroyed struct {
	done
	Destroyed bool `json:"destroyed"`
}

func destroyPane(ctx context.Context, s *reader, at *pane, _ params) (any, error) {
	s.audit.add("session.destroy", at, "destroy", true)
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), endBound)
	defer cancel()
	if err := at.session.Close(bound); err != nil {
		return nil, err
	}
	return destroyed{statusOK, true}, nil
}

type idleResult struct {
	Idle       bool   `json:"idle"`
	Foreground string `json:"foreground_process"`
}

func idlePane(_ context.Context, s *reader, at *pane, _ params) (any, error) {
	process, _ := at.session.Foreground()
	l := s.look(at.session)
	return idleResult{idle(at.session, l.Raw, process), l.Clean(process.Path)}, nil
}

func cwdPane(_ context.Context, s *reader, at *pane, _ params) (any, error) {
	process, _ := at.session.Foreground()
	l := s.look(at.session)
	r := struct {
		Cwd string `json:"cwd"`
	}{}
	if dir := dirOf(l.Raw, process); dir != "" {
		r.Cwd = l.Clean(fileURL(dir))
	}
	return r, nil
}

type historyEntry struct {
	Text string `json:"text"`
}

type history struct {
	Entries []historyEntry `json:"entries"`
	Count   int            `json:"count"`
}

// maxRows bounds the rows of one answer: more than any scrollback of this dialect's panes has.
const maxRows = 100_000

// historyPane returns the rows right above the screen, without the blank ones.
func historyPane(_ context.Context, s *reader, at *pane, p params) (any, error) {
	l := s.look(at.session)
	lines := l.Lines()
	top := lines.Len() - l.Raw.Screen.Rows
	r := history{Entries: []historyEntry{}}
	for _, row := range lines.Read(max(0, top-p.count("limit", 100, maxRows)), top) {
		if text := rowText(row); text != "" {
			r.Entries = append(r.Entries, historyEntry{text})
		}
	}
	r.Count = len(r.Entries)
	return r, nil
}

type tail struct {
	Lines []string `json:"lines"`
	Text  string   `json:"text"`
	Count int      `json:"count"`
	Rows  int      `json:"rows"`
	Cols  int      `json:"cols"`
}

// readTail returns the last rows of the scrollback and the screen, up to the last that is not
// blank.
func readTail(_ context.Context, s *reader, at *pane, p params) (any, error) {
	l := s.look(at.session)
	lines := l.Lines()
	end := lines.Len()
	rows := l.Raw.Screen.Lines()
	for i := len(rows) - 1; i >= 0 && end > 0 && rowText(rows[i]) == ""; i-- {
		end--
	}
	r := tail{Lines: []string{}, Rows: l.Raw.Screen.Rows, Cols: l.Raw.Screen.Cols}
	for _, row := range lines.Read(max(0, end-p.count("lines", 50, maxRows)), end) {
		r.Lines = append(r.Lines, rowText(row))
	}
	r.Text, r.Count = strings.Join(r.Lines, "\n"), len(r.Lines)
	return r, nil
}
