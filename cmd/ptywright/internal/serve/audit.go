package serve

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/internal/pulse"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/native"
	"github.com/ptywright/ptywright/redact"
)

const (
	// auditQueue is how many lines wait for the file, at most: a second of typing by forty clients
	// that each send a hundred keys. A line more is lost, and counted.
	auditQueue = 4096
	// auditText bounds each text in a line, in characters: a path of ordinary length.
	auditText = 256
)

// A line is one line of the audit file. See docs/audit.md.
type line struct {
	Time    string `json:"time"`           // UTC, with milliseconds: when the request had ended
	Lost    int64  `json:"lost,omitempty"` // lines before this one that the file did not take
	Times   int    `json:"times,omitempty"`
	Door    string `json:"door,omitempty"`
	UID     *int   `json:"uid,omitempty"`
	PID     *int   `json:"pid,omitempty"`
	By      string `json:"by,omitempty"`
	Client  string `json:"client,omitempty"`
	Host    string `json:"host,omitempty"`
	Rights  string `json:"rights,omitempty"`
	Method  string `json:"method"`
	Needs   string `json:"needs,omitempty"`
	With    string `json:"with,omitempty"`
	Session string `json:"session,omitempty"`
	Name    string `json:"name,omitempty"`
	Adapter string `json:"adapter,omitempty"`
	Plugin  string `json:"plugin,omitempty"`
	Program string `json:"program,omitempty"`
	Path    string `json:"path,omitempty"`
	What    string `json:"what,omitempty"`
	Bytes   int    `json:"bytes,omitempty"`
	Secret  bool   `json:"secret,omitempty"`
	Outcome string `json:"outcome"` // ok, or the error's reason
	MS      int64  `json:"ms"`      // how long the request took
}

// lineOf makes the line of an act, with every text redacted and cut.
func lineOf(a *protocol.Act, clean func(string) string) line {
	text := func(s string) string {
		if s == "" {
			return ""
		}
		s = clean(s) // whole: a cut could hide what makes a text a secret
		if short := []rune(s); len(short) > auditText {
			return string(short[:auditText-1]) + "…"
		}
		return s
	}
	l := line{
		Time: a.Began.Add(a.Took).UTC().Format(auditTime),
		Door: a.Peer.Door, By: a.Peer.Name, Client: text(a.Peer.Client), Host: text(a.Peer.Host),
		Rights: a.Rights.String(), Method: text(a.Method), Needs: a.Needs.String(), With: a.With,
		Session: text(a.Session), Name: text(a.Name), Adapter: text(a.Adapter),
		Plugin: text(a.Plugin), Program: text(a.Program), Path: text(a.Path), What: text(a.What),
		Bytes: a.Bytes, Secret: a.Secret, Outcome: a.Reason, MS: a.Took.Milliseconds(),
	}
	if a.Peer.UID >= 0 {
		l.UID = &a.Peer.UID
	}
	if a.Peer.PID >= 0 {
		l.PID = &a.Peer.PID
	}
	if l.Outcome == "" {
		l.Outcome = "ok"
	}
	return l
}

// auditTime is RFC 3339 with milliseconds.
const auditTime = "2006-01-02T15:04:05.000Z07:00"

// sameAs reports whether two lines differ in their time alone.
func (l *line) sameAs(o *line) bool {
	a, b := *l, *o
	for _, x := range []*line{&a, &b} {
		x.Time, x.Times, x.Lost, x.MS, x.UID, x.PID = "", 0, 0, 0, nil, nil
	}
	return a == b && same(l.UID, o.UID) && same(l.PID, o.PID)
}

