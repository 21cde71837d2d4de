package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/nearest"
	"github.com/ptywright/ptywright/plugins"
)

// A Report is the result of a plugin's cases.
type Report struct {
	Plugin string   `json:"plugin"`
	Folder string   `json:"folder"`
	Passed int      `json:"passed"`
	Failed int      `json:"failed"`
	Cases  []Result `json:"cases"`
}

// A Result is the result of one case.
type Result struct {
	Case     string    `json:"case"`
	Path     string    `json:"path"`
	OK       bool      `json:"ok"`
	States   []string  `json:"states,omitempty"`
	Updated  string    `json:"updated,omitempty"` // the file that was written
	Failures []Failure `json:"failures,omitempty"`
}

// A Failure is one difference from what is expected, and what the plugin saw there.
type Failure struct {
	What     string   `json:"what"` // such as state, or metadata.exit_code
	AtMS     int64    `json:"at_ms"`
	End      bool     `json:"end"` // at the recording's end
	Expected any      `json:"expected"`
	Got      any      `json:"got"`
	State    string   `json:"state,omitempty"`
	Rule     string   `json:"rule,omitempty"` // the one that fired
	Evidence string   `json:"evidence,omitempty"`
	Nearly   []Nearly `json:"nearly,omitempty"` // rules that did not fire, but held in part
	Screen   []string `json:"screen,omitempty"` // one string a row, without blank rows at the end
	Rows     int      `json:"rows,omitempty"`
	Cols     int      `json:"cols,omitempty"`
	Cursor   [2]int   `json:"cursor"` // row and column, from 0
	Problem  string   `json:"problem,omitempty"`
}

// when is the sort key of a failure.
func (f *Failure) when() int64 {
	if f.End {
		return math.MaxInt64
	}
	return f.AtMS
}

// A Nearly is a rule that did not fire.
type Nearly struct {
	Rule  string `json:"rule"`
	State string `json:"state"`
	Lacks string `json:"lacks"`
}

// maxFailures bounds the failures shown for a case: one broken rule fails everything after it.
const maxFailures = 10

// Test plays the cases whose names match and compares the results. With update it writes the
// plugin's results to the expected.json instead, and fails only where a case could not be played.
// The error is a fault of the plugin or an unknown case; see [Report.Failed] for failed cases.
func (f *Folder) Test(ctx context.Context, match *regexp.Regexp, update bool) (*Report, error) {
	cases, faults := f.Cases(match)
	r := &Report{Plugin: f.Source.Manifest.Name, Folder: f.Dir, Cases: []Result{}}
	for _, e := range faults {
		r.Cases = append(r.Cases,
			Result{Case: e.Path, Path: e.Path,
				Failures: []Failure{{What: "case", Problem: e.Error()}}})
	}
	if len(cases)+len(faults) == 0 {
		if match != nil {
			return nil,
				fmt.Errorf("no case of %s matches %q: see %s/%s for their names", f.Dir, match,
					f.Dir, casesDir)
		}
		return nil, fmt.Errorf("%s has no cases: record one with ptywright plugin run --record NAME %s, or put NAME%s into %s", f.Dir, f.Dir, screenExt, casesDir)
	}
	for _, c := range cases {
		result, err := f.testCase(ctx, c, update)
		if err != nil {
			return nil, err
		}
		r.Cases = append(r.Cases, *result)
	}
	for _, c := range r.Cases {
		if c.OK {
			r.Passed++
		} else {
			r.Failed++
		}
	}
	return r, nil
}

// A comparison is one case in progress.
type comparison struct {
	folder *Folder
	c      *Case
	update bool
	result *Result
}

