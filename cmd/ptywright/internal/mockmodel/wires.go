package mockmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// say adds what one side said; consecutive texts of the same side are one message.
func (b *body) say(role string, c content) {
	if n := len(b.Messages); n > 0 && b.Messages[n-1].Role == role && role == "assistant" {
		last := &b.Messages[n-1].Content
		last.texts, last.results = append(last.texts, c.texts...),
			append(last.results, c.results...)
		return
	}
	b.Messages = append(b.Messages, speech{role, c})
}

// readOpenAI reads a request to the Responses API.
func readOpenAI(raw []byte) (*body, error) {
	var asked struct {
		Model  string
		Stream bool
		Tools  []json.RawMessage
		Text   struct{ Format struct{ Type string } }
		Input  []struct {
			Type, Role string
			Content    []struct{ Type, Text string }
			Output     any // of a tool: text, or a list
		}
	}
	if err := json.Unmarshal(raw, &asked); err != nil {
		return nil, err
	}
	b := &body{Model: asked.Model, Stream: asked.Stream, Tools: asked.Tools}
	if asked.Text.Format.Type == "json_schema" { // a title
		b.Tools = nil
	}
	for _, item := range asked.Input {
		switch {
		case strings.HasSuffix(item.Type, "_call_output"):
			b.say("user", content{results: []string{fmt.Sprint(item.Output)}})
		case strings.HasSuffix(item.Type, "_call"), item.Role == "assistant":
			b.say("assistant", content{})
		case item.Role == "user":
			var c content
			for _, part := range item.Content {
				c.texts = append(c.texts, part.Text)
			}
			b.say("user", c)
		}
	}
	return b, nil
}

// events returns a function that sends server-sent events, and one that reports whether the client
// is gone.
func events(w http.ResponseWriter) (send func(kind string, event any), gone func() bool) {
	w.Header().Set("content-type", "text/event-stream; charset=utf-8")
	w.Header().Set("cache-control", "no-cache")
	flush, ended := http.NewResponseController(w), false
	return func(kind string, event any) {
		text, err := json.Marshal(event)
		if kind != "" && err == nil {
			_, err = fmt.Fprintf(w, "event: %s\n", kind)
		}
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", text)
		}
		ended = ended || err != nil || flush.Flush() != nil
	}, func() bool { return ended }
}

// streamOpenAI answers a request to the Responses API with texts and tool calls; it has no
// thinking.
func (s *Server) streamOpenAI(w http.ResponseWriter, r *http.Request, m message) {
	send, gone := events(w)
	typed := func(kind string, event map[string]any) {
		event["type"] = kind
		send(kind, event)
	}
	response := map[string]any{"id": fmt.Sprintf("resp_mock%06d", m.number)}
	typed("response.created", map[string]any{"response": response})
	index := 0
	for n, b := range m.step.Blocks {
		if gone() || !s.wait(r.Context(), b.Hold) {
			return
		}
		id := fmt.Sprintf("item_mock%06d%02d", m.number, n)
		switch {
		case b.Text != "":
			item := func(content ...any) map[string]any {
				return map[string]any{"type": "message", "id": id, "role": "assistant",
					"content": append([]any{}, content...)}
			}
			typed("response.output_item.added",
				map[string]any{"output_index": index, "item": item()})
			for rest := b.Text; rest != "" && !gone(); {
				var now string
				if now, rest = cut(rest, b.EveryMS); b.EveryMS > 0 && !pause(r, b.EveryMS) {
					return
				}
				typed("response.output_text.delta",
					map[string]any{"item_id": id, "output_index": index, "content_index": 0,
						"delta": now})
			}
			typed("response.output_item.done", map[string]any{"output_index": index, "item": item(
				map[string]any{"type": "output_text", "text": b.Text, "annotations": []any{}},
			)})
		case b.Tool != nil:
			typed("response.output_item.done",
				map[string]any{"output_index": index, "item": map[string]any{
					"type": "function_call", "id": id, "call_id": "call_" +
						id, "name": b.Tool.Name, "arguments": string(b.Tool.Input),
				}})
		default:
			continue
		}
		index++
	}
	if e := m.step.StreamError; e != nil {
		response["error"] = map[string]any{"code": e.Type, "message": e.Message}
		typed("response.failed", map[string]any{"response": response})
		return
	}
	response["usage"] = map[string]any{
		"input_tokens": 1200, "input_tokens_details": map[string]any{"cached_tokens": 0},
		"output_tokens": 10, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		"total_tokens": 1210,
	}
	typed("response.completed", map[string]any{"response": response})
}