func same(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

// An appender is a file that takes whole lines: with an error it has taken the n bytes before it,
// which end with a line.
type appender interface {
	Write(p []byte) (n int, err error)
}

// An audit writes who did what to a file, a JSON object a line. Requests put lines into a bounded
// queue and go on; one goroutine writes them. When the file does not take them the server goes on,
// too: the lines are lost, the log, metrics and capabilities say so, and the next line that the
// file takes says how many.
type audit struct {
	file  appender
	clean func(string) string
	log   *slog.Logger
	turns pulse.Pulse   // beats when the file stops taking lines, and when it takes them again
	wake  chan struct{} // one slot
	over  chan struct{} // closed when everything is written

	mu sync.Mutex
	// protects the fields below
	queue   []line
	missing int64 // lost since the file took its last line
	state   protocol.AuditState
	closed  bool
}

// newAudit starts the writer. It ends with close.
func newAudit(file appender, hide *redact.Redactor, log *slog.Logger) *audit {
	a := &audit{file: file, clean: hide.String, log: log, wake: make(chan struct{}, 1),
		over: make(chan struct{})}
	go a.run()
	return a
}

// record puts the line of an act into the queue. It does not block.
func (a *audit) record(act protocol.Act) {
	l := lineOf(&act, a.clean)
	a.mu.Lock()
	switch {
	case a.closed:
	case len(a.queue) >= auditQueue:
		a.missing++
		a.state.Lost++
	default:
		a.queue = append(a.queue, l)
	}
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// State says whether the file takes lines. It does not block.
func (a *audit) State() protocol.AuditState {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state
}

// Changed returns a channel that is closed when the file next stops taking lines, or takes them
// again.
func (a *audit) Changed() <-chan struct{} { return a.turns.Next() }

// close writes what is queued and ends the writer. The file stays open.
func (a *audit) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
	<-a.over
}

// run writes what is queued whenever there is something.
func (a *audit) run() {
	defer close(a.over)
	for range a.wake {
		a.mu.Lock()
		lines, closed := a.queue, a.closed
		a.queue = nil
		a.mu.Unlock()
		a.write(lines)
		if closed {
			return
		}
	}
}

// write writes lines, those alike that follow each other as one: a client that is refused the same
// thing a million times does not fill a disk.
func (a *audit) write(lines []line) {
	if len(lines) == 0 {
		return
	}
	a.mu.Lock()
	lines[0].Lost = a.missing // if it is not taken they are counted again, below
	a.mu.Unlock()
	var text []byte
	var ends, counts []int // of each line in text, and how many requests it stands for
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n].sameAs(&lines[i]) {
			n++
		}
		l := lines[i+n-1]
		if l.Lost = lines[i].Lost; n > 1 {
			l.Times = n
		}
		b, err := json.Marshal(l)
		if err != nil { // strings and numbers
			panic("audit: " + err.Error())
		}
		text = append(appendEscaped(text, b), '\n')
		ends, counts = append(ends, len(text)), append(counts, n)
		i += n
	}
	n, err := a.file.Write(text)
	a.wrote(ends, counts, lines[0].Lost, n, err)
}

// wrote notes which lines the file has taken, told is what the first of them says about those
// before, and tells the log when it stops taking them and when it takes them again.
func (a *audit) wrote(ends, counts []int, told int64, n int, err error) {
	var lost int64
	taken := false
	for i, end := range ends {
		if end <= n {
			taken = true
		} else {
			lost += int64(counts[i])
		}
	}
	a.mu.Lock()
	if taken {
		a.missing -= told
	}
	a.missing += lost
	a.state.Lost += lost
	before := a.state
	switch {
	case err != nil && before.Problem == "":
		a.state.Problem, a.state.Since = a.clean(err.Error()), time.Now().UTC()
	case err == nil:
		a.state.Problem, a.state.Since = "", time.Time{}
	}
	after := a.state
	a.mu.Unlock()
	if before.Problem != after.Problem {
		a.turns.Beat()
	}
	switch {
	case before.Problem == "" && after.Problem != "":
		a.log.Error("the audit file does not take lines, which are lost; the server goes on: make room, or move the file away and send SIGHUP",
			"error", after.Problem)
	case before.Problem != "" && after.Problem == "":
		a.log.Warn("the audit file takes lines again", "lost", after.Lost)
	}
}

// auditFlags say where the audit goes.
type auditFlags struct{ file string }

func (f *auditFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "audit", "",
		"append who started, typed, ended and was refused what to a `FILE` that only you can read, as JSON lines; opened anew at SIGHUP")
	c.MarkFlagFilename("audit")
}

// open starts the audit for the flags; nil when none is wanted. done writes the rest and closes the
// file. A server of one client does not open it anew: a SIGHUP ends it.
func (f *auditFlags) open(hide *redact.Redactor, log *slog.Logger,
	lone bool) (a *audit, done func(), err error) {
	if f.file == "" {
		return nil, func() {}, nil
	}
	file := &logFile{path: f.file, strict: true}
	if err := file.reopen(); err != nil {
		return nil, nil, fmt.Errorf("--audit: %w", err)
	}
	a = newAudit(file, hide, log)
	end := func() {}
	if !lone {
		end = file.reopenAtHangup(func(err error) {
			log.Error("the audit goes on in the file that it was", "error", err)
		})
	}
	a.record(server("begins"))
	return a, sync.OnceFunc(func() {
		a.record(server("ends"))
		a.close()
		end()
		file.close()
	}), nil
}

// server is an act of the server itself: between its beginning and its end nothing is left out.
func server(what string) protocol.Act {
	return protocol.Act{Peer: protocol.Peer{UID: os.Geteuid(), PID: os.Getpid()},
		Began: time.Now(), Method: "serve", What: what}
}

// hook is what the doors tell; nil when there is no audit.
func (a *audit) hook() func(protocol.Act) {
	if a == nil {
		return nil
	}
	return a.record
}

// shown is what [native.Options] want of an audit.
func (a *audit) shown() native.Audit {
	if a == nil {
		return nil
	}
	return a
}

// addRights adds a flag with the rights of clients; about says what they may do, and whose they are.
func addRights(c *cobra.Command, f *protocol.Rights, about string) {
	c.Flags().Var(f, "rights", strings.Join(protocol.RightNames(), ", ")+": "+about)
}
