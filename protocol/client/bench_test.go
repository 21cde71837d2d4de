//go:build unix

package client_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// BenchmarkTurn types a line and waits for its echo, through the client and over the bare wire by
// turns: client/bare is what the client costs, by the medians. A bare client encodes a line and
// decodes the part of the answer that it needs.
func BenchmarkTurn(b *testing.B) {
	c := started(b)
	s := spawned(b, c, client.Config{Program: "cat"})
	w := newBare(b)
	ctx := b.Context()
	var ours, bare []time.Duration
	n := 0
	for b.Loop() {
		n++
		word := fmt.Sprintf("turn %06d.", n)
		began := time.Now()
		check(b, s.Send(ctx, word+"\n"))
		must[*client.Match](b)(s.Wait(ctx, client.Text(word)))
		ours = append(ours, time.Since(began))
		began = time.Now()
		w.turn(word)
		bare = append(bare, time.Since(began))
	}
	slices.Sort(ours)
	slices.Sort(bare)
	b.ReportMetric(ours[n/2].Seconds()/bare[n/2].Seconds(), "client/bare")
	b.ReportMetric(float64(ours[n/2].Microseconds()), "us/turn")
}

// A bare is a server that is spoken to line by line.
type bare struct {
	b   *testing.B
	in  *json.Encoder
	out *bufio.Reader
	id  int
}

func newBare(b *testing.B) *bare {
	cmd := exec.Command(os.Getenv("PTYWRIGHT_BIN"), "serve", "--stdio")
	in, err := cmd.StdinPipe()
	check(b, err)
	out, err := cmd.StdoutPipe()
	check(b, err)
	check(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		check(b, cmd.Wait())
	})
	w := &bare{b: b, in: json.NewEncoder(in), out: bufio.NewReaderSize(out, 64<<10)}
	w.call("session.create", map[string]any{"program": "cat"}, nil)
	return w
}

func (w *bare) call(method string, params map[string]any, result any) {
	w.id++
	check(w.b, w.in.Encode(map[string]any{"jsonrpc": "2.0", "id": w.id, "method": method, "params": params}))
	line, err := w.out.ReadBytes('\n')
	check(w.b, err)
	answer := struct {
		Result any
		Error  json.RawMessage
	}{Result: result}
	check(w.b, json.Unmarshal(line, &answer))
	if answer.Error != nil {
		w.b.Fatalf("%s: %s", method, answer.Error)
	}
}

func (w *bare) turn(word string) {
	var sent struct{ Sequence uint64 }
	w.call("session.input", map[string]any{"session": "s1", "action": map[string]any{"type": "text", "value": word + "\n"}}, &sent)
	var matched struct{ Outcome struct{ Text string } }
	w.call("session.wait", map[string]any{
		"session": "s1", "matcher": map[string]any{"type": "contains_text", "value": word}, "since": sent.Sequence,
	}, &matched)
	if matched.Outcome.Text != word {
		w.b.Fatalf("matched %+v", matched)
	}
}
