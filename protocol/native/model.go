package native

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
)

// protocolVersion is the version of the wire. It grows when a client of the version before could
// misunderstand something; members that are new say since when they are there instead.
const protocolVersion = 1

// named are the types that are a definition of their own in the model, each with its name and the
// type that has its shape.
var named = sync.OnceValue(func() map[reflect.Type]shapeOf {
	return map[reflect.Type]shapeOf{
		reflect.TypeFor[look]():              is[snapshotShape]("Snapshot"),
		reflect.TypeFor[waitResult]():        is[waitShape]("Matched"),
		reflect.TypeFor[frame]():             is[frameShape]("Frame"),
		reflect.TypeFor[span]():              is[spanShape]("Span"),
		reflect.TypeFor[instantShape]():      is[instantShape]("Instant"),
		reflect.TypeFor[placeShape]():        is[placeShape]("Place"),
		reflect.TypeFor[cellSpan]():          is[cellSpan]("Cells"),
		reflect.TypeFor[pressShape]():        is[pressShape]("Pressed"),
		reflect.TypeFor[stageShape]():        is[stageShape]("Stage"),
		reflect.TypeFor[sizeShape]():         is[sizeShape]("Size"),
		reflect.TypeFor[cellShape]():         is[cellShape]("Cell"),
		reflect.TypeFor[rowShape]():          is[rowShape]("FrameRow"),
		reflect.TypeFor[styledLine]():        is[lineShape]("StyledLine"),
		reflect.TypeFor[stretchShape]():      is[stretchShape]("Stretch"),
		reflect.TypeFor[modesShape]():        is[modesShape]("FrameModes"),
		reflect.TypeFor[styleShape]():        is[styleShape]("Style"),
		reflect.TypeFor[scrolledLine]():      is[scrolledLine]("Scrolled"),
		reflect.TypeFor[exitInfo]():          is[exitInfo]("Exit"),
		reflect.TypeFor[leaseInfo]():         is[leaseInfo]("Lease"),
		reflect.TypeFor[sessionInfo]():       is[sessionInfo]("Session"),
		reflect.TypeFor[blockShape]():        is[blockShape]("Block"),
		reflect.TypeFor[searchMatch]():       is[searchMatch]("Found"),
		reflect.TypeFor[recordingInfo]():     is[recordingInfo]("Recording"),
		reflect.TypeFor[transcriptResult]():  is[transcriptResult]("Transcript"),
		reflect.TypeFor[redactionParams]():   is[redactionParams]("Redaction"),
		reflect.TypeFor[stateShape]():        is[stateShape]("State"),
		reflect.TypeFor[plugins.Candidate](): is[plugins.Candidate]("Candidate"),
		reflect.TypeFor[plugins.Receipt]():   is[plugins.Receipt]("Receipt"),
		reflect.TypeFor[plugins.Event]():     is[plugins.Event]("Event"),
		reflect.TypeFor[engine.Event]():      is[engine.Event]("SessionEvent"),
		reflect.TypeFor[plugins.Nearly]():    is[plugins.Nearly]("Nearly"),
		reflect.TypeFor[plugins.Witness]():   is[plugins.Witness]("Witness"),
		reflect.TypeFor[plugins.Manifest]():  is[plugins.Manifest]("Manifest"),
		reflect.TypeFor[plugins.Target]():    is[plugins.Target]("Target"),
		reflect.TypeFor[adapterRow]():        is[adapterRow]("Adapter"),
		reflect.TypeFor[startResult]():       is[startResult]("AdapterStarted"),
		reflect.TypeFor[closeResult]():       is[closeResult]("Closed"),
		reflect.TypeFor[reloadedLive]():      is[reloadedLive]("ReloadedAdapter"),
		reflect.TypeFor[staleShape]():        is[staleShape]("StaleAdapter"),
		reflect.TypeFor[brokenShape]():       is[brokenShape]("ReloadError"),
		reflect.TypeFor[explainRow]():        is[explainRow]("ExplainedRow"),
		reflect.TypeFor[selection]():         is[selection]("Selection"),
		reflect.TypeFor[matchedShape]():      is[matchedShape]("MatchedSession"),
		reflect.TypeFor[lackingShape]():      is[lackingShape]("UnmatchedSession"),
		reflect.TypeFor[lostShape]():         is[lostShape]("LostHost"),
		reflect.TypeFor[manyResult]():        is[manyShape]("MatchedSessions"),
	}
})

