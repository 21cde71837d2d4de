package tapecmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// settles is how long after the last change a tape is read: editors write several files, one after the
// other, within some milliseconds.
const settles = 100 * time.Millisecond

// again draws the tape, and once more whenever one of its files changes, until ctx ends. A run that is
// under way then is broken off.
func (d *drawer) again(ctx context.Context) error {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", d.file, err)
	}
	defer notify.Close()
	files := []string{d.file}
	for ctx.Err() == nil {
		for _, f := range files { // an editor that replaces a file takes a watch of the file itself with it
			if err := notify.Add(filepath.Dir(f)); err != nil {
				return fmt.Errorf("watch the folder of %s: %w", f, err)
			}
		}
		if files, err = d.until(ctx, notify, files); err != nil {
			return err
		}
	}
	return nil
}

// until draws the tape and returns when one of its files has changed, or ctx has ended; with the files
// that it has then.
func (d *drawer) until(ctx context.Context, notify *fsnotify.Watcher, files []string) ([]string, error) {
	run, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- d.draw(run) }()
	running := true
	end := func() []string {
		stop()
		if running {
			<-done
		}
		return d.files
	}
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return end(), nil
		case err := <-done:
			running = false
			if silent := cli.ExitCode(0); err != nil && !errors.As(err, &silent) && run.Err() == nil {
				cli.Complain(d.std.Err, err)
			}
			files = d.files
			for _, f := range files {
				_ = notify.Add(filepath.Dir(f)) // a tape that is named and missing is told already
			}
			fmt.Fprintf(d.std.Err, "watching %s: Ctrl-C ends it\n", cli.OneLine(d.file))
		case e := <-notify.Events:
			changed := func(f string) bool { return filepath.Clean(f) == filepath.Clean(e.Name) }
			if !e.Has(fsnotify.Chmod) && slices.ContainsFunc(files, changed) {
				settled = time.After(settles)
			}
		case <-notify.Errors: // events were lost: look
			settled = time.After(settles)
		case <-settled:
			return end(), nil
		}
	}
}