func (f *Folder) testCase(ctx context.Context, c *Case, update bool) (*Result, error) {
	t := &comparison{folder: f, c: c, update: update, result: &Result{Case: c.Name, Path: c.Path}}
	want := c.Expected
	fresh := want == nil
	if fresh {
		want = &Expected{End: &Want{}}
		if !update {
			t.fail(Failure{What: "expected",
				Problem: fmt.Sprintf("there is no %s: write down what the plugin says with --update, and review it", c.expectedPath())})
			return t.result, nil
		}
	}
	var stops []stop
	for i := range want.At {
		m := &want.At[i]
		at := time.Duration(m.MS) * time.Millisecond
		stops = append(stops,
			stop{at,
				func(r *plugins.Rehearsal) error { return t.moment(ctx, r, &m.Want, at, false) }})
	}
	stops = append(stops, stop{atEnd, func(r *plugins.Rehearsal) error {
		if want.End != nil {
			if fresh {
				waits(ctx, r, want.End)
			}
			if err := t.moment(ctx, r, want.End, 0, true); err != nil {
				return err
			}
		}
		return t.events(r, want, fresh)
	}})
	var changes []time.Duration
	seen := func(at time.Duration, s *plugins.State, v *engine.View) {
		if n := len(t.result.States); n == 0 || t.result.States[n-1] != s.State {
			t.result.States, changes = append(t.result.States, s.State), append(changes, at)
		}
	}
	if err := f.play(ctx, c, seen, stops...); err != nil {
		return nil, err
	}
	if c.rec != nil && (want.States != nil || fresh) {
		if err := t.states(ctx, want, changes); err != nil {
			return nil, err
		}
	}
	if update {
		if err := t.write(want); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(t.result.Failures,
		func(a, b Failure) int { return cmp.Compare(a.when(), b.when()) })
	t.result.OK = len(t.result.Failures) == 0
	return t.result, nil
}

// write writes the plugin's results.
func (t *comparison) write(want *Expected) error {
	text, err := want.encode()
	if err != nil {
		return err
	}
	path := t.c.expectedPath()
	if old, err := readIn(t.folder.Dir, inCases(path)); err == nil && string(old) == string(text) {
		return nil
	}
	if err := writeIn(t.folder.Dir, inCases(path), text); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	t.result.Updated = path
	return nil
}

func (t *comparison) fail(f Failure) {
	if len(t.result.Failures) < maxFailures {
		t.result.Failures = append(t.result.Failures, f)
	}
}

// waits adds which of the plugin's waits would end, if nobody has written that yet.
func waits(ctx context.Context, r *plugins.Rehearsal, w *Want) {
	d, _, err := r.Describe(ctx)
	if err != nil {
		return
	}
	for _, e := range d.WaitMatchers {
		name, _ := e["name"].(string)
		if held, _, err := r.Holds(ctx, name, nil); err == nil {
			if w.Waits == nil {
				w.Waits = map[string]bool{}
			}
			w.Waits[name] = held
		}
	}
}

// moment compares the plugin's results for a screen.
func (t *comparison) moment(ctx context.Context, r *plugins.Rehearsal, w *Want, at time.Duration,
	end bool) error {
	s := r.State()
	blank := w.State == "" && w.Rule == "" && w.Metadata == nil && w.Intents == nil
	if t.update {
		if blank || w.State != "" {
			w.State = s.State
		}
		if blank || w.Rule != "" {
			w.Rule = s.Rule
		}
		w.Metadata = updated(w.Metadata, asJSON(s.Metadata), blank)
	}
	report := func(what string, expected, got any, problem string) error {
		f := Failure{What: what, AtMS: at.Milliseconds(), End: end, Expected: expected, Got: got,
			Problem: problem}
		if err := f.see(ctx, r); err != nil {
			return err
		}
		t.fail(f)
		return nil
	}
	if w.State != "" && w.State != s.State {
		if err := report("state", w.State, s.State, cause(ctx, r, w.State)); err != nil {
			return err
		}
	}
	if w.Rule != "" && w.Rule != s.Rule {
		if err := report("rule", w.Rule, s.Rule, ""); err != nil {
			return err
		}
	}
	if w.Metadata != nil {
		if path, expected, got, ok := within(w.Metadata, asJSON(s.Metadata), "metadata"); !ok {
			if err := report(path, expected, got, ""); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Waits)) {
		held, why, err := r.Holds(ctx, name, nil)
		switch {
		case t.update && err == nil:
			w.Waits[name] = held
		case err != nil:
			err = report("waits."+name, w.Waits[name], err.Error(), "")
		case held != w.Waits[name]:
			err = report("waits."+name, w.Waits[name], fmt.Sprintf("%v: %s", held, why), "")
		}
		if err != nil {
			return err
		}
	}
	for i := range w.Intents {
		want := &w.Intents[i]
		got, why := intend(ctx, r, want.Intent, want.Params)
		if t.update {
			want.Actions, want.Refused = got.Actions, got.Refused
		}
		if got.Refused != want.Refused || !slices.Equal(got.Actions, want.Actions) {
			if err := report("intent "+want.Intent, outcome(*want), outcome(got), why); err != nil {
				return err
			}
		}
	}
	return nil
}

// cause says when a wrong state may only be a naming mistake, or follow from an error; otherwise
// "".
func cause(ctx context.Context, r *plugins.Rehearsal, expected string) string {
	s := r.State()
	if s.State == plugins.StateError {
		return "the classifier fails: " + s.Evidence
	}
	d, _, err := r.Describe(ctx)
	if err != nil || len(d.States) == 0 {
		return ""
	}
	names := listedStates(d)
	for _, state := range []string{s.State, expected} {
		if state == "" || state == plugins.StateUnknown || slices.Contains(names, state) {
			continue
		}
		text := "describe lists no state " + state
		if near := nearest.Of(state, names); near != "" {
			text += fmt.Sprintf(": did you mean %s?", near)
		}
		if state == expected {
			text += " (when it was renamed, --update writes that down)"
		}
		return text
	}
	return ""
}

// intend asks the plugin what an intent would do, and why it would not.
func intend(ctx context.Context, r *plugins.Rehearsal, intent string,
	params anything) (out IntentWant, why string) {
	out = IntentWant{Intent: intent, Params: params}
	p, err := r.Plan(ctx, intent, whole(params).(anything))
	var fault *plugins.PluginError
	switch {
	case err == nil:
		out.Actions = append(p.Actions, p.Submit...)
	case errors.As(err, &fault) && fault.Code != "":
		out.Refused, why = fault.Code, fault.Message
	default:
		out.Refused = err.Error()
	}
	return out, why
}

// whole converts JSON's whole numbers to those of the plugin's Lua.
func whole(value any) any {
	switch x := value.(type) {
	case float64:
		if x == float64(int64(x)) {
			return int64(x)
		}
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = whole(e)
		}
		return out
	case map[string]any:
		out := make(anything, len(x))
		for k, e := range x {
			out[k] = whole(e)
		}
		return out
	}
	return value
}

