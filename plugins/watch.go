package plugins

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settles is how long after the last change a plugin's files are read: editors and version control
// write several, one after the other, within some milliseconds. More makes an author wait, less
// reads half-written files.
const settles = 100 * time.Millisecond

// A watch reports which folders of plugins have changed. Its methods may be called on nil, which
// watches nothing.
type watch struct {
	*fsnotify.Watcher
	catalog *Catalog
}

// Watch reloads every plugin whose files change, including plugins loaded later, until stop is
// called, which returns when all of its goroutines have ended. The error is the system's: it limits
// the number of watches.
func (c *Catalog) Watch() (stop func(), err error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch the files of plugins: %w", err)
	}
	w := &watch{notify, c}
	c.mu.Lock()
	c.watched = w
	c.mu.Unlock()
	for _, p := range c.Plugins() {
		w.add(p)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(ctx)
	}()
	return func() {
		cancel()
		c.mu.Lock()
		c.watched = nil
		c.mu.Unlock()
		_ = notify.Close()
		<-done
	}, nil
}

// folders are those that contain a plugin's files.
func (p *Plugin) folders() []string {
	if p.Path == "" {
		return nil
	}
	dir := filepath.Dir(p.Path)
	return slices.Compact([]string{dir,
		filepath.Join(dir, filepath.FromSlash(path.Dir(p.Manifest.Entrypoint)))})
}

// add watches a plugin's folders.
func (w *watch) add(p *Plugin) {
	if w == nil {
		return
	}
	for _, dir := range p.folders() {
		if err := w.Add(dir); err != nil {
			w.catalog.log.Warn("a plugin's folder is not watched: load it again by hand", "plugin",
				p.Manifest.Name, "error", err)
		}
	}
}

// lost reports whether a plugin's folder was moved or removed, and adds it and those below it to
// away.
func (w *watch) lost(name string, away map[string]bool) (is bool) {
	var folders []string
	for _, p := range w.catalog.Plugins() {
		folders = append(folders, p.folders()...)
	}
	if !slices.Contains(folders, name) {
		return false
	}
	for _, dir := range folders {
		if dir == name || strings.HasPrefix(dir, name+string(filepath.Separator)) {
			away[dir] = true
		}
	}
	w.catalog.log.Info("a plugin's folder was moved or removed: it is loaded again when there is one", "folder", name)
	return true
}

// retake watches returned folders again, and marks them as changed. For a missing one its parent is
// watched, to see it created: the watch is set before the check, so that nothing in between is
// missed.
func (w *watch) retake(away, changed map[string]bool) (back bool) {
	parents := map[string]bool{}
	for _, dir := range slices.Sorted(maps.Keys(away)) { // a folder before its subfolders
		parent := filepath.Dir(dir)
		parents[parent] = true
		_ = w.Remove(dir) // the watched folder may have another name by now
		if !slices.Contains(w.WatchList(), parent) {
			if err := w.Add(parent); err != nil && !away[parent] {
				w.catalog.log.Warn("a plugin's folder is gone, and the one that it was in: load it again by hand", "folder", dir, "error", err)
			}
		}
		if w.Add(dir) == nil {
			delete(away, dir)
			changed[dir], back = true, true
		}
	}
	for dir := range away {
		delete(parents, filepath.Dir(dir))
	}
	for _, p := range w.catalog.Plugins() {
		for _, dir := range p.folders() {
			delete(parents, dir)
		}
	}
	for parent := range parents { // nothing is expected there any more
		_ = w.Remove(parent)
	}
	return back
}

// run reloads plugins once their files have settled. Events wait in the kernel meanwhile.
func (w *watch) run(ctx context.Context) {
	changed := map[string]bool{} // folders
	away := map[string]bool{}    // folders that were moved or removed
	timer := time.NewTimer(settles)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case e, open := <-w.Events:
			if !open {
				return
			}
			if e.Has(fsnotify.Rename|fsnotify.Remove) && w.lost(e.Name, away) ||
				e.Has(fsnotify.Create) && len(away) > 0 {
				if w.retake(away, changed) {
					timer.Reset(settles)
				}
			}
			if strings.HasSuffix(e.Name, extension) || strings.HasSuffix(e.Name, ".toml") {
				changed[filepath.Dir(e.Name)] = true
				timer.Reset(settles)
			}
		case err, open := <-w.Errors:
			if !open {
				return
			}
			w.catalog.log.Warn("some changes of plugins' files were not seen", "error", err)
		case <-timer.C:
			for _, p := range w.catalog.Plugins() {
				for _, dir := range p.folders() {
					if changed[dir] {
						_, _ = w.catalog.Reload(ctx, p.Manifest.Name) // the error has been logged
						break
					}
				}
			}
			clear(changed)
		}
	}
}
