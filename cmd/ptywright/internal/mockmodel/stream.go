package mockmodel

import (
	"fmt"
	"net/http"
	"time"
)

// piece is how many bytes of content a slow stream sends at once: a few words, as the API does.
const piece = 16

// A message is one answer of the model.
type message struct {
	number int // counted by the server, from 1
	model  string
	step   Step
}

// object is the message without content.
func (m message) object() map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("msg_mock%06d", m.number), "type": "message", "role": "assistant",
		"model": m.model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens": 1200, "output_tokens": 1, "cache_creation_input_tokens": 0,
			"cache_read_input_tokens": 0,
		},
	}
}

func (m message) stopReason() string {
	for _, b := range m.step.Blocks {
		if b.Tool != nil {
			return "tool_use"
		}
	}
	return "end_turn"
}

// block returns a block's object as it is at the start and at the end of a stream, and what the
// stream sends in between: the content, the type of the events, and the name of their field.
func (m message) block(n int) (begin, end map[string]any, content, kind, field string) {
	b := m.step.Blocks[n]
	switch {
	case b.Tool != nil:
		id := fmt.Sprintf("toolu_mock%06d%02d", m.number, n)
		object := func(input any) map[string]any {
			return map[string]any{"type": "tool_use", "id": id, "name": b.Tool.Name, "input": input}
		}
		return object(struct{}{}), object(b.Tool.Input), string(b.Tool.Input), "input_json_delta",
			"partial_json"
	case b.Thinking != "":
		object := func(thinking, signature string) map[string]any {
			return map[string]any{"type": "thinking", "thinking": thinking, "signature": signature}
		}
		return object("", ""), object(b.Thinking, signature), b.Thinking, "thinking_delta",
			"thinking"
	}
	object := func(text string) map[string]any {
		return map[string]any{"type": "text",
			"text": text}
	}
	return object(""), object(b.Text), b.Text, "text_delta", "text"
}

// signature is the API's signature of thinking, in base64; nobody checks it here.
const signature = "bW9jaw=="

// whole is the message as one object, for clients that do not stream. Holds inside it do not apply.
func (m message) whole() map[string]any {
	object := m.object()
	content := []any{}
	for n, b := range m.step.Blocks {
		if b.Hold == "" {
			_, end, _, _, _ := m.block(n)
			content = append(content, end)
		}
	}
	object["content"], object["stop_reason"] = content, m.stopReason()
	return object
}

// stream answers a request to Anthropic's Messages API.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, m message) {
	w.Header().Set("request-id", "req_mock")
	write, gone := events(w)
	send := func(kind string, event map[string]any) {
		event["type"] = kind
		write(kind, event)
	}
	send("message_start", map[string]any{"message": m.object()})
	send("ping", map[string]any{})
	index, sent := 0, 0
	for n, b := range m.step.Blocks {
		if gone() || !s.wait(r.Context(), b.Hold) {
			return
		}
		if b.Hold != "" {
			continue
		}
		begin, _, content, kind, field := m.block(n)
		send("content_block_start", map[string]any{"index": index, "content_block": begin})
		for rest := content; rest != "" && !gone(); {
			var now string
			if now, rest = cut(rest, b.EveryMS); b.EveryMS > 0 && !pause(r, b.EveryMS) {
				return
			}
			send("content_block_delta",
				map[string]any{"index": index, "delta": map[string]any{"type": kind, field: now}})
			sent += len(now)
		}
		if b.Thinking != "" {
			send("content_block_delta",
				map[string]any{"index": index,
					"delta": map[string]any{"type": "signature_delta", "signature": signature}})
		}
		send("content_block_stop", map[string]any{"index": index})
		index++
	}
	if e := m.step.StreamError; e != nil {
		send("error", map[string]any{"error": e.object()})
		return
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": m.stopReason(), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": sent/4 + 1},
	})
	send("message_stop", map[string]any{})
}

// cut returns the next piece of content in whole characters, or all of it without a delay.
func cut(content string, everyMS int) (now, rest string) {
	if everyMS == 0 {
		return content, ""
	}
	for i := range content {
		if i >= piece {
			return content[:i], content[i:]
		}
	}
	return content, ""
}

// pause waits between two pieces, and reports whether the client is still there.
func pause(r *http.Request, ms int) bool {
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
