package record

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// Errors of a recording under way. The session continues, and what was written so far stays.
var (
	ErrEnded = errors.New("the recording has ended")
	ErrLimit = errors.New("the recording has reached its size limit; give a larger one to keep more")
)

// DefaultMaxBytes is the default size limit of a recording: 256 MiB are some ten hours of a busy
// full-screen program. More keeps longer floods, less protects a small disk.
const DefaultMaxBytes = 256 << 20

// A Format is the file format of a recording.
type Format string

// The formats of session.record_start.
const (
	AsciicastV2 Format = "asciicast-v2" // plays in every asciinema since 2.0
	AsciicastV3 Format = "asciicast-v3" // asciinema 3: intervals, exit status
	MarkdownDoc Format = "markdown"
)

// FileName is the default name of a recording in a folder: two of one session in the same
// microsecond would have the same, and the second be refused.
func FileName(session engine.ID, f Format, at time.Time) string {
	ext := ".cast"
	if f == MarkdownDoc {
		ext = ".md"
	}
	return string(session) + "-" + at.UTC().Format("20060102-150405.000000") + ext
}

// A State is the state of a recording.
type State string

const (
	StateRecording State = "recording"
	StateDone      State = "done"
	StateLimit     State = "limit"     // ended at its size limit
	StateFailed    State = "failed"    // Err says why; what was written before is whole
	StateDiscarded State = "discarded" // cancelled, nothing is left
)

// A Status describes a recording.
type Status struct {
	Path     string // its final name; while it is recorded, ".part" follows
	Format   Format
	State    State
	Bytes    int64         // written to the file
	Duration time.Duration // of what was written
	Err      error         // for StateFailed
}

// recordTo creates the file of a recording that begin begins; if begin fails it leaves none.
func recordTo[T any](path string, begin func(s sink) (T, error)) (r T, err error) {
	p, err := createPart(path, false, false)
	if err != nil {
		return r, &engine.FileError{Op: "record to", Path: path, Err: err}
	}
	if r, err = begin(p); err != nil {
		_ = p.discard()
	}
	return r, err
}

// A file is a recording's file. The holder of turn may use what mu does not guard.
type file struct {
	turn  chan struct{} // held while something is written; a lock would be held across I/O
	sink  sink
	limit int64
	op    string // for errors

	mu sync.Mutex
	// protects the field below
	status Status
}

func newFile(s sink, path string, format Format, limit int64) *file {
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	return &file{turn: make(chan struct{}, 1), sink: s, limit: limit, op: "record to",
		status: Status{Path: path, Format: format, State: StateRecording}}
}

// Status returns the state of the recording. It never waits for the disk.
func (f *file) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// begin takes the turn; the error is ErrEnded when the recording has ended.
func (f *file) begin() error {
	f.turn <- struct{}{}
	if f.Status().State != StateRecording {
		f.end()
		return ErrEnded
	}
	return nil
}

func (f *file) end() { <-f.turn }

// append writes whole lines at the file's end: all of p, or nothing. An error ends the recording.
func (f *file) append(p []byte, at time.Duration) error {
	size := f.Status().Bytes
	if size+int64(len(p)) > f.limit {
		f.over(StateLimit, nil)
		return &engine.FileError{Op: f.op, Path: f.Status().Path,
			Err: fmt.Errorf("%w (%d bytes)", ErrLimit, f.limit)}
	}
	if _, err := f.sink.Write(p); err != nil {
		return f.fail(err)
	}
	f.mu.Lock()
	f.status.Bytes += int64(len(p))
	f.status.Duration = max(at, f.status.Duration)
	f.mu.Unlock()
	return nil
}

// fail ends the recording; a partial write is undone, so that a disk that filled up leaves whole
// lines.
func (f *file) fail(err error) error {
	_ = f.sink.Truncate(f.Status().Bytes)
	err = &engine.FileError{Op: f.op, Path: f.Status().Path, Err: bare(err)}
	f.over(StateFailed, err)
	return err
}

func (f *file) over(s State, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status.State, f.status.Err = s, err
}

// finish gives the file its name. It is called once, with the turn taken.
func (f *file) finish() error {
	if err := f.sink.finish(); err != nil {
		err = &engine.FileError{Op: f.op, Path: f.Status().Path, Err: err}
		if f.Status().State != StateFailed {
			f.over(StateFailed, err)
		}
		return err
	}
	if f.Status().State == StateRecording {
		f.over(StateDone, nil)
	}
	return nil
}

// close ends the recording once, after last.
func (f *file) close(last func() error) error {
	f.turn <- struct{}{}
	defer f.end()
	if f.sink == nil {
		return nil
	}
	err := last()
	if ferr := f.finish(); err == nil {
		err = ferr
	}
	f.sink = nil
	return err
}

// Discard ends the recording and removes its file. The error is [ErrEnded] when it has already
// ended, or an *[engine.FileError].
func (f *file) Discard() error {
	f.turn <- struct{}{}
	defer f.end()
	if f.sink == nil {
		return ErrEnded
	}
	f.over(StateDiscarded, nil)
	err := f.sink.discard()
	f.sink = nil
	if err != nil {
		return &engine.FileError{Op: "take back", Path: f.Status().Path, Err: err}
	}
	return nil
}
