package script

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/redact"
)

// A reel records all programs of a script, one after the other, in one cast: the sessions' ends are
// not its own.
type reel struct {
	*record.Cast
	path string
	exit *int // of the last program; nil: it runs
}

// stepMark and exitMark begin the labels of a recording's markers: "step 7 press down" and "exit 3"
// of a program that ended.
const (
	stepMark = "step "
	exitMark = "exit "
)

// maxCast bounds a recording, in bytes: a program that floods would fill the temporary folder.
const maxCast = 64 << 20

// newReel begins a recording.
func newReel(path, title string, size Size, began time.Time, hide *redact.Redactor) (*reel, error) {
	cast, err := record.NewCast(path, record.CastOptions{Format: record.AsciicastV3,
		Rows: size.Rows, Cols: size.Cols, Start: began, Title: title, Redactor: hide,
		MaxBytes: maxCast})
	return &reel{Cast: cast, path: path}, err
}

// Exit marks the end, which is the recording's only when no other program follows.
func (r *reel) Exit(at time.Time, code int) error {
	r.exit = &code
	return r.Marker(at, exitMark+strconv.Itoa(code))
}

// Close does nothing: a session's end is not the recording's.
func (r *reel) Close() error { return nil }

// again goes on with another program, on a blank screen.
func (r *reel) again(size Size) error {
	now := time.Now()
	r.exit = nil
	if err := r.Resize(now, size.Rows, size.Cols); err != nil {
		return err
	}
	return r.Output(now, []byte("\x1bc\x1b[3J"))
}

// finish ends the recording.
func (r *reel) finish() error {
	if r.exit != nil {
		if err := r.Cast.Exit(time.Now(), *r.exit); err != nil {
			return err
		}
	}
	return r.Cast.Close()
}

var _ engine.ExitTap = (*reel)(nil)

// mark notes in the recording where a step begins. What is typed is not in it: it may turn out to be
// a secret.
func (p *player) mark(at time.Time, st *Step) {
	if p.reel == nil {
		return
	}
	// A recording that has failed says so at its end, and does the run no harm.
	_ = p.reel.Marker(at, fmt.Sprintf("%s%d %s", stepMark, st.Line, p.label(st)))
}

// label is what the marker of a step says.
func (p *player) label(st *Step) string {
	if st.Verb == "type" || st.Verb == "paste" {
		return st.Verb
	}
	return p.hide(st.Text)
}

// labelOf returns the label of a step's marker.
func labelOf(marker string) (label string, ok bool) {
	rest, ok := strings.CutPrefix(marker, stepMark)
	_, label, behind := strings.Cut(rest, " ")
	return label, ok && behind
}

// castPath is where a run's recording is.
func (p *player) castPath() string { return filepath.Join(p.o.Dir, "session.cast") }
