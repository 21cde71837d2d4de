package terminalmcp

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/record"
)

// RecordDirVariable names the folder of recordings when a call does not.
const RecordDirVariable = "TERMINAL_MCP_RECORD_DIR"

// Limits are those of a recording, in seconds; 0 or less is no limit.
type Limits struct {
	Idle       float64 // longer pauses between events are shortened to this
	Duration   float64 // the recording stops after this
	Inactivity float64 // the recording stops after this without output
}

// DefaultLimits are Terminal MCP's: a pause of two seconds, an hour, ten minutes.
var DefaultLimits = Limits{Idle: 2, Duration: 3600, Inactivity: 600}

// RecordDir is where recordings go unless a call or an option says otherwise:
// TERMINAL_MCP_RECORD_DIR, else the user's state folder, which $XDG_STATE_HOME names. It fails when
// the user has no home.
func RecordDir() (string, error) {
	if dir := os.Getenv(RecordDirVariable); dir != "" {
		return dir, nil
	}
	if state := os.Getenv("XDG_STATE_HOME"); state != "" {
		return filepath.Join(state, Name, "recordings"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for recordings: %w; name one with outputDir or %s",
			err, RecordDirVariable)
	}
	return filepath.Join(home, ".local", "state", Name, "recordings"), nil
}

// Modes of a recording.
const (
	modeAlways    = "always"
	modeOnFailure = "on-failure" // kept only when the shell ends with a code other than 0
)

// Reasons for a recording's end.
const (
	stopExplicit   = "explicit"
	stopExit       = "session_exit"
	stopDuration   = "max_duration"
	stopInactivity = "inactivity"
	stopShutdown   = "server_shutdown"
	stopSize       = "max_size" // ours: Terminal MCP fills the disk
)

// recordings are those of a server: the running one, and the names of those that have stopped by
// themselves.
type recordings struct {
	active   *recording
	finished []string
}

// maxFinished bounds the names that are kept, of 16 bytes each; the oldest goes first.
const maxFinished = 1000

// note keeps the name of a recording that has stopped by itself.
func (r *recordings) note(id string) {
	if r.finished = append(r.finished, id); len(r.finished) > maxFinished {
		r.finished = slices.Delete(r.finished, 0, 1)
	}
}

// A recording is a running one. It is the engine's tap of its session.
type recording struct {
	server  *Server
	id      string
	mode    string
	path    string // as clients see it
	session *engine.Session
	cast    *record.Cast
	start   time.Time
	idle    time.Duration // without output, until it stops; 0: unlimited

	duration, inactivity *time.Timer // nil: none

	exit int           // of the session; set before done is closed
	err  error         // of writing, or of completing the file; likewise
	done chan struct{} // closed when the file is complete
	end  recordingEnd  // likewise

	begun  bool   // it can be stopped; guarded by Server.mu, as is reason
	reason string // why it stops; "": it runs
}

// A recordingEnd is the answer of stopRecording.
type recordingEnd struct {
	RecordingID  string `json:"recordingId"`
	Path         string `json:"path"`
	DurationMS   int64  `json:"durationMs"`
	BytesWritten int64  `json:"bytesWritten"`
	Saved        bool   `json:"saved"`
	Mode         string `json:"mode"`
	StopReason   string `json:"stopReason"`
}

// A meta is the file beside a recording.
type meta struct {
	ExitCode     *int   `json:"exitCode"`
	DurationMS   int64  `json:"durationMs"`
	StartTime    int64  `json:"startTime"`
	EndTime      int64  `json:"endTime"`
	BytesWritten int64  `json:"bytesWritten"`
	StopReason   string `json:"stopReason"`
}

// A RecordingRequest says what to record, and how.
type RecordingRequest struct {
	Mode   string // "always" or "on-failure"
	Dir    string // "": the server's
	Limits Limits
	Shell  string // written to the file unless ""
}

// A busyError reports a recording that is already running.
type busyError struct {
	Err  string `json:"error"`
	ID   string `json:"activeRecordingId"`
	Path string `json:"activePath"`
}

func (e *busyError) Error() string { return e.Err }

// Record begins to record a session. Only one recording runs at a time.
func (s *Server) Record(session *engine.Session, q RecordingRequest) (path string, err error) {
	r, err := s.record(session, q)
	if err != nil {
		return "", err
	}
	return r.path, nil
}

