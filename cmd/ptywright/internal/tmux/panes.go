package tmux

import (
	"cmp"
	"context"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// newWindow opens a window in a session.
func newWindow(ctx context.Context, t *tmux, a *args) error {
	x, at, err := t.free(a.get('t'))
	if err != nil {
		return err
	}
	if at >= 0 {
		if i := slices.IndexFunc(x.Windows, func(w *window) bool { return w.Index == at }); i >= 0 {
			if !a.has('k') {
				return failf("create window failed: index %d in use", at)
			}
			old := x.Windows[i]
			x.Windows = slices.Delete(x.Windows, i, i+1)
			if err := t.end(ctx, []*window{old}); err != nil {
				return err
			}
		}
	}
	if at < 0 {
		for at = atoi(t.option(nil, nil, "base-index"), 0); slices.ContainsFunc(x.Windows,
			func(w *window) bool { return w.Index == at }); at++ {
		}
	}
	size := [2]int{usualRows, usualCols}
	if len(x.Windows) > 0 {
		i := t.live[x.current().Of]
		size = [2]int{i.Rows, i.Cols}
	}
	w, err := t.open(ctx, x,
		opening{name: a.get('n'), dir: t.dir(a, x.Dir), command: a.rest, env: a.flags['e'],
			rows: size[0], cols: size[1], index: at})
	if err != nil {
		return err
	}
	if !a.has('d') {
		x.show(w)
	}
	if a.has('P') {
		return t.print(t.expand(cmp.Or(a.get('F'),
			"#{session_name}:#{window_index}.#{pane_index}"), x, w))
	}
	return nil
}

// free reads the target of new-window: a session, and an index where the window is to be; -1: the
// first that is free.
func (t *tmux) free(text string) (*session, int, error) {
	name, index, colon := strings.Cut(text, ":")
	if colon && index != "" {
		n, err := strconv.Atoi(strings.TrimSuffix(index, "."))
		if err != nil {
			return nil, 0, failf("can't find window: %s", index)
		}
		x, _, err := t.target(name+":", ofWindow)
		return x, n, err
	}
	if n, err := strconv.Atoi(text); err == nil && t.state.find(text) == nil {
		x, _, err := t.here(ofWindow)
		return x, n, err
	}
	x, _, err := t.target(text, ofWindow)
	return x, -1, err
}

// respawn starts the program of a window anew, in the same window.
func respawn(ctx context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofPane)
	if err != nil {
		return err
	}
	i := t.live[w.Of]
	if i.Exit == nil && !a.has('k') {
		return failf("respawn pane failed: pane %s:%d.%s still active", x.Name, w.Index,
			t.option(x, w, "pane-base-index"))
	}
	if err := t.end(ctx, []*window{w}); err != nil {
		return err
	}
	command := a.rest
	if len(command) == 0 && w.Command != "" {
		command = []string{w.Command}
	}
	_, err = t.open(ctx, x,
		opening{dir: t.dir(a, w.Dir), command: command, env: a.flags['e'], rows: i.Rows,
			cols: i.Cols, again: w})
	return err
}

// selectWindow makes a window the current one of its session.
func selectWindow(_ context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofWindow)
	if err == nil {
		x.show(w)
	}
	return err
}

// selectPane gives a pane its title, with -T: a window has one pane, so nothing is selected.
func selectPane(_ context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofPane)
	if err == nil {
		x.show(w)
		if a.has('T') {
			w.Title = t.expand(a.get('T'), x, w)
		}
	}
	return err
}

// renameWindow gives a window a name, which then no longer follows its program.
func renameWindow(_ context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofWindow)
	if err == nil {
		w.Name, w.Given = t.expand(a.rest[0], x, w), true
	}
	return err
}

// resizeWindow sets the size of a window, or changes it.
func resizeWindow(ctx context.Context, t *tmux, a *args) error {
	_, w, err := t.of(a, ofWindow)
	if err != nil {
		return err
	}
	i := t.live[w.Of]
	by := 1
	if len(a.rest) > 0 {
		if by, err = number(a.rest[0], 1, 1<<20, "adjustment"); err != nil {
			return err
		}
	}
	cols, err := a.number('x', 1, mostSide, i.Cols, "width")
	if err != nil {
		return err
	}
	rows, err := a.number('y', 1, mostSide, i.Rows, "height")
	if err != nil {
		return err
	}
	switch {
	case a.has('L'):
		cols -= by
	case a.has('R'):
		cols += by
	case a.has('U'):
		rows -= by
	case a.has('D'):
		rows += by
	}
	rows, cols = min(max(rows, 1), mostSide), min(max(cols, 1), mostSide)
	if rows == i.Rows && cols == i.Cols {
		return nil
	}
	return t.server.Session(w.Of).Resize(ctx, rows, cols)
}