type shapeOf struct {
	name string
	of   reflect.Type
}

func is[S any](name string) shapeOf { return shapeOf{name, reflect.TypeFor[S]()} }

// neverNull are definitions whose values are never null, though they are pointers in Go.
var neverNull = []string{"State", "Manifest", "Snapshot", "Explanation"}

// outcomes are what matched, by kind. A matcher type that is not here tells nothing but its kind.
var outcomes = sync.OnceValue(func() map[string]reflect.Type {
	return map[string]reflect.Type{
		"contains_text": reflect.TypeFor[textOutcome](), "transcript_contains": reflect.TypeFor[textOutcome](), "title_contains": reflect.TypeFor[textOutcome](),
		"screen_regex": reflect.TypeFor[regexOutcome](), "transcript_regex": reflect.TypeFor[regexOutcome](), "title_regex": reflect.TypeFor[regexOutcome](),
		"cursor_at": reflect.TypeFor[cursorOutcome](), "screen_stable": reflect.TypeFor[stableOutcome](), "located": reflect.TypeFor[locatedOutcome](), "command_finished": reflect.TypeFor[finishedOutcome](),
		"lua": reflect.TypeFor[luaOutcome](), "state": reflect.TypeFor[stateOutcome](), "any": reflect.TypeFor[anyOutcome](), "all": reflect.TypeFor[allOutcome](),
	}
})

// A standing is what is to be said of a member that is newer than the first version of the protocol, or
// not stable.
type standing struct {
	since     int    // 0: the first
	stability string // experimental or deprecated; "": stable
}

// standings are those of members, by definition and member.
var standings = sync.OnceValue(func() map[string]standing {
	return map[string]standing{
		"Block.whole": {stability: "deprecated"}, // truncated says the same
	}
})

// stand writes standings into their members.
func (m *modeler) stand(all map[string]standing) {
	for name, s := range all {
		def, member, _ := strings.Cut(name, ".")
		p := m.defs[def].Properties[member]
		p.Extra = map[string]any{}
		if s.since > 0 {
			p.Extra["x-since"] = s.since
		}
		if s.stability != "" {
			p.Extra["x-stability"] = s.stability
		}
	}
}

// A methodModel is a method in the model.
type methodModel struct {
	About     string               `json:"about"`
	Params    *jsonschema.Schema   `json:"params"`
	Result    *jsonschema.Schema   `json:"result"`
	Rights    string               `json:"rights"`
	Needs     []plugins.Permission `json:"needs,omitempty"`
	Queues    string               `json:"queues,omitempty"`
	Blocks    bool                 `json:"blocks,omitempty"`
	Since     int                  `json:"since"`
	Stability string               `json:"stability"`
	Reasons   []string             `json:"reasons"`
}

type noteModel struct {
	About     string             `json:"about"`
	Params    *jsonschema.Schema `json:"params"`
	Since     int                `json:"since"`
	Stability string             `json:"stability"`
}

type faultModel struct {
	Code      int                `json:"code"`
	About     string             `json:"about"`
	Data      *jsonschema.Schema `json:"data"`
	Since     int                `json:"since"`
	Stability string             `json:"stability"`
}

const stable = "stable"

const modelAbout = `The native wire: JSON-RPC 2.0, one message a line. A message is any of oneOf; methods, notifications and errors say what belongs together. ` +
	`Receivers ignore members that they do not know, but for objects with additionalProperties false and, after server.set_strict, in all params. ` +
	`A member exists since version 1 of the protocol and is stable, unless x-since or x-stability says otherwise. ` +
	`Of a method: queues says which member of params names what requests queue behind; blocks, that the answer may take until timeout_ms; ` +
	`rights, what a connection needs to call it: read, type or admin, and more with some params; needs, which permissions of the plugin's manifest.`

// Model returns the model of the wire: a JSON Schema (2020-12) of every message, which also lists
// methods, notifications and errors. Callers must not modify it.
var Model = sync.OnceValue(func() *jsonschema.Schema {
	m := &modeler{defs: map[string]*jsonschema.Schema{}}
	return m.model()
})

type modeler struct {
	defs    map[string]*jsonschema.Schema
	schemas map[reflect.Type]*jsonschema.Schema
}

func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

