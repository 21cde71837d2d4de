package plugins

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/sandbox"
)

const (
	// statusLines is how many lines at the end of the plain text are the status, the rest being the
	// body: the split that plugins of the earlier implementation expect.
	statusLines = 3
	// bodyLines is the minimum number of lines for a status to exist.
	bodyLines = 7
	// tailChars is how much of the transcript a plugin sees by default, in characters.
	tailChars = 16 << 10
	// maxSince bounds what a plugin reads of the transcript after a marker, in bytes: it is copied
	// on each call.
	maxSince = 64 << 10
	// maxRows bounds the answer of match_all. A screen that a person reads has fewer.
	maxRows = 200
)

// completedStable is how long a screen must be stable for older plugins to call a turn complete:
// the constant of the earlier implementation, which they use by name.
const completedStable = 300 * time.Millisecond

// epoch is the origin of the clock of at_ms: any time will do, since only differences matter.
var epoch = time.Now()

// blank is what a plugin that kept its look sees in a call without one.
var blank = &look{view: &engine.View{Screen: vt.New(1, 1, vt.Options{Scrollback: -1}).Snapshot()}}

// A look is what a plugin sees in one call: a view and what else the host knows. Rows and columns
// count from 1 there, as everything does in Lua. Fields are computed when first read.
type look struct {
	view       *engine.View
	secrets    *secrets // collects those of the texts read; nil: not wanted
	lastIntent string
	previous   *State       // classify's previous result; nil: none yet
	last       *engine.View // the view of that result
	events     uint64       // the newest event's number
	params     any
	explain    bool

	timed bool // the plugin has read how long the screen has been stable
	lines []string
	hits  map[int]bool // rows, from 0, where something was found since the plugin last asked
}

// rows returns the screen's rows.
func (l *look) rows() []string {
	if l.lines == nil {
		l.lines = l.view.Screen.Lines()
		l.text() // a secret may be wrapped over two of them
	}
	return l.lines
}

// text returns the plain text of the screen.
func (l *look) text() string { return l.read(l.view.Screen.Text()) }

// read returns a text of the program for the plugin to see, and records the secrets in it.
func (l *look) read(text string) string {
	if l.secrets != nil {
		l.secrets.learn(text)
	}
	return text
}

// A field reads a name of a look.
type field func(l *look) any

var fields = map[string]field{
	"screen":                   func(l *look) any { return l.text() },
	"lines":                    func(l *look) any { return l.rows() },
	"body_text":                func(l *look) any { body, _ := l.split(); return body },
	"status_text":              func(l *look) any { _, status := l.split(); return status },
	"rows":                     func(l *look) any { return l.view.Screen.Rows },
	"cols":                     func(l *look) any { return l.view.Screen.Cols },
	"cursor_row":               func(l *look) any { return l.view.Screen.Cursor.Row + 1 },
	"cursor_col":               func(l *look) any { return l.view.Screen.Cursor.Col + 1 },
	"cursor_visible":           func(l *look) any { return l.view.Screen.Cursor.Visible },
	"title":                    func(l *look) any { return orNil(l.view.Screen.TitleSet, l.read(l.view.Screen.Title)) },
	"alternate_screen":         func(l *look) any { return l.view.Screen.Modes.AltScreen },
	"modes":                    func(l *look) any { return modes(l.view.Screen.Modes) },
	"progress":                 func(l *look) any { return progress(l.view.Reports.Progress) },
	"shell":                    func(l *look) any { return l.shell(l.view.Reports.Shell) },
	"shell_marked":             func(l *look) any { return l.view.Marked },
	"block":                    func(l *look) any { return l.block(l.view.Block) },
	"scrolled":                 func(l *look) any { h := l.view.Screen.History(); return int64(h.Dropped()) + int64(h.Len()) },
	"status":                   func(l *look) any { return l.status(l.view.Reports.Status) },
	"sequence":                 func(l *look) any { return int64(l.view.Sequence) },
	"stable_ms":                func(l *look) any { l.timed = true; return l.view.StableFor().Milliseconds() },
	"at_ms":                    func(l *look) any { return l.view.At.Sub(epoch).Milliseconds() },
	"process_exited":           func(l *look) any { return l.view.Exit != nil },
	"reads_keys":               func(l *look) any { return l.view.Keys },
	"exit":                     func(l *look) any { return exit(l.view.Exit) },
	"last_intent":              func(l *look) any { return orNil(l.lastIntent != "", l.lastIntent) },
	"markers":                  func(l *look) any { return l.markers() },
	"cursor":                   func(l *look) any { _, end := l.view.Transcript.Bounds(); return int64(end) },
	"transcript":               func(l *look) any { return l.read(l.view.Transcript.Tail(tailChars)) },
	"previous":                 func(l *look) any { return l.before() },
	"previous_lines":           func(l *look) any { return l.linesBefore() },
	"last_event_seq":           func(l *look) any { return int64(l.events) },
	"params":                   func(l *look) any { return orEmpty(l.params) },
	"explain":                  func(l *look) any { return l.explain },
	"completed_turn_stable_ms": func(*look) any { return completedStable.Milliseconds() },
}

