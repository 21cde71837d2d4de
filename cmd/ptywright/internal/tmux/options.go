package tmux

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// options are tmux's, with their defaults. Most are about what a person sees, and mean nothing here;
// those in [means] do.
var options = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"backspace": "C-?", "buffer-limit": "50", "copy-command": "",
		"default-terminal": "xterm-256color", "editor": "/usr/bin/vi", "escape-time": "500",
		"exit-empty": "on", "exit-unattached": "off", "extended-keys": "off", "focus-events": "off",
		"history-file": "", "message-limit": "1000", "prompt-history-limit": "100",
		"set-clipboard": "external", "terminal-features": "", "terminal-overrides": "",
		"user-keys": "", "command-alias": "", "activity-action": "other", "assume-paste-time": "1",
		"base-index": "0", "bell-action": "any", "default-command": "", "default-shell": "",
		"default-size": "80x24", "destroy-unattached": "off", "detach-on-destroy": "on",
		"display-panes-active-colour": "red", "display-panes-colour": "blue",
		"display-panes-time": "1000", "display-time": "750", "history-limit": "2000",
		"key-table": "root", "lock-after-time": "0", "lock-command": "lock -np",
		"message-command-style": "bg=black,fg=yellow", "message-style": "bg=yellow,fg=black",
		"mouse": "off", "prefix": "C-b", "prefix2": "None", "renumber-windows": "off",
		"repeat-time": "500", "set-titles": "off",
		"set-titles-string": "#S:#I:#W - \"#T\" #{session_alerts}", "silence-action": "other",
		"status": "on", "status-bg": "default", "status-fg": "default", "status-format": "",
		"status-interval": "15", "status-justify": "left", "status-keys": "emacs",
		"status-left": "[#{session_name}] ", "status-left-length": "10",
		"status-left-style": "default", "status-position": "bottom", "status-right": "",
		"status-right-length": "40", "status-right-style": "default",
		"status-style": "bg=green,fg=black", "update-environment": "", "visual-activity": "off",
		"visual-bell": "off", "visual-silence": "off", "word-separators": "",
		"aggressive-resize": "off", "allow-passthrough": "off", "allow-rename": "off",
		"alternate-screen": "on", "automatic-rename": "on", "automatic-rename-format": "",
		"clock-mode-colour": "blue", "clock-mode-style": "24", "copy-mode-current-match-style": "",
		"copy-mode-mark-style": "", "copy-mode-match-style": "", "cursor-colour": "",
		"cursor-style": "default", "fill-character": "", "main-pane-height": "24",
		"main-pane-width": "80", "mode-keys": "emacs", "mode-style": "bg=yellow,fg=black",
		"monitor-activity": "off", "monitor-bell": "on", "monitor-silence": "0",
		"other-pane-height": "0", "other-pane-width": "0", "pane-active-border-style": "",
		"pane-base-index": "0", "pane-border-format": "", "pane-border-indicators": "colour",
		"pane-border-lines": "single", "pane-border-status": "off", "pane-border-style": "default",
		"pane-colours": "", "popup-border-lines": "single", "popup-border-style": "default",
		"popup-style": "default", "remain-on-exit": "off", "remain-on-exit-format": "",
		"scroll-on-clear": "on", "synchronize-panes": "off", "window-active-style": "default",
		"window-size": "latest", "window-status-activity-style": "reverse",
		"window-status-bell-style": "reverse", "window-status-current-format": "",
		"window-status-current-style": "default", "window-status-format": "",
		"window-status-last-style": "default", "window-status-separator": " ",
		"window-status-style": "default", "window-style": "default", "wrap-search": "on",
		"xterm-keys": "on",
	}
})

// option is the value of an option for a window, or a session, or all: the nearest that was set, or
// its default. One with @ before it is the user's own.
func (t *tmux) option(x *session, w *window, name string) string {
	if w != nil {
		if v, ok := w.Options[name]; ok {
			return v
		}
	}
	if x != nil {
		if v, ok := x.Options[name]; ok {
			return v
		}
	}
	if v, ok := t.state.Options[name]; ok {
		return v
	}
	return options()[name]
}

// optionName completes the name of an option; ok is false with an error in tmux's words.
func optionName(text string) (string, error) {
	name, _, _ := strings.Cut(text, "[") // an entry of an array, such as terminal-features[0]
	if _, known := options()[name]; known || strings.HasPrefix(text, "@") {
		return text, nil
	}
	var found []string
	for o := range options() {
		if strings.HasPrefix(o, name) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return "", failf("invalid option: %s", text)
	case 1:
		return found[0], nil
	}
	return "", failf("ambiguous option: %s", text)
}

