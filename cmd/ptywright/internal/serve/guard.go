package serve

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/redact"
)

// guardBound is how long the end of what programs left behind may take.
const guardBound = 15 * time.Second

// Guard makes sure that no program outlives a command that starts some in this process: with the
// watcher they end when the process is killed outright, and end, which is called last, ends what they
// left behind, for 15 seconds at most. Warnings go to w.
func Guard(w io.Writer) (watch *Watcher, end func(ctx context.Context) error) {
	pty.DefaultSignals()
	log := NewLogger(w, redact.Default)
	if err := pty.AdoptOrphans(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		log.Warn("descendants that leave their session may outlive it", "error", err)
	}
	watch = &Watcher{Log: log}
	return watch, func(ctx context.Context) error {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), guardBound)
		defer cancel()
		return errors.Join(pty.KillAdopted(bound), watch.Close())
	}
}
