package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/redact"
)

// A pair is a proxy with the test at both ends.
type pair struct {
	t                *testing.T
	toProxy, toAgent io.WriteCloser // what the editor and the agent write to
	atEditor         *lineReader
	atAgent          *lineReader
	editorOut        *io.PipeReader
	done             chan error
}

func newPair(t *testing.T, ptys ...*enginetest.PTY) *pair {
	return newPairOf(t, func(*Proxy) {}, ptys...)
}

// newPairOf is newPair of a proxy that the test has changed.
func newPairOf(t *testing.T, change func(*Proxy), ptys ...*enginetest.PTY) *pair {
	fromEditor, editor := io.Pipe()
	fromAgent, agent := io.Pipe()
	editorOut, toEditor := io.Pipe()
	agentOut, toAgent := io.Pipe()
	p := NewProxy(host.Over(enginetest.Engine(ptys...), nil, nil), Options{})
	change(p)
	x := &pair{
		t: t, toProxy: editor, toAgent: agent, editorOut: editorOut, done: make(chan error, 1),
		atEditor: newLineReader(editorOut, maxInspected), atAgent: newLineReader(agentOut, maxInspected),
	}
	go func() {
		x.done <- p.Serve(t.Context(), Streams{FromEditor: fromEditor, ToEditor: toEditor, FromAgent: fromAgent, ToAgent: toAgent})
		fromEditor.Close()
		fromAgent.Close()
		toEditor.Close()
	}()
	return x
}

func (x *pair) say(w io.Writer, line string) {
	x.t.Helper()
	if _, err := io.WriteString(w, line+"\n"); err != nil {
		x.t.Fatal(err)
	}
}

func (x *pair) hear(r *lineReader, holds ...string) string {
	x.t.Helper()
	line, _, err := r.next()
	if err != nil {
		x.t.Fatal(err)
	}
	for _, h := range holds {
		if !strings.Contains(string(line), h) {
			x.t.Fatalf("%s lacks %s", line, h)
		}
	}
	return string(line)
}

const embed = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S","update":{"sessionUpdate":"tool_call","toolCallId":"c","content":[{"type":"content","content":{"type":"text","text":"before"}},{"type":"terminal","terminalId":"ptywright-s1"}]}}}`

// TestProxyShowsAtItsPace has a program print in virtual time.
func TestProxyShowsAtItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		x := newPair(t, p)
		x.say(x.toAgent, `{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"S","command":"x"}}`)
		x.hear(x.atAgent, `"terminalId":"ptywright-s1"`)
		x.say(x.toAgent, embed)
		x.hear(x.atEditor, `"before"`, `"text":"`+"```\\n```"+`"`)
		began := time.Now()
		for i := range 50 {
			p.Print(fmt.Sprintf("line %d\r\n", i))
		}
		x.hear(x.atEditor, `"sessionUpdate":"tool_call_update"`, `"before"`, `line 0\nline 1\n`, `line 49\n`)
		if took := time.Since(began); took > 2*pace {
			t.Errorf("shown after %v", took)
		}
		p.Print("last\r\n")
		p.End(2)
		x.say(x.toAgent, `{"jsonrpc":"2.0","id":2,"method":"terminal/wait_for_exit","params":{"sessionId":"S","terminalId":"ptywright-s1"}}`)
		x.hear(x.atAgent, `"id":2,"result":{"exitCode":2`)
		x.say(x.toAgent, `{"jsonrpc":"2.0","id":3,"method":"terminal/release","params":{"sessionId":"S","terminalId":"ptywright-s1"}}`)
		x.hear(x.atAgent, `"id":3,"result":{}`)
		x.say(x.toAgent, `{"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}`)
		x.hear(x.atEditor, `last\n`, `exit code 2`) // before what it ends
		x.hear(x.atEditor, `"end_turn"`)
		x.say(x.toAgent, embed) // a display outlives the release
		x.hear(x.atEditor, `last\n`, `exit code 2`)
		x.say(x.toAgent, strings.Replace(embed, "ptywright-s1", "ptywright-s9", 1))
		x.hear(x.atEditor, `released before it was shown`)
		x.toAgent.Close()
		if err := <-x.done; err != nil {
			t.Error(err)
		}
	})
}

