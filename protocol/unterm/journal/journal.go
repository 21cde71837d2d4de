package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol/unterm/internal/shared"
	"github.com/ptywright/ptywright/redact"
)

// Reasons for a recording's end.
const (
	reasonStopped = "recording_stopped"
	reasonSession = "session_exit"
	reasonServer  = "server_exit"
	reasonFailed  = "write_failed"
	reasonLimit   = "size_limit"
	reasonExport  = "user_export"
)

// Options say where and how a [Journal] records.
type Options struct {
	Root     string           // folder of the index, the configuration and of recordings without a better place; it is made
	Redactor *redact.Redactor // nil: redact.Default
	Raw      bool             // redact nothing except by Unterm's own rules, in documents
	Version  string           // of this program
	Log      *slog.Logger     // nil: none
}

// A Journal records sessions. All methods are safe for concurrent use.
type Journal struct {
	o      Options
	hider  *redact.Redactor // with our marker; nil: nothing is redacted
	log    *slog.Logger
	finish sync.WaitGroup // incomplete recordings
	lock   *shared.Lock   // held while the index is changed

	mu sync.Mutex
	// protects the fields below
	active map[int]*recording // by pane; one that failed stays until it is stopped
	closed bool
}

// notRecorded has Unterm's own text, which clients match.
func notRecorded(pane int) error { return fmt.Errorf("No active recording for pane %d", pane) }

// errClosed is an error of Start.
var errClosed = errors.New("the server is ending; nothing is recorded any more")

// New returns a journal. It does not touch any file.
func New(o Options) *Journal {
	j := &Journal{o: o, log: o.Log, active: map[int]*recording{}, lock: shared.NewLock()}
	if j.log == nil {
		j.log = slog.New(slog.DiscardHandler)
	}
	if !o.Raw {
		r := o.Redactor
		if r == nil {
			r = redact.Default
		}
		hider, err := r.Marking(redacted, markToken)
		if err != nil {
			panic(err) // never: the marker is ours
		}
		j.hider = hider
	}
	return j
}

// hide redacts a text before it leaves.
func (j *Journal) hide(text string) string {
	if j.hider == nil {
		return text
	}
	return j.hider.String(text)
}

// Started is the answer of session.recording_start.
type Started struct {
	SessionID string `json:"session_id"` // of the recording
	LogPath   string `json:"log_path"`
	MDPath    string `json:"md_path_when_done"`
}

// Stopped is the answer of session.recording_stop.
type Stopped struct {
	SessionID  string `json:"session_id"`
	EndedAt    string `json:"ended_at"`
	BlockCount int    `json:"block_count"` // sections of the document
	ExitReason string `json:"exit_reason"`
	MDPath     string `json:"md_path"`
	Error      string `json:"error,omitempty"` // why the recording ended before it was stopped; what was written before is kept
}

// Status is the answer of session.recording_status. When off, it has the first two fields only.
type Status struct {
	Enabled    bool   `json:"enabled"`
	Recording  bool   `json:"recording"` // the same: the program and its page name it differently
	SessionID  string `json:"session_id,omitempty"`
	StartedAt  string `json:"started_at,omitempty"`
	BlockCount *int   `json:"block_count,omitempty"` // blocks begun so far
	Bytes      *int64 `json:"bytes,omitempty"`       // printed so far
}

// Text is the answer of session.recording_read.
type Text struct {
	Markdown string `json:"markdown"`
}

// Traces is the answer of session.recording_attach_trace.
type Traces struct {
	TraceIDs []string `json:"trace_ids"`
}

const (
	// mostTraces and traceBytes bound what a client may add to the index for one recording: more
	// than the agents of one task.
	mostTraces = 64
	traceBytes = 256
)

