package client_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/protocol/client"
)

// hang bounds what a test waits for: far more than a loaded machine needs, so that what hangs
// fails.
const hang = 2 * time.Minute

// A schema is one of the model's, as JSON decodes it.
type schema = map[string]any

// A judge holds values against the model, in a reading of JSON Schema that shares no code with the
// server's.
type judge struct {
	t    *testing.T
	defs schema
	root schema
}

func newJudge(t *testing.T) *judge {
	t.Helper()
	var model schema
	decodeFile(t, "../model.json", &model)
	return &judge{t, model["$defs"].(schema), model}
}

func decodeFile(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

type vector struct {
	Def, Case string
	Valid     bool
	Value     any
}

func vectors(t *testing.T) (all []vector) {
	t.Helper()
	decodeFile(t, "../../sdk/vectors.json", &all)
	return all
}

// TestVectors: the Go client judges every vector as it was made.
func TestVectors(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	all := vectors(t)
	for _, v := range all {
		if err := j.fits(j.def(v.Def), v.Value); (err == nil) != v.Valid {
			t.Errorf("%s, %s: made to be valid is %v, and the judge says %v", v.Def, v.Case, v.Valid, err)
		}
	}
	if len(all) < 4000 {
		t.Errorf("there are only %d vectors", len(all))
	}
}

func (j *judge) def(name string) schema {
	s, ok := j.defs[strings.TrimPrefix(name, "#/$defs/")].(schema)
	if !ok {
		j.t.Fatalf("the model has no definition %s", name)
	}
	return s
}

// fits says what of a value does not fit a schema. A keyword that it does not know fails the test.
func (j *judge) fits(of, v any) error {
	if of == true {
		return nil // it takes everything
	}
	s := of.(schema)
	o, isObject := v.(map[string]any)
	list, isList := v.([]any)
	text, isText := v.(string)
	n, isNumber := v.(float64)
	properties, _ := s["properties"].(schema)
	for _, keyword := range slices.Sorted(maps.Keys(s)) {
		is := s[keyword]
		bad := false
		var inner error
		switch keyword {
		case "description", "title", "default", "examples", "x-since", "x-stability":
		case "format":
			if is != "date-time" {
				j.t.Fatalf("the judge does not know the format %v", is)
			}
			if isText {
				_, inner = time.Parse(time.RFC3339Nano, text)
			}
		case "$ref":
			inner = j.fits(j.def(is.(string)), v)
		case "const":
			bad = !reflect.DeepEqual(is, v)
		case "enum":
			bad = !slices.ContainsFunc(is.([]any), func(e any) bool { return reflect.DeepEqual(e, v) })
		case "type":
			types, many := is.([]any)
			if !many {
				types = []any{is}
			}
			bad = !slices.ContainsFunc(types, func(t any) bool { return isType(t.(string), v) })
		case "oneOf":
			held := 0
			for _, b := range is.([]any) {
				if j.fits(b.(schema), v) == nil {
					held++
				}
			}
			bad = held != 1
		case "not":
			bad = j.fits(is.(schema), v) == nil
		case "required":
			for _, name := range is.([]any) {
				_, there := o[name.(string)]
				bad = bad || isObject && !there
			}
		case "properties":
			for name, p := range properties {
				if member, there := o[name]; there && inner == nil {
					inner = j.fits(p, member)
				}
			}
		case "additionalProperties":
			for name, member := range o {
				if _, known := properties[name]; known || inner != nil {
					continue
				}
				if more, ok := is.(schema); ok {
					inner = j.fits(more, member)
				} else {
					bad = bad || is == false
				}
			}
		case "dependentRequired":
			for name, others := range is.(schema) {
				for _, other := range others.([]any) {
					_, there := o[name]
					_, with := o[other.(string)]
					bad = bad || there && !with
				}
			}
		case "dependentSchemas":
			for name, whole := range is.(schema) {
				if _, there := o[name]; there && inner == nil {
					inner = j.fits(whole.(schema), v)
				}
			}
		case "items":
			for _, e := range list {
				if inner == nil {
					inner = j.fits(is, e)
				}
			}
		case "minItems":
			bad = isList && len(list) < int(is.(float64))
		case "maxItems":
			bad = isList && len(list) > int(is.(float64))
		case "minLength":
			bad = isText && utf8.RuneCountInString(text) < int(is.(float64))
		case "maxLength":
			bad = isText && utf8.RuneCountInString(text) > int(is.(float64))
		case "minimum":
			bad = isNumber && n < is.(float64)
		case "maximum":
			bad = isNumber && n > is.(float64)
		case "pattern":
			bad = isText && !regexp.MustCompile(is.(string)).MatchString(text)
		default:
			j.t.Fatalf("the judge does not know the keyword %s", keyword)
		}
		if inner != nil {
			return inner
		}
		if bad {
			return fmt.Errorf("%v is against %s: %v", v, keyword, is)
		}
	}
	return nil
}

func isType(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	default:
		return name == "object"
	}
}