func outcome(w IntentWant) any {
	if w.Refused != "" {
		return "refused: " + w.Refused
	}
	return w.Actions
}

// states compares the order of the states.
func (t *comparison) states(ctx context.Context, want *Expected, changes []time.Duration) error {
	got := t.result.States
	if t.update {
		want.States = got
		return nil
	}
	if slices.Equal(got, want.States) {
		return nil
	}
	i := 0
	for i < len(got) && i < len(want.States) && got[i] == want.States[i] {
		i++
	}
	f := Failure{What: "states", Expected: want.States, Got: got, End: i >= len(changes)}
	at := atEnd
	switch {
	case i >= len(got):
		f.Problem = fmt.Sprintf("state %d should be %s, and did not come", i+1, want.States[i])
	case i >= len(want.States):
		f.Problem = fmt.Sprintf("after the last that is expected came %s", got[i])
	default:
		f.Problem = fmt.Sprintf("state %d is %s, not %s", i+1, got[i], want.States[i])
	}
	if !f.End {
		at = changes[i]
		f.AtMS = at.Milliseconds()
	}
	err := t.folder.play(ctx, t.c, nil, stop{at, func(r *plugins.Rehearsal) error {
		expected := ""
		if i < len(want.States) {
			expected = want.States[i]
		}
		if why := cause(ctx, r, expected); why != "" && !f.End {
			f.Problem += "; " + why
		}
		return f.see(ctx, r)
	}})
	t.fail(f)
	return err
}

