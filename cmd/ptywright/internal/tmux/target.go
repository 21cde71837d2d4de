package tmux

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// The kinds of targets, which differ in what a lone word means.
const (
	ofSession = "session"
	ofWindow  = "window"
	ofPane    = "pane"
)

// target finds what -t names: session:window.pane, where each may be left out, or one of $1, @1, %1.
// "" is where the command runs, or else what was used last. The error is tmux's.
func (t *tmux) target(text, kind string) (*session, *window, error) {
	if text == "" || text == "." || text == ":" || text == ":." {
		return t.here(kind)
	}
	whole := text
	if kind != ofPane {
		whole = strings.TrimPrefix(text, "=")
	}
	fail := func() (*session, *window, error) {
		return nil, nil,
			failf("can't find %s: %s", kind, whole)
	}
	if text == "{mouse}" || text == "=" || text == "{marked}" || text == "~" {
		return nil, nil, failf("no mouse target")
	}
	first, rest, colon := strings.Cut(text, ":")
	if !colon {
		switch text[0] {
		case '$', '@', '%':
			x, w := t.numbered(text)
			if w == nil {
				return nil, nil,
					failf("can't find %s: %s",
						map[byte]string{'$': ofSession, '@': ofWindow, '%': ofPane}[text[0]], text)
			}
			return x, w, nil
		}
		head, pane, dot := strings.Cut(text, ".")
		switch {
		case dot && kind != ofSession: // window.pane, session.pane or .pane
			x, w, err := t.here(kind)
			if head != "" {
				x, w = t.windowOrSession(head, kind)
			} else if err != nil {
				return nil, nil, err
			}
			if w == nil {
				return nil, nil, failf("can't find window: %s", head)
			}
			if !t.paneIs(x, w, pane) {
				return nil, nil, failf("can't find pane: %s", pane)
			}
			return x, w, nil
		case kind == ofSession:
			if x := t.session(text); x != nil {
				return x, x.current(), nil
			}
			return fail()
		}
		if kind == ofPane {
			if x, w, err := t.here(kind); err == nil && t.paneIs(x, w, text) && text[0] >= '0' &&
				text[0] <= '9' && t.session(text) == nil {
				return x, w, nil
			}
		}
		if x, w := t.windowOrSession(text, kind); w != nil {
			return x, w, nil
		}
		return fail()
	}
	var x *session
	if first == "" {
		var err error
		if x, _, err = t.here(ofSession); err != nil {
			return nil, nil, err
		}
	} else if x = t.session(first); x == nil {
		return nil, nil, failf("can't find session: %s", first)
	}
	name, pane, _ := strings.Cut(rest, ".")
	w := x.current()
	if name != "" {
		if w = t.window(x, name); w == nil {
			return nil, nil, failf("can't find window: %s", name)
		}
	}
	if !t.paneIs(x, w, pane) {
		return nil, nil, failf("can't find pane: %s", pane)
	}
	return x, w, nil
}

// here is the pane in which the command runs, or else the current one of the session used last.
func (t *tmux) here(kind string) (*session, *window, error) {
	if own := t.getenv("TMUX_PANE"); own != "" {
		if x, w := t.numbered(own); w != nil {
			return x, w, nil
		}
	}
	if len(t.state.Sessions) == 0 {
		return nil, nil,
			failf("no current %s",
				map[string]string{ofSession: "session", ofWindow: "window", ofPane: "target"}[kind])
	}
	x := slices.MaxFunc(t.state.Sessions,
		func(a, b *session) int { return int(min(max(a.Used-b.Used, -1), 1)) })
	return x, x.current(), nil
}

// numbered finds $1, @1 or %1.
func (t *tmux) numbered(text string) (*session, *window) {
	n, err := strconv.Atoi(text[1:])
	if err != nil {
		return nil, nil
	}
	for _, x := range t.state.Sessions {
		if text[0] == '$' {
			if x.Number == n {
				return x, x.current()
			}
			continue
		}
		for _, w := range x.Windows {
			if text[0] == '@' && w.Number == n || text[0] == '%' && w.Pane == n {
				return x, w
			}
		}
	}
	return nil, nil
}

// session finds a session: by $1, its name, or with no = before it the beginning of one name only or
// a pattern.
func (t *tmux) session(text string) *session {
	if strings.HasPrefix(text, "$") {
		x, _ := t.numbered(text)
		return x
	}
	name, exact := strings.CutPrefix(text, "=")
	if x := t.state.find(name); x != nil || exact || name == "" {
		return x
	}
	return only(t.state.Sessions, name, func(x *session) string { return x.Name })
}

// windowOrSession reads a lone word: a window of the current session, or else a session.
func (t *tmux) windowOrSession(text, kind string) (*session, *window) {
	if x, _, err := t.here(kind); err == nil {
		if w := t.window(x, text); w != nil && !(text[0] != '=' && t.state.find(text) != nil) {
			return x, w
		}
	}
	if x := t.session(text); x != nil {
		return x, x.current()
	}
	return nil, nil
}

// window finds a window of a session: by @1, its index, its name, one of ^ and $ for the first and
// the last, or as [tmux.session] does.
func (t *tmux) window(x *session, text string) *window {
	switch text {
	case "^", "{start}":
		return x.Windows[0]
	case "$", "{end}":
		return x.Windows[len(x.Windows)-1]
	}
	if strings.HasPrefix(text, "@") {
		of, w := t.numbered(text)
		if of != x {
			return nil
		}
		return w
	}
	name, exact := strings.CutPrefix(text, "=")
	if n, err := strconv.Atoi(name); err == nil {
		for _, w := range x.Windows {
			if w.Index == n {
				return w
			}
		}
	}
	nameOf := func(w *window) string { return t.windowName(w) }
	for _, w := range x.Windows {
		if nameOf(w) == name {
			return w
		}
	}
	if exact || name == "" {
		return nil
	}
	return only(x.Windows, name, nameOf)
}

// only is the one of all whose name begins with a text, or fits it as a pattern; nil when none or
// several do.
func only[T any](all []*T, text string, name func(*T) string) *T {
	for _, fits := range []func(string) bool{
		func(n string) bool { return strings.HasPrefix(n, text) },
		func(n string) bool { ok, err := path.Match(text, n); return ok && err == nil },
	} {
		var found []*T
		for _, one := range all {
			if fits(name(one)) {
				found = append(found, one)
			}
		}
		switch len(found) {
		case 1:
			return found[0]
		case 0:
		default:
			return nil
		}
	}
	return nil
}

// paneIs reports whether a word means the only pane of a window.
func (t *tmux) paneIs(x *session, w *window, text string) bool {
	switch text {
	case "", "+", "-", "!", "{last}", "{next}", "{previous}", "{top}", "{bottom}", "{left}",
		"{right}", "{top-left}", "{top-right}", "{bottom-left}", "{bottom-right}":
		return true
	}
	if strings.HasPrefix(text, "%") {
		return text[1:] == strconv.Itoa(w.Pane)
	}
	return text == t.option(x, w, "pane-base-index")
}

// of is [tmux.target] of the flag -t.
func (t *tmux) of(a *args, kind string) (*session, *window, error) {
	return t.target(a.get('t'), kind)
}