func (s *Server) record(session *engine.Session, q RecordingRequest) (*recording, error) {
	dir := cmp.Or(q.Dir, s.opts.RecordDir)
	if dir == "" {
		var err error
		if dir, err = RecordDir(); err != nil {
			return nil, err
		}
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	r := &recording{server: s, id: hex.EncodeToString(b[:]), mode: q.Mode, session: session,
		start: time.Now(), done: make(chan struct{})}
	name := "terminal-" + strconv.FormatInt(r.start.UnixMilli(), 10) + "-" + r.id + ".cast"
	r.path = filepath.Join(dir, name)

	s.mu.Lock()
	switch active := s.recorder.active; {
	case s.closed:
		s.mu.Unlock()
		return nil, errClosed
	case active != nil:
		s.mu.Unlock()
		return nil, &busyError{"A recording is already in progress", active.id, active.path}
	}
	s.recorder.active = r
	s.mu.Unlock()
	err := r.begin(dir, name, q)
	if err != nil {
		s.mu.Lock()
		s.recorder.active = nil
		s.mu.Unlock()
		return nil, err
	}
	return r, nil
}

// begin makes the file and attaches the recording to its session.
func (r *recording) begin(dir, name string, q RecordingRequest) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder for recordings: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir) // do not create the file through a link that may change
	if err != nil {
		return fmt.Errorf("find the folder for recordings: %w", err)
	}
	return r.session.Attach(func(v *engine.View) (engine.Tap, error) {
		o := record.CastOptions{
			Format: record.AsciicastV2, Rows: v.Screen.Rows, Cols: v.Screen.Cols, Start: r.start,
			IdleLimit: seconds(q.Limits.Idle), CutIdle: true, Shell: q.Shell,
			Redactor: r.server.Redactor().For(string(v.Session)), Raw: r.server.opts.Raw,
		}
		if r.cast, err = record.NewCast(filepath.Join(real, name), o); err != nil {
			return nil, err
		}
		s := r.server
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed { // meanwhile
			_ = r.cast.Discard()
			return nil, errClosed
		}
		r.begun = true // Detach waits for Attach
		o.Redactor.Hold(r.done)
		if d := seconds(q.Limits.Duration); d > 0 {
			r.duration = time.AfterFunc(d, func() { s.stop(r, stopDuration) })
		}
		if r.idle = seconds(q.Limits.Inactivity); r.idle > 0 {
			r.inactivity = time.AfterFunc(r.idle, func() { s.stop(r, stopInactivity) })
		}
		return r, nil
	})
}

// seconds makes a duration of a number of seconds, at most some 290 years.
func seconds(n float64) time.Duration {
	if !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(time.Second), math.MaxInt64/2))
}

// Output records what the program wrote.
func (r *recording) Output(at time.Time, p []byte) error {
	if r.inactivity != nil {
		r.inactivity.Reset(r.idle)
	}
	r.err = r.cast.Output(at, p)
	return r.err
}

// Resize records a new size.
func (r *recording) Resize(at time.Time, rows, cols int) error {
	r.err = r.cast.Resize(at, rows, cols)
	return r.err
}

// Exit records how the session ended.
func (r *recording) Exit(_ time.Time, code int) error {
	r.exit = code
	return nil
}

// Close completes the recording: when it was stopped, and when its session has ended or its file
// has failed.
func (r *recording) Close() error {
	defer close(r.done)
	for _, t := range []*time.Timer{r.duration, r.inactivity} {
		if t != nil {
			t.Stop()
		}
	}
	s := r.server
	s.mu.Lock()
	switch {
	case r.reason != "":
	case errors.Is(r.err, record.ErrLimit):
		r.reason, r.err = stopSize, nil
	default:
		r.reason = stopExit
	}
	reason := r.reason
	s.mu.Unlock()
	r.complete(reason)
	s.mu.Lock()
	s.recorder.active = nil
	if reason != stopExplicit {
		s.recorder.note(r.id)
	}
	s.mu.Unlock()
	return r.err
}

// complete gives the file its name and writes its metadata, or removes it.
func (r *recording) complete(reason string) {
	end := time.Now()
	m := meta{StartTime: r.start.UnixMilli(), EndTime: end.UnixMilli(), StopReason: reason}
	m.DurationMS = m.EndTime - m.StartTime
	switch reason {
	case stopExplicit:
		m.ExitCode = new(int)
	case stopExit:
		m.ExitCode = &r.exit
	}
	keep := r.mode == modeAlways || m.ExitCode != nil && *m.ExitCode != 0
	var err error
	if keep {
		err = r.cast.Close()
	} else {
		err = r.cast.Discard()
	}
	st := r.cast.Status()
	m.BytesWritten = st.Bytes
	if keep && err == nil {
		err = record.WriteFile(metaPath(st.Path), []byte(pretty(m)))
	}
	if r.err == nil {
		r.err = err
	}
	r.end = recordingEnd{RecordingID: r.id, DurationMS: m.DurationMS, BytesWritten: m.BytesWritten,
		Mode: r.mode, StopReason: reason}
	if keep && r.err == nil {
		r.end.Saved, r.end.Path = true, r.path
	}
}

