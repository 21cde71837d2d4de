package tmux

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// state is what a tmux server knows beyond the sessions of ptywright. It is a file beside the
// socket, which is replaced in one step, so readers need no lock.
type state struct {
	Server   int                 `json:"server"` // the process that it is about
	Started  int64               `json:"started"`
	Next     numbers             `json:"next"`
	Sessions []*session          `json:"sessions"`
	Options  map[string]string   `json:"options,omitempty"` // of all sessions and windows
	Env      map[string]string   `json:"env,omitempty"`     // for all sessions
	Buffers  []buffer            `json:"buffers,omitempty"` // the newest first
	Named    int                 `json:"named,omitempty"`   // buffers that were given a name
	Channels map[string]*channel `json:"channels,omitempty"`
}

// numbers are the next ones: tmux never uses one again.
type numbers struct {
	Session int `json:"session"`
	Window  int `json:"window"`
	Pane    int `json:"pane"`
}

// A session is a group of windows with a name.
type session struct {
	Number  int               `json:"number"`
	Name    string            `json:"name"`
	Created int64             `json:"created"` // seconds
	Used    int64             `json:"used"`    // nanoseconds; the newest is meant where none is named
	Dir     string            `json:"dir"`
	Windows []*window         `json:"windows"`
	Active  int               `json:"active"` // number of a window
	Last    int               `json:"last"`   // the one before; its own where there is none
	Options map[string]string `json:"options,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// A window has one pane, and that is a session of ptywright.
type window struct {
	Number  int               `json:"number"`
	Index   int               `json:"index"`
	Name    string            `json:"name"`
	Given   bool              `json:"given,omitempty"` // the name was given; others follow the program
	Pane    int               `json:"pane"`
	Of      string            `json:"of"` // the id in ptywright
	Command string            `json:"command,omitempty"`
	Dir     string            `json:"dir"`
	Title   string            `json:"title,omitempty"`   // given by select-pane
	Cleared uint64            `json:"cleared,omitempty"` // lines above this one are history that was cleared
	Pipe    string            `json:"pipe,omitempty"`    // the bell of its pipe-pane
	Options map[string]string `json:"options,omitempty"`
}

// A buffer is text to paste.
type buffer struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Created int64  `json:"created"`
	Given   bool   `json:"given,omitempty"` // the name was
}

// A channel is something to wait for. Waiters and lockers are bells.
type channel struct {
	Woken   bool     `json:"woken,omitempty"`
	Waiters []string `json:"waiters,omitempty"`
	Locked  bool     `json:"locked,omitempty"`
	Lockers []string `json:"lockers,omitempty"`
}

// find returns the session with a name, or nil.
func (s *state) find(name string) *session {
	i := slices.IndexFunc(s.Sessions, func(x *session) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return s.Sessions[i]
}

// show makes a window the current one.
func (s *session) show(w *window) {
	if s.Active != w.Number {
		s.Last, s.Active = s.Active, w.Number
	}
}

// current is the window that is shown.
func (s *session) current() *window {
	for _, w := range s.Windows {
		if w.Number == s.Active {
			return w
		}
	}
	return s.Windows[0]
}

// paths beside a socket.
func statePath(socket string) string { return socket + ".tmux" }
func lockPath(socket string) string  { return socket + ".tmux.lock" }

// load reads the state beside a socket; without a file it is empty.
func load(socket string) (*state, error) {
	s := &state{}
	body, err := os.ReadFile(statePath(socket))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(body, s)
	}
	if err != nil {
		return nil, fmt.Errorf("read what is known of the tmux sessions: %w; tmux kill-server begins anew", err)
	}
	return s, nil
}

// save replaces the state.
func (s *state) save(socket string) error {
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	path := statePath(socket)
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// locked runs do while no other command changes the state of the server on a socket.
func locked(socket string, do func() error) error {
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		return err
	}
	l := flock.New(lockPath(socket), flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return fmt.Errorf("lock the tmux sessions: %w", err)
	}
	defer l.Unlock()
	return do()
}

// stamp is the time as the state has it.
func stamp() int64 { return time.Now().Unix() }