// decoded turns the schema of a type's reader into a Schema.
func decoded(tree any) *jsonschema.Schema {
	s := new(jsonschema.Schema)
	b, err := json.Marshal(tree)
	if err == nil {
		err = json.Unmarshal(b, s)
	}
	if err != nil { // a constant of ours
		panic("native: " + err.Error())
	}
	return s
}

func (m *modeler) model() *jsonschema.Schema {
	m.schemas = map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[actionTree]():         ref("Action"),
		reflect.TypeFor[matcherTree]():        ref("Matcher"),
		reflect.TypeFor[locatorTree]():        ref("Locator"),
		reflect.TypeFor[sincePosition]():      ref("Position"),
		reflect.TypeFor[moment]():             ref("Moment"),
		reflect.TypeFor[mark]():               {Type: "string", Pattern: `^h[0-9]+(-[0-9]+){8}$`, Examples: []any{"h0-0-0-0-0-0-0-0-1"}},
		reflect.TypeFor[outcome]():            ref("Outcome"),
		reflect.TypeFor[explanation]():        ref("Explanation"),
		reflect.TypeFor[wasRead]():            {Types: []string{"null", "boolean"}},
		reflect.TypeFor[manifestTree]():       {Type: "object"},
		reflect.TypeFor[jsonschema.Schema]():  {Type: "object"},
		reflect.TypeFor[json.RawMessage]():    {},
		reflect.TypeFor[requestID]():          {Types: []string{"string", "number", "null"}},
		reflect.TypeFor[time.Time]():          {Type: "string", Format: "date-time"},
		reflect.TypeFor[plugins.Permission](): {Type: "string", Enum: anys(plugins.Permissions())},
	}
	for t, n := range named() {
		m.schemas[t] = ref(n.name)
	}
	for t, n := range named() {
		m.defs[n.name] = m.shape(n.of, t, false)
	}
	m.defs["Redaction"].AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	m.defs["Selection"].AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	m.defs["Position"] = &jsonschema.Schema{
		Description: "a sequence, or the next of a wait's answer",
		OneOf:       []*jsonschema.Schema{{Type: "integer", Minimum: jsonschema.Ptr(0.0)}, {Type: "string", Pattern: `^p[0-9]+-[0-9]+(-[0-9]+-[0-9]+)?(@s[0-9]+)?$`, Examples: []any{"p1-2"}}},
	}
	m.defs["Moment"] = &jsonschema.Schema{
		Description: "a sequence, or a time",
		OneOf:       []*jsonschema.Schema{{Type: "integer", Minimum: jsonschema.Ptr(0.0)}, ref("Instant")},
	}
	bound("Instant", m.defs["Instant"])
	exactlyOne("ago_ms", "time")(m.defs["Instant"])
	m.defs["Instant"].AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	m.union("Action", "what to do, by type", "Action", engine.ActionSchemas())
	m.union("Matcher", "what to wait for, by type", "Matcher", matchers.Schemas())
	m.locators()
	m.union("Explanation", "how near a matcher of that type came", "Explanation", explanations())
	m.outcomes()
	methods := m.methods()
	notes := m.notes()
	errors := m.errors()
	m.stand(standings())
	s := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", Title: "ptywright", Description: modelAbout,
		OneOf: []*jsonschema.Schema{ref("Request"), ref("Notification"), ref("Success"), ref("Failure")},
		Defs:  m.defs,
		Extra: map[string]any{"protocol": protocolVersion, "methods": methods, "notifications": notes, "errors": errors},
	}
	return s
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		b, _ := json.Marshal(v)
		_ = json.Unmarshal(b, &out[i])
	}
	return out
}

// camel makes a definition's name of a name of the wire: session.record_start becomes
// SessionRecordStart.
func camel(name string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' || r == '$' || r == '/' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// union adds a definition that is one of several, each with a definition of its own.
func (m *modeler) union(name, about, suffix string, of map[string]map[string]any) {
	u := &jsonschema.Schema{Description: about}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		m.defs[camel(kind)+suffix] = decoded(of[kind])
		u.OneOf = append(u.OneOf, ref(camel(kind)+suffix))
	}
	m.defs[name] = u
}

