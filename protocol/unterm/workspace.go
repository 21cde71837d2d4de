package unterm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/protocol/unterm/internal/shared"
)

// A workspace has the panes of one moment, as kept in a file.
type workspace struct {
	Name     string      `json:"name"`
	Sessions []savedPane `json:"sessions"`
	SavedAt  string      `json:"saved_at"`
}

type savedPane struct {
	ID    int     `json:"id"`
	Title string  `json:"title"`
	Cwd   *string `json:"cwd"` // a file: URL
}

const (
	// maxWorkspace bounds its file, in bytes: some 5,000 panes.
	maxWorkspace = 1 << 20
	// maxWorkspaceName bounds a name, in bytes: with an extension it is a file's name.
	maxWorkspaceName = 200
)

// workspaceFile is the file of a workspace. Names that would lead elsewhere, or hide the file, are
// refused.
func (s *Server) workspaceFile(p params) (name, path string, err error) {
	if name, err = p.needText("name", "Missing 'name'"); err != nil {
		return "", "", err
	}
	bad := func(c rune) bool { return c < ' ' || c == 0x7f || strings.ContainsRune(`/\:*?"<>|`, c) }
	if name == "" || len(name) > maxWorkspaceName || strings.HasPrefix(name, ".") ||
		strings.ContainsFunc(name, bad) {
		return "", "",
			fmt.Errorf("'name' is that of a file: 1 to %d bytes, without separators and without a dot in front", maxWorkspaceName)
	}
	return name, filepath.Join(s.workspaces(), name+".json"), nil
}

func (s *Server) workspaces() string { return filepath.Join(s.opts.Root, "workspaces") }

func workspaceSave(_ context.Context, s *reader, p params) (any, error) {
	name, path, err := s.workspaceFile(p)
	if err != nil {
		return nil, err
	}
	w := workspace{Name: name, SavedAt: time.Now().Format(time.RFC3339Nano),
		Sessions: []savedPane{}}
	for _, at := range s.panes.all() {
		if i := s.info(at); !i.Dead {
			w.Sessions = append(w.Sessions, savedPane{i.ID, i.Title, i.Shell.Cwd})
		}
	}
	data, err := json.Marshal(w, encoding, jsontext.WithIndent("  "))
	if err == nil {
		err = os.MkdirAll(s.workspaces(), 0o700)
	}
	if err == nil {
		err = record.WriteFile(path, append(data, '\n'))
	}
	if err != nil {
		return nil, fmt.Errorf("save workspace '%s': %w", name, err)
	}
	return struct {
		Saved    bool   `json:"saved"`
		Name     string `json:"name"`
		Sessions int    `json:"sessions"`
	}{true, s.clean(name), len(w.Sessions)}, nil
}

type restored struct {
	Restored  bool            `json:"restored"`
	Name      string          `json:"name"`
	Workspace workspace       `json:"workspace"`
	Message   string          `json:"message"`
	Recreated []recreatedPane `json:"recreated,omitzero"` // with "recreate": true
}

type recreatedPane struct {
	From  int      `json:"from"` // its number when saved
	Made  *created `json:"session,omitempty"`
	Error string   `json:"error,omitempty"`
}

// workspaceRestore reads a workspace, and with "recreate": true starts a shell in each of its
// directories.
func workspaceRestore(_ context.Context, s *reader, p params) (any, error) {
	name, path, err := s.workspaceFile(p)
	if err != nil {
		return nil, err
	}
	r := restored{Name: s.clean(name),
		Message: "Workspace data loaded. Use session.create with cwd to recreate sessions."}
	data, err := shared.Read(path, maxWorkspace)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("Workspace '%s' not found", name)
	}
	if err == nil {
		err = json.Unmarshal(data, &r.Workspace)
	}
	if err != nil {
		return nil, fmt.Errorf("read workspace '%s': %w", name, err)
	}
	if !p.is("recreate") {
		r.Restored = true
		return r, nil
	}
	r.Recreated = []recreatedPane{}
	failed := 0
	for _, saved := range r.Workspace.Sessions {
		c := creation{}
		if saved.Cwd != nil {
			c.dir = pathOf(*saved.Cwd)
		}
		e := recreatedPane{From: saved.ID}
		if made, err := s.create(c); err != nil {
			e.Error = s.errorText(err)
			failed++
		} else {
			now := s.created(made)
			e.Made = &now
		}
		r.Recreated = append(r.Recreated, e)
	}
	r.Restored = failed == 0
	r.Message = fmt.Sprintf("Workspace data loaded. %d of %d sessions were recreated.",
		len(r.Recreated)-failed, len(r.Recreated))
	return r, nil
}

type workspaceName struct {
	Name string `json:"name"`
}

func workspaceList(_ context.Context, s *reader, _ params) (any, error) {
	r := struct {
		Workspaces []workspaceName `json:"workspaces"`
	}{[]workspaceName{}}
	entries, err := os.ReadDir(s.workspaces())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && !e.IsDir() {
			r.Workspaces = append(r.Workspaces, workspaceName{s.clean(name)})
		}
	}
	slices.SortFunc(r.Workspaces,
		func(a, b workspaceName) int { return strings.Compare(a.Name, b.Name) })
	return r, nil
}
