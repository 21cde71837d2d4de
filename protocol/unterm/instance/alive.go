package instance

import (
	"math"
	"time"
)

// process is what the system reports about a live process.
type process struct {
	started string    // as in Record.PIDStarted
	at      time.Time // the same moment; zero where unknown
}

// sight is how much of a process we can see.
type sight int

const (
	gone   sight = iota // no process has the pid, or it has ended and waits to be reaped
	hidden              // it exists, and we may not inspect it
	seen
)

const (
	// slowestStart is the longest time from the start of Unterm's process to its started_at: a
	// window system, shells and configuration come first, on a machine under load. With more, a pid
	// reused shortly before would pass; with less, a slow server's file would be deleted while it
	// runs.
	slowestStart = 2 * time.Minute
	// clockError is how much later than its started_at a process can seem to have started: 10 ms of
	// a clock tick, plus any setting back of the clock since, which on Linux moves the start of
	// every process.
	clockError = 5 * time.Second
)

// ownListens is mayListen for records of this package, whose servers listen before they write one:
// it detects a forged record for another process that has that process's start. Tests of records
// replace it.
var ownListens = mayListen

// Alive reports whether the process that wrote r is still running.
//
// With PIDStarted and BootID, both must match the system's for the pid, and on Linux it must be the
// process that listens on mcp_port. Without, as Unterm writes it, the process must have started at
// most 2 minutes before started_at and not after it (allowing 5 s for clock changes), and on Linux
// it must be the one that listens on mcp_port.
//
// A process that the system does not let us inspect (hidepid, a sandbox, another user's) counts as
// alive.
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

// maxPID is the largest pid that the kernel does not truncate.
const maxPID = math.MaxInt32
