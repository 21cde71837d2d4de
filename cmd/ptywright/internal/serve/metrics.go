package serve

import (
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	page "github.com/ptywright/ptywright/cmd/ptywright/internal/metrics"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

// metrics is a server's page of counts for monitoring: numbers, and no program's text. All labels
// are fixed here.
func (h *Service) metrics() string {
	var p page.Page
	s := h.Engine.Stats()
	p.Info("ptywright_build_info", "The build.", "version", cli.Version())
	p.Gauge("ptywright_uptime_seconds", "Since the server was started.",
		time.Since(h.began).Seconds())
	p.Gauge("ptywright_sessions", "Sessions that there are, those that have ended too.",
		float64(s.Live))
	p.Gauge("ptywright_sessions_running", "Sessions whose program runs.", float64(s.Running))
	p.Counter("ptywright_sessions_started_total", "Sessions that were started.", s.Started)
	p.Counter("ptywright_sessions_forgotten_total", "Sessions that had ended and were forgotten.",
		s.Forgot)
	p.Counter("ptywright_output_bytes_total", "Bytes that programs wrote.", s.Output)
	p.Counter("ptywright_input_bytes_total", "Bytes of input that terminals took.", s.Input)
	p.Counter("ptywright_input_blocked_total", "Inputs that a program did not read in time.",
		s.Blocked)
	w := s.Waits
	p.Counters("ptywright_waits_total", "Waits that have ended, those within frames and tools too.",
		"outcome",
		page.Sample{Label: "matched", Value: float64(w.Matched)},
		page.Sample{Label: "timeout", Value: float64(w.TimedOut)},
		page.Sample{Label: "cancelled", Value: float64(w.Cancelled)},
		page.Sample{Label: "ended", Value: float64(w.Ended)},
		page.Sample{Label: "failed", Value: float64(w.Failed)})
	p.Counter("ptywright_redactions_total",
		"Values that were hidden, each time that they were to be shown.", redact.Covered())
	if listens := h.listens.Load(); listens != nil {
		var c protocol.Stats
		for _, l := range *listens {
			c = c.Plus(l.Stats())
		}
		p.Gauge("ptywright_connections", "Connections to the sockets.", float64(c.Open))
		p.Counter("ptywright_connections_total", "Connections that were accepted.", c.Accepted)
		p.Counter("ptywright_connections_refused_total", "Connections beyond the bound.", c.Refused)
		p.Counter("ptywright_connections_slow_total",
			"Connections that were closed since replies were left unread.", c.Slow)
	}
	if d := h.dialect.Load(); d != nil {
		p.Counter("ptywright_notifications_dropped_total",
			"Notifications with a gap, as a client did not keep up.", d.Merged())
	}
	if a := h.audit.Load(); a != nil {
		state, failing := a.State(), 0.0
		if state.Problem != "" {
			failing = 1
		}
		p.Counter("ptywright_audit_lost_total", "Requests that the audit file did not take.",
			state.Lost)
		p.Gauge("ptywright_audit_failing", "1 while the audit file takes no lines.", failing)
	}
	recordings, running := h.Recordings.List(), 0
	for _, r := range recordings {
		if r.Status().State == record.StateRecording {
			running++
		}
	}
	p.Gauge("ptywright_recordings", "Recordings that are kept track of.", float64(len(recordings)))
	p.Gauge("ptywright_recordings_running", "Recordings under way.", float64(running))
	p.Gauge("ptywright_adapters", "Adapters that are live.", float64(len(h.Catalog.Adapters())))
	p.Gauge("go_goroutines", "Goroutines.", float64(runtime.NumGoroutine()))
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"}}
	metrics.Read(heap)
	p.Gauge("go_memory_heap_bytes", "The heap in use.", float64(heap[0].Value.Uint64()))
	p.Gauge("go_memory_total_bytes",
		"Memory that the runtime has mapped, 16 MiB of it never touched.",
		float64(heap[1].Value.Uint64()))
	return p.String()
}