// received are the types that the client decodes, with the members that it leaves out, by
// definition.
var received = map[string]struct {
	into    func() any
	without []string
}{
	"Session":            {into[client.Info], nil},
	"Span":               {into[client.Span], nil},
	"Exit":               {into[client.Exit], nil},
	"Lease":              {into[client.Lease], nil},
	"Snapshot":           {into[client.Snapshot], nil},
	"Cell":               {into[client.Cell], nil},
	"Style":              {into[client.Style], nil},
	"Scrolled":           {into[client.Scrolled], nil},
	"Matched":            {into[client.Match], []string{"matched"}}, // true
	"Frame":              {into[client.Frame], nil},
	"FrameRow":           {into[client.FrameRow], []string{"runs"}}, // of another form
	"FrameModes":         {into[client.FrameModes], nil},
	"SessionInputResult": {into[client.Sent], []string{"sent"}}, // true
	// it does not ask for it
	"SessionRunResult": {into[client.Ran], []string{"screen_text"}},
	// of a plugin for itself
	"State":                    {into[client.State], []string{"host_marks"}},
	"Receipt":                  {into[client.Receipt], nil},
	"AdapterTurnResult":        {into[client.Performed], []string{"sequence", "elapsed_ms", "wait_id"}},
	"Recording":                {into[client.Recorded], []string{"recording"}}, // its id
	"ServerCapabilitiesResult": {into[client.Capabilities], []string{"name", "framing", "ordering", "reasons", "schema"}},
	"TimeoutData": {into[client.Evidence], []string{"reason", "written", "done", "receipt", "state", "output", "truncated", "screen_text", "duration_ms",
		"matched", "waiting", "ended", "lost", "complete", "lacking"}}, // of session.wait_many, as MatchedSessions
	"MatchedSessions":        {into[client.ManyMatches], nil},
	"SessionChangedParams":   {into[client.Event], nil},
	"SessionOutputParams":    {into[client.Event], nil},
	"SessionExitedParams":    {into[client.Event], nil},
	"SessionLeasedParams":    {into[client.Event], nil},
	"AdapterChangedParams":   {into[client.Event], nil},
	"SessionEventParams":     {into[client.Event], nil},
	"SessionEvent":           {into[client.SessionEvent], nil},
	"ContainsTextOutcome":    {into[client.Outcome], nil},
	"ScreenRegexOutcome":     {into[client.Outcome], nil},
	"TitleContainsOutcome":   {into[client.Outcome], nil},
	"LocatedOutcome":         {into[client.Outcome], nil},
	"Place":                  {into[client.Place], nil},
	"Cells":                  {into[client.CellSpan], nil},
	"Pressed":                {into[client.Pressed], nil},
	"SessionLocateResult":    {into[client.Places], []string{"shown_at", "kept_from", "kept_from_at"}},
	"CursorAtOutcome":        {into[client.Outcome], nil},
	"ScreenStableOutcome":    {into[client.Outcome], nil},
	"CommandFinishedOutcome": {into[client.Outcome], nil},
	"LuaOutcome":             {into[client.Outcome], nil},
	"BellOutcome":            {into[client.Outcome], nil},
}

func into[T any]() any { return new(T) }

// TestTypesReadEveryMember: a type decodes every valid vector of its definition, and is another one
// with another value of any member: none is spelt otherwise than in the model, or forgotten.
func TestTypesReadEveryMember(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	decoded := func(def string, v any) any {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got := received[def].into()
		if err := json.Unmarshal(text, got); err != nil {
			t.Errorf("%s %s: %v", def, text, err)
		}
		if e, ok := got.(*client.Event); ok {
			e.Params = nil
		}
		return got
	}
	tried := map[string]int{}
	for _, v := range vectors(t) {
		if _, ours := received[v.Def]; !ours || !v.Valid {
			continue
		}
		before := decoded(v.Def, v.Value)
		if v.Case != "all members" && v.Case != "the least" {
			continue
		}
		whole := v.Value.(map[string]any)
		for name, p := range j.resolved(j.def(v.Def))["properties"].(schema) {
			if slices.Contains(received[v.Def].without, name) || whole[name] == nil {
				continue
			}
			changed := maps.Clone(whole)
			changed[name] = j.other(p, whole[name])
			if changed[name] == nil {
				continue // it has one value only
			}
			tried[v.Def]++
			if reflect.DeepEqual(before, decoded(v.Def, changed)) {
				t.Errorf("%s: %s of %s is not read", reflect.TypeOf(before), name, v.Def)
			}
		}
	}
	for def := range received {
		if tried[def] == 0 && def != "BellOutcome" {
			t.Errorf("no member of %s was tried", def)
		}
	}
}

