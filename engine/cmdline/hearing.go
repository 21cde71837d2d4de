package cmdline

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// A hearing is the tap that follows one line by the shell's marks. Bash runs several lines one
// after the other, each as a command with its own beginning, and marks one end: that of the last.
type hearing struct {
	line string // as it was typed
	any  bool   // the shell does not report command lines: the first is ours

	mu sync.Mutex
	// protects the fields below
	now    uint64 // number of the block under way, ours or not; 0: none
	first  uint64 // number of our first block; 0: it has not begun
	last   uint64 // and of our last
	ended  bool   // ours has
	exit   int    // its exit code, valid when exited is set
	exited bool
	other  string // the command line of another block that began after Enter
	// refused: the shell has not run it, and has said why
	refused bool
}

// Output is never called: Marked is in its place.
func (h *hearing) Output(at time.Time, p []byte) error { return h.Marked(at, p, nil) }

// Marked takes the shell's own marks.
func (h *hearing) Marked(_ time.Time, _ []byte, marks []engine.Mark) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range marks {
		h.mark(&marks[i])
	}
	return nil
}

func (h *hearing) mark(m *engine.Mark) {
	switch {
	case h.ended:
		return
	case m.Kind == 'C' && m.Number != 0 && m.Number != h.now:
		h.refused = m.Refused
		if h.now = m.Number; h.first != 0 {
			h.last = m.Number
			return
		}
		h.own(m)
	// Reported after its beginning.
	case m.Kind == 'E' && m.Number != 0 && m.Number == h.now && h.first == 0:
		h.own(m)
	case m.Kind == 'D' || m.Kind == 'A':
		if h.ended = h.first != 0; h.ended {
			h.exit, h.exited = m.Exit, m.Exited
		}
		h.now = 0
	}
}

// own notes whether the block that has begun is ours. One that was typed before ours may begin
// after our Enter.
func (h *hearing) own(m *engine.Mark) {
	if h.any || sameLine(m.Command, h.line) {
		h.first, h.last = m.Number, m.Number
		return
	}
	h.other = m.Command
}

// Resize does nothing.
func (h *hearing) Resize(time.Time, int, int) error { return nil }

// Close does nothing.
func (h *hearing) Close() error { return nil }

// begun reports whether the command has begun, and whether it has ended.
func (h *hearing) begun() (begun, ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.first != 0, h.ended
}

// stays reports whether the line is still on the command line: fish leaves one there that it has
// refused.
func (h *hearing) stays(s *engine.Session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.first != 0 && h.refused && shellOf(filepath.Base(s.Config().Program)) == Fish
}

// tell puts the outcome into a result.
func (h *hearing) tell(s *engine.Session, r *Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first == 0 {
		if r.Reason == NotRun {
			r.Other = h.other
		}
		return
	}
	if h.exited {
		code := h.exit
		r.ExitCode = &code
	}
	blocks, _ := s.Blocks(h.first - 1)
	blocks = slices.DeleteFunc(slices.Clone(blocks),
		func(b engine.Block) bool { return b.Number > h.last })
	if len(blocks) == 0 {
		return
	}
	b := blocks[0]
	r.Cut = b.Number != h.first // earlier blocks are no longer kept
	for i := range blocks {
		x := &blocks[i]
		b.Ended, b.ExitCode, b.Exited = x.Ended, x.ExitCode, x.Exited
		if lost := len(r.Raw)+len(x.Raw) > engine.MaxBlockOutput; lost || !x.Whole {
			r.Output, r.Raw, r.Above, r.Cut = "", "", x.Above, r.Cut || lost || !x.Whole
		}
		r.Output += x.Output
		r.Raw += x.Raw
	}
	b.Output, b.Raw, b.Above, b.Whole = r.Output, r.Raw, r.Above, !r.Cut
	r.Block = &b
	if r.Reason == Finished && !b.Ended.IsZero() {
		r.Duration = b.Ended.Sub(b.Started)
	}
}

var _ engine.MarkTap = (*hearing)(nil)

// cutLine is the length from which the terminal may have cut a command line that the shell reports.
const cutLine = 8 << 10

// sameLine reports whether the command line that a shell reports is what was typed. A shell may
// change its blanks. Bash joins the lines of a command, with semicolons, and runs the first of
// several commands by itself.
func sameLine(told, typed string) bool {
	typed = strings.TrimSpace(typed)
	if begin, cut := strings.CutSuffix(told, "…"); cut && len(told) >= cutLine/2 {
		return strings.HasPrefix(joined.Replace(typed), joined.Replace(begin))
	}
	if strings.Contains(typed, "\n") && told != "" {
		return strings.HasPrefix(joined.Replace(typed), joined.Replace(told))
	}
	return words(told) == words(typed)
}

// joined removes from a command line everything that joining its lines may add or remove.
var joined = strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "", ";", "", "\\", "")

// words is a command line with single blanks.
func words(line string) string { return strings.Join(strings.Fields(line), " ") }
