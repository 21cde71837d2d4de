package native_test

import (
	"bytes"
	"encoding/json"
	"net"
	"sync"
	"testing"

	"github.com/ptywright/ptywright/protocol/native"
)

// A held connection holds what passes, one message a line, against the model: whatever a raw test
// sends, and whatever it reads of the answers.
type held struct {
	*net.UnixConn
	t testing.TB

	mu      sync.Mutex
	out, in bytes.Buffer
	sent    map[string]call
}

func holding(t testing.TB, c *net.UnixConn) *held {
	return &held{UnixConn: c, t: t, sent: map[string]call{}}
}

// Write notes the requests among what is written.
func (h *held) Write(p []byte) (int, error) {
	h.mu.Lock()
	eachLine(&h.out, p, func(line []byte) {
		for _, message := range messages(line) {
			var r map[string]json.RawMessage // not a struct, whose names would count in any case
			if json.Unmarshal(message, &r) != nil {
				continue
			}
			c := call{params: r["params"]}
			_ = json.Unmarshal(r["method"], &c.method) // a method that is not a string is refused
			if _, twice := h.sent[string(r["id"])]; twice {
				c = call{} // its answer may be the other one's
			}
			h.sent[string(r["id"])] = c
		}
	})
	h.mu.Unlock()
	return h.UnixConn.Write(p)
}

// Read holds what has been read to the end of its line.
func (h *held) Read(p []byte) (int, error) {
	n, err := h.UnixConn.Read(p)
	h.mu.Lock()
	defer h.mu.Unlock()
	eachLine(&h.in, p[:n], func(line []byte) {
		for _, message := range messages(line) {
			hold(h.t, string(message), h.sent)
		}
	})
	return n, err
}

// eachLine calls f with each line that p ends, with what stands in b before it.
func eachLine(b *bytes.Buffer, p []byte, f func(line []byte)) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			b.Write(p)
			return
		}
		b.Write(p[:i])
		f(b.Bytes())
		b.Reset()
		p = p[i+1:]
	}
}

// messages are those of a line: one, or those of a batch.
func messages(line []byte) []json.RawMessage {
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) == nil {
		return batch
	}
	return []json.RawMessage{line}
}

// TestStandings: what is said of members that are new or not stable stands in the model, and names
// a version that there is.
func TestStandings(t *testing.T) {
	for def, schema := range theModel.Defs {
		var s struct {
			Properties map[string]json.RawMessage
		}
		if err := json.Unmarshal(schema, &s); err != nil {
			t.Fatal(err)
		}
		for name, schema := range s.Properties {
			var p struct {
				Since     *int   `json:"x-since"`
				Stability string `json:"x-stability"`
			}
			if string(schema) != "true" { // which takes everything
				if err := json.Unmarshal(schema, &p); err != nil {
					t.Fatal(err)
				}
			}
			if p.Since != nil && (*p.Since < 2 || *p.Since > theModel.Protocol) {
				t.Errorf("%s.%s: x-since %d, of protocol %d", def, name, *p.Since, theModel.Protocol)
			}
			if want := map[bool]string{true: "deprecated"}[def+"."+name == "Block.whole"]; p.Stability != want {
				t.Errorf("%s.%s: x-stability %q, want %q", def, name, p.Stability, want)
			}
		}
	}
	if _, ok := theModel.Defs["Block"]; !ok || native.Validate("Block", nil) == nil {
		t.Error("the model has no Block")
	}
}
