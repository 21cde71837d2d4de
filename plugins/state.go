package plugins

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/tree"
)

// A State is what a plugin says about one view: where its program is, how sure that is, and why.
// The words of State are the plugin's own, except [StateUnknown] and [StateError]. It is immutable
// and holds unredacted text of the program: see [State.Clean].
type State struct {
	State      string         `json:"state"`
	Confidence float64        `json:"confidence"`            // 0 to 1
	Evidence   string         `json:"evidence"`              // for people
	Sequence   uint64         `json:"sequence"`              // of the view
	Source     string         `json:"source,omitempty"`      // what it is based on: program_status, title, screen ...
	LastIntent string         `json:"last_intent,omitempty"` // set by the last performed intent
	Candidates []Candidate    `json:"candidates,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	Marks      []string       `json:"host_marks,omitempty"` // labels set at the transcript's end

	Rule    string    `json:"-"` // that decided; "" when the plugin does not say
	Rows    []int     `json:"-"` // that it looked at, from 0
	Nearly  []Nearly  `json:"-"` // rules that met some of their needs; only of an explanation
	Sources []Witness `json:"-"` // what each source said

	events  []Event
	recheck time.Duration // when to look again even if nothing changes; 0: never
}

// States that every adapter can be in.
const (
	// StateUnknown: the plugin does not recognise what it sees.
	StateUnknown = "unknown"
	// StateError: the plugin failed. Metadata["error"] says how.
	StateError = "plugin_error"
)

// A Candidate is a state that was considered.
type Candidate struct {
	State      string  `json:"state"`
	Confidence float64 `json:"confidence"`
}

// A Nearly is a rule that did not decide although part of it held.
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

// Bounds on what a classifier returns, in addition to the sandbox's on its size.
const (
	maxWord      = 128 // bytes of a state, a rule or a source: names
	maxEvents    = 256 // events of one call; a screen shows fewer
	maxStateList = 256 // entries of each other list
)

// A decoder reads a part of a plugin function's result.
type decoder struct{ tree.Value }

// decode starts with the whole result, under the name used in errors.
func decode(what string, value any) decoder { return decoder{tree.New(what, value)} }

func (d decoder) at(name string) decoder { return decoder{d.At(name)} }

func (d decoder) fail(format string, args ...any) { d.Fail(fmt.Errorf(format, args...)) }

// luaWords are the Lua words for types that [tree.Kind] names differently.
var luaWords = map[string]string{
	"nothing": "nil", "an empty string": "a string", "an array": "a list", "an object": "a table",
}

// problem is the first fault in a function's result; nil when there is none.
func (d decoder) problem(plugin, function string) error {
	f := d.Fault()
	switch {
	case f == nil:
		return nil
	case f.Err != nil:
		return resultError(plugin, function, "%v", f.Err)
	}
	got := tree.Got(f.Got)
	return resultError(plugin, function, "the %s must be %s, not %s", f.Path, f.Expected,
		cmp.Or(luaWords[got], got))
}

// members refuses what is not a table with names, and unknown names.
func (d decoder) members(known ...string) decoder {
	d.Object("a table with names")
	m, _ := d.V.(map[string]any)
	for name := range m {
		if !slices.Contains(known, name) {
			d.fail("the %s has %s, which means nothing: known are %s", d.Path, tree.Quote(name),
				strings.Join(known, ", "))
		}
	}
	return d
}

// text reads an optional string; one of at most maxWord bytes is a name.
func (d decoder) text(most int) string {
	s, ok := d.V.(string)
	if d.V != nil && (!ok || len(s) > most) {
		d.Refuse(fmt.Sprintf("a string of at most %d bytes", most))
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

// plain replaces every character that moves a terminal's cursor or reverses its text by U+FFFD,
// except line feeds and tabs: what a plugin says may be printed.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// number reads a number; 0, or least if greater, if missing.
func (d decoder) number(least, most float64) float64 {
	if d.V == nil {
		return max(least, 0)
	}
	return d.Number(least, most)
}

// list reads an optional list. An empty table is a list, too.
func (d decoder) list(most int) (all []decoder) {
	if m, ok := d.V.(map[string]any); d.V == nil || ok && len(m) == 0 {
		return nil
	}
	list, ok := d.V.([]any)
	if !ok || len(list) > most {
		d.Refuse(fmt.Sprintf("a list of at most %d entries", most))
		return nil
	}
	for _, e := range d.List() {
		all = append(all, decoder{e})
	}
	return all
}

// rows reads a list of row numbers, which count from 1 in Lua.
func (d decoder) rows() (rows []int) {
	for _, r := range d.list(maxStateList) {
		rows = append(rows, int(r.number(1, 1000))-1)
	}
	return rows
}

// decodeState reads what classify returned. The error is a *PluginError.
func decodeState(plugin string, value any) (*State, error) {
	d := decode("state", value).members("state", "confidence", "evidence", "sequence", "source",
		"rule", "candidates", "metadata",
		"marks", "host_marks", "events", "rows", "nearly", "sources", "recheck_ms")
	s := &State{
		State:      d.at("state").text(maxWord),
		Confidence: d.at("confidence").number(0, 1),
		Evidence:   d.at("evidence").text(16 << 10),
		Source:     d.at("source").text(maxWord),
		Rule:       d.at("rule").text(maxWord),
		Rows:       d.at("rows").rows(),
		recheck:    d.at("recheck_ms").duration(0, time.Minute),
	}
	if s.State == "" {
		d.fail("the state has no state: give its name")
	}
	if m := d.at("metadata"); m.V != nil {
		m.Object("a table with names")
		s.Metadata, _ = Clean(m.V, plain).(map[string]any)
	}
	for _, c := range d.at("candidates").list(maxStateList) {
		c.members("state", "confidence", "evidence")
		s.Candidates = append(s.Candidates,
			Candidate{c.at("state").text(maxWord), c.at("confidence").number(0, 1)})
	}
	for _, n := range d.at("nearly").list(maxStateList) {
		n.members("rule", "state", "lacks", "rows")
		s.Nearly = append(s.Nearly, Nearly{
			n.at("rule").text(maxWord), n.at("state").text(maxWord), n.at("lacks").text(1 << 10),
			n.at("rows").rows(),
		})
	}
	for _, w := range d.at("sources").list(maxStateList) {
		w.members("source", "says")
		s.Sources = append(s.Sources,
			Witness{w.at("source").text(maxWord), w.at("says").text(1 << 10)})
	}
	for _, key := range []string{"marks", "host_marks"} {
		for _, label := range d.at(key).list(maxStateList) {
			s.Marks = append(s.Marks, label.text(maxWord))
		}
	}
	for _, e := range d.at("events").list(maxEvents) {
		s.events = append(s.events, e.event())
	}
	if err := d.problem(plugin, "classify"); err != nil {
		return nil, err
	}
	return s, nil
}

// failed is the state of an adapter whose plugin has failed.
func failed(err *PluginError) *State {
	s := &State{
		State: StateError, Evidence: err.Error(), Source: "host",
		Metadata: map[string]any{"error": map[string]any{
			"plugin": err.Plugin, "function": err.Function, "module": err.Module,
			"line": int64(err.Line), "kind": err.Kind, "message": err.Message,
		}},
	}
	return s.Clean(plain)
}

// Clean returns the state with clean applied to every text in it that may come from the program,
// including names of states, rules and sources: a plugin can put anything there.
func (s *State) Clean(clean func(string) string) *State {
	c := *s
	c.State, c.Evidence, c.Source, c.Rule, c.LastIntent = clean(s.State), clean(s.Evidence),
		clean(s.Source), clean(s.Rule), clean(s.LastIntent)
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
		c.Nearly[i].Rule, c.Nearly[i].State, c.Nearly[i].Lacks = clean(n.Rule), clean(n.State),
			clean(n.Lacks)
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
