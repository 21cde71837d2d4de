package record

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/redact"
)

// Recordings are those of one server, whichever dialect they were started in: any client may list and stop them. The zero
// value is empty and ready; all methods are safe for concurrent use.
type Recordings struct {
	mu sync.Mutex
	// protects the fields below
	all  []*Kept
	last int
}

// maxRecordings bounds what is kept of recordings, those that have ended included: each holds a file's name and numbers. The
// oldest that has ended goes first.
const maxRecordings = 1000

// Kept is one recording of a session: it runs, or has ended.
type Kept struct {
	ID      string // such as r1, never used again
	Session *engine.Session

	file interface {
		engine.Tap
		Status() Status
	}
	tap *Behind
}

// StartOptions say what is recorded, and where.
type StartOptions struct {
	Path      string           // file to write; it must not exist
	Format    Format           // AsciicastV2 when empty
	Title     string           // of an asciicast
	IdleLimit time.Duration    // of an asciicast: pauses are to be played no longer than this; 0: as they were
	Input     bool             // of an asciicast: keep what is typed, too
	Redactor  *redact.Redactor // nil: hide nothing
}

// Start records a session from here on. The recording may be behind what the session shows, by at most 1 MiB of output;
// more makes the session wait. Errors are those of [NewCast] and [engine.Session.Attach].
func (r *Recordings) Start(s *engine.Session, o StartOptions) (*Kept, error) {
	x := &Kept{Session: s}
	config := s.Config()
	line := strings.Join(append([]string{config.Program}, config.Args...), " ")
	err := s.Attach(func(v *engine.View) (tap engine.Tap, err error) {
		if o.Format == MarkdownDoc {
			x.file, err = NewTranscript(o.Path, TranscriptOptions{
				Program: line, Dir: config.Dir, Rows: v.Screen.Rows, Cols: v.Screen.Cols, Screen: v.Screen,
				Redactor: o.Redactor, Raw: o.Redactor == nil,
			})
		} else {
			x.file, err = NewCast(o.Path, CastOptions{
				Format: o.Format, Rows: v.Screen.Rows, Cols: v.Screen.Cols, Screen: v.Screen, Command: line, Title: o.Title,
				IdleLimit: o.IdleLimit, Input: o.Input, Redactor: o.Redactor, Raw: o.Redactor == nil,
			})
		}
		if err != nil {
			return nil, err
		}
		x.tap = NewBehind(x.file)
		return x.tap, nil
	})
	if err != nil {
		return nil, err
	}
	r.add(x)
	return x, nil
}

func (r *Recordings) add(x *Kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	x.ID = "r" + strconv.Itoa(r.last)
	if len(r.all) >= maxRecordings {
		if i := slices.IndexFunc(r.all, func(x *Kept) bool { return x.Status().State != StateRecording }); i >= 0 {
			r.all = slices.Delete(r.all, i, i+1)
		}
	}
	r.all = append(r.all, x)
}

// List returns the recordings that are known, oldest first: all that run, and of those that have ended the newest.
func (r *Recordings) List() []*Kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// Find returns one by its ID; nil when there is none.
func (r *Recordings) Find(id string) *Kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.all, func(x *Kept) bool { return x.ID == id }); i >= 0 {
		return r.all[i]
	}
	return nil
}

// Status tells how the recording is doing. It never waits.
func (x *Kept) Status() Status { return x.file.Status() }

// Stop ends the recording, waits until everything is written, and gives the file its name. Stopping again does nothing. An error is
// one that Status does not tell.
func (x *Kept) Stop() error {
	err := x.Session.Detach(x.tap)
	if errors.Is(err, fs.ErrClosed) || x.Status().State == StateFailed || x.Status().State == StateLimit {
		return nil
	}
	return err
}