// gemini answers POST /v1beta/models/NAME:CALL.
func (s *Server) gemini(w http.ResponseWriter, r *http.Request) {
	name, call, _ := strings.Cut(r.PathValue("call"), ":")
	switch call {
	case "streamGenerateContent", "generateContent":
		s.answers(Gemini, func(raw []byte) (*body, error) {
			b, err := readGemini(raw)
			if err == nil {
				b.Model, b.Stream = name, call == "streamGenerateContent"
			}
			return b, err
		}, s.streamGemini)(w, r)
	case "countTokens":
		n, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			return // the client went away
		}
		s.keep(r, Request{Status: http.StatusOK})
		writeJSON(w, http.StatusOK, map[string]int64{"totalTokens": n/4 + 1})
	default:
		s.keep(r, Request{Status: http.StatusNotFound})
		writeError(w,
			&Error{Status: http.StatusNotFound, Type: "not_found_error", Message: "not found"})
	}
}

// readGemini reads the body of a request to Gemini's API; the path holds the model and whether to
// stream.
func readGemini(raw []byte) (*body, error) {
	var asked struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text             *string
				FunctionResponse *struct{ Response any }
			}
		}
		Tools            []json.RawMessage
		GenerationConfig struct{ ResponseMimeType string }
	}
	if err := json.Unmarshal(raw, &asked); err != nil {
		return nil, err
	}
	b := &body{Tools: asked.Tools}
	if asked.GenerationConfig.ResponseMimeType == "application/json" {
		b.Tools = nil
	}
	for _, said := range asked.Contents {
		if said.Role == "model" {
			b.say("assistant", content{})
			continue
		}
		var c content
		for _, part := range said.Parts {
			switch {
			case part.FunctionResponse != nil:
				c.results = append(c.results, fmt.Sprint(part.FunctionResponse.Response))
			case part.Text != nil:
				c.texts = append(c.texts, *part.Text)
			}
		}
		b.say("user", c)
	}
	return b, nil
}

// candidate is a Gemini answer, or a part of one; reason is why it ended, "" if it continues.
func candidate(reason string, parts ...any) map[string]any {
	c := map[string]any{"index": 0,
		"content": map[string]any{"role": "model", "parts": append([]any{}, parts...)}}
	if reason != "" {
		c["finishReason"] = reason
	}
	return map[string]any{
		"candidates": []any{c},
		"usageMetadata": map[string]any{"promptTokenCount": 1200, "candidatesTokenCount": 10,
			"totalTokenCount": 1210},
	}
}

// part is a block as a part of Gemini's content; nil when it has none.
func (b Block) part(text string) any {
	switch {
	case b.Tool != nil:
		return map[string]any{"functionCall": map[string]any{"name": b.Tool.Name,
			"args": b.Tool.Input}}
	case b.Text != "":
		return map[string]any{"text": text}
	}
	return nil
}

// geminiWhole is the answer for clients that do not stream.
func (m message) geminiWhole() map[string]any {
	var parts []any
	for _, b := range m.step.Blocks {
		if p := b.part(b.Text); p != nil {
			parts = append(parts, p)
		}
	}
	return candidate("STOP", parts...)
}

func (s *Server) streamGemini(w http.ResponseWriter, r *http.Request, m message) {
	send, gone := events(w)
	for _, b := range m.step.Blocks {
		if gone() || !s.wait(r.Context(), b.Hold) {
			return
		}
		if b.Tool != nil {
			send("", candidate("", b.part("")))
		}
		for rest := b.Text; rest != "" && !gone(); {
			var now string
			if now, rest = cut(rest, b.EveryMS); b.EveryMS > 0 && !pause(r, b.EveryMS) {
				return
			}
			send("", candidate("", b.part(now)))
		}
	}
	if e := m.step.StreamError; e != nil {
		return // the stream breaks off
	}
	send("", candidate("STOP", map[string]any{"text": ""}))
}