// orEmpty is value, or an empty table: callers can read a member without a nil check.
func orEmpty(value any) any {
	if value == nil {
		return map[string]any{}
	}
	return value
}

// orNil is value when there is one.
func orNil(has bool, value any) any {
	if has {
		return value
	}
	return nil
}

// split separates the status lines from the plain text.
func (l *look) split() (body, status string) { return SplitStatus(l.text()) }

// SplitStatus splits plain text into its body and its status lines, the last three; text of six
// lines or fewer is all body.
func SplitStatus(text string) (body, status string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < bodyLines {
		return text, ""
	}
	at := len(lines) - statusLines
	return strings.Join(lines[:at], "\n"), strings.Join(lines[at:], "\n")
}

func modes(m vt.Modes) map[string]any {
	return map[string]any{
		"bracketed_paste": m.BracketedPaste, "application_cursor": m.AppCursor, "application_keypad": m.AppKeypad,
		"mouse": m.Mouse.String(), "focus": m.FocusEvents, "kitty_keyboard": int(m.KittyKeyboard),
	}
}

func progress(p *engine.Progress) any {
	if p == nil {
		return nil
	}
	return map[string]any{"state": string(p.State), "value": p.Value}
}

func (l *look) shell(s *engine.Shell) any {
	if s == nil {
		return nil
	}
	return map[string]any{
		"phase": string(s.Phase), "exit_code": orNil(s.Exited, s.ExitCode), "command": orNil(s.Command != "", l.read(s.Command)), "cwd": orNil(s.Dir != "", l.read(s.Dir)),
	}
}

// block is the last command that ended between marks.
func (l *look) block(b *engine.Block) any {
	if b == nil {
		return nil
	}
	return map[string]any{
		"number": int64(b.Number), "command": l.read(b.Command), "output": l.read(b.Output), "whole": b.Whole,
		"screen_text": l.read(b.ScreenText), "screen_whole": b.ScreenWhole,
	}
}

// full reports whether a row, from 0, continues in the next: it is wrapped, or written up to its
// end, as by a program that breaks lines itself. A wide character with only one column left goes to
// the next row.
func (l *look) full(row int) bool {
	s := l.view.Screen
	if row < 0 || row >= s.Rows {
		return false
	}
	written := 0
	s.EachRun(row, func(r vt.Run) { written = r.Col + r.Cols })
	return s.Wrapped(row) || written >= s.Cols || written == s.Cols-1 && s.Cell(row+1, 0).Wide
}

func (l *look) status(s *engine.ProgramStatus) any {
	if s == nil {
		return nil
	}
	return map[string]any{"state": s.State, "app": s.App, "kind": s.Kind, "message": l.read(s.Message), "sequence": int64(s.Sequence)}
}

func exit(e *engine.Exit) any {
	switch {
	case e == nil:
		return nil
	case e.Signal != "":
		return map[string]any{"signal": e.Signal}
	}
	return map[string]any{"code": e.Code}
}

func (l *look) markers() any {
	m := make(map[string]any)
	for label, at := range l.view.Transcript.Marks() {
		m[label] = int64(at)
	}
	return m
}

func (l *look) linesBefore() any {
	if l.last == nil {
		return nil
	}
	return l.last.Screen.Lines()
}

func (l *look) before() any {
	if l.previous == nil {
		return nil
	}
	return map[string]any{
		"state": l.previous.State, "sequence": int64(l.previous.Sequence), "metadata": orNil(l.previous.Metadata != nil, l.previous.Metadata),
	}
}

// object makes the table through which a machine's plugin sees the look that at points to during a
// call.
func newObject(vm *sandbox.VM, at **look) *sandbox.Object {
	methods := make(map[string]sandbox.Func, len(lookMethods))
	for name, f := range lookMethods {
		methods[name] = func(a sandbox.Args) (any, error) { return f(*at, a) }
	}
	names := slices.Sorted(maps.Keys(fields))
	o := vm.NewObject(func(name string) (any, bool) {
		if f, ok := fields[name]; ok {
			return f(*at), true
		}
		m, ok := methods[name]
		return m, ok
	}, names...)
	o.Strict = "s"
	return o
}

