package tmux

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/protocol/client"
)

// letters are the short forms of variables.
var letters = map[byte]string{
	'D': "pane_id", 'F': "window_flags", 'H': "host", 'h': "host_short", 'I': "window_index",
	'P': "pane_index", 'S': "session_name", 'T': "pane_title", 'W': "window_name",
}

// expand replaces #{...} and #S in a format for a session and a window, nil for none.
func (t *tmux) expand(text string, x *session, w *window) string {
	return t.expandWith(text, x, w, nil)
}

// expandWith is expand with more variables.
func (t *tmux) expandWith(text string, x *session, w *window, more map[string]string) string {
	if !strings.Contains(text, "#") {
		return text
	}
	f := &format{t, x, w, more}
	return f.expand(text, 0)
}

// A format is an expansion under way.
type format struct {
	t    *tmux
	x    *session
	w    *window
	more map[string]string
}

// deepest bounds how formats stand in each other, as tmux does.
const deepest = 100

func (f *format) expand(text string, depth int) string {
	if depth > deepest {
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '#' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; {
		case c == '{':
			end := closing(text[i+1:])
			if end < 0 {
				return b.String()
			}
			b.WriteString(f.replace(text[i+1:i+1+end], depth+1))
			i += 1 + end
		case c == '(':
			if end := strings.IndexByte(text[i:], ')'); end >= 0 { // a shell command: none is run
				i += end
			}
		case c == '#' || c == ',' || c == '}':
			b.WriteByte(c)
		case letters[c] != "":
			b.WriteString(f.value(letters[c]))
		default:
			b.WriteByte('#')
			b.WriteByte(c)
		}
	}
	return b.String()
}

// closing is where the } is that ends what has begun; -1: there is none.
func closing(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '#' && i+1 < len(text) && strings.IndexByte("{,#}", text[i+1]) >= 0:
			if text[i+1] == '{' {
				depth++
			}
			i++
		case text[i] == '}' && depth == 0:
			return i
		case text[i] == '}':
			depth--
		}
	}
	return -1
}

// arguments parts text at commas that are not inside of a format.
func arguments(text string, most int) []string {
	var all []string
	depth, from := 0, 0
	for i := 0; i < len(text) && len(all) < most-1; i++ {
		switch {
		case text[i] == '#' && i+1 < len(text) && strings.IndexByte("{,#}", text[i+1]) >= 0:
			if text[i+1] == '{' {
				depth++
			}
			i++
		case text[i] == '}':
			depth--
		case text[i] == ',' && depth == 0:
			all = append(all, text[from:i])
			from = i + 1
		}
	}
	return append(all, text[from:])
}

// modifier is what may stand before the colon in #{...}.
var modifier = lazy.Regexp(`^(==|!=|<=|>=|\|\||&&|<|>|m(?:/\w+)?|s/[^/]*/[^/]*/\w*|[tbdlnwqET](?:/\w+)?|=[/|]?-?\d+(?:[/|][^/|]*[/|]?)?|p-?\d+)[;:]`)

// replace is the value of what stands in #{...}.
func (f *format) replace(text string, depth int) string {
	if rest, ok := strings.CutPrefix(text, "?"); ok {
		all := arguments(rest, 1<<10)
		for len(all) >= 2 {
			if f.condition(all[0], depth) {
				return f.expand(all[1], depth)
			}
			all = all[2:]
		}
		if len(all) == 1 {
			return f.expand(all[0], depth)
		}
		return ""
	}
	var mods []string
	for rest := text; ; {
		m := modifier().FindStringSubmatch(rest)
		if m == nil {
			break
		}
		mods = append(mods, m[1])
		last := rest[len(m[0])-1] == ':'
		rest = rest[len(m[0]):]
		if last {
			text = rest
			break
		}
	}
	if len(mods) == 1 {
		if v, ok := f.compare(mods[0], text, depth); ok {
			return v
		}
	}
	literal := slices.Contains(mods, "l")
	value := text
	if !literal {
		if strings.Contains(text, "#{") {
			value = f.expand(text, depth)
		} else {
			value = f.value(text)
		}
	}
	for _, m := range mods {
		value = f.modified(m, value, depth)
	}
	return value
}