// TestProxyPassesOnWhatItBreaksAt: a message that the proxy fails to look into reaches the other
// side as it came, and the terminals live.
func TestProxyPassesOnWhatItBreaksAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newPairOf(t, func(p *Proxy) {
			p.log = slog.New(slog.DiscardHandler)
			p.opened, p.dirs = nil, nil // to remember anything breaks it
		}, enginetest.New())
		x.say(x.toAgent, `{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"S","command":"x"}}`)
		x.hear(x.atAgent, `"terminalId":"ptywright-s1"`)
		x.say(x.toProxy, `{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":"/"}}`)
		x.hear(x.atAgent, `"session/new"`, `"cwd":"/"`)
		x.say(x.toProxy, `{"jsonrpc":"2.0","id":6,"method":"session/load","params":{"cwd":"/","sessionId":"S"}}`)
		x.hear(x.atAgent, `"session/load"`)
		x.say(x.toAgent, `{"jsonrpc":"2.0","id":2,"method":"terminal/output","params":{"sessionId":"S","terminalId":"ptywright-s1"}}`)
		x.hear(x.atAgent, `"id":2,"result"`)
		x.toAgent.Close()
		if err := <-x.done; err != nil {
			t.Error(err)
		}
	})
}

// TestProxyEnds tells how, by who goes.
func TestProxyEnds(t *testing.T) {
	for name, c := range map[string]struct {
		go_  func(x *pair)
		err  error
		late time.Duration
	}{
		"the agent says nothing more":                          {func(x *pair) { x.toAgent.Close() }, nil, 0},
		"the editor says nothing more, nor does the agent end": {func(x *pair) { x.toProxy.Close() }, nil, quitBound},
		"the editor takes nothing more": {func(x *pair) {
			x.editorOut.Close()
			x.say(x.toAgent, "{}")
		}, ErrEditorGone, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := enginetest.New()
				x := newPair(t, p)
				x.say(x.toAgent, `{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"S","command":"x"}}`)
				x.hear(x.atAgent, `"terminalId"`)
				began := time.Now()
				c.go_(x)
				if err := <-x.done; !errors.Is(err, c.err) || c.err == nil && err != nil {
					t.Errorf("ended with %v, expected %v", err, c.err)
				}
				if late := time.Since(began); late < c.late || late > c.late+endBound {
					t.Errorf("ended after %v, expected %v", late, c.late)
				}
				if exit := p.Wait(); exit.Signal != "SIGKILL" {
					t.Errorf("the terminal ended with %+v", exit)
				}
			})
		})
	}
}

// TestProxyHoldsNothingBack has an editor that does not read: the agent is held up, and memory is
// not filled.
func TestProxyHoldsNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newPair(t)
		written := make(chan int)
		go func() {
			n := 0
			for {
				if _, err := fmt.Fprintf(x.toAgent, "%s\n", strings.Repeat("x", 10_000)); err != nil {
					written <- n
					return
				}
				n++
			}
		}()
		synctest.Wait()
		x.editorOut.Close()
		if n := <-written; n > 2+readSize/10_000 {
			t.Errorf("%d messages were taken from the agent of an editor that does not read", n)
		}
		if err := <-x.done; !errors.Is(err, ErrEditorGone) {
			t.Error(err)
		}
	})
}

func TestShowIsBounded(t *testing.T) {
	h := NewTerminals(host.Over(enginetest.Engine(), nil, nil), Options{})
	sh := newShow(h, func() bool { return false })
	defer sh.stop()
	for i := range 2 * maxCalls {
		line := []byte(strings.Replace(strings.Replace(embed, `"c"`, fmt.Sprintf(`"c%d"`, i), 1), "-s1", fmt.Sprintf("-s%d", i), 1))
		sh.tool(line, members(line), true)
	}
	if len(sh.calls) != maxCalls || len(sh.terminals) != maxCalls {
		t.Errorf("%d tool calls and %d terminals are kept, at most %d", len(sh.calls), len(sh.terminals), maxCalls)
	}
	if sh.calls[callKey{"S", fmt.Sprintf("c%d", 2*maxCalls-1)}] == nil {
		t.Error("the newest was forgotten")
	}
	ids := newIDs()
	for i := range 2 * maxTaken {
		ids.add(fmt.Sprint(i))
	}
	if len(ids.known) != maxTaken || !ids.has(fmt.Sprint(maxTaken)) || ids.has("0") {
		t.Errorf("%d ids are kept, at most %d", len(ids.known), maxTaken)
	}
}