// A recording is running, or being completed.
type recording struct {
	j       *Journal
	pane    int
	place   *place
	log     *logWriter
	done    chan struct{} // closed when it is complete
	started chan struct{} // closed when the fields above are set, or the start failed

	mu sync.Mutex
	// protects the fields below
	s      *engine.Session // nil: it is complete
	tap    engine.Tap
	entry  entry
	reason string // the requested reason for its end
	result Stopped
	err    error
}

// Start records a session from now on, which the client knows as pane. Cwd is its working
// directory, "" when unknown. The recording may lag behind the session by at most 1 MiB; beyond
// that the session waits. Errors have Unterm's text when the pane is already recorded; others say
// what could not be made.
func (j *Journal) Start(s *engine.Session, pane int, cwd string) (Started, error) {
	r := &recording{j: j, s: s, pane: pane, done: make(chan struct{}), started: make(chan struct{})}
	if err := j.claim(r); err != nil {
		return Started{}, err
	}
	defer close(r.started)
	if err := r.start(cwd); err != nil {
		j.release(r)
		close(r.done)
		j.finish.Done()
		return Started{}, fmt.Errorf("record pane %d: %w", pane, err)
	}
	return Started{SessionID: r.entry.ID, LogPath: r.entry.LogPath, MDPath: r.entry.MDPath}, nil
}

// claim makes r the recording of its pane.
func (j *Journal) claim(r *recording) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return errClosed
	}
	if was := j.active[r.pane]; was != nil && !was.over() {
		return fmt.Errorf("Recording already active for pane %d", r.pane)
	}
	j.active[r.pane] = r
	j.finish.Add(1)
	return nil
}

func (j *Journal) release(r *recording) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.active[r.pane] == r {
		delete(j.active, r.pane)
	}
}

// find returns the recording of a pane once it has started.
func (j *Journal) find(pane int) (*recording, error) {
	j.mu.Lock()
	r := j.active[pane]
	j.mu.Unlock()
	if r != nil {
		<-r.started
		j.mu.Lock()
		r = j.active[pane]
		j.mu.Unlock()
	}
	if r == nil || r.log == nil {
		return nil, notRecorded(pane)
	}
	return r, nil
}

// over reports whether the recording is complete.
func (r *recording) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// start makes the log, lists it and attaches to the session.
func (r *recording) start(cwd string) error {
	now := time.Now().UTC()
	id := newUUID()
	where, err := r.j.open(cwd, now, fmt.Sprintf("tab-%d-%s", r.pane, now.Format("150405")))
	if err != nil {
		return err
	}
	e := r.j.entryFor(id, r.pane, where, now)
	r.place, r.entry = where, e
	log := newLogWriter(where.log, now, r.ended)
	err = r.j.updateIndex(func(all *index) { all.put(e) })
	if err == nil {
		err = r.s.Attach(func(v *engine.View) (engine.Tap, error) {
			r.log, r.tap = log, log.attach(v, r.j.hider)
			return r.tap, nil
		})
		if err != nil {
			_ = r.j.updateIndex(func(all *index) { all.remove(id) })
		}
	}
	if err != nil {
		where.discard()
		where.close()
	}
	return err
}

// entryFor is the index's entry of a recording that begins.
func (j *Journal) entryFor(id string, pane int, where *place, at time.Time) entry {
	e := entry{ID: id, Tab: pane, Slug: where.slug, StartedAt: stamp(at),
		LogPath: where.path(".log"), MDPath: where.path(".md"),
		RedactionActive: j.hider != nil, Traces: []string{}}
	if where.project != "" {
		e.Project = &where.project
	}
	return e
}

// ended is called once, when the log gets nothing more.
func (r *recording) ended() { go r.complete() }

