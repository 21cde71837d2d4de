package instance

import (
	"math"
	"time"
)

// process is what the system tells of a live process.
type process struct {
	started string    // as in Record.PIDStarted
	at      time.Time // the same moment; zero where it is not told
}

// sight is how much of a process the system shows.
type sight int

const (
	gone   sight = iota // there is none of this pid, or it has ended and only waits to be reaped
	hidden              // there is one, and we may not look at it
	seen
)

const (
	// slowestStart is how long before its started_at Unterm's process can have been started: a window system, shells and
	// configuration come first, on a machine under load. With more, a pid that was reused by something started shortly
	// before would pass; with less, a slow server's file would be deleted under it.
	slowestStart = 2 * time.Minute
	// clockError is how much later than its started_at the process can seem to have been started: 10 ms of a clock tick,
	// and what the clock was set back by since, which on Linux moves the start of every process.
	clockError = 5 * time.Second
)

// ownListens is mayListen for records of this package, whose servers listen before they have one: a record that somebody made up
// for another process, with that one's own start, is seen through by it. Tests of records replace it.
var ownListens = mayListen

// Alive reports whether the process that wrote r is still running.
//
// With PIDStarted and BootID, both must be what the system says of the pid, and on Linux it must be the one that listens on
// mcp_port. Without, as Unterm writes it, the
// process must have been started at most 2 minutes before started_at and not after it (but for 5 s by which
// clocks are set), and on Linux it must be the one that listens on mcp_port.
//
// A process that the system does not let us look at (hidepid, a sandbox, another user's) counts as alive.
func (r Record) Alive() bool {
	if r.PID <= 0 || r.PID > maxPID || r.BootID != "" && bootID() != "" && r.BootID != bootID() {
		return false
	}
	p, sight := look(r.PID)
	if sight != seen {
		return sight == hidden
	}
	if r.PIDStarted != "" {
		return r.PIDStarted == p.started && ownListens(r.PID, r.MCPPort)
	}
	at, err := time.Parse(time.RFC3339, r.StartedAt)
	if err != nil || !r.usable() {
		return false
	}
	if !p.at.IsZero() && (p.at.Before(at.Add(-slowestStart)) || p.at.After(at.Add(clockError))) {
		return false
	}
	return mayListen(r.PID, r.MCPPort)
}

// maxPID is the largest pid that is not cut on its way into the kernel.
const maxPID = math.MaxInt32
