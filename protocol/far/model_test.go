package far

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/native"
)

// theModel is the model of the native wire.
func theModel(t testing.TB) *Model {
	t.Helper()
	text, err := json.Marshal(native.Model())
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadModel(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// paths are the places of a value, in words.
func (p *places) paths(at string) (all []string) {
	if p == nil {
		return nil
	}
	if p.id {
		return []string{at}
	}
	for _, name := range slices.Sorted(maps.Keys(p.members)) {
		all = append(all, p.members[name].paths(at+"."+name)...)
	}
	return append(all, p.items.paths(at+"[]")...)
}

// TestPlacesOfTheModel: the hub finds the ids that there are in the model. A member with an id that is
// called otherwise belongs into idNames.
func TestPlacesOfTheModel(t *testing.T) {
	t.Parallel()
	m := theModel(t)
	got := map[string]bool{}
	for name, row := range m.methods {
		for _, p := range row.params.paths("") {
			if p != ".session" && p != ".adapter" { // most have one
				got[name+" params"+p] = true
			}
		}
		for _, p := range row.result.paths("") {
			got[name+" result"+p] = true
		}
	}
	for name, note := range m.notes {
		for _, p := range note.paths("") {
			got[name+p] = true
		}
	}
	for reason, data := range m.faults {
		for _, p := range data.paths("") {
			got["error "+reason+p] = true
		}
	}
	want := []string{
		"adapter.cancel_wait result.adapter", "adapter.changed.adapter", "adapter.changed.session",
		"adapter.inspect result.adapter", "adapter.inspect result.session",
		"adapter.live result.adapters[].adapter", "adapter.live result.adapters[].session",
		"adapter.resume params.prior_adapter", "adapter.resume result.adapter",
		"adapter.resume result.session", "adapter.start result.adapter", "adapter.start result.session",
		"error name_taken.session", "error owned_by_adapter.adapter",
		"plugin.describe result.stale_adapters[].adapter", "plugin.reload result.adapters[].adapter",
		"server.set_notifications params.adapters", "server.set_notifications params.sessions",
		"server.set_notifications result.adapters", "server.set_notifications result.sessions",
		"session.changed.session", "session.create result.session", "session.event.session",
		"session.exited.session", "session.forget result.forgotten", "session.leased.session",
		"session.list result.details[].adapter", "session.list result.details[].session",
		"session.list result.sessions", "session.output.session", "session.record_list result.recordings[].recording",
		"session.record_list result.recordings[].session", "session.record_start result.recording",
		"session.record_stop params.recording", "session.record_stop result.recording",
		"session.record_stop result.session",
	}
	for _, w := range want {
		if !got[w] {
			t.Errorf("the hub finds no id at %s", w)
		}
	}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	m := theModel(t)
	up := func(id string) (string, error) { return strings.ToUpper(id), nil }
	for _, c := range []struct {
		at       *places
		in, want string
	}{
		{m.methods["session.wait"].params, `{"session":"s1","matcher":{"type":"contains_text","value":"s1"}}`,
			`{"session":"S1","matcher":{"type":"contains_text","value":"s1"}}`},
		{m.methods["session.create"].params, `{"env":{"session":"s1"},"program":"s1"}`, `{"env":{"session":"s1"},"program":"s1"}`},
		{m.methods["session.list"].result, `{"sessions":["s1","s2"],"details":[{"session":"s1","name":"s1","args":["s2"]}]}`,
			`{"sessions":["S1","S2"],"details":[{"session":"S1","name":"s1","args":["s2"]}]}`},
		{m.methods["session.wait"].params, ` { "session" : "\u0073\/1" } `, ` { "session" : "S/1" } `},
		{m.methods["session.wait"].params, `{"session":7}`, `{"session":7}`},
		{m.methods["session.wait"].params, `{"session":null}`, `{"session":null}`},
		{m.methods["session.wait"].params, `[1,2]`, `[1,2]`},
		{m.methods["server.set_notifications"].params, `{"sessions":["a",1,["b"],{"sessions":["c"]}]}`,
			`{"sessions":["A",1,["B"],{"sessions":["c"]}]}`},
		{nil, `{"session":"s1"}`, `{"session":"s1"}`},
	} {
		got, err := c.at.rewrite([]byte(c.in), up)
		if err != nil || string(got) != c.want {
			t.Errorf("%s became %s, %v; expected %s", c.in, got, err, c.want)
		}
	}
	for _, bad := range []string{``, `{`, `{"session":"s1"`, `{"session":"s1","session":"s2"}`, `{} {}`,
		"{\"session\":\"\xff\"}", `{"session":"s1",}`, `nul`} {
		if got, err := m.methods["session.wait"].params.rewrite([]byte(bad), up); err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
	refused := errors.New("refused")
	if _, err := m.methods["session.wait"].params.rewrite([]byte(`{"session":"s1"}`),
		func(string) (string, error) { return "", refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
}

// FuzzRewrite: what is JSON stays the same JSON but for its ids, and nothing else is taken.
func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{`{"sessions":["s1"],"details":[{"session":"s1","adapter":"a1"}]}`, `{}`, `[[["s1"]]]`,
		`{"sessions":[["s1",{"session":"s1"}]]}`, `{"details":{"session":"s1"}}`, "{\"a\":\"\\ud800\"}"} {
		f.Add([]byte(seed))
	}
	m := theModel(f)
	f.Fuzz(func(t *testing.T, value []byte) {
		at := m.methods["session.list"].result
		same, err := at.rewrite(value, func(id string) (string, error) { return id, nil })
		if err != nil {
			return
		}
		if string(same) != string(value) || !json.Valid(value) {
			t.Fatalf("%q became %q", value, same)
		}
		there, err := at.rewrite(value, func(id string) (string, error) { return "h/" + id, nil })
		if err != nil || !json.Valid(there) {
			t.Fatalf("%q became %q, %v", value, there, err)
		}
		back, err := at.rewrite(there, func(id string) (string, error) { return strings.TrimPrefix(id, "h/"), nil })
		var a, b any
		if err != nil || json.Unmarshal(value, &a) != nil || json.Unmarshal(back, &b) != nil {
			t.Fatalf("%q became %q, %v", there, back, err)
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			t.Fatalf("%s came back as %s", x, y)
		}
	})
}

func TestIDsThatNoServerGives(t *testing.T) {
	t.Parallel()
	f := prefixed("web-3")
	for _, id := range []string{"s1", "a12", "build", "rec-1.x_Y"} {
		if got, err := f(id); err != nil || got != "web-3/"+id {
			t.Errorf("%q: %q, %v", id, got, err)
		}
	}
	for _, id := range []string{"", "db-1/s1", "/", "s1\n", "s 1", "\x1b[31m", "ｓ1", strings.Repeat("s", 129)} {
		if got, err := f(id); !errors.Is(err, ErrProtocol) {
			t.Errorf("%q is taken as %q, %v", id, got, err)
		}
	}
}

func TestMessagesNameWhatWasAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, message, want string }{
		{"s9", `unknown session "s9"`, `unknown session "web-3/s9"`},
		{"s2", "session s2 is driven by adapter a1: use adapter.send", "session web-3/s2 is driven by adapter a1: use adapter.send"},
		{"s2", "session s22 and s2, s2.", "session s22 and web-3/s2, web-3/s2."},
		{"session", `unknown session "session"`, `unknown session "web-3/session"`},
	} {
		r := &refusal{host: "web-3", message: c.message}
		if r.localize([]string{c.id}); r.message != c.want {
			t.Errorf("%q, expected %q", r.message, c.want)
		}
	}
}