// complete writes the document and updates the index.
func (r *recording) complete() {
	defer r.j.finish.Done()
	defer close(r.done)
	<-r.started
	failure := r.log.finish()
	r.mu.Lock()
	e, reason := r.entry, r.reason
	r.mu.Unlock()
	switch {
	case errors.Is(failure, errLimit):
		reason = reasonLimit
	case failure != nil:
		reason = reasonFailed
	case reason == "":
		reason = reasonSession
	}
	ended := stamp(time.Now())
	e.EndedAt, e.ExitReason = &ended, &reason
	err := r.document(&e)
	ierr := r.j.updateIndex(func(all *index) {
		r.mu.Lock()
		defer r.mu.Unlock()
		e.Traces = r.entry.Traces
		r.entry = e
		all.put(e)
	})
	if err == nil {
		err = ierr
	}
	r.place.close()
	if failure != nil || err != nil {
		r.j.log.Warn("a recording did not end as it should", "pane", r.pane, "recording", e.ID,
			"error", errors.Join(failure, err))
	}
	r.mu.Lock()
	r.result = Stopped{SessionID: e.ID, EndedAt: ended, BlockCount: e.BlockCount,
		ExitReason: reason, MDPath: e.MDPath}
	if failure != nil {
		r.result.Error = r.j.hide(failure.Error())
	}
	if err != nil {
		r.err = fmt.Errorf("complete the recording of pane %d: %s; what was recorded is in %s",
			r.pane, r.j.hide(err.Error()), e.LogPath)
		if failure != nil {
			r.err = fmt.Errorf("%w; it had ended early: %s", r.err, r.result.Error)
		}
	}
	failed := failure != nil || err != nil
	r.s, r.tap = nil, nil // a failed one stays until it is stopped, but its session does not
	r.mu.Unlock()
	if !failed || reason == reasonServer {
		r.j.release(r)
	}
}

// document writes the document, and completes e. A server that is stopping skips a large log: Read
// renders it.
func (r *recording) document(e *entry) error {
	if *e.ExitReason == reasonServer && r.log.size > hurryBytes {
		e.BlockCount, e.BytesRaw = r.log.counts()
		r.j.log.Info("a recording is large, and its document is not written now", "recording", e.ID,
			"path", e.LogPath)
		return nil
	}
	doc, err := r.j.document(r.place.folder, r.place.name+".log", e)
	if err != nil {
		return err
	}
	return r.place.write(doc.text)
}

// hurryBytes is the largest log whose document a stopping server writes: a second's work. Larger
// ones would take a second for each such size, and the server has five seconds to stop.
const hurryBytes = 32 << 20