// explanations are the matchers as evidence has them.
func explanations() map[string]map[string]any {
	all := map[string]map[string]any{}
	b, err := json.Marshal(matchers.Schemas())
	if err == nil {
		err = json.Unmarshal([]byte(strings.NewReplacer(`"#/$defs/Matcher"`, `"#/$defs/Explanation"`,
			`{"$ref":"#/$defs/Locator"}`, `{"type":"string","description":"in words"}`).Replace(string(b))), &all)
	}
	if err != nil { // constants of ours
		panic("native: " + err.Error())
	}
	for kind, s := range all {
		p := s["properties"].(map[string]any)
		p["held"] = map[string]any{"type": "boolean", "description": "the matcher would have matched"}
		p["why"] = map[string]any{"type": "string", "description": "one line for people"}
		p["nearest"] = map[string]any{"type": "string", "description": "the line that came closest"}
		s["required"] = append(s["required"].([]any), "held", "why")
		if kind == "screen" { // the golden screen is long, and the client has it
			p["diff"] = map[string]any{"type": "string", "description": "what differs in the screen that came closest"}
			delete(p, "value")
			s["required"] = slices.DeleteFunc(s["required"].([]any), func(name any) bool { return name == "value" })
		}
	}
	return all
}

func (m *modeler) outcomes() {
	u := &jsonschema.Schema{Description: "what matched, by kind"}
	for _, kind := range slices.Sorted(maps.Keys(matchers.Schemas())) {
		t, ok := outcomes()[kind]
		if !ok {
			t = reflect.TypeFor[bareOutcome]()
		}
		s := m.shape(t, nil, false)
		s.Properties["kind"] = &jsonschema.Schema{Const: jsonschema.Ptr[any](kind)}
		m.defs[camel(kind)+"Outcome"] = s
		u.OneOf = append(u.OneOf, ref(camel(kind)+"Outcome"))
	}
	m.defs["Outcome"] = u
}

// define adds the schema of a type under a name, unless the type has one, and refers to it.
func (m *modeler) define(name string, t reflect.Type, params bool) *jsonschema.Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok := m.schemas[t]; ok && !params {
		return s
	}
	m.defs[name] = m.shape(t, nil, params)
	return ref(name)
}

func (m *modeler) methods() map[string]methodModel {
	all := map[string]methodModel{}
	request := &jsonschema.Schema{Description: "a call; without id it gets no answer"}
	add := func(r row) {
		params := m.define(camel(r.name)+"Params", r.params, true)
		s := m.defs[camel(r.name)+"Params"]
		bound(r.name, s)
		if rule := rules()[r.name]; rule != nil {
			rule(s)
		}
		all[r.name] = methodModel{
			About: r.about, Params: params, Result: m.define(camel(r.name)+"Result", r.result, false), Rights: r.rights.String(), Needs: r.needs,
			Queues: r.queues, Blocks: timed(s), Since: 1, Stability: stable, Reasons: reasonsOf(&r, s),
		}
		required := []string{"jsonrpc", "method"}
		if len(s.Required) > 0 || len(s.OneOf) > 0 {
			required = append(required, "params")
		}
		one := message(required, "method", r.name, map[string]*jsonschema.Schema{"id": {Types: []string{"string", "number", "null"}}, "params": params})
		m.defs[camel(r.name)+"Request"] = one
		request.OneOf = append(request.OneOf, ref(camel(r.name)+"Request"))
	}
	for _, r := range table {
		add(r)
	}
	add(row{name: "$/cancelRequest", about: "Cancels requests of this connection by their id.", rights: protocol.RightRead,
		params: reflect.TypeFor[cancelRequestParams](), result: reflect.TypeFor[cancelRequestResult]()})
	m.defs["Request"] = request
	return all
}

// timed reports whether params have a timeout.
func timed(s *jsonschema.Schema) bool { return s.Properties["timeout_ms"] != nil }

// message is the schema of a message that a member tells from others.
func message(required []string, tag, value string, members map[string]*jsonschema.Schema) *jsonschema.Schema {
	members["jsonrpc"] = &jsonschema.Schema{Const: jsonschema.Ptr[any]("2.0")}
	if tag != "" {
		members[tag] = &jsonschema.Schema{Const: jsonschema.Ptr[any](value)}
	}
	return &jsonschema.Schema{Type: "object", Required: required, Properties: members}
}