// TestShownDataIsRedacted cuts what an editor with terminals receives at every byte.
func TestShownDataIsRedacted(t *testing.T) {
	const secret = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"
	for cut := range len(secret) {
		p := enginetest.New()
		h := NewTerminals(host.Over(enginetest.Engine(p), nil, nil), Options{})
		run, err := h.Create(Spec{Session: "S", Command: "x", Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		term := &shownTerminal{id: run.ID(), run: run, native: true}
		var told []byte
		for i, piece := range []string{"GITHUB_TOKEN=" + secret[:cut], secret[cut:] + "\r\nend"} {
			p.Print(piece)
			for changed := run.run.Changed(); !strings.HasSuffix(run.run.View().Transcript.String(), piece); changed = run.run.Changed() {
				<-changed
			}
			told = append(told, bytes.Join(term.tell(redact.Default), nil)...)
			if i == 1 {
				told = append(told, bytes.Join(term.tell(redact.Default), nil)...)
			}
		}
		for i := range len(secret) - 12 {
			if bytes.Contains(told, []byte(secret[i:i+12])) {
				t.Fatalf("cut at %d the editor was told %s", cut, told)
			}
		}
		if !bytes.Contains(told, []byte("end")) {
			t.Errorf("cut at %d the end is missing in %s", cut, told)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFence(t *testing.T) {
	for text, fence := range map[string]string{"": "```", "a`b``": "```", "```": "````", "`````x": "``````"} {
		if got := fenceOf(text); got != fence {
			t.Errorf("%q is fenced by %q, expected %q", text, got, fence)
		}
	}
}

func FuzzProxyLines(f *testing.F) {
	for _, s := range []string{
		embed, `{"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{},"_meta":{"terminal_output":true}}}}`,
		`{"id":1,"method":"session/new","params":{"cwd":"/x"}}` + "\n" + `{"id":1,"result":{"sessionId":"S"}}`, `{"a":1,"a":2}`, `{"method":"initialize","params":{}}0`, "\xff", `[{"id":1}]`, `{"params":`,
		`{"method":"session/request_permission","id":1,"params":{"toolCall":{"toolCallId":"c","content":[{"type":"terminal","terminalId":"ptywright-s1"}],"_meta":null}}}`,
		`{"method":"$/cancel_request","params":{"requestId":"x"}}`, " {\t}", `{"method":"session/update","params":{"update":{"content":[],"toolCallId":"c"}}}`,
	} {
		f.Add([]byte(s), 5, true)
	}
	f.Fuzz(func(t *testing.T, stream []byte, max int, native bool) {
		max = 1 + (max&0xff)*16
		// The parts are the stream, whatever the reads.
		var joined []byte
		var lines [][]byte
		begun := false
		r := newLineReader(iotest.HalfReader(bytes.NewReader(stream)), max)
		for {
			part, more, err := r.next()
			if err != nil {
				break
			}
			if len(part) > max+readSize || begun && len(part) > readSize {
				t.Fatalf("a part of %d bytes, at most %d and a read", len(part), max)
			}
			if !begun && !more {
				lines = append(lines, bytes.Clone(part))
			}
			begun = more
			joined = append(joined, part...)
		}
		if !bytes.Equal(joined, stream) {
			t.Fatalf("%q came as %q", stream, joined)
		}
		p := NewProxy(host.Over(enginetest.Engine(), nil, nil), Options{})
		p.native = native
		sh := newShow(p.terminals, p.shows)
		defer sh.stop()
		for _, line := range lines {
			same(t, line, p.fromEditor(line))
			if m := members(line); m != nil && strings.HasPrefix(text(line, m, "method"), "terminal/") {
				continue // it is answered
			}
			p.ask = nil
			out, err := p.fromAgent(line, sh, newIDs())
			if err != nil || len(out) == 0 {
				t.Fatalf("%q gives %v, %v", line, out, err)
			}
			same(t, line, out[len(out)-1])
		}
	})
}

// same checks that a line was left as it is, or that JSON is JSON still, with the same members.
func same(t *testing.T, line, out []byte) {
	t.Helper()
	if bytes.Equal(line, out) {
		return
	}
	var before, after map[string]any
	if err := json.Unmarshal(line, &before); err != nil {
		t.Fatalf("%q, which is no JSON, became %q", line, out)
	}
	if err := json.Unmarshal(out, &after); err != nil {
		t.Fatalf("%q became %q: %v", line, out, err)
	}
	if fmt.Sprint(before["id"], before["method"]) != fmt.Sprint(after["id"], after["method"]) || len(before) != len(after) {
		t.Fatalf("%q became %q", line, out)
	}
}

func BenchmarkPassedOn(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` +
		strings.Repeat("word ", 20) + `"}}}}` + "\n")
	p := NewProxy(host.Over(enginetest.Engine(), nil, nil), Options{})
	sh, ids := newShow(p.terminals, p.shows), newIDs()
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.fromAgent(line, sh, ids); err != nil {
			b.Fatal(err)
		}
	}
}