func (j *judge) resolved(s schema) schema {
	for s["$ref"] != nil {
		s = j.def(s["$ref"].(string))
	}
	return s
}

// other returns a value of a schema that differs from v, nil when there is none.
func (j *judge) other(of, v any) any {
	s, ok := of.(schema)
	if !ok {
		s = schema{} // of one that takes everything
	}
	s = j.resolved(s)
	if s["const"] != nil {
		return nil
	}
	switch v := v.(type) {
	case bool:
		return !v
	case string:
		if s["format"] == "date-time" {
			return "2027-02-03T04:05:06Z"
		}
		return v + "x"
	case float64:
		return v + 7
	case []any:
		items, _ := s["items"].(schema)
		switch {
		case len(v) > 0:
			return append(slices.Clone(v), v[0])
		case items["$ref"] != nil:
			return []any{map[string]any{"kind": "bell"}}
		}
		return []any{"x"}
	case map[string]any:
		if _, free := s["additionalProperties"]; free || len(v) == 0 {
			n := map[string]any{"x": 7}
			if more, ok := s["additionalProperties"].(schema); ok && more["type"] == "string" {
				n["x"] = "x"
			}
			return n
		}
		s = j.branch(s, v)
		properties, _ := s["properties"].(schema)
		for name, member := range v {
			if p, ok := properties[name]; ok {
				if other := j.other(p, member); other != nil {
					changed := maps.Clone(v)
					changed[name] = other
					return changed
				}
			}
		}
	}
	return nil
}

// branch returns the branch of a union that v belongs to.
func (j *judge) branch(s schema, v any) schema {
	branches, _ := s["oneOf"].([]any)
	for _, b := range branches {
		if b := b.(schema); j.fits(b, v) == nil {
			return j.branch(j.resolved(b), v)
		}
	}
	return s
}

