package client_test

import (
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestDoUntilRead: whether the program has read it, and a wait that counts from there.
func TestDoUntilRead(t *testing.T) {
	s := sh(t, started(t), "echo ready; exec cat")
	must[*client.Match](t)(s.Wait(t.Context(), client.Text("ready")))
	r := must[client.Sent](t)(s.DoUntilRead(t.Context(), client.Action{Type: "text", Value: "hi\r"}))
	if r.Read == nil || !*r.Read || r.ReadSequence < r.Sequence {
		t.Errorf("%+v", r)
	}
	must[*client.Match](t)(s.Wait(t.Context(), client.Text("hi")))
	r = must[client.Sent](t)(s.DoUntilRead(t.Context(), client.Action{Type: "text", Value: "half"}))
	if r.Read != nil {
		t.Errorf("of half a line: %+v", r)
	}
}