// condition is whether the first argument of #{?...} holds: a variable, or a format.
func (f *format) condition(text string, depth int) bool {
	if strings.Contains(text, "#") {
		return truth(f.expand(text, depth))
	}
	return truth(f.value(text))
}

// truth is whether a value counts as true.
func truth(value string) bool { return value != "" && value != "0" }

func yes(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// compare is the value of a modifier that takes two arguments; ok is false for the others.
func (f *format) compare(mod, text string, depth int) (value string, ok bool) {
	if strings.IndexByte("=!<>|&m", mod[0]) < 0 || mod[0] == '=' && mod != "==" {
		return "", false
	}
	two := arguments(text, 2)
	if len(two) < 2 {
		return "", true
	}
	a, b := f.expand(two[0], depth), f.expand(two[1], depth)
	switch mod {
	case "==":
		return yes(a == b), true
	case "!=":
		return yes(a != b), true
	case "<":
		return yes(a < b), true
	case ">":
		return yes(a > b), true
	case "<=":
		return yes(a <= b), true
	case ">=":
		return yes(a >= b), true
	case "||":
		return yes(truth(a) || truth(b)), true
	case "&&":
		return yes(truth(a) && truth(b)), true
	}
	_, flags, _ := strings.Cut(mod, "/")
	if strings.Contains(flags, "r") {
		if strings.Contains(flags, "i") {
			a = "(?i)" + a
		}
		e, err := regexp.Compile(a)
		return yes(err == nil && e.MatchString(b)), true
	}
	if strings.Contains(flags, "i") {
		a, b = strings.ToLower(a), strings.ToLower(b)
	}
	matched, err := path.Match(a, b)
	return yes(err == nil && matched), true
}

// modified is a value after a modifier.
func (f *format) modified(mod, value string, depth int) string {
	switch mod[0] {
	case 't':
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return time.Unix(n, 0).Format("Mon Jan _2 15:04:05 2006")
		}
		return ""
	case 'b':
		return path.Base(value)
	case 'd':
		return path.Dir(value)
	case 'n', 'w':
		return strconv.Itoa(utf8.RuneCountInString(value))
	case 'E', 'T':
		return f.expand(value, depth)
	case 'q':
		return shellQuoted(value)
	case 's':
		if p := strings.SplitN(mod[2:], "/", 3); len(p) == 3 {
			if e, err := regexp.Compile(p[0]); err == nil {
				return e.ReplaceAllString(value, strings.ReplaceAll(p[1], `\`, `$`))
			}
		}
	case '=':
		parts := strings.FieldsFunc(mod[1:], func(r rune) bool { return r == '/' || r == '|' })
		n, mark := atoi(parts[0], 0), ""
		if len(parts) > 1 {
			mark = parts[1]
		}
		runes := []rune(value)
		switch {
		case n >= 0 && len(runes) > n:
			return string(runes[:n]) + mark
		case n < 0 && len(runes) > -n:
			return mark + string(runes[len(runes)+n:])
		}
	case 'p':
		n := min(max(atoi(mod[1:], 0), -mostSide), mostSide)
		pad := strings.Repeat(" ", max(max(n, -n)-utf8.RuneCountInString(value), 0))
		if n < 0 {
			return pad + value
		}
		return value + pad
	}
	return value
}

// shellQuoted has a backslash before what a shell would act on.
func shellQuoted(value string) string {
	var b strings.Builder
	for _, r := range value {
		if strings.ContainsRune("|&;<>()$`\\\"'*?[# =%", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// value is a variable's value; "": there is none of that name, or it is about something that does
// not exist here, such as a client.
func (f *format) value(name string) string {
	if v, ok := f.more[name]; ok {
		return v
	}
	t := f.t
	switch name {
	case "version":
		return version
	case "socket_path":
		return t.socket
	case "pid":
		return strconv.Itoa(t.state.Server)
	case "start_time":
		return strconv.FormatInt(t.state.Started, 10)
	case "host", "host_short":
		host, _ := os.Hostname()
		if name == "host_short" {
			host, _, _ = strings.Cut(host, ".")
		}
		return host
	case "server_sessions":
		return strconv.Itoa(len(t.state.Sessions))
	}
	if f.x != nil {
		if v, ok := f.ofSession(name); ok {
			return v
		}
	}
	if f.w != nil {
		if v, ok := f.ofWindow(name); ok {
			return v
		}
	}
	if _, known := options()[name]; known || strings.HasPrefix(name, "@") {
		return t.option(f.x, f.w, name)
	}
	return ""
}

func (f *format) ofSession(name string) (string, bool) {
	x := f.x
	switch name {
	case "session_name":
		return x.Name, true
	case "session_id":
		return "$" + strconv.Itoa(x.Number), true
	case "session_windows":
		return strconv.Itoa(len(x.Windows)), true
	case "session_created":
		return strconv.FormatInt(x.Created, 10), true
	case "session_activity", "session_last_attached":
		return strconv.FormatInt(x.Used/int64(time.Second), 10), true
	case "session_path":
		return x.Dir, true
	case "session_attached", "session_many_attached":
		n := 0
		for _, w := range x.Windows {
			if f.t.live[w.Of].Lease != nil {
				n = 1
			}
		}
		return yes(n > 0 && name == "session_attached"), true
	case "session_grouped", "session_marked":
		return "0", true
	}
	return "", false
}

func (f *format) ofWindow(name string) (string, bool) {
	t, x, w := f.t, f.x, f.w
	i := t.live[w.Of]
	switch name {
	case "window_id":
		return "@" + strconv.Itoa(w.Number), true
	case "window_index":
		return strconv.Itoa(w.Index), true
	case "window_name":
		return t.windowName(w), true
	case "window_active":
		return yes(x != nil && x.current() == w), true
	case "window_flags", "window_raw_flags":
		switch {
		case x != nil && x.current() == w:
			return "*", true
		case x != nil && x.Last == w.Number:
			return "-", true
		}
		return "", true
	case "window_width", "pane_width":
		return strconv.Itoa(i.Cols), true
	case "window_height", "pane_height":
		return strconv.Itoa(i.Rows), true
	case "window_layout", "window_visible_layout":
		return layout(i.Cols, i.Rows, w.Pane), true
	case "window_activity":
		return strconv.FormatInt(time.Now().Add(-i.Quiet).Unix(), 10), true
	case "window_panes", "pane_active", "pane_at_top", "pane_at_bottom", "pane_at_left",
		"pane_at_right", "pane_last":
		return yes(name != "pane_last"), true
	case "window_zoomed_flag", "window_linked", "window_bell_flag", "window_activity_flag",
		"window_silence_flag", "pane_in_mode", "pane_input_off",
		"pane_synchronized", "pane_marked", "pane_marked_set", "pane_left", "pane_top",
		"history_bytes", "scroll_position":
		return "0", true
	case "pane_id":
		return "%" + strconv.Itoa(w.Pane), true
	case "pane_index":
		return t.option(x, w, "pane-base-index"), true
	case "pane_right":
		return strconv.Itoa(i.Cols - 1), true
	case "pane_bottom":
		return strconv.Itoa(i.Rows - 1), true
	case "pane_pid":
		return strconv.Itoa(i.PID), true
	case "pane_tty":
		tty, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", i.PID)) // elsewhere nothing says it
		return tty, true
	case "pane_current_command":
		return t.command(w), true
	case "pane_current_path":
		if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", foreground(i.PID))); err == nil {
			return dir, true
		}
		return w.Dir, true
	case "pane_start_command":
		if w.Command == "" {
			return "", true
		}
		return quoted(w.Command), true
	case "pane_start_path":
		return w.Dir, true
	case "pane_title":
		if w.Title != "" {
			return w.Title, true
		}
		if i.Title != nil && *i.Title != "" {
			return *i.Title, true
		}
		return f.value("host"), true
	case "pane_dead":
		return yes(i.Exit != nil), true
	case "pane_dead_status":
		if i.Exit != nil && i.Exit.Code != nil {
			return strconv.Itoa(*i.Exit.Code), true
		}
		return "", true
	case "pane_dead_signal":
		if i.Exit != nil && i.Exit.Signal != nil {
			return strings.TrimPrefix(*i.Exit.Signal, "SIG"), true
		}
		return "", true
	case "pane_pipe":
		return yes(w.Pipe != ""), true
	case "history_limit":
		return t.option(x, w, "history-limit"), true
	case "history_size":
		total, dropped, err := t.total(t.ctx, w)
		if err != nil {
			return "", true
		}
		return strconv.FormatUint(total-min(total, max(w.Cleared, dropped)), 10), true
	case "cursor_x", "cursor_y", "cursor_flag", "alternate_on", "keypad_cursor_flag", "keypad_flag":
		s := t.screen(w)
		if s == nil {
			return "", true
		}
		return map[string]string{
			"cursor_x": strconv.Itoa(s.Cursor.Col), "cursor_y": strconv.Itoa(s.Cursor.Row),
			"cursor_flag": yes(s.Cursor.Visible), "alternate_on": yes(s.AlternateScreen),
			"keypad_cursor_flag": yes(s.ApplicationCursor), "keypad_flag": yes(s.ApplicationKeypad),
		}[name], true
	}
	return "", false
}

// screen is what a window shows, asked for once; nil when the server does not answer.
func (t *tmux) screen(w *window) *client.Snapshot {
	s, asked := t.screens[w.Of]
	if !asked {
		var err error
		if s, err = t.snapshot(t.ctx, w, "none", nil); err != nil {
			s = nil
		}
		if t.screens == nil {
			t.screens = map[string]*client.Snapshot{}
		}
		t.screens[w.Of] = s
	}
	return s
}

// windowName is the name of a window: that of its program, unless it was given one.
func (t *tmux) windowName(w *window) string {
	if w.Given || t.option(nil, w, "automatic-rename") == "off" {
		return w.Name
	}
	return t.command(w)
}

// command is the name of the program that has the terminal of a window, or of the one that was
// started there where the system does not say.
func (t *tmux) command(w *window) string {
	i := t.live[w.Of]
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", foreground(i.PID))); err == nil &&
		len(line) > 0 && t.server.Local {
		first, _, _ := strings.Cut(string(line), "\x00")
		return programName(first)
	}
	return programName(filepath.Base(i.Program))
}

// programName is a program's name as tmux shows it.
func programName(name string) string {
	name = strings.TrimLeft(name, " -")
	name, _, _ = strings.Cut(name, " ")
	if strings.HasPrefix(name, "/") {
		name = path.Base(name)
	}
	return name
}

// foreground is the process group that has the terminal of a process, or the process itself.
func foreground(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return pid
	}
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest) // state, parent, group, session, terminal, its group
	if len(fields) < 6 {
		return pid
	}
	if group := atoi(fields[5], 0); group > 0 {
		return group
	}
	return pid
}

// layout is a window's layout as tmux writes it, with its sum.
func layout(cols, rows, pane int) string {
	text := fmt.Sprintf("%dx%d,0,0,%d", cols, rows, pane)
	var sum uint16
	for i := range len(text) {
		sum = sum>>1 + (sum&1)<<15
		sum += uint16(text[i])
	}
	return fmt.Sprintf("%04x,%s", sum, text)
}

// strftime replaces the times of a message.
func strftime(text string, at time.Time) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+1 < len(text) {
			if form, ok := times[text[i+1]]; ok {
				i++
				b.WriteString(at.Format(form))
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// times are the letters of strftime, as Go formats them.
var times = map[byte]string{
	'%': "%", 'H': "15", 'M': "04", 'S': "05", 'Y': "2006", 'y': "06", 'm': "01", 'd': "02",
	'b': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday", 'e': "_2", 'I': "03", 'p': "PM",
	'R': "15:04", 'T': "15:04:05", 'F': "2006-01-02", 'D': "01/02/06", 'Z': "MST", 'z': "-0700",
}
