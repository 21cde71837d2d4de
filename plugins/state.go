package plugins

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
)

// A State is what a plugin says of one view: where its program is, how sure that is, and why. The words of State are the
// plugin's own, but for [StateUnknown] and [StateError]. It is immutable and holds text of the program as it is: see
// [State.Clean].
type State struct {
	State      string         `json:"state"`
	Confidence float64        `json:"confidence"`            // 0 to 1
	Evidence   string         `json:"evidence"`              // for people
	Sequence   uint64         `json:"sequence"`              // of the view
	Source     string         `json:"source,omitempty"`      // what told it: program_status, title, screen ...
	LastIntent string         `json:"last_intent,omitempty"` // as the last intent that was performed has left it
	Candidates []Candidate    `json:"candidates,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	Marks      []string       `json:"host_marks,omitempty"` // labels that were set at the transcript's end

	Rule    string    `json:"-"` // that decided; "" when the plugin does not say
	Rows    []int     `json:"-"` // that it looked at, from 0
	Nearly  []Nearly  `json:"-"` // rules that met some of their needs; only of an explanation
	Sources []Witness `json:"-"` // what each source said

	events  []Event
	recheck time.Duration // when to look again although nothing changes; 0: never
}

// States that every adapter can be in.
const (
	// StateUnknown: the plugin does not recognise what it sees.
	StateUnknown = "unknown"
	// StateError: the plugin failed. Metadata["error"] tells how.
	StateError = "plugin_error"
)

// A Candidate is a state that was considered.
type Candidate struct {
	State      string  `json:"state"`
	Confidence float64 `json:"confidence"`
}

// A Nearly is a rule that did not decide although something of it held.
type Nearly struct {
	Rule  string `json:"rule"`
	State string `json:"state"`
	Lacks string `json:"lacks"`
	Rows  []int  `json:"rows,omitempty"` // from 0
}

// A Witness is one source and what it said.
type Witness struct {
	Source string `json:"source"`
	Says   string `json:"says"`
}

// Bounds of what a classifier returns, beside those of the sandbox on its size.
const (
	maxWord      = 128 // bytes of a state, a rule or a source: names
	maxEvents    = 256 // events of one call; a screen shows fewer
	maxStateList = 256 // entries of each other list
)

// A decoder reads the result of a plugin's function and keeps the first fault.
type decoder struct {
	plugin, function string
	err              *PluginError
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = resultError(d.plugin, d.function, format, args...)
	}
}

// members refuses what is no table with names, and names that nobody reads.
func (d *decoder) members(what string, value any, known ...string) map[string]any {
	m, ok := value.(map[string]any)
	if !ok {
		d.fail("%s must be a table with names, not %s", what, kindOf(value))
		return nil
	}
	for name := range m {
		if !slices.Contains(known, name) {
			d.fail("%s has %s, which means nothing: known are %s", what, engine.Quote(name), strings.Join(known, ", "))
		}
	}
	return m
}

func (d *decoder) text(what string, value any, most int) string {
	s, ok := value.(string)
	switch {
	case value == nil:
	case !ok:
		d.fail("%s must be a string, not %s", what, kindOf(value))
	case len(s) > most:
		d.fail("%s has %d bytes, at most %d are allowed", what, len(s), most)
	}
	if s = plain(s); most == maxWord { // a name has one line
		s = strings.Map(func(r rune) rune {
			if r == '\n' || r == '\t' {
				return utf8.RuneError
			}
			return r
		}, s)
	}
	return s
}

// plain is a text in which U+FFFD stands for every character that moves a terminal's cursor or turns its text around, but for
// line feeds and tabs: what a plugin says is printed by whoever reads it.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return utf8.RuneError
		}
		return r
	}, s)
}

func (d *decoder) number(what string, value any, least, most float64) float64 {
	var n float64
	switch x := value.(type) {
	case nil:
		return max(least, 0)
	case int64:
		n = float64(x)
	case float64:
		n = x
	default:
		d.fail("%s must be a number, not %s", what, kindOf(value))
		return 0
	}
	if n < least || n > most || math.IsNaN(n) {
		d.fail("%s is %v: give %v to %v", what, n, least, most)
	}
	return n
}

func (d *decoder) list(what string, value any, most int) []any {
	switch x := value.(type) {
	case nil:
		return nil
	case []any:
		if len(x) > most {
			d.fail("%s has %d entries, at most %d are allowed", what, len(x), most)
			return nil
		}
		return x
	case map[string]any:
		if len(x) == 0 { // an empty table is either
			return nil
		}
	}
	d.fail("%s must be a list, not %s", what, kindOf(value))
	return nil
}

// rows reads a list of row numbers, which count from 1 in Lua.
func (d *decoder) rows(value any) []int {
	var rows []int
	for _, r := range d.list("rows", value, maxStateList) {
		rows = append(rows, int(d.number("a row", r, 1, 1000))-1)
	}
	return rows
}

// decodeState reads what classify returned. The error is a *PluginError.
func decodeState(plugin string, value any) (*State, error) {
	d := &decoder{plugin: plugin, function: "classify"}
	m := d.members("the state", value, "state", "confidence", "evidence", "sequence", "source", "rule", "candidates", "metadata",
		"marks", "host_marks", "events", "rows", "nearly", "sources", "recheck_ms")
	s := &State{
		State:      d.text("state", m["state"], maxWord),
		Confidence: d.number("confidence", m["confidence"], 0, 1),
		Evidence:   d.text("evidence", m["evidence"], 16<<10),
		Source:     d.text("source", m["source"], maxWord),
		Rule:       d.text("rule", m["rule"], maxWord),
		Rows:       d.rows(m["rows"]),
		recheck:    time.Duration(d.number("recheck_ms", m["recheck_ms"], 0, 60_000)) * time.Millisecond,
	}
	if s.State == "" {
		d.fail("the state has no state: give its name")
	}
	switch x := m["metadata"].(type) {
	case nil:
	case map[string]any:
		s.Metadata = Clean(x, plain).(map[string]any)
	default:
		d.fail("metadata must be a table with names, not %s", kindOf(x))
	}
	for _, c := range d.list("candidates", m["candidates"], maxStateList) {
		c := d.members("a candidate", c, "state", "confidence", "evidence")
		s.Candidates = append(s.Candidates, Candidate{d.text("a candidate's state", c["state"], maxWord), d.number("a candidate's confidence", c["confidence"], 0, 1)})
	}
	for _, n := range d.list("nearly", m["nearly"], maxStateList) {
		n := d.members("a rule in nearly", n, "rule", "state", "lacks", "rows")
		s.Nearly = append(s.Nearly, Nearly{
			Rule: d.text("rule", n["rule"], maxWord), State: d.text("state", n["state"], maxWord),
			Lacks: d.text("lacks", n["lacks"], 1<<10), Rows: d.rows(n["rows"]),
		})
	}
	for _, w := range d.list("sources", m["sources"], maxStateList) {
		w := d.members("a source", w, "source", "says")
		s.Sources = append(s.Sources, Witness{d.text("source", w["source"], maxWord), d.text("says", w["says"], 1<<10)})
	}
	for _, key := range []string{"marks", "host_marks"} {
		for _, label := range d.list(key, m[key], maxStateList) {
			s.Marks = append(s.Marks, d.text("a mark", label, maxWord))
		}
	}
	for _, e := range d.list("events", m["events"], maxEvents) {
		s.events = append(s.events, d.event(e))
	}
	if d.err != nil {
		return nil, d.err
	}
	return s, nil
}

// failed is the state of an adapter whose plugin has failed.
func failed(err *PluginError) *State {
	s := &State{
		State: StateError, Evidence: err.Error(), Source: "host",
		Metadata: map[string]any{"error": map[string]any{
			"plugin": err.Plugin, "function": err.Function, "module": err.Module, "line": int64(err.Line), "kind": err.Kind, "message": err.Message,
		}},
	}
	return s.Clean(plain)
}

// Clean returns the state with clean applied to every text in it that may come from the program, names of states, rules and
// sources included: a plugin can put what it likes there.
func (s *State) Clean(clean func(string) string) *State {
	c := *s
	c.State, c.Evidence, c.Source, c.Rule, c.LastIntent = clean(s.State), clean(s.Evidence), clean(s.Source), clean(s.Rule), clean(s.LastIntent)
	c.Candidates = slices.Clone(s.Candidates)
	for i := range c.Candidates {
		c.Candidates[i].State = clean(c.Candidates[i].State)
	}
	if s.Metadata != nil {
		c.Metadata = Clean(s.Metadata, clean).(map[string]any)
	}
	c.Marks = slices.Clone(s.Marks)
	for i := range c.Marks {
		c.Marks[i] = clean(c.Marks[i])
	}
	c.Nearly = slices.Clone(s.Nearly)
	for i, n := range c.Nearly {
		c.Nearly[i].Rule, c.Nearly[i].State, c.Nearly[i].Lacks = clean(n.Rule), clean(n.State), clean(n.Lacks)
	}
	c.Sources = slices.Clone(s.Sources)
	for i, w := range c.Sources {
		c.Sources[i] = Witness{clean(w.Source), clean(w.Says)}
	}
	return &c
}

// Clean applies clean to every string in a value, keys included.
func Clean(value any, clean func(string) string) any {
	switch x := value.(type) {
	case string:
		return clean(x)
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = Clean(e, clean)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for _, k := range slices.Sorted(maps.Keys(x)) {
			out[clean(k)] = Clean(x[k], clean)
		}
		return out
	}
	return value
}

// kindOf names a value's type in the words of Lua.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "nil"
	case bool:
		return "a boolean"
	case int64, float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "a table"
}