// events compares the events other than states: each expected one, in order; others may come
// between.
func (t *comparison) events(r *plugins.Rehearsal, want *Expected, fresh bool) error {
	var got []anything
	for _, e := range r.Events() {
		if e.Kind == "state" {
			continue
		}
		m := asJSON(e)
		delete(m, "seq")
		delete(m, "at")
		delete(m, "sequence")
		got = append(got, m)
	}
	if t.update && (fresh || want.Events != nil) {
		want.Events = got
		return nil
	}
	rest := got
	for i, e := range want.Events {
		at := slices.IndexFunc(rest,
			func(g anything) bool { _, _, _, ok := within(e, g, ""); return ok })
		if at < 0 {
			t.fail(Failure{What: fmt.Sprintf("events[%d]", i), End: true, Expected: e, Got: rest,
				Problem: "no event behind the one before is like it"})
			return nil
		}
		rest = rest[at+1:]
	}
	return nil
}

// see adds what the plugin sees, and why it reports what it does.
func (f *Failure) see(ctx context.Context, r *plugins.Rehearsal) error {
	v := r.View()
	f.Rows, f.Cols, f.Cursor = v.Screen.Rows, v.Screen.Cols,
		[2]int{v.Screen.Cursor.Row, v.Screen.Cursor.Col}
	f.Screen = v.Screen.Lines()
	for len(f.Screen) > 0 && f.Screen[len(f.Screen)-1] == "" {
		f.Screen = f.Screen[:len(f.Screen)-1]
	}
	s := r.State()
	f.State, f.Rule, f.Evidence = s.State, s.Rule, s.Evidence
	why, err := r.Explain(ctx)
	var fault *plugins.PluginError
	if errors.As(err, &fault) { // report the fault: the state says it
		return nil
	} else if err != nil {
		return err
	}
	for _, n := range why.Nearly {
		f.Nearly = append(f.Nearly, Nearly{n.Rule, n.State, n.Lacks})
	}
	return nil
}

// asJSON is a value as it is on the wire.
func asJSON(value any) anything {
	var out anything
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return nil
	}
	return out
}

// within reports whether got contains everything in want, and if not, where it differs. Lists must
// have the same length.
func within(want, got any, path string) (where string, expected, found any, ok bool) {
	switch w := want.(type) {
	case anything:
		g, is := got.(anything)
		if !is {
			return path, want, got, false
		}
		for _, k := range slices.Sorted(maps.Keys(w)) {
			if where, expected, found, ok = within(w[k], g[k],
				strings.TrimPrefix(path+"."+k, ".")); !ok {
				return where, expected, found, false
			}
		}
		return "", nil, nil, true
	case []any:
		g, is := got.([]any)
		if !is || len(g) != len(w) {
			return path, want, got, false
		}
		for i := range w {
			if where, expected, found, ok = within(w[i], g[i],
				fmt.Sprintf("%s[%d]", path, i)); !ok {
				return where, expected, found, false
			}
		}
		return "", nil, nil, true
	}
	return path, want, got, want == got
}

// updated is the part of got that was in want, or all of it.
func updated(want, got anything, all bool) anything {
	if all {
		return got
	}
	var out anything
	for k := range want {
		if value, ok := got[k]; ok {
			if out == nil {
				out = anything{}
			}
			w, isTable := want[k].(anything)
			g, isTable2 := value.(anything)
			if isTable && isTable2 {
				out[k] = updated(w, g, false)
				continue
			}
			out[k] = value
		}
	}
	return out
}