// setOption sets an option for all, or for one session or window.
func setOption(_ context.Context, t *tmux, a *args) error {
	x, w, err := t.scope(a)
	if err != nil {
		return quietly(a, err)
	}
	name, err := optionName(a.rest[0])
	if err != nil {
		return quietly(a, err)
	}
	of := &t.state.Options
	switch {
	case w != nil:
		of = &w.Options
	case x != nil:
		of = &x.Options
	}
	if *of == nil {
		*of = map[string]string{}
	}
	old, set := (*of)[name]
	switch {
	case a.has('u') || a.has('U'):
		delete(*of, name)
		return nil
	case a.has('o') && set:
		return quietly(a, failf("already set: %s", name))
	case len(a.rest) < 2 && (options()[name] == "on" || options()[name] == "off"): // it becomes the other
		(*of)[name] = map[bool]string{true: "off", false: "on"}[t.option(x, w, name) == "on"]
		return nil
	case len(a.rest) < 2:
		return quietly(a, failf("empty value"))
	}
	value := a.rest[1]
	if a.has('F') {
		value = t.expand(value, x, w)
	}
	if a.has('a') {
		value = old + value
	}
	if usual := options()[name]; usual == "on" || usual == "off" {
		switch strings.ToLower(value) {
		case "on", "yes", "1":
			value = "on"
		case "off", "no", "0":
			value = "off"
		default:
			if name != "remain-on-exit" && name != "detach-on-destroy" && name != "status" &&
				name != "allow-passthrough" && name != "extended-keys" &&
				!strings.HasPrefix(name, "visual-") {
				return quietly(a, failf("bad value: %s", value))
			}
		}
	}
	(*of)[name] = value
	return nil
}

// quietly drops an error under -q.
func quietly(a *args, err error) error {
	if a.has('q') {
		return nil
	}
	return err
}

// scope is what an option is set for or read of: neither is for all.
func (t *tmux) scope(a *args) (*session, *window, error) {
	if a.has('g') || a.has('s') {
		return nil, nil, nil
	}
	kind := ofSession
	if a.has('w') {
		kind = ofWindow
	} else if a.has('p') {
		kind = ofPane
	}
	x, w, err := t.of(a, ofPane)
	if err != nil {
		return nil, nil, failf("no such %s: %s", kind, a.get('t'))
	}
	if a.has('w') || a.has('p') {
		return x, w, nil
	}
	return x, nil, nil
}

// showOptions prints options that were set, or one by its name.
func showOptions(_ context.Context, t *tmux, a *args) error {
	x, w, err := t.scope(a)
	if err != nil {
		return quietly(a, err)
	}
	of := t.state.Options
	switch {
	case w != nil:
		of = w.Options
	case x != nil:
		of = x.Options
	}
	show := func(name, value string) error {
		if a.has('v') {
			return t.print(value)
		}
		return t.print(name + " " + quoted(value))
	}
	if len(a.rest) > 0 {
		name, err := optionName(a.rest[0])
		if err != nil {
			return quietly(a, err)
		}
		value, set := of[name]
		switch {
		case !set && strings.HasPrefix(name, "@"):
			return quietly(a, failf("invalid option: %s", name))
		case !set && !a.has('g') && !a.has('s') && !a.has('A'):
			return nil // it is not set here
		case !set:
			value = t.option(x, w, name)
		}
		return show(name, value)
	}
	all := maps.Clone(of)
	if a.has('g') || a.has('s') {
		all = maps.Clone(options())
		maps.Copy(all, of)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := show(name, all[name]); err != nil {
			return err
		}
	}
	return nil
}

// quoted is a value as a configuration would have it.
func quoted(value string) string {
	if value == "" {
		return "''"
	}
	if strings.ContainsAny(value, " #'\"$;~{}") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(value) + `"`
	}
	return value
}

// setEnvironment sets a variable for the programs that a session, or any, starts from now on.
func setEnvironment(_ context.Context, t *tmux, a *args) error {
	of := &t.state.Env
	if !a.has('g') {
		x, _, err := t.of(a, ofSession)
		if err != nil {
			return err
		}
		of = &x.Env
	}
	if *of == nil {
		*of = map[string]string{}
	}
	name := a.rest[0]
	switch {
	case name == "":
		return failf("empty variable name")
	case strings.Contains(name, "="):
		return failf("variable name contains =")
	case a.has('u') || a.has('r'):
		if len(a.rest) > 1 {
			return failf("can't specify a value with -%c",
				map[bool]byte{true: 'u', false: 'r'}[a.has('u')])
		}
		delete(*of, name)
		return nil
	case len(a.rest) < 2:
		return failf("no value specified")
	}
	(*of)[name] = a.rest[1]
	return nil
}

// showEnvironment prints the variables that were set so, or one.
func showEnvironment(_ context.Context, t *tmux, a *args) error {
	of := t.state.Env
	if !a.has('g') {
		x, _, err := t.of(a, ofSession)
		if err != nil {
			return err
		}
		of = x.Env
	}
	show := func(name string) error {
		if a.has('s') {
			return t.print(fmt.Sprintf(`%s="%s"; export %[1]s;`, name,
				strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(of[name])))
		}
		return t.print(name + "=" + of[name])
	}
	if len(a.rest) > 0 {
		if _, ok := of[a.rest[0]]; !ok {
			return failf("unknown variable: %s", a.rest[0])
		}
		return show(a.rest[0])
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if err := show(name); err != nil {
			return err
		}
	}
	return nil
}