func metaPath(cast string) string { return cast[:len(cast)-len(".cast")] + ".meta.json" }

// stop ends a recording for a reason and waits until its file is complete. It reports false when it
// had already ended.
func (s *Server) stop(r *recording, reason string) bool {
	s.mu.Lock()
	if !r.begun || r.reason != "" || s.recorder.active != r {
		s.mu.Unlock()
		return false
	}
	r.reason = reason
	s.mu.Unlock()
	err := r.session.Detach(r)
	<-r.done // Detach has closed it, unless the end of its session is doing so
	if err != nil && !errors.Is(err, fs.ErrClosed) {
		s.Log.Warn("a recording was not completed", "recording", r.id, "error", err)
	}
	return true
}

// stopActive ends the running recording, if any.
func (s *Server) stopActive(reason string) {
	s.mu.Lock()
	r := s.recorder.active
	s.mu.Unlock()
	if r != nil {
		s.stop(r, reason)
	}
}

// startInfo is the answer of startRecording.
type startInfo struct {
	RecordingID       string  `json:"recordingId"`
	Path              string  `json:"path"`
	Format            string  `json:"format"`
	Mode              string  `json:"mode"`
	MaxDuration       float64 `json:"maxDuration"`
	InactivityTimeout float64 `json:"inactivityTimeout"`
	Message           string  `json:"message,omitempty"`
}

func (s *Server) startRecording(c *call) (*Result, error) {
	limits := *s.opts.Limits
	for name, to := range map[string]*float64{"idleTimeLimit": &limits.Idle,
		"maxDuration": &limits.Duration, "inactivityTimeout": &limits.Inactivity} {
		if n, ok := c.args.number(name); ok {
			*to = min(n, math.MaxFloat64) // JSON has nothing larger
		}
	}
	t, err := s.terminal(c.args.text("sessionId"))
	if err != nil {
		return nil, err
	}
	mode := c.args.text("mode")
	r, err := s.record(t.session,
		RecordingRequest{Mode: mode, Dir: c.args.text("outputDir"), Limits: limits})
	var busy *busyError
	switch {
	case errors.As(err, &busy):
		busy.Path = s.hide(busy.Path)
		return told(pretty(busy), true), nil
	case errors.Is(err, engine.ErrEnded):
		return nil, t.ended()
	case err != nil:
		return nil, err
	}
	return textResult(pretty(startInfo{
		RecordingID: r.id, Path: s.hide(r.path), Format: c.args.text("format"), Mode: mode,
		MaxDuration: limits.Duration, InactivityTimeout: limits.Inactivity,
		Message: autoStop(limits),
	})), nil
}

// autoStop says when a recording stops by itself; "" when it does not.
func autoStop(l Limits) string {
	text := ""
	if l.Duration > 0 {
		text = minutes(l.Duration)
	}
	if l.Inactivity > 0 {
		if text != "" {
			text += " or "
		}
		text += minutes(l.Inactivity) + " of inactivity"
	}
	if text == "" {
		return ""
	}
	return "Recording will auto-stop after " + text
}

// minutes are whole ones.
func minutes(seconds float64) string {
	n := math.Floor(seconds / 60)
	text := strconv.FormatFloat(n, 'f', -1, 64) + " minute"
	if n != 1 {
		text += "s"
	}
	return text
}

func (s *Server) stopRecording(c *call) (*Result, error) {
	id := c.args.text("recordingId")
	s.mu.Lock()
	r, finished := s.recorder.active, slices.Contains(s.recorder.finished, id)
	s.mu.Unlock()
	switch {
	case r != nil && r.id == id && s.stop(r, stopExplicit):
		if r.err != nil {
			return nil, fmt.Errorf("Failed to finalize recording: %s", id) //nolint:staticcheck // its text
		}
		r.end.Path = s.hide(r.end.Path)
		return textResult(pretty(r.end)), nil
	case finished || r != nil && r.id == id: // it is stopping by itself
		return nil, fmt.Errorf("Recording already finalized: %s", id) //nolint:staticcheck // its text
	}
	return nil, fmt.Errorf("Recording not found: %s", id) //nolint:staticcheck // its text
}
