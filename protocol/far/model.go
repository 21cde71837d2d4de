package far

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ptywright/ptywright/protocol"
)

// A Model says where the messages of the wire have ids. Make it with [ReadModel].
type Model struct {
	protocol int
	methods  map[string]*row
	notes    map[string]*places
	faults   map[string]*places // of the data of errors, by reason
}

// A row is what the hub knows of a method.
type row struct {
	params, result *places
	reads          bool          // it changes nothing
	hosts          bool          // its params may name a host
	within         time.Duration // the timeout_ms that it has unless told; 0: it has none
}

// places are where a value has ids. nil: nowhere.
type places struct {
	id      bool // it is one, or a list of them
	members map[string]*places
	items   *places
}

// idNames are the members that hold an id, or a list of ids, wherever the model has them.
var idNames = []string{
	"session", "sessions", "adapter", "adapters", "recording", "prior_adapter", "forgotten",
}

// A schema is what matters here of a JSON Schema.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	OneOf      []*schema          `json:"oneOf"`
	Default    json.RawMessage    `json:"default"`
	Format     string             `json:"format"`
}

// UnmarshalJSON reads a schema; true and false are schemas without anything.
func (s *schema) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	type bare schema
	return json.Unmarshal(b, (*bare)(s))
}

// is reports whether values may have a type.
func (s *schema) is(kind string) bool {
	if all, ok := s.Type.([]any); ok {
		return slices.Contains(all, any(kind))
	}
	return s.Type == kind
}

