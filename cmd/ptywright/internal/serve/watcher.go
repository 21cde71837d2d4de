package serve

import (
	"errors"
	"log/slog"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/redact"
)

// A Watcher starts the watcher with the first session, so that a server without sessions needs
// no second process, and retries with the next if that failed.
type Watcher struct {
	Log     *slog.Logger
	reserve int // bytes to reserve with the first session

	mu sync.Mutex // held while the watcher is started, which blocks for an exec
	// protects the fields below
	w     *pty.Watcher
	floor []byte
}

// Add records a child.
func (l *Watcher) Add(p *pty.PTY) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.floor == nil {
		l.floor = make([]byte, l.reserve)
		// The redaction rules take a millisecond to build, see [redact.New], and a child takes as
		// long to start. This goroutine does nothing else and waits for nothing.
		go redact.Default.Spans("")
	}
	if l.w == nil {
		self, err := os.Executable()
		if err == nil {
			l.w, err = pty.StartWatcher([]string{self, WatcherName})
		}
		if err != nil {
			if !errors.Is(err, errors.ErrUnsupported) {
				l.Log.Warn("children may outlive this server if it is killed outright",
					"error", err)
			}
			return
		}
	}
	l.w.Add(p)
}

// Remove removes a child.
func (l *Watcher) Remove(p *pty.PTY) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w != nil {
		l.w.Remove(p)
	}
}

// Close ends the watcher, if one was started.
func (l *Watcher) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil {
		return nil
	}
	return l.w.Close()
}

// WatcherName is the hidden command that the watcher runs as.
const WatcherName = "watch-children"

func watcherCommand(std cli.Stdio) *cobra.Command {
	return &cobra.Command{
		Use:    WatcherName,
		Short:  "End what a killed server left behind; started by the server itself",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return pty.RunWatcher(std.In) },
	}
}