// lookMethods are the functions of a look. Texts and expressions are searched for in each row
// separately.
var lookMethods = map[string]func(*look, sandbox.Args) (any, error){
	"row": func(l *look, a sandbox.Args) (any, error) {
		rows := l.rows()
		if i := a.Int(1, 0); i >= 1 && i <= len(rows) {
			return rows[i-1], nil
		}
		return nil, nil
	},
	"contains": func(l *look, a sandbox.Args) (any, error) {
		return l.find(a, false) >= 0, nil
	},
	"find": func(l *look, a sandbox.Args) (any, error) {
		i := l.find(a, false)
		return orNil(i >= 0, i+1), nil
	},
	"find_last": func(l *look, a sandbox.Args) (any, error) {
		i := l.find(a, true)
		return orNil(i >= 0, i+1), nil
	},
	"test": func(l *look, a sandbox.Args) (any, error) {
		return len(l.match(a, 1, false)) > 0, nil
	},
	"match": func(l *look, a sandbox.Args) (any, error) {
		return first(l.match(a, 1, false)), nil
	},
	"match_last": func(l *look, a sandbox.Args) (any, error) {
		return first(l.match(a, 1, true)), nil
	},
	"match_all": func(l *look, a sandbox.Args) (any, error) {
		return l.match(a, maxRows, false), nil
	},
	"styles": func(l *look, a sandbox.Args) (any, error) {
		return l.styles(a), nil
	},
	"full": func(l *look, a sandbox.Args) (any, error) {
		a.Work(1 + l.view.Screen.Cols/8)
		return l.full(a.Int(1, 0) - 1), nil
	},
	"transcript_since": func(l *look, a sandbox.Args) (any, error) {
		return l.since(a)
	},
	"hits": func(l *look, a sandbox.Args) (any, error) { // of ptywright.decide
		rows := slices.Sorted(maps.Keys(l.hits))
		clear(l.hits)
		out := make([]any, len(rows))
		for i, r := range rows {
			out[i] = r + 1
		}
		return out, nil
	},
}

func first(hits []any) any {
	if len(hits) == 0 {
		return nil
	}
	return hits[0]
}

// between reads the optional row range of a method, from 1 and inclusive, as a slice's bounds.
func (l *look) between(a sandbox.Args) (from, to int) {
	n := len(l.rows())
	from, to = max(a.Int(2, 1), 1)-1, min(a.Int(3, n), n)
	return min(from, n), max(to, min(from, n))
}

// hit records that a search matched a row.
func (l *look) hit(row int) {
	if l.explain {
		if l.hits == nil {
			l.hits = map[int]bool{}
		}
		l.hits[row] = true
	}
}

// find returns the first row, or the last, that holds a text; -1 when none does.
func (l *look) find(a sandbox.Args, last bool) int {
	text := a.String(1)
	from, to := l.between(a)
	rows := l.rows()
	a.Work(1 + (to-from)*80/64)
	for i := from; i < to; i++ {
		row := i
		if last {
			row = from + to - 1 - i
		}
		if strings.Contains(rows[row], text) {
			l.hit(row)
			return row
		}
	}
	return -1
}

// match returns at most most rows that an expression matches.
func (l *look) match(a sandbox.Args, most int, last bool) []any {
	from, to := l.between(a)
	rows := l.rows()
	size := 0
	for _, r := range rows[from:to] {
		size += len(r)
	}
	re := a.Expression(a.String(1), size)
	hits := []any{}
	for i := from; i < to && len(hits) < most; i++ {
		row := i
		if last {
			row = from + to - 1 - i
		}
		text := rows[row]
		at := re.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		l.hit(row)
		captures := make([]string, 0, len(at)/2-1)
		for g := 2; g < len(at); g += 2 {
			if at[g] < 0 {
				captures = append(captures, "")
				continue
			}
			captures = append(captures, text[at[g]:at[g+1]])
		}
		hits = append(hits, map[string]any{
			"row": row + 1, "col": utf8.RuneCountInString(text[:at[0]]) + 1, "text": text[at[0]:at[1]], "captures": captures,
		})
	}
	return hits
}

// styles returns the runs of equal style of a row.
func (l *look) styles(a sandbox.Args) any {
	row := a.Int(1, 0) - 1
	if row < 0 || row >= l.view.Screen.Rows {
		return nil
	}
	l.text()
	runs := []any{}
	l.view.Screen.EachRun(row, func(r vt.Run) {
		runs = append(runs, map[string]any{
			"col": r.Col + 1, "cols": r.Cols, "text": r.Text,
			"foreground": r.Style.Foreground.String(), "background": r.Style.Background.String(),
			"bold": r.Style.Bold, "dim": r.Style.Dim, "inverse": r.Style.Inverse, "underline": r.Style.Underline != vt.UnderlineNone,
		})
	})
	a.Work(8 * len(runs))
	return runs
}

// since returns the newest output after a marker or an offset.
func (l *look) since(a sandbox.Args) (any, error) {
	value, err := a.Value(1)
	if err != nil {
		return nil, err
	}
	var from engine.Offset
	switch x := value.(type) {
	case string:
		at, ok := l.view.Transcript.Mark(x)
		if !ok {
			return nil, nil
		}
		from = at
	case int64:
		from = engine.Offset(max(x, 0))
	default:
		return nil, &argumentError{method: "transcript_since", want: "a marker's label or an offset"}
	}
	text, _, _ := l.view.Transcript.Since(from)
	if cut := len(text) - maxSince; cut > 0 {
		for cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut++
		}
		text = text[cut:]
	}
	a.Work(len(text) / 64)
	return l.read(string(text)), nil
}

// An argumentError is about the arguments of a host function that a plugin called.
type argumentError struct{ method, want string }

func (e *argumentError) Error() string {
	return "bad argument to " + strconv.Quote(e.method) + ": give " + e.want
}