// TestWhatIsSentFits: the params that the client makes are those of the model, each matcher type
// and each option among them, and a configuration has all members.
func TestWhatIsSentFits(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	plain := func(v any) (p any) {
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, &p)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	made := map[string]bool{}
	for _, m := range []client.Matcher{
		client.Text(""), client.Regexp("a").In(client.Seen), client.Output("a"), client.Title("a"), client.Cursor(1, 2), client.Stable(time.Second),
		client.Exited(), client.Bell(), client.InState("idle"), client.Located("box"), client.LocatedCount("box", 0), client.Golden("screen 1\n"), client.Command(), client.CommandExit(0), client.Lua("p", "f", nil), client.Lua("p", "f", map[string]any{"a": 1}),
		client.Any(client.Text("a"), client.Exited()), client.All(client.Text("a")), client.Not(client.All(client.Text("a")).In(client.OnScreen)),
	} {
		made[m.Type] = true
		if err := j.fits(j.def("Matcher"), plain(m)); err != nil {
			t.Errorf("%+v: %v", m, err)
		}
	}
	for _, b := range j.def("Matcher")["oneOf"].([]any) {
		kind := j.resolved(b.(schema))["properties"].(schema)["type"].(schema)["const"].(string)
		// texts, which expressions can quote
		if !made[kind] && kind != "transcript_contains" && kind != "title_contains" {
			t.Errorf("no function makes the matcher %s", kind)
		}
	}
	number := 7
	whole := client.Config{
		Name: "n", Tags: []string{"t"}, Program: "p", Args: []string{"a"}, Cwd: "/", Env: map[string]string{"A": "b"}, BaseEnv: map[string]string{"A": "b"}, Rows: 1, Cols: 2,
		PixelWidth: 3, PixelHeight: 4, TranscriptMaxChars: &number, HistoryMaxBytes: &number, ScrollbackMaxLines: &number, RawTranscriptPath: "p", RawTranscriptAppend: true,
		EchoOff: "ask", ShellIntegration: true, Theme: "dark", Owner: "connection", Max: time.Second, Idle: time.Second, MaxMemory: 1 << 30, Host: "h",
	}
	params := plain(whole).(map[string]any)
	if err := j.fits(j.def("SessionCreateParams"), params); err != nil {
		t.Error(err)
	}
	for name := range j.def("SessionCreateParams")["properties"].(schema) {
		if _, there := params[name]; !there && name != "clear_env" { // it excludes base_env
			t.Errorf("Config has no %s", name)
		}
	}
	// Each call is held against the model as it is sent.
	methods := j.root["methods"].(schema)
	c, s := pair(t)
	session := c.Session("s1")
	ctx := t.Context()
	calls := []func() error{
		func() error { return session.Send(ctx, "a") },
		func() error { return session.Press(ctx, "enter", "up") },
		func() error { return session.Click(ctx, 1, 2, client.Left) },
		func() error { return session.Click(ctx, 1, 2, client.WheelUp) },
		func() error {
			_, err := session.ClickOn(ctx, "box", client.Right, client.Times(2), client.Spot("start"), client.Within(0))
			return err
		},
		func() error {
			_, err := session.LocateAll(ctx, "box", client.Within(time.Second), client.After(3), client.Unredacted)
			return err
		},
		func() error { return session.Gone(ctx, "box") },
		func() error { return session.Signal(ctx, "int") },
		func() error {
			_, err := session.Type(ctx, time.Second, client.Action{Type: "text", Value: "a"})
			return err
		},
		func() error {
			_, err := session.Wait(ctx, client.Text("a"), client.Within(0), client.Runs, client.Unredacted)
			return err
		},
		func() error { _, err := session.Wait(ctx, client.Text("a"), client.Position("p1-2")); return err },
		func() error { _, err := session.Expect(ctx, client.Text("a"), client.Within(time.Hour)); return err },
		func() error { _, err := session.Run(ctx, "make", client.Within(time.Hour)); return err },
		func() error { _, err := session.Screen(ctx, client.AllCells, client.Unredacted); return err },
		func() error { _, err := session.Transcript(ctx); return err },
		func() error { _, err := session.Record(ctx, "/a.cast"); return err },
		func() error { _, err := session.Frame(ctx, client.FrameOptions{}); return err },
		func() error { _, err := session.Kill(ctx); return err },
		func() error { return session.Resize(ctx, 10, 20) },
		func() error { return session.Hold(ctx, 10, 20) },
		func() error { return session.Lease(ctx, "me", true) },
		func() error { return session.Release(ctx) },
		func() error { return session.Close(ctx) },
		func() error { _, err := c.Adapter(ctx, "repl", client.Config{Rows: 30}); return err },
		func() error { _, err := (&client.Adapter{ID: "e1", Session: session}).State(ctx); return err },
		func() error {
			_, err := (&client.Adapter{ID: "e1", Session: session}).Send(ctx, "i", map[string]any{"a": 1})
			return err
		},
		func() error {
			_, err := (&client.Adapter{ID: "e1", Session: session}).Turn(ctx, "i", nil, client.Within(time.Hour))
			return err
		},
		func() error { _, err := (&client.Adapter{ID: "e1", Session: session}).Wait(ctx); return err },
		func() error { return (&client.Adapter{ID: "e1", Session: session}).Close(ctx) },
		func() error { _, err := c.Sessions(ctx); return err },
		func() error { _, err := c.Forget(ctx); return err },
		func() error { _, err := c.Capabilities(ctx); return err },
		func() error { return c.Subscribe(ctx, func(client.Event) {}, "s1") },
		func() error { return c.Subscribe(ctx, nil) },
	}
	for _, call := range calls {
		done := later(call)
		r := s.next()
		def := methods[r.Method].(schema)["params"].(schema)
		params := map[string]any{}
		if len(r.Params) > 0 {
			params = plain(r.Params).(map[string]any)
		}
		if err := j.fits(def, params); err != nil {
			t.Errorf("%s %s: %v", r.Method, r.Params, err)
		}
		for name := range params {
			if j.resolved(def)["properties"].(schema)[name] == nil {
				t.Errorf("%s has no %s", r.Method, name)
			}
		}
		s.send(`{"jsonrpc":"2.0","id":%d,"result":{"sent":true,"sequence":5}}`, r.ID)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", r.Method, err)
		}
	}
}
