package record

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/redact"
)

// Recordings are those of one server, in whichever dialect they were started: any client may list
// and stop them. The zero value is empty and ready; all methods are safe for concurrent use.
type Recordings struct {
	mu sync.Mutex
	// protects the fields below
	all  []*Kept
	last int
}

// maxRecordings bounds the known recordings, including ended ones: each is a file's name and
// numbers. The oldest ended one is dropped first.
const maxRecordings = 1000

// A Kept is one recording of a session, running or ended. An ended one holds only its last
// [Status]: not the session, whose memory may be large, nor the writer of the file.
type Kept struct {
	ID      string    // such as r1, never reused
	Session engine.ID // the recorded session

	mu sync.Mutex
	// protects the fields below
	running *running // nil: it has ended
	last    Status   // of one that has ended
}

// running is what a recording needs while it runs.
type running struct {
	session *engine.Session
	tap     *keptTap
	file    interface {
		engine.Tap
		Status() Status
	}
}

// A keptTap is the tap of a [Kept]. The session closes it when the recording has ended, for
// whatever reason.
type keptTap struct {
	*Behind
	kept *Kept
}

// Close closes the recording's file and frees everything that it needed.
func (t *keptTap) Close() error {
	err := t.Behind.Close()
	x := t.kept
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last, x.running = x.running.file.Status(), nil
	return err
}

// StartOptions say what is recorded, and where.
type StartOptions struct {
	Path      string           // file to write; it must not exist
	Format    Format           // AsciicastV2 when empty
	Title     string           // of an asciicast; "": the session's name
	IdleLimit time.Duration    // of an asciicast: longest pause during playback; 0: as recorded
	Input     bool             // of an asciicast: also record what is typed
	Redactor  *redact.Redactor // nil: hide nothing
}

// Start records a session from here on. The recording may lag the session by at most 1 MiB of
// output; more makes the session wait. Errors are those of [NewCast] and [engine.Session.Attach].
func (r *Recordings) Start(s *engine.Session, o StartOptions) (*Kept, error) {
	x := &Kept{Session: s.ID()}
	now := &running{session: s}
	if o.Redactor != nil {
		o.Redactor = o.Redactor.For(string(s.ID()))
	}
	config := s.Config()
	line := CommandLine(append([]string{config.Program}, config.Args...), o.Redactor)
	err := s.Attach(func(v *engine.View) (tap engine.Tap, err error) {
		if o.Format == MarkdownDoc {
			now.file, err = NewTranscript(o.Path, TranscriptOptions{
				Name: config.Name, Program: line, Dir: config.Dir, Rows: v.Screen.Rows,
				Cols: v.Screen.Cols, Screen: v.Screen, Redactor: o.Redactor, Raw: o.Redactor == nil,
			})
		} else {
			now.file, err = NewCast(o.Path, CastOptions{
				Format: o.Format, Rows: v.Screen.Rows, Cols: v.Screen.Cols, Screen: v.Screen,
				Command: line, Title: cmp.Or(o.Title, config.Name), IdleLimit: o.IdleLimit,
				Input: o.Input, Redactor: o.Redactor, Raw: o.Redactor == nil,
			})
		}
		if err != nil {
			return nil, err
		}
		now.tap = &keptTap{Behind: NewBehind(now.file), kept: x}
		x.running = now
		if o.Redactor != nil {
			o.Redactor.Hold(now.tap.Done())
		}
		return now.tap, nil
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
		if i := slices.IndexFunc(r.all,
			func(x *Kept) bool { return x.Status().State != StateRecording }); i >= 0 {
			r.all = slices.Delete(r.all, i, i+1)
		}
	}
	r.all = append(r.all, x)
}

// List returns the known recordings, oldest first: all that run, and the newest of those that have
// ended.
func (r *Recordings) List() []*Kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// Find returns the recording with an ID; nil when there is none.
func (r *Recordings) Find(id string) *Kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.all, func(x *Kept) bool { return x.ID == id }); i >= 0 {
		return r.all[i]
	}
	return nil
}

// Status returns the state of the recording. It never waits for writing.
func (x *Kept) Status() Status {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.running == nil {
		return x.last
	}
	return x.running.file.Status()
}

// Stop ends the recording, waits until everything is written, and gives the file its name. Stopping
// again does nothing. The error is one that Status does not report.
func (x *Kept) Stop() error {
	x.mu.Lock()
	now := x.running
	x.mu.Unlock()
	if now == nil {
		return nil
	}
	err := now.session.Detach(now.tap)
	if errors.Is(err, fs.ErrClosed) || x.Status().State == StateFailed ||
		x.Status().State == StateLimit {
		return nil
	}
	return err
}