// end sets the reason and returns when the recording is complete.
func (r *recording) end(reason string) (Stopped, error) {
	r.mu.Lock()
	if r.reason == "" {
		r.reason = reason
	}
	s, tap := r.s, r.tap
	r.mu.Unlock()
	if s != nil {
		_ = s.Detach(tap) // complete reports the log's error
	}
	<-r.done
	r.j.release(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result, r.err
}

// Stop ends the recording of a pane and returns when its document is written. A recording that
// ended early, as on a full disk, reports that here: in the result when there is a document of what
// was recorded, else as an error.
func (j *Journal) Stop(pane int) (Stopped, error) {
	r, err := j.find(pane)
	if err != nil {
		return Stopped{}, err
	}
	return r.end(reasonStopped)
}

// Status reports whether a pane is recorded. It never waits for the disk.
func (j *Journal) Status(pane int) Status {
	j.mu.Lock()
	r := j.active[pane]
	j.mu.Unlock()
	if r == nil {
		return Status{}
	}
	select {
	case <-r.started:
	default: // it is starting
		return Status{}
	}
	if r.log == nil || r.over() {
		return Status{}
	}
	blocks, bytes := r.log.counts()
	r.mu.Lock()
	defer r.mu.Unlock()
	return Status{Enabled: true, Recording: true, SessionID: r.entry.ID,
		StartedAt: r.entry.StartedAt, BlockCount: &blocks, Bytes: &bytes}
}

// AttachTrace adds a client's id to a running recording, and returns all of them; a repeated id is
// added once. At most 64 of 256 bytes are kept.
func (j *Journal) AttachTrace(pane int, id string) (Traces, error) {
	r, err := j.find(pane)
	if err != nil {
		return Traces{}, err
	}
	if r.over() {
		return Traces{}, notRecorded(pane)
	}
	id = j.hide(id)
	r.mu.Lock()
	ids := slices.Clone(r.entry.Traces)
	r.mu.Unlock()
	switch {
	case slices.Contains(ids, id):
		return Traces{TraceIDs: ids}, nil
	case id == "" || len(id) > traceBytes:
		return Traces{},
			fmt.Errorf("attach a trace to the recording of pane %d: 'trace_id' has %d bytes; 1 to %d are kept", pane, len(id), traceBytes)
	}
	err = j.updateIndex(func(all *index) { // its lock serializes concurrent attaches
		r.mu.Lock()
		defer r.mu.Unlock()
		if ids = r.entry.Traces; len(ids) < mostTraces && !slices.Contains(ids, id) {
			ids = append(slices.Clone(ids), id)
			r.entry.Traces = ids
		}
		all.put(r.entry)
	})
	if err != nil {
		return Traces{}, err
	}
	if !slices.Contains(ids, id) {
		return Traces{},
			fmt.Errorf("attach a trace to the recording of pane %d: it has %d already", pane,
				mostTraces)
	}
	return Traces{TraceIDs: ids}, nil
}

// Read renders a recording from its log, by the id that Start returned: a running one as far as it
// was written, one whose server was killed as far as it got. Errors: Unterm's text for an unknown
// id; a log that is gone or has more than 256 MiB.
func (j *Journal) Read(id string) (Text, error) {
	e, found, err := j.entryOf(id)
	switch {
	case err != nil:
		return Text{}, err
	case !found:
		return Text{}, fmt.Errorf("Unknown session_id %s", j.hide(oneLine(id, 64)))
	}
	doc, err := j.documentAt(&e)
	if err != nil {
		return Text{}, fmt.Errorf("read the recording %s: %s", e.ID, j.hide(err.Error()))
	}
	return Text{Markdown: string(doc.text)}, nil
}

// entryOf is a recording's entry. The log of a running one is written first.
func (j *Journal) entryOf(id string) (e entry, found bool, err error) {
	if r := j.running(id); r != nil {
		r.log.sync()
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.entry, true, nil
	}
	all, err := j.readIndex()
	if err != nil {
		return e, false, err
	}
	e, found = all.find(id)
	return e, found, nil
}

// running returns a running recording of this journal.
func (j *Journal) running(id string) *recording {
	j.mu.Lock()
	all := make([]*recording, 0, len(j.active))
	for _, r := range j.active {
		all = append(all, r)
	}
	j.mu.Unlock()
	for _, r := range all {
		if <-r.started; r.log == nil {
			continue
		}
		r.mu.Lock()
		same := r.entry.ID == id
		r.mu.Unlock()
		if same {
			return r
		}
	}
	return nil
}

// Close ends all recordings, and returns when their documents are written, except for logs of more
// than 32 MiB. It must be called while the sessions exist: the end of a session ends its recording
// for that reason. Nothing is recorded afterwards.
func (j *Journal) Close() error {
	j.mu.Lock()
	j.closed = true
	all := make([]*recording, 0, len(j.active))
	for _, r := range j.active {
		all = append(all, r)
	}
	j.mu.Unlock()
	var errs []error
	for _, r := range all {
		if <-r.started; r.log == nil {
			continue
		}
		if _, err := r.end(reasonServer); err != nil {
			errs = append(errs, err)
		}
	}
	j.finish.Wait()
	return errors.Join(errs...)
}

// stamp is a time in Unterm's form: UTC, with a numeric offset.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000-07:00") }

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// shell is the shell in the front matter: the user's.
func shell() string {
	if s := os.Getenv("SHELL"); s != "" {
		return s
	}
	return "/bin/sh"
}