// ReadModel reads the model of the native wire, as `ptywright schema` prints it.
func ReadModel(model []byte) (*Model, error) {
	var from struct {
		Protocol int                `json:"protocol"`
		Defs     map[string]*schema `json:"$defs"`
		Methods  map[string]struct {
			Params *schema `json:"params"`
			Result *schema `json:"result"`
			Rights string  `json:"rights"`
		} `json:"methods"`
		Notifications map[string]struct {
			Params *schema `json:"params"`
		} `json:"notifications"`
		Errors map[string]struct {
			Data *schema `json:"data"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(model, &from); err != nil {
		return nil, fmt.Errorf("read the model of the wire: %w", err)
	}
	m := &Model{protocol: from.Protocol, methods: map[string]*row{}, notes: map[string]*places{},
		faults: map[string]*places{}}
	c := compiler{from.Defs}
	for name, of := range from.Methods {
		r := &row{params: c.places(of.Params, nil), result: c.places(of.Result, nil),
			reads: of.Rights == protocol.RightRead.String()}
		// That of server.set_client is another: where the client is.
		r.hosts = c.resolved(of.Params).Properties["host"] != nil && !strings.HasPrefix(name, setting)
		if limit := c.resolved(of.Params).Properties["timeout_ms"]; limit != nil {
			var ms int64
			_ = json.Unmarshal(limit.Default, &ms) // without a default: see below
			r.within = max(time.Duration(ms)*time.Millisecond, time.Millisecond)
		}
		m.methods[name] = r
	}
	for name, of := range from.Notifications {
		m.notes[name] = c.places(of.Params, nil)
	}
	for reason, of := range from.Errors {
		if p := c.places(of.Data, nil); p != nil {
			m.faults[reason] = p
		}
	}
	return m, nil
}

// A compiler finds the places of schemas.
type compiler struct{ defs map[string]*schema }

func (c compiler) resolved(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = c.defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
	}
	if s == nil {
		return &schema{}
	}
	return s
}

// places returns where values of a schema have ids. within are the definitions around it: one that
// holds itself, such as a matcher, has no ids.
func (c compiler) places(s *schema, within []string) *places {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		if slices.Contains(within, s.Ref) {
			return nil
		}
		within = append(slices.Clip(within), s.Ref)
		s = c.resolved(s)
	}
	p := &places{members: map[string]*places{}}
	for _, one := range s.OneOf {
		p.add(c.places(one, within))
	}
	for name, member := range s.Properties {
		of := c.resolved(member)
		text := of.is("string") && of.Format == "" ||
			of.is("array") && c.resolved(of.Items).is("string")
		if slices.Contains(idNames, name) && text {
			p.members[name] = &places{id: true}
		} else if inner := c.places(member, within); inner != nil {
			p.members[name] = inner
		}
	}
	p.items = c.places(s.Items, within)
	if len(p.members) == 0 && p.items == nil {
		return nil
	}
	return p
}

// add adds the places of another form of the same value.
func (p *places) add(other *places) {
	if other == nil {
		return
	}
	for name, inner := range other.members {
		p.members[name] = inner
	}
	if other.items != nil {
		p.items = other.items
	}
}

// rewrite returns value with each id replaced by what f makes of it. It reads the whole value,
// which must be valid JSON without members that are there twice. Errors are those of f and of the
// syntax.
func (p *places) rewrite(value []byte, f func(id string) (string, error)) ([]byte, error) {
	w := rewriter{source: value, d: jsontext.NewDecoder(bytes.NewBuffer(value)), f: f}
	if err := w.value(p); err != nil {
		return nil, err
	}
	if _, err := w.d.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	if w.copied == 0 {
		return value, nil
	}
	return append(w.out, value[w.copied:]...), nil
}

// A rewriter copies a value up to each id that has changed.
type rewriter struct {
	source []byte
	d      *jsontext.Decoder
	f      func(string) (string, error)
	out    []byte
	copied int // bytes of source that out has, or has a replacement of
}

func (w *rewriter) value(p *places) error {
	if p == nil {
		return w.d.SkipValue()
	}
	switch kind := w.d.PeekKind(); {
	case kind == '"' && p.id:
		return w.id()
	case kind == '[':
		inner := p.items
		if p.id {
			inner = p
		}
		return w.inside(']', func() error { return w.value(inner) })
	case kind == '{' && !p.id:
		return w.inside('}', func() error {
			name, err := w.d.ReadToken()
			if err != nil {
				return err
			}
			return w.value(p.members[name.String()])
		})
	}
	return w.d.SkipValue()
}

// inside reads a list or an object.
func (w *rewriter) inside(end jsontext.Kind, one func() error) error {
	if _, err := w.d.ReadToken(); err != nil {
		return err
	}
	for {
		kind := w.d.PeekKind()
		if kind == end || kind == 0 {
			_, err := w.d.ReadToken() // of what is no JSON the error
			return err
		}
		if err := one(); err != nil {
			return err
		}
	}
}

func (w *rewriter) id() error {
	raw, err := w.d.ReadValue()
	if err != nil {
		return err
	}
	end := int(w.d.InputOffset())
	start := end - len(raw)
	old, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return err
	}
	id, err := w.f(string(old))
	if err != nil || id == string(old) {
		return err
	}
	w.out = append(w.out, w.source[w.copied:start]...)
	w.out, err = jsontext.AppendQuote(w.out, id)
	w.copied = end
	return err
}

// A member is one of an object, as it was written.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of an object in their order; the values share its memory.
func membersOf(object []byte) ([]member, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(object))
	if d.PeekKind() != '{' {
		return nil, fmt.Errorf("not a JSON object")
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var all []member
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		end := d.InputOffset()
		all = append(all, member{text, json.RawMessage(object[end-int64(len(value)) : end])})
	}
	_, err := d.ReadToken()
	return all, err
}

// objectOf writes members as an object.
func objectOf(all []member) []byte {
	b := []byte{'{'}
	for i, m := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, m.name) // read from valid JSON, or ours
		b = append(append(b, ':'), m.value...)
	}
	return append(b, '}')
}

// with returns the members with one set; a nil value takes it out.
func with(all []member, name string, value []byte) []member {
	out := slices.DeleteFunc(slices.Clone(all), func(m member) bool { return m.name == name })
	if value != nil {
		out = append(out, member{name, value})
	}
	return out
}

// find returns the value of a member; nil: there is none, or it is null, which means the same.
func find(all []member, name string) json.RawMessage {
	for _, m := range all {
		if m.name == name && string(m.value) != "null" {
			return m.value
		}
	}
	return nil
}

// textOf returns the value of a member that is a string; "": it is not.
func textOf(all []member, name string) (text string) {
	_ = json.Unmarshal(find(all, name), &text) // anything else is refused where it is read
	return text
}