func (m *modeler) notes() map[string]noteModel {
	all := map[string]noteModel{}
	u := &jsonschema.Schema{Description: "what the server tells of its own accord; see server.set_notifications"}
	for _, n := range notes {
		params := m.define(camel(n.name)+"Params", n.params, false)
		all[n.name] = noteModel{n.about, params, 1, stable}
		m.defs[camel(n.name)+"Notification"] = message([]string{"jsonrpc", "method", "params"}, "method", n.name,
			map[string]*jsonschema.Schema{"params": params})
		u.OneOf = append(u.OneOf, ref(camel(n.name)+"Notification"))
	}
	m.defs["Notification"] = u
	return all
}

func (m *modeler) errors() map[string]faultModel {
	all := map[string]faultModel{}
	u := &jsonschema.Schema{Description: "an error, by the reason in its data"}
	for _, reason := range slices.Sorted(maps.Keys(faults())) {
		f := faults()[reason]
		data := m.shape(f.data, nil, false)
		data.Properties["reason"] = &jsonschema.Schema{Const: jsonschema.Ptr[any](reason)}
		data.Required = append([]string{"reason"}, data.Required...)
		for member, others := range together() {
			if data.Properties[member] != nil && !slices.Contains(data.Required, member) {
				if data.DependentRequired == nil {
					data.DependentRequired = map[string][]string{}
				}
				data.DependentRequired[member] = others
			}
		}
		m.defs[camel(reason)+"Data"] = data
		all[reason] = faultModel{f.code, f.about, ref(camel(reason) + "Data"), 1, stable}
		codes := []any{f.code}
		if reason == "duplicate_member" { // of the message itself
			codes = append(codes, protocol.CodeInvalidRequest)
		}
		m.defs[camel(reason)+"Error"] = &jsonschema.Schema{
			Type: "object", Description: f.about, Required: []string{"code", "message", "data"},
			Properties: map[string]*jsonschema.Schema{
				"code": {Type: "integer", Enum: codes}, "message": {Type: "string", Description: "for people"}, "data": ref(camel(reason) + "Data"),
			},
		}
		u.OneOf = append(u.OneOf, ref(camel(reason)+"Error"))
	}
	m.defs["Error"] = u
	id := &jsonschema.Schema{Types: []string{"string", "number", "null"}, Description: "as of the request"}
	m.defs["Success"] = message([]string{"jsonrpc", "id", "result"}, "", "", map[string]*jsonschema.Schema{
		"id": id, "result": {Description: "as the request's method has it"},
	})
	m.defs["Failure"] = message([]string{"jsonrpc", "id", "error"}, "", "", map[string]*jsonschema.Schema{"id": id, "error": ref("Error")})
	return all
}

// shape returns the schema of a type. without is the type that is not to be a reference.
func (m *modeler) shape(t, without reflect.Type, params bool) *jsonschema.Schema {
	schemas := m.schemas
	if _, ok := schemas[t]; ok || without != nil {
		schemas = maps.Clone(schemas)
		delete(schemas, t)
		delete(schemas, without)
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: schemas})
	if err != nil { // a type of ours
		panic("native: " + err.Error())
	}
	tidy(s, params)
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	return s
}

// tidy opens objects to members that are not known, and leaves null only where it can be: in members
// that are always there, and in those whose description says what null means.
func tidy(s *jsonschema.Schema, params bool) {
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	if s.AdditionalProperties != nil {
		notNull(s.AdditionalProperties)
		tidy(s.AdditionalProperties, params)
	}
	if s.Items != nil {
		if s.Items.Ref != "" || slices.Contains(s.Items.Types, "object") {
			notNull(s.Items)
		}
		tidy(s.Items, params)
	}
	if slices.Contains(s.Types, "array") {
		notNull(s)
	}
	for name, p := range s.Properties {
		def := strings.TrimPrefix(p.Ref, "#/$defs/")
		switch {
		case params, slices.Contains(neverNull, def), !slices.Contains(s.Required, name) && !strings.Contains(p.Description, "null:"):
			notNull(p)
		case p.Ref != "" && slices.Contains(p.Types, "null"):
			s.Properties[name] = &jsonschema.Schema{Description: p.Description, OneOf: []*jsonschema.Schema{{Ref: p.Ref}, {Type: "null"}}}
			continue
		}
		tidy(p, params)
	}
}

func notNull(s *jsonschema.Schema) {
	types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
	switch {
	case len(types) == len(s.Types):
	case len(types) == 1:
		s.Type, s.Types = types[0], nil
	case len(types) == 0:
		s.Types = nil
	default:
		s.Types = types
	}
}