// resizePane does nothing, as in tmux: the only pane of a window fills it.
func resizePane(_ context.Context, t *tmux, a *args) error {
	_, _, err := t.of(a, ofPane)
	return err
}

// A row of a list is what its format is about.
type row struct {
	x *session
	w *window
}

// list prints a line for each row that the filter takes.
func (t *tmux) list(a *args, usual string, rows []row) error {
	for _, r := range rows {
		if a.has('f') && !truth(t.expand(a.get('f'), r.x, r.w)) {
			continue
		}
		if err := t.print(t.expand(cmp.Or(a.get('F'), usual), r.x, r.w)); err != nil {
			return err
		}
	}
	return nil
}

// sessions are those of the state by name, as tmux lists them.
func (s *state) sessions() []*session {
	return slices.SortedFunc(slices.Values(s.Sessions),
		func(a, b *session) int { return strings.Compare(a.Name, b.Name) })
}

func listSessions(_ context.Context, t *tmux, a *args) error {
	var rows []row
	for _, x := range t.state.sessions() {
		rows = append(rows, row{x, x.current()})
	}
	return t.list(a,
		"#{session_name}: #{session_windows} windows (created #{t:session_created})#{?session_attached, (attached),}", rows)
}

func listWindows(_ context.Context, t *tmux, a *args) error {
	all, usual := t.state.sessions(), "#{session_name}:"
	if !a.has('a') {
		x, _, err := t.of(a, ofSession)
		if err != nil {
			return err
		}
		all, usual = []*session{x}, ""
	}
	usual += "#{window_index}: #{window_name}#{window_raw_flags} (#{window_panes} panes) [#{window_width}x#{window_height}] "
	if a.has('a') {
		return t.list(a, usual, rowsOf(all))
	}
	return t.list(a, usual+"[layout #{window_layout}] #{window_id}#{?window_active, (active),}",
		rowsOf(all))
}

// rowsOf are the windows of sessions.
func rowsOf(all []*session) (rows []row) {
	for _, x := range all {
		for _, w := range x.Windows {
			rows = append(rows, row{x, w})
		}
	}
	return rows
}

func listPanes(ctx context.Context, t *tmux, a *args) error {
	usual := "[#{pane_width}x#{pane_height}] [history #{history_size}/#{history_limit}, #{history_bytes} bytes] #{pane_id}#{?pane_active, (active),}#{?pane_dead, (dead),}"
	switch {
	case a.has('a'):
		return t.list(a, "#{session_name}:#{window_index}.#{pane_index}: "+usual,
			rowsOf(t.state.sessions()))
	case a.has('s'):
		x, _, err := t.of(a, ofSession)
		if err != nil {
			return err
		}
		return t.list(a, "#{window_index}.#{pane_index}: "+usual, rowsOf([]*session{x}))
	}
	x, w, err := t.of(a, ofWindow)
	if err != nil {
		return err
	}
	return t.list(a, "#{pane_index}: "+usual, []row{{x, w}})
}

// displayMessage prints a format; without -p it is for a terminal, and there is none.
func displayMessage(_ context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofPane)
	if err != nil { // then the format is about nothing
		x, w = nil, nil
	}
	text := cmp.Or(a.get('F'),
		"[#{session_name}] #{window_index}:#{window_name}, current pane #{pane_index} - (%H:%M %d-%b-%y)")
	if len(a.rest) > 0 {
		text = a.rest[0]
	}
	if !a.has('p') {
		return nil
	}
	return t.print(strftime(t.expand(text, x, w), time.Now()))
}

// runShell runs a line in the shell and prints what it printed.
func runShell(ctx context.Context, t *tmux, a *args) error {
	if len(a.rest) == 0 {
		return nil
	}
	x, w, err := t.here(ofPane)
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "/bin/sh", "-c", t.expand(a.rest[0], x, w))
	c.Env, c.Stdout, c.Stderr = t.environ, t.std.Out, t.std.Err
	if a.has('b') {
		return c.Start()
	}
	if err := c.Run(); err != nil {
		return failf("'%s' returned %d", a.rest[0], c.ProcessState.ExitCode())
	}
	return nil
}
